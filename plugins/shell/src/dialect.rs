//! Which shell a script is for.

use std::path::Path;

use shuck_linter::ShellDialect;

/// Shells that a configuration may name.
pub(crate) const NAMES: &str = "`bash`, `dash`, `ksh`, `mksh`, `sh` or `zsh`";

/// The shell of a name, if shuck knows it.
pub(crate) fn named(name: &str) -> Option<ShellDialect> {
    Some(ShellDialect::from_name(name)).filter(|it| *it != ShellDialect::Unknown)
}

/// Number of lines at each end of a file among which editors look for settings.
const MODELINES: usize = 5;

/// The shell that a script is for; none if it is for one that shuck does not know. A `#!` behind comments or empty lines counts
/// for nothing when the script is started, but says what its author meant, and ShellCheck goes by it, too. A script that says
/// nothing of it but that it ends in `.sh` is not blamed for what only bash has: such files are sourced by bash as often as not,
/// and it was not said that they are for another.
pub(crate) fn inferred(text: &str, path: &Path) -> Option<ShellDialect> {
    if let Some(shell) = header(text).find_map(directive) {
        return Some(shell);
    }
    let has_shebang = header(text).any(|it| it.starts_with("#!"));
    let ends_in_sh = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("sh"));
    if !text.starts_with("#!")
        && let Some(shell) = header(text).find_map(shebang).or_else(|| modelines(text).find_map(edited))
    {
        return Some(shell);
    }
    match ShellDialect::infer(text, Some(path)) {
        ShellDialect::Sh if ends_in_sh && !has_shebang => Some(ShellDialect::Bash),
        ShellDialect::Unknown if is_of_another_shell(text) => None,
        shell => Some(shell),
    }
}

/// The lines before the first command.
fn header(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).take_while(|it| it.is_empty() || it.starts_with('#'))
}

/// `# shellcheck disable=SC1091 shell=sh # why`: shuck itself sees it only where `shell` comes first.
fn directive(line: &str) -> Option<ShellDialect> {
    let words = line.strip_prefix('#')?.split('#').next()?;
    let mut words = words.split_whitespace();
    words.next().filter(|it| *it == "shellcheck")?;
    words.find_map(|it| named(it.strip_prefix("shell=")?))
}

/// `#!/bin/bash`.
fn shebang(line: &str) -> Option<ShellDialect> {
    named(shuck_parser::shebang::interpreter_name(line)?)
}

/// Comments at the beginning and at the end of a file.
fn modelines(text: &str) -> impl Iterator<Item = &str> {
    let lines = || text.lines().map(str::trim);
    lines().take(MODELINES).chain(lines().rev().take(MODELINES)).filter(|it| it.starts_with('#'))
}

/// The shell that a comment names to an editor: `# vim: set ft=zsh sw=2 :`, `# -*- mode: sh; sh-shell: bash -*-`. That the file
/// is a script of some shell (`ft=sh`, `mode: sh`) says nothing.
fn edited(line: &str) -> Option<ShellDialect> {
    let is_vim = ["vim:", "vi:", "ex:"].iter().any(|it| line.contains(it));
    let is_emacs = line.contains("sh-shell:");
    let line = line.replace("sh-shell: ", "shell=").replace("sh-shell:", "shell=");
    let mut words = line.split([' ', '\t', ':', ';', '-']).filter(|_| is_vim || is_emacs);
    words.find_map(|it| {
        let (key, value) = it.split_once('=').unwrap_or(("", it));
        let is_key = match key {
            "ft" | "filetype" | "syn" | "syntax" => is_vim,
            "shell" => is_emacs,
            _ => false,
        };
        named(value).filter(|it| is_key && *it != ShellDialect::Sh)
    })
}

/// Whether the first line names an interpreter.
fn is_of_another_shell(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with("#!") && shuck_parser::shebang::interpreter_name(first).is_some()
}
