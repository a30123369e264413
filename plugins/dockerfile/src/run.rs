//! What `RUN` runs, as far as it can be told without a shell: commands, their words, and whether there is a pipe.

use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Fix};

use crate::parse::Instruction;
use crate::stages::Build;
use crate::words::unquote;

/// A command of a script: its words, without assignments and keywords before them.
#[derive(Debug, Default)]
struct Command {
    words: Vec<(String, Range<usize>)>,
}

#[derive(Debug, Default)]
struct Script {
    commands: Vec<Command>,
    /// Where the first `|` is.
    pipe: Option<usize>,
}

pub(crate) fn check(build: &Build<'_>, found: &mut Vec<Diagnostic>) {
    let escape = build.file.escape;
    for (number, stage) in build.stages.iter().enumerate() {
        let shells = build.line_of(number).skip(1).flat_map(|it| it.steps).filter(|it| it.is("SHELL"));
        let mut shell = shells.last().and_then(Instruction::json);
        for it in stage.steps.iter().filter(|it| it.onbuild.is_none()) {
            if it.kind == "SHELL" {
                shell = it.json();
            }
            if it.kind == "RUN"
                && it.json().is_none()
                && !it.has_heredoc
                && is_posix(shell.as_deref(), escape)
            {
                let script = Script::of(it.argument_text());
                commands(it, &script, found);
                pipe(it, &script, shell.as_deref(), found);
            }
        }
    }
}

/// Whether a shell reads as sh does.
fn is_posix(shell: Option<&[String]>, escape: char) -> bool {
    let name =
        shell.and_then(<[String]>::first).map_or("sh", |it| it.rsplit(['/', '\\']).next().unwrap_or(it));
    escape == '\\' && matches!(name, "sh" | "bash" | "dash" | "ash" | "ksh" | "zsh" | "mksh")
}

fn commands(it: &Instruction, script: &Script, found: &mut Vec<Diagnostic>) {
    for command in &script.commands {
        let Some((name, range)) = command.words.first() else { continue };
        let place = || it.line.place(it.arguments + range.start..it.arguments + range.end);
        let arguments: Vec<&str> = command.words[1..].iter().map(|it| &*it.0).collect();
        match &**name {
            "sudo" => found.push(Diagnostic::new(
                "DL3004",
                "sudo is of no use here: the build says who runs what",
                place(),
            )),
            "apt" => {
                found.push(Diagnostic::new("DL3027", "apt is for people: use apt-get or apt-cache", place()))
            }
            "apt-get" => apt_get(it, command, &arguments, found),
            "apk" => apk(it, command, &arguments, found),
            "ln" if arguments.last() == Some(&"/bin/sh") => {
                found.push(Diagnostic::new("DL4005", "use SHELL to change the shell", place()));
            }
            _ => {}
        }
    }
}

fn apt_get(it: &Instruction, command: &Command, arguments: &[&str], found: &mut Vec<Diagnostic>) {
    let Some(at) = arguments.iter().position(|it| *it == "install") else { return };
    let short = |sign: char| {
        arguments.iter().any(|it| it.starts_with('-') && !it.starts_with("--") && it.contains(sign))
    };
    let quiet = arguments.iter().filter(|it| matches!(**it, "-q" | "--quiet")).count();
    let is_sure = short('y')
        || arguments.iter().any(|it| matches!(*it, "--yes" | "--assume-yes" | "-qq"))
        || quiet > 1
        || arguments.iter().any(|it| matches!(*it, "-q=2" | "--quiet=2"))
        || arguments.contains(&"-s");
    let place = |range: &Range<usize>| it.line.place(it.arguments + range.start..it.arguments + range.end);
    let install = &command.words[at + 1].1;
    if !is_sure {
        let place = place(install);
        let fix = Fix::safe("Say yes", place.end..place.end, " -y");
        found
            .push(Diagnostic::new("DL3014", "apt-get asks, and nobody answers: use -y", place).with_fix(fix));
    }
    unpinned("DL3008", "=", it, &command.words[at + 2..], found);
}

fn apk(it: &Instruction, command: &Command, arguments: &[&str], found: &mut Vec<Diagnostic>) {
    if let Some(at) = arguments.iter().position(|it| *it == "add") {
        unpinned("DL3018", "=<>~@", it, &command.words[at + 2..], found);
    }
}

/// Packages without a version, as one finding.
fn unpinned(
    code: &str,
    signs: &str,
    it: &Instruction,
    words: &[(String, Range<usize>)],
    found: &mut Vec<Diagnostic>,
) {
    let mut is_value = false;
    let mut loose = Vec::new();
    for (word, range) in words {
        let is_path = word.starts_with(['.', '/', '>', '<', '-']) || word.ends_with(".deb");
        if !is_value && !is_path && !word.contains(|it| signs.contains(it) || it == '$') {
            loose.push((&**word, range));
        }
        is_value = VALUED.contains(&&**word);
    }
    let (Some(first), Some(last)) = (loose.first(), loose.last()) else { return };
    let place = it.line.place(it.arguments + first.1.start..it.arguments + last.1.end);
    let names: Vec<&str> = loose.iter().map(|it| it.0).collect();
    let message = match names[..] {
        [one] => format!("`{one}` should have a version"),
        [one, ..] => format!("`{one}` and {} more should have a version", names.len() - 1),
        [] => return,
    };
    found.push(Diagnostic::new(code, message, place));
}

/// Options of package managers that have a value of their own.
const VALUED: [&str; 8] = ["-t", "--virtual", "-X", "--repository", "-o", "--target-release", "-c", ">"];

