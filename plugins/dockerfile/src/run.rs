//! Rules on what `RUN` runs, as far as they need no shell.

use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Fix};

use crate::dash;
use crate::parse::Instruction;
use crate::shell::{Command, Script};
use crate::splits;
use crate::stages::Build;

/// Official images of whole systems, in which a build begins as root.
const ROOT_IMAGES: [&str; 14] = [
    "almalinux",
    "alpine",
    "amazonlinux",
    "archlinux",
    "buildpack-deps",
    "busybox",
    "centos",
    "debian",
    "fedora",
    "oraclelinux",
    "photon",
    "rockylinux",
    "scratch",
    "ubuntu",
];

/// Settings in force at an instruction.
struct Context<'d> {
    escape: char,
    shell: Option<Vec<String>>,
    user: Option<&'d Instruction>,
    /// The base image is one in which a build begins as root.
    begins_as_root: bool,
    is_dash: bool,
}

pub(crate) fn check(build: &Build<'_>, text: &str, found: &mut Vec<Diagnostic>) {
    let in_dash = dash::shell_of_stages(build, text);
    for (number, stage) in build.stages.iter().enumerate() {
        let mut context = Context::at_start(build, number, in_dash[number]);
        for it in stage.steps.iter().filter(|it| it.onbuild.is_none()) {
            match &*it.kind {
                "SHELL" => context.shell = it.json(),
                "USER" => context.user = Some(it),
                "RUN" if context.can_read(it) => context.run(it, found),
                _ => {}
            }
        }
    }
}

impl<'d> Context<'d> {
    fn at_start(build: &Build<'d>, number: usize, is_dash: bool) -> Self {
        let escape = build.file.escape;
        let base = build.line_of(number).last().and_then(|it| it.official_image(escape));
        Self {
            escape,
            shell: build.inherited(number, "SHELL").and_then(Instruction::json),
            user: build.inherited(number, "USER"),
            begins_as_root: base.is_some_and(|it| ROOT_IMAGES.contains(&&*it.0)),
            is_dash,
        }
    }

    /// Whether a `RUN` has a script in the words of sh.
    fn can_read(&self, it: &Instruction) -> bool {
        it.json().is_none() && !it.has_heredoc && is_posix(self.shell.as_deref(), self.escape)
    }

    fn run(&self, it: &Instruction, found: &mut Vec<Diagnostic>) {
        let script = Script::of(it.argument_text());
        let shell = self.shell.as_deref();
        commands(it, &script, found);
        if self.user.is_none_or(|it| it.is_root(self.escape)) {
            sudo(it, &script, self.user.is_some() || self.begins_as_root, found);
        }
        pipe(it, &script, shell, found);
        if shell_name(shell) != "zsh" {
            splits::check(it, &script, found);
        }
        if self.is_dash && matches!(shell_name(shell), "sh" | "dash") {
            dash::check(it, &script, found);
        }
    }
}

/// Whether a shell reads as sh does.
fn is_posix(shell: Option<&[String]>, escape: char) -> bool {
    escape == '\\' && matches!(shell_name(shell), "sh" | "bash" | "dash" | "ash" | "ksh" | "zsh" | "mksh")
}

/// Name of a shell, without its folder.
fn shell_name(shell: Option<&[String]>) -> &str {
    shell.and_then(<[String]>::first).map_or("sh", |it| it.rsplit(['/', '\\']).next().unwrap_or(it))
}

fn commands(it: &Instruction, script: &Script, found: &mut Vec<Diagnostic>) {
    for command in &script.commands {
        let Some((name, range)) = command.words.first() else { continue };
        let place = || it.line.place(it.arguments + range.start..it.arguments + range.end);
        let arguments: Vec<&str> = command.words[1..].iter().map(|it| &*it.0).collect();
        match &**name {
            "apt" => found.push(Diagnostic::new(
                "DL3027",
                "`apt` has no stable command line: use `apt-get` or `apt-cache`",
                place(),
            )),
            "apt-get" => apt_get(it, command, &arguments, found),
            "apk" => apk(it, command, &arguments, found),
            "ln" if arguments.last() == Some(&"/bin/sh") => {
                found.push(Diagnostic::new("DL4005", "use SHELL to change the shell", place()));
            }
            _ => {}
        }
    }
}

fn sudo(it: &Instruction, script: &Script, is_root: bool, found: &mut Vec<Diagnostic>) {
    let message = match is_root {
        true => "`RUN` already runs as root: remove `sudo`",
        false => "choose the user with `USER` instead of `sudo`",
    };
    for command in &script.commands {
        let [(name, range), arguments @ ..] = &command.words[..] else { continue };
        let arguments: Vec<&str> = arguments.iter().map(|it| &*it.0).collect();
        if name == "sudo" && !has_other_user(&arguments) {
            let place = it.line.place(it.arguments + range.start..it.arguments + range.end);
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
        let fix = Fix::safe("Add `-y`", place.end..place.end, " -y");
        found.push(
            Diagnostic::new("DL3014", "`apt-get install` waits for confirmation: add `-y`", place)
                .with_fix(fix),
        );
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
    let is_set_in_shell = shell.is_some_and(|it| {
        it.windows(2).any(|it| it[0].starts_with('-') && it[0].ends_with('o') && it[1] == "pipefail")
    });
    let is_set = |it: &Command| {
        it.words.first().is_some_and(|it| it.0 == "set") && it.words.iter().any(|it| it.0 == "pipefail")
    };
    // A shell that was named on purpose and knows no pipefail.
    let has_none = shell.is_some() && matches!(shell_name(shell), "sh" | "dash" | "ash");
    if !is_set_in_shell && !has_none && !script.commands.iter().any(is_set) {
        let place = it.line.place(it.arguments + at..it.arguments + at + 1);
        let message = "if what is before the pipe fails, the build goes on: set pipefail";
        found.push(Diagnostic::new("DL4006", message, place));
    }
}
