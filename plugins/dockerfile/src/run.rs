//! Rules on what `RUN` runs, as far as that can be told without a shell.

use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Fix};

use crate::dash;
use crate::parse::Instruction;
use crate::shell::{Command, Script};
use crate::stages::Build;

pub(crate) fn check(build: &Build<'_>, found: &mut Vec<Diagnostic>) {
    let escape = build.file.escape;
    for (number, stage) in build.stages.iter().enumerate() {
        let mut shell = build.inherited(number, "SHELL").and_then(Instruction::json);
        let mut user = build.inherited(number, "USER");
        let is_dash = dash::is_shell_of(build, number);
        for it in stage.steps.iter().filter(|it| it.onbuild.is_none()) {
            if it.kind == "SHELL" {
                shell = it.json();
            }
            if it.kind == "USER" {
                user = Some(it);
            }
            if it.kind == "RUN"
                && it.json().is_none()
                && !it.has_heredoc
                && is_posix(shell.as_deref(), escape)
            {
                let script = Script::of(it.argument_text());
                commands(it, &script, found);
                if user.is_none_or(|it| it.is_root(escape)) {
                    sudo(it, &script, found);
                }
                pipe(it, &script, shell.as_deref(), found);
                if is_dash && matches!(shell_name(shell.as_deref()), "sh" | "dash") {
                    dash::check(it, &script, found);
                }
            }
        }
    }
}

/// Whether a shell reads as sh does.
fn is_posix(shell: Option<&[String]>, escape: char) -> bool {
    escape == '\\' && matches!(shell_name(shell), "sh" | "bash" | "dash" | "ash" | "ksh" | "zsh" | "mksh")
}

/// What a shell is called, without its folder.
fn shell_name(shell: Option<&[String]>) -> &str {
    shell.and_then(<[String]>::first).map_or("sh", |it| it.rsplit(['/', '\\']).next().unwrap_or(it))
}

fn commands(it: &Instruction, script: &Script, found: &mut Vec<Diagnostic>) {
    for command in &script.commands {
        let Some((name, range)) = command.words.first() else { continue };
        let place = || it.line.place(it.arguments + range.start..it.arguments + range.end);
        let arguments: Vec<&str> = command.words[1..].iter().map(|it| &*it.0).collect();
        match &**name {
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

fn sudo(it: &Instruction, script: &Script, found: &mut Vec<Diagnostic>) {
    for command in &script.commands {
        let [(name, range), arguments @ ..] = &command.words[..] else { continue };
        let arguments: Vec<&str> = arguments.iter().map(|it| &*it.0).collect();
        if name == "sudo" && !has_other_user(&arguments) {
            let place = it.line.place(it.arguments + range.start..it.arguments + range.end);
            let message = "sudo is of no use here: the build says who runs what";
            found.push(Diagnostic::new("DL3004", message, place));
        }
    }
}

/// Whether the options of sudo name a user besides root, so that it changes who runs the command.
fn has_other_user(arguments: &[&str]) -> bool {
    let is_other = |user: &str| !matches!(user, "root" | "#0");
    let mut all = arguments.iter();
    while let Some(it) = all.next().filter(|it| it.starts_with('-') && **it != "--") {
        if *it == "--user" {
            return all.next().is_some_and(|it| is_other(it));
        }
        if let Some(long) = it.strip_prefix("--") {
            if let Some(user) = long.strip_prefix("user=") {
                return is_other(user);
            }
            continue;
        }
        // The first letter with a value takes the rest of the word, or the next word.
        let Some(at) = it.find(['u', 'g', 'p', 'C', 'D', 'R', 'T']) else { continue };
        let rest = &it[at + 1..];
        let value = if rest.is_empty() { all.next().copied().unwrap_or_default() } else { rest };
        if it[at..].starts_with('u') {
            return is_other(value);
        }
    }
    false
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
    unpinned("DL3008", "=/", it, &command.words[at + 2..], found);
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
        let is_path = word.starts_with(['.', '/', '-']) || word.ends_with(".deb") || word.ends_with(".apk");
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
const VALUED: [&str; 7] = ["-t", "--virtual", "-X", "--repository", "-o", "--target-release", "-c"];

fn pipe(it: &Instruction, script: &Script, shell: Option<&[String]>, found: &mut Vec<Diagnostic>) {
    let Some(at) = script.pipe else { return };
    let is_told = shell.is_some_and(|it| {
        it.windows(2).any(|it| it[0].starts_with('-') && it[0].ends_with('o') && it[1] == "pipefail")
    });
    let is_set = |it: &Command| {
        it.words.first().is_some_and(|it| it.0 == "set") && it.words.iter().any(|it| it.0 == "pipefail")
    };
    // A shell that was named on purpose and knows no pipefail.
    let has_none = shell.is_some() && matches!(shell_name(shell), "sh" | "dash" | "ash");
    if !is_told && !has_none && !script.commands.iter().any(is_set) {
        let place = it.line.place(it.arguments + at..it.arguments + at + 1);
        let message = "if what is before the pipe fails, the build goes on: set pipefail";
        found.push(Diagnostic::new("DL4006", message, place));
    }
}