fn pipe(it: &Instruction, script: &Script, shell: Option<&[String]>, found: &mut Vec<Diagnostic>) {
    let Some(at) = script.pipe else { return };
    let name = shell.and_then(<[String]>::first).map_or("sh", |it| it.rsplit('/').next().unwrap_or(it));
    let is_told = shell.is_some_and(|it| {
        it.windows(2).any(|it| it[0].starts_with('-') && it[0].ends_with('o') && it[1] == "pipefail")
    });
    let is_set = |it: &Command| {
        it.words.first().is_some_and(|it| it.0 == "set") && it.words.iter().any(|it| it.0 == "pipefail")
    };
    // A shell that was named on purpose and knows no pipefail.
    let has_none = shell.is_some() && matches!(name, "sh" | "dash" | "ash");
    if !is_told && !has_none && !script.commands.iter().any(is_set) {
        let place = it.line.place(it.arguments + at..it.arguments + at + 1);
        let message = "if what is before the pipe fails, the build goes on: set pipefail";
        found.push(Diagnostic::new("DL4006", message, place));
    }
}

/// What comes before a command, and is none.
const KEYWORDS: [&str; 13] =
    ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "exec", "env", "command"];

/// Of commands in commands; no script that a person wrote is deeper.
const DEEPEST: usize = 30;

impl Script {
    fn of(text: &str) -> Self {
        let mut script = Self::default();
        script.read(text, 0, 0);
        script.commands.retain(|it| !it.words.is_empty());
        script
    }

    /// Reads a text that is at a place of the whole.
    fn read(&mut self, text: &str, base: usize, depth: usize) {
        let mut command = Command::default();
        let mut rest = 0;
        while let Some((range, is_operator)) = token(text, rest) {
            let word = &text[range.clone()];
            rest = range.end;
            if !is_operator {
                self.inner(word, base + range.start, depth + 1);
                command.add(word, base + range.start);
                continue;
            }
            if matches!(word, "|" | "|&") && !command.words.is_empty() && !is_case(&command) {
                self.pipe.get_or_insert(base + range.start);
            }
            self.commands.push(std::mem::take(&mut command));
        }
        self.commands.push(command);
    }

    /// The commands in `$(…)` and backquotes of a word.
    fn inner(&mut self, word: &str, base: usize, depth: usize) {
        if word.starts_with('\'') || depth > DEEPEST {
            return;
        }
        let mut at = 0;
        while let Some(start) = word[at..].find("$(").map(|it| at + it + 2) {
            let end = closing(word, start).unwrap_or(word.len());
            if !word[start..].starts_with('(') {
                self.read(&word[start..end], base + start, depth);
            }
            at = end.max(start);
        }
        let mut ticks = word.match_indices('`').map(|it| it.0);
        while let (Some(start), Some(end)) = (ticks.next(), ticks.next()) {
            self.read(&word[start + 1..end], base + start + 1, depth);
        }
    }
}

/// `a|b)` of a `case` is no pipe; what is before it is not known to be more than a word.
fn is_case(command: &Command) -> bool {
    command.words.first().is_some_and(|it| it.0 == "case")
}

impl Command {
    fn add(&mut self, word: &str, at: usize) {
        let plain = unquote(word, '\\');
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        });
        if self.words.is_empty() && (is_assignment || KEYWORDS.contains(&&*plain)) {
            return;
        }
        self.words.push((plain, at..at + word.len()));
    }
}

/// The next word or operator, and whether it is an operator.
fn token(text: &str, from: usize) -> Option<(Range<usize>, bool)> {
    let start = from + text[from..].find(|it: char| !matches!(it, ' ' | '\t' | '\r'))?;
    let rest = &text[start..];
    if rest.starts_with('#') {
        let end = rest.find('\n').map_or(text.len(), |it| start + it);
        return token(text, end);
    }
    for operator in ["&&", "||", "|&", ";;", "|", "&", ";", "(", ")", "\n"] {
        if rest.starts_with(operator) {
            return Some((start..start + operator.len(), true));
        }
    }
    Some((start..word_end(text, start), false))
}

fn word_end(text: &str, start: usize) -> usize {
    let mut at = start;
    let mut quote = None;
    while let Some(it) = text[at..].chars().next() {
        let next = at + it.len_utf8();
        at = match (quote, it) {
            (Some('\''), '\'') => {
                quote = None;
                next
            }
            (Some('\''), _) => next,
            (_, '\\') => next + text[next..].chars().next().map_or(0, char::len_utf8),
            (_, '$') if text[next..].starts_with('(') => {
                closing(text, next + 1).map_or(text.len(), |it| it + 1)
            }
            (_, '$') if text[next..].starts_with('{') => {
                text[next..].find('}').map_or(text.len(), |it| next + it + 1)
            }
            (_, '`') => text[next..].find('`').map_or(text.len(), |it| next + it + 1),
            (Some(open), it) if it == open => {
                quote = None;
                next
            }
            (Some(_), _) => next,
            (None, '"' | '\'') => {
                quote = Some(it);
                next
            }
            (None, '>' | '<') if text[next..].starts_with('&') => next + 1,
            (None, '&') if at > start && text[..at].ends_with(['>', '<']) => next,
            (None, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '(' | ')') => {
                return at.max(start + usize::from(at == start));
            }
            (None, _) => next,
        };
    }
    text.len()
}

/// The bracket that closes what is open before a place.
fn closing(text: &str, from: usize) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0, None, false);
    for (at, it) in text[from..].char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match (quote, it) {
            (Some('\''), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => is_escaped = true,
            (Some(open), it) if it == open => quote = None,
            (None, '"' | '\'') => quote = Some(it),
            (_, '(') => depth += 1,
            (_, ')') if depth == 0 => return Some(from + at),
            (_, ')') => depth -= 1,
            _ => {}
        }
    }
    None
}
