//! Instructions that put another shell in the place of `/bin/sh`: `RUN ln -sf bash /bin/sh`, `RUN dpkg-reconfigure dash`,
//! `COPY bash /bin/sh`.
//!
//! Left out are paths that a variable is part of, and scripts that `RUN` runs from a file.

use crate::parse::Instruction;
use crate::shell::{Command, Script};
use crate::words::unquote;

/// Commands whose last operand is what they write.
const WRITING: [&str; 4] = ["cp", "install", "ln", "mv"];

/// Commands whose arguments may be scripts.
const SHELLS: [&str; 7] = ["ash", "bash", "dash", "eval", "ksh", "sh", "zsh"];

/// Whether `/bin/sh` may be another shell after an instruction of the text.
pub(crate) fn replaces_shell(it: &Instruction, text: &str, escape: char) -> bool {
    match &*it.kind {
        _ if it.onbuild.is_some() => false,
        "ADD" | "COPY" => is_written(&operands(it, escape)),
        "RUN" => is_replaced_by_run(it, text),
        _ => false,
    }
}

fn operands(it: &Instruction, escape: char) -> Vec<String> {
    let plain = |word| unquote(&it.line.text[word], escape);
    it.json().unwrap_or_else(|| it.words(escape).into_iter().map(plain).collect())
}

fn is_replaced_by_run(it: &Instruction, text: &str) -> bool {
    if let Some(words) = it.json() {
        return is_replaced_by(&words);
    }
    // A here-document may be the script, or a file that it writes.
    let document = it.has_heredoc.then(|| joined(&text[it.span.clone()]));
    is_replaced_in(it.argument_text()) || document.is_some_and(|it| is_replaced_in(&it))
}

/// A script whose lines that go on are one.
fn joined(text: &str) -> String {
    text.replace("\\\r\n", " ").replace("\\\n", " ")
}

fn is_replaced_in(script: &str) -> bool {
    let words = |it: &Command| it.words.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
    Script::of(script).commands.iter().any(|it| is_replaced_by(&words(it)))
}

/// Whether a command replaces the shell, whatever runs the command: `sudo ln …`, `bash -c 'ln …'`.
fn is_replaced_by(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, name)| {
        let arguments = &words[at + 1..];
        match name.rsplit('/').next().unwrap_or_default() {
            "dpkg-reconfigure" => arguments.iter().any(|it| it == "dash"),
            "update-alternatives" => arguments.iter().any(|it| is_shell(it)),
            name if WRITING.contains(&name) => is_written(arguments),
            name if SHELLS.contains(&name) => arguments.iter().any(|it| is_replaced_in(it)),
            _ => false,
        }
    })
}

/// Whether the last of some operands is `/bin/sh`, or its folder where another is called `sh`.
fn is_written(arguments: &[String]) -> bool {
    let mut operands = arguments.iter().filter(|it| !it.starts_with('-'));
    let Some(target) = operands.next_back() else { return false };
    let is_folder = matches!(target.trim_end_matches('/'), "/bin" | "/usr/bin");
    is_shell(target) || is_folder && operands.any(|it| it.rsplit('/').next() == Some("sh"))
}

/// Whether a path is that of the shell, a relative one included: the folder may be `/bin`.
fn is_shell(path: &str) -> bool {
    matches!(path, "/bin/sh" | "/usr/bin/sh" | "bin/sh" | "./sh" | "sh")
}
