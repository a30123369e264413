//! Variables outside of quotes in what `RUN` runs, of which a shell makes words and names of files: ShellCheck's SC2086.
//!
//! Left out, as it is by ShellCheck: names of commands, `$#`, `$?` and the like, assignments, and where a shell does not split
//! (`[[`, `case`, `for x in $list`); and variables that the script sets to one plain word.

use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Severity};

use crate::parse::Instruction;
use crate::shell::{Script, closing};

/// Commands and keywords whose words are not split, or are meant to be.
const UNSPLIT: [&str; 9] =
    ["[[", "case", "declare", "export", "for", "local", "readonly", "select", "typeset"];

pub(crate) fn check(it: &Instruction, script: &Script, found: &mut Vec<Diagnostic>) {
    let text = it.argument_text();
    let commands = script.commands.iter().filter(|it| !UNSPLIT.contains(&&*it.words[0].0));
    for (_, word) in commands.flat_map(|it| it.words.iter().skip(1)) {
        for at in expansions(&text[word.clone()]) {
            let at = word.start + at.start..word.start + at.end;
            if is_one_word(name(&text[at.clone()]), text) {
                continue;
            }
            let message = format!("`{}` is split into words and names of files: quote it", &text[at.clone()]);
            let place = it.line.place(it.arguments + at.start..it.arguments + at.end);
            let finding = Diagnostic::new("SC2086", message, place);
            found.push(Diagnostic { severity: Severity::Info, ..finding });
        }
    }
}

/// The variables in a word that are in no quotes.
fn expansions(word: &str) -> Vec<Range<usize>> {
    let (mut found, mut at, mut is_quoted) = (Vec::new(), 0, false);
    while let Some(it) = word[at..].chars().next() {
        let rest = &word[at..];
        let len = match it {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '\'' if !is_quoted => rest[1..].find('\'').map_or(rest.len(), |it| it + 2),
            // Commands of their own.
            '`' => rest[1..].find('`').map_or(rest.len(), |it| it + 2),
            '$' if rest.starts_with("$(") => closing(word, at + 2).map_or(rest.len(), |end| end + 1 - at),
            '$' => expansion(rest),
            it => it.len_utf8(),
        };
        is_quoted ^= it == '"';
        let is_variable = it == '$' && len > 1 && !rest.starts_with("$(");
        found.extend((is_variable && !is_quoted && may_split(&rest[..len])).then_some(at..at + len));
        at += len;
    }
    found
}

/// Length of the `$name` or `${…}` at the start of a text.
fn expansion(text: &str) -> usize {
    if text.starts_with("${") {
        return text.find('}').map_or(text.len(), |it| it + 1);
    }
    let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
    1 + text[1..].find(|it| !is_letter(it)).unwrap_or(text.len() - 1)
}

/// Whether an expansion is a variable's value, and neither a length nor another's value in its place: `${a:+"$a"}`.
fn may_split(expansion: &str) -> bool {
    let inner = expansion.trim_start_matches(['$', '{']);
    inner.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && !expansion.contains(['+', '"', '\''])
}

fn name(expansion: &str) -> &str {
    let inner = expansion.trim_start_matches(['$', '{']);
    let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
    inner.split(|it| !is_letter(it)).next().unwrap_or_default()
}

/// Whether the script sets the variable, and always to a plain word.
fn is_one_word(name: &str, text: &str) -> bool {
    let is_set = |(at, _): &(usize, &str)| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|it| it.is_whitespace() || ";&|(".contains(it))
    };
    let sign = format!("{name}=");
    let mut values = text.match_indices(&sign).filter(is_set).map(|it| &text[it.0 + sign.len()..]).peekable();
    let is_plain = |value: &str| {
        let end = value.find(|it: char| it.is_whitespace() || ";&|)".contains(it)).unwrap_or(value.len());
        end > 0 && value[..end].chars().all(|it| it.is_ascii_alphanumeric() || "._-/:@%+".contains(it))
    };
    values.peek().is_some() && values.all(is_plain)
}
