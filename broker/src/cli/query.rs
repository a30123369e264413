//! `broker query`

mod answer;
mod form;

use std::path::Path;

use clap::ValueEnum;
use lint::{LineColumn, printable};
use scheduler::Class;
use workspaces::{MethodRequest, QueryKind, QueryRequest, RequestError, TargetId};

use self::answer::Answer;
use super::{AnswerFormat, Session, json};
use crate::{
    CliError, Exit,
    client::{Opened, not_searched},
};

/// Ask the language server of a file about a place in it
///
/// Asks about the files as they are on the disk, or as a branch has them, through the daemon. Lines and columns
/// count from 1, columns in Unicode characters. Language servers run in workspaces that you trust, or confined: see
/// `broker trust`, and `broker doctor` for which there are. Exits with 0 if something was found, with 1 if
/// nothing was, and with 2 if there is no answer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker query definition src/app.py:10:5                  where the name there is defined
  broker query references src/app.py:10:5 --branch try-it  who uses it, in the branch
  broker query hover src/app.py:10:5
  broker query symbols src/app.py                          what the file defines
  broker query workspace-symbols src/app.py parse          what has `parse` in its name
  broker query rename src/app.py:10:5 total --branch try-it --apply
  broker query code-actions src/app.py:10:5
  broker query method src/app.py textDocument/documentLink '{\"textDocument\": {\"uri\": \"file:///w/src/app.py\"}}' --server ty")]
pub(super) struct Args {
    #[arg(value_enum)]
    question: Question,

    /// FILE, FILE:LINE or FILE:LINE:COLUMN
    place: String,

    /// A new name, a part of a name, the label or title of one answer; for `method`, the method
    text: Option<String>,

    /// For `method`: the parameters, in JSON
    params: Option<String>,

    /// As the branch has it
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Up to this place, for questions about a part of a file
    #[arg(long, value_name = "LINE:COLUMN")]
    end: Option<String>,

    /// Only code actions of this kind, such as `quickfix`; may be repeated
    #[arg(long, value_name = "KIND")]
    only: Vec<String>,

    /// Ask this server
    #[arg(long, value_name = "NAME")]
    server: Option<String>,

    /// Change the branch as the answer says
    #[arg(long)]
    apply: bool,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Question {
    /// Where the name at the place is defined
    Definition,
    /// Where it is declared
    Declaration,
    /// Where its type is defined
    TypeDefinition,
    /// Where it is implemented
    Implementation,
    /// Where it is used
    References,
    /// Where it is used in this file
    Highlights,
    /// What there is to say of it
    Hover,
    /// What could be typed there
    Completions,
    /// One of these, by its label
    Completion,
    /// The parameters of the call there
    Signatures,
    /// What the file defines
    Symbols,
    /// What the workspace defines, by a part of its name
    WorkspaceSymbols,
    /// What would be renamed
    PrepareRename,
    /// Another name for it
    Rename,
    /// What the server offers to change there
    CodeActions,
    /// Do one of these, by its title
    CodeAction,
    /// Format the file, or a part of it
    Format,
    /// The function there
    CallHierarchy,
    /// Who calls it
    IncomingCalls,
    /// Whom it calls
    OutgoingCalls,
    /// The type there
    TypeHierarchy,
    /// What it is derived from
    Supertypes,
    /// What is derived from it
    Subtypes,
    /// What each word is
    SemanticTokens,
    /// What an editor may show between the words
    InlayHints,
    /// What can be folded
    FoldingRanges,
    /// Any request of the Language Server Protocol
    Method,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let (file, position) = place(&args.place)?;
    form::check(args, position.as_ref())?;
    let end = args.end.as_deref().map(line_and_column).transpose()?;
    let open = session.open()?;
    let target = open.target(args.branch.as_deref())?;
    let Some(kind) = kind(args.question) else { return call(args, &open, target, session) };
    let path = open.path(file)?.to_string();
    let request = QueryRequest {
        position,
        end,
        text: args.text.clone().unwrap_or_default(),
        only: args.only.clone(),
        server: args.server.clone(),
        apply: args.apply,
        class: class(session),
        ..QueryRequest::of(target, kind, &path)
    };
    let response = open.client.wait(open.client.daemon().query(request));
    let response = response.map_err(|error| no_answer(args, &open, &open.display(&path), error))?;
    if let Some(reason) = &response.partial {
        session.messages.warning(&format!("there may be more: {reason}"));
    }
    let answer = Answer::of(&open, &path, &response);
    let text = match args.output_format {
        AnswerFormat::Text => answer.render(),
        AnswerFormat::Json => json(&answer),
    };
    session.print_text(&text)?;
    if args.apply && response.applied.is_none() && !response.edits.is_empty() {
        let error = CliError::files("nothing was changed, since there may be more to change");
        return Err(error.hint("without `--apply` the answer is only shown"));
    }
    Ok(if answer.is_empty() { Exit::Findings } else { Exit::Clean })
}

/// A question whose messages no person sees is a program's.
fn class(session: &Session) -> Class {
    if session.process_context.watched { Class::Interactive } else { Class::Agent }
}

fn call(args: &Args, open: &Opened, target: TargetId, session: &mut Session) -> Result<Exit, CliError> {
    let missing = |what| CliError::usage(format!("`broker query method` needs {what}"));
    let request = MethodRequest {
        target,
        server: Some(args.server.clone().ok_or_else(|| missing("`--server NAME`"))?),
        method: args.text.clone().ok_or_else(|| missing("the method"))?,
        params: args.params.clone().unwrap_or_default(),
        class: class(session),
        deadline: None,
    };
    let response = open.client.wait(open.client.daemon().call_method(request));
    let response = response.map_err(|error| no_server(open, error))?;
    if let Some(reason) = &response.partial {
        session.messages.warning(&format!("there may be more: {reason}"));
    }
    session.print(&(response.result + "\n"))?;
    Ok(Exit::Clean)
}

/// An error about the file is clearer with the path as it was typed.
fn no_answer(args: &Args, open: &Opened, path: &str, error: RequestError) -> CliError {
    match error.reason.as_str() {
        "FILE_NOT_FOUND" => {
            let place =
                args.branch.as_ref().map_or("on the disk".to_owned(), |it| format!("in the branch `{it}`"));
            let error = CliError::files(printable(&format!("there is no file `{path}` {place}")));
            error.hint("name it as FILE, FILE:LINE or FILE:LINE:COLUMN, from the current folder")
        }
        "WRONG_KIND_OF_FILE" => {
            CliError::files(format!("`{path}` is not a file")).hint(match args.question {
                Question::WorkspaceSymbols => {
                    "name any file of the project, and then the name: `workspace-symbols src/app.py parse`"
                }
                _ => "a question is about one file: name one",
            })
        }
        _ => no_server(open, error),
    }
}

/// A server that is not there may be so for the daemon only.
fn no_server(open: &Opened, error: RequestError) -> CliError {
    let server = error.fact("server").filter(|_| error.reason == "SERVER_UNAVAILABLE");
    let hint = server.and_then(|it| not_searched(open, &[it]));
    let error = CliError::from(error);
    if hint.is_some() { error.maybe_hint(hint) } else { error }
}

/// A file, and the place in it if one is named. A name with colons in it is a file if no place is meant.
fn place(text: &str) -> Result<(&Path, Option<LineColumn>), CliError> {
    let number = |text: &str| text.parse::<u32>().ok();
    let Some((rest, last)) = text.rsplit_once(':').and_then(|(rest, last)| Some((rest, number(last)?)))
    else {
        return Ok((Path::new(text), None));
    };
    let (file, line, column) =
        match rest.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
            Some((file, line)) => (file, line, last),
            None => (rest, last, 1),
        };
    if file.is_empty() || line == 0 || column == 0 {
        return Err(CliError::usage(format!("`{text}` names no place")).hint("FILE:LINE:COLUMN, each from 1"));
    }
    Ok((Path::new(file), Some(LineColumn { line, column })))
}

