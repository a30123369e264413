//! Checks of the rules that shuck has not, in the parsed script: what is in comments, quotes and here-documents is none of
//! what they look for.

use std::cell::OnceCell;
use std::ops::Range;

use shuck_ast::{
    BourneParameterExpansion, Command, File, Name, ParameterExpansionSyntax, SimpleCommand, Word, WordPart,
    WordPartNode, is_shell_variable_name,
};

use crate::extra::Extra;
use crate::tree::{Node, range, walk};
use crate::variables::Uses;

/// Finding: the rule, the place, and the message.
pub(crate) type Found = (Extra, Range<usize>, String);

/// Shells that may be named in a first line.
const SHELLS: [&str; 7] = ["ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"];

pub(crate) fn check(file: &File, text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = missing_bang(text).into_iter().collect();
    let uses = OnceCell::new();
    let is_only_read = |name: &str| uses.get_or_init(|| Uses::of(file, text)).is_only_read(name);
    walk(&file.body, &mut |it| {
        if let Node::Statement(statement) = it
            && let Command::Simple(it) = &statement.command
        {
            found.extend(set_assigns(it, text));
            found.extend(read_expands(it, text, &is_only_read));
            found.extend(variable_compared(it, text));
            found.extend(empty_command(it, text));
        }
    });
    found
}

/// `#/bin/sh`, and nothing behind it but options.
fn missing_bang(text: &str) -> Option<Found> {
    let path = text.lines().next()?.strip_prefix('#').filter(|it| it.starts_with('/'))?;
    let mut words = path.split_whitespace();
    let base = |it: &str| it.rsplit('/').next().map(str::to_owned);
    let mut name = base(words.next()?)?;
    if name == "env" {
        name = base(words.next()?)?;
    }
    let is_shebang = SHELLS.contains(&&*name) && words.all(|it| it.starts_with('-'));
    let message = "this line names no shell: one that does begins with `#!`";
    is_shebang.then(|| (Extra::MissingBang, 0..1, message.to_owned()))
}

/// `set a=1`.
fn set_assigns(it: &SimpleCommand, text: &str) -> Option<Found> {
    let [only] = &it.args[..] else { return None };
    let is_literal = matches!(only.parts.first()?.kind, WordPart::Literal(_));
    let target = text.get(range(only.span))?.split_once('=')?.0;
    let name = target.strip_suffix('+').unwrap_or(target);
    let is_assignment = is_literal && is_shell_variable_name(name);
    let message = format!("`set` makes this `$1`, and `{name}` stays what it is: assign without `set`");
    (runs(it, "set", text) && is_assignment).then(|| (Extra::SetAssigns, range(only.span), message))
}

/// `read $name`, where the variable is used for what was read and holds nothing before.
fn read_expands(it: &SimpleCommand, text: &str, is_only_read: &dyn Fn(&str) -> bool) -> Option<Found> {
    let operands = runs(it, "read", text).then(|| read_operands(&it.args, text))??;
    let names: Vec<&Name> = operands.iter().map(variable).collect::<Option<_>>()?;
    let (name, place) = names.into_iter().zip(operands).find(|it| is_only_read(it.0.as_str()))?;
    let message = format!("this does not read `{name}`, but what its value names: remove the `$`");
    Some((Extra::ReadExpands, range(place.span), message))
}

/// Operands of `read`, behind its options; none if they cannot be determined.
fn read_operands<'a>(args: &'a [Word], text: &str) -> Option<&'a [Word]> {
    let mut at = 0;
    while let Some(word) = args.get(at).and_then(|it| it.try_static_text(text)) {
        let Some(letters) = word.strip_prefix('-') else { break };
        at += 1;
        if letters == "-" {
            break;
        }
        // The first letter with a value takes the rest of the word, or the next word.
        let value = letters.find(['a', 'd', 'i', 'n', 'N', 'p', 't', 'u']);
        at += usize::from(value.is_some_and(|it| it + 1 == letters.len()));
    }
    args.get(at..).filter(|it| !it.is_empty())
}

/// `$x == 1`.
fn variable_compared(it: &SimpleCommand, text: &str) -> Option<Found> {
    let [operator, _] = &it.args[..] else { return None };
    let sign = text.get(range(operator.span))?;
    let is_operator = matches!(sign, "=" | "==" | "!=") && it.assignments.is_empty();
    variable(&it.name).filter(|_| is_operator)?;
    let all = range(it.name.span).start..range(it.args[1].span).end;
    let value = text.get(range(it.name.span))?;
    let message = format!(
        "this runs what `{value}` holds as a command: use `[ … ]` to compare, or a name without `$` to assign"
    );
    Some((Extra::VariableCompared, all, message))
}

/// `"" argument`. An assignment alone has no word at all.
fn empty_command(it: &SimpleCommand, text: &str) -> Option<Found> {
    let place = range(it.name.span);
    let is_empty = matches!(text.get(place.clone())?, "\"\"" | "''");
    let message = "an empty string is run as a command, which always fails: `true` does nothing".to_owned();
    is_empty.then_some((Extra::EmptyCommand, place, message))
}

fn runs(it: &SimpleCommand, name: &str, text: &str) -> bool {
    it.name.try_static_text(text).is_some_and(|it| it == name)
}

/// The variable that is all of a word: `$x`, `"${x}"`.
pub(crate) fn variable(word: &Word) -> Option<&Name> {
    one(&word.parts)
}

fn one(parts: &[WordPartNode]) -> Option<&Name> {
    let [only] = parts else { return None };
    let name = match &only.kind {
        WordPart::Variable(name) => name,
        WordPart::DoubleQuoted { parts, .. } => one(parts)?,
        WordPart::Parameter(it) => match &it.syntax {
            ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Access { reference })
                if reference.subscript.is_none() =>
            {
                &reference.name
            }
            _ => return None,
        },
        _ => return None,
    };
    is_shell_variable_name(name.as_str()).then_some(name)
}
