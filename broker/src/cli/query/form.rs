//! Arguments of each question besides the file. A question refuses the ones that it has no use for.

use clap::ValueEnum as _;
use lint::LineColumn;

use super::{Args, Question};
use crate::CliError;

/// Requirement of a question for an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    No,
    May,
    Must,
}

/// Arguments of a question.
struct Form {
    position: Use,
    end: bool,
    text: Use,
    only: bool,
    params: bool,
    apply: bool,
}

const FILE: Form =
    Form { position: Use::No, end: false, text: Use::No, only: false, params: false, apply: false };
const PLACE: Form = Form { position: Use::Must, ..FILE };
const PART: Form = Form { position: Use::May, end: true, ..FILE };

impl Question {
    fn form(self) -> Form {
        match self {
            Self::Definition
            | Self::Declaration
            | Self::TypeDefinition
            | Self::Implementation
            | Self::References
            | Self::Highlights
            | Self::Hover
            | Self::Completions
            | Self::Signatures
            | Self::PrepareRename
            | Self::CallHierarchy
            | Self::IncomingCalls
            | Self::OutgoingCalls
            | Self::TypeHierarchy
            | Self::Supertypes
            | Self::Subtypes => PLACE,
            Self::Completion => Form { text: Use::Must, ..PLACE },
            Self::Rename => Form { text: Use::Must, apply: true, ..PLACE },
            Self::CodeActions => Form { end: true, only: true, ..PLACE },
            Self::CodeAction => Form { end: true, only: true, text: Use::Must, apply: true, ..PLACE },
            Self::Symbols | Self::FoldingRanges => FILE,
            Self::WorkspaceSymbols => Form { text: Use::May, ..FILE },
            Self::Format => Form { apply: true, ..PART },
            Self::SemanticTokens | Self::InlayHints => PART,
            Self::Method => Form { text: Use::Must, params: true, ..FILE },
        }
    }

    /// Name of the question on the command line.
    fn name(self) -> String {
        self.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
    }

    /// Description of the question's text argument.
    fn text(self) -> &'static str {
        match self {
            Self::Rename => "the new name",
            Self::Completion => "the label of one of the completions",
            Self::CodeAction => "the title of one of the code actions",
            Self::Method => "the method",
            _ => "a part of a name",
        }
    }
}

/// Fails if something is missing that the question needs, or is there that means nothing to it.
pub(super) fn check(args: &Args, position: Option<&LineColumn>) -> Result<(), CliError> {
    let form = args.question.form();
    let for_whom = |takes: fn(&Form) -> bool| format!("that is for {}", takers(takes));
    let needless = [
        (args.end.is_some() && !form.end, "`--end`", for_whom(|it| it.end)),
        (!args.only.is_empty() && !form.only, "`--only`", for_whom(|it| it.only)),
        (args.apply && !form.apply, "`--apply`", for_whom(|it| it.apply)),
        (args.text.is_some() && form.text == Use::No, "a text", for_whom(|it| it.text != Use::No)),
        (args.params.is_some() && !form.params, "parameters", for_whom(|it| it.params)),
        (position.is_some() && form.position == Use::No, "a line", "name the file alone".to_owned()),
    ];
    let asked = args.question.name();
    if let Some((_, what, hint)) = needless.into_iter().find(|(is_needless, ..)| *is_needless) {
        return Err(CliError::usage(format!("`broker query {asked}` does not take {what}")).hint(hint));
    }
    let needs = |what: &str| CliError::usage(format!("`broker query {asked}` needs {what}"));
    if position.is_none() && (form.position == Use::Must || args.end.is_some()) {
        return Err(needs("a place").hint("FILE:LINE:COLUMN, each from 1"));
    }
    if form.text == Use::Must && args.text.as_ref().is_none_or(|it| it.trim().is_empty()) {
        return Err(needs(args.question.text()).hint("it stands after the file"));
    }
    if args.apply && args.branch.is_none() {
        return Err(CliError::usage("`--apply` needs `--branch BRANCH`").hint("only a branch can be changed"));
    }
    Ok(())
}

/// The questions that take it.
fn takers(takes: fn(&Form) -> bool) -> String {
    let all = Question::value_variants().iter().filter(|it| takes(&it.form()));
    let names: Vec<_> = all.map(|it| format!("`{}`", it.name())).collect();
    match names.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        names => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{super::place, *};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn checked(line: &str) -> Result<(), String> {
        let args = Line::parse_from(format!("query {line}").split(' ')).args;
        let (_, position) = place(&args.place).unwrap();
        check(&args, position.as_ref())
            .map_err(|it| format!("{}\n{}", it.message, it.hint.unwrap_or_default()))
    }

    #[test]
    fn what_is_needed_is_enough() {
        for line in [
            "hover a.py:1:1",
            "symbols a.py",
            "workspace-symbols a.py",
            "workspace-symbols a.py part",
            "rename a.py:1:1 new --branch b --apply",
            "code-actions a.py:1:1 --end 2:1 --only quickfix",
            "code-action a.py:1:1 title --end 2:1 --only quickfix --branch b --apply",
            "format a.py --branch b --apply",
            "format a.py:1:1 --end 2:1",
            "inlay-hints a.py",
            "method a.py textDocument/documentLink {} --server ty",
        ] {
            assert_eq!(checked(line), Ok(()), "{line}");
        }
    }

    #[test]
    fn what_means_nothing_or_is_missing_is_refused() {
        let lines = [
            "hover a.py:1:1 --apply",
            "hover a.py:1:1 --end 2:1",
            "rename a.py:1:1 new --only quickfix",
            "hover a.py:1:1 text",
            "workspace-symbols a.py part {}",
            "symbols a.py:3",
            "hover a.py",
            "format a.py --end 2:1",
            "rename a.py:1:1",
            "code-action a.py:1:1",
            "rename a.py:1:1 new --apply",
        ];
        let told = lines.map(|it| format!("{it}\n{}\n", checked(it).unwrap_err()));
        insta::assert_snapshot!(told.join("\n"));
    }
}