fn line_and_column(text: &str) -> Result<LineColumn, CliError> {
    let parsed =
        text.split_once(':').and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
    match parsed {
        Some((line @ 1.., column @ 1..)) => Ok(LineColumn { line, column }),
        _ => Err(CliError::usage(format!("`{text}` names no place")).hint("LINE:COLUMN, each from 1")),
    }
}

/// `None` for what is asked in another way.
fn kind(question: Question) -> Option<QueryKind> {
    Some(match question {
        Question::Definition => QueryKind::Definition,
        Question::Declaration => QueryKind::Declaration,
        Question::TypeDefinition => QueryKind::TypeDefinition,
        Question::Implementation => QueryKind::Implementation,
        Question::References => QueryKind::References,
        Question::Highlights => QueryKind::Highlights,
        Question::Hover => QueryKind::Hover,
        Question::Completions => QueryKind::Completions,
        Question::Completion => QueryKind::Completion,
        Question::Signatures => QueryKind::Signatures,
        Question::Symbols => QueryKind::Symbols,
        Question::WorkspaceSymbols => QueryKind::WorkspaceSymbols,
        Question::PrepareRename => QueryKind::PrepareRename,
        Question::Rename => QueryKind::Rename,
        Question::CodeActions => QueryKind::CodeActions,
        Question::CodeAction => QueryKind::CodeAction,
        Question::Format => QueryKind::Format,
        Question::CallHierarchy => QueryKind::CallHierarchy,
        Question::IncomingCalls => QueryKind::IncomingCalls,
        Question::OutgoingCalls => QueryKind::OutgoingCalls,
        Question::TypeHierarchy => QueryKind::TypeHierarchy,
        Question::Supertypes => QueryKind::Supertypes,
        Question::Subtypes => QueryKind::Subtypes,
        Question::SemanticTokens => QueryKind::SemanticTokens,
        Question::InlayHints => QueryKind::InlayHints,
        Question::FoldingRanges => QueryKind::FoldingRanges,
        Question::Method => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let of = |text: &str| {
            let (file, at) = place(text).map_err(|error| error.message)?;
            let at = at.map(|it| format!(" {}:{}", it.line, it.column)).unwrap_or_default();
            Ok::<_, String>(format!("{}{at}", file.display()))
        };
        assert_eq!(of("a.py:3:4").unwrap(), "a.py 3:4");
        assert_eq!(of("a.py:3").unwrap(), "a.py 3:1");
        assert_eq!(of("a.py").unwrap(), "a.py");
        assert_eq!(of("a:b.py").unwrap(), "a:b.py");
        assert_eq!(of("a.py:0:1").unwrap_err(), "`a.py:0:1` names no place");
        assert_eq!(of(":3:4").unwrap_err(), "`:3:4` names no place");
        assert!(line_and_column("3").is_err() && line_and_column("3:0").is_err());
    }
}
