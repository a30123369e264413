//! The program that runs a script without an extension, by its first line.

use overlay::WorkspacePath;

/// The name of that program, as `bash`; `None` if the name of the file has an extension, or it is no script.
pub fn interpreter<'t>(path: &WorkspacePath, text: &'t [u8]) -> Option<&'t str> {
    if has_extension(path) { None } else { of_first_line(text) }
}

/// Whether the file's name contains a dot, which counts as having an extension.
pub fn has_extension(path: &WorkspacePath) -> bool {
    path.file_name().is_none_or(|it| it.contains('.'))
}

/// Name of the program that `execve` and `env` would run: `#!/bin/sh -e`, `#!/usr/bin/env -S A=b bash -x`.
fn of_first_line<'t>(text: &'t [u8]) -> Option<&'t str> {
    let line = text.strip_prefix(b"#!")?.split(|it| *it == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let program = words.next()?;
    let name = |it: &'t str| it.rsplit('/').next().filter(|it| !it.is_empty());
    match name(program)? {
        "env" => name(of_env(words)?),
        "busybox" => words.next(),
        program => Some(program),
    }
}

/// The first word that is neither an option of `env` nor a variable.
fn of_env<'t>(mut words: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    while let Some(word) = words.next() {
        let split = word.strip_prefix("--split-string=").or_else(|| word.strip_prefix("-S"));
        match split.filter(|it| !it.is_empty()).unwrap_or(word) {
            "-u" | "--unset" | "-C" | "--chdir" => _ = words.next(),
            it if it.starts_with('-') || it.contains('=') => {}
            it => return Some(it),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_first_lines() {
        for (text, want) in [
            ("#!/bin/sh", Some("sh")),
            ("#! /usr/local/bin/bash -e\necho", Some("bash")),
            ("#!/usr/bin/env zsh\r\n", Some("zsh")),
            ("#!/usr/bin/env -S A=b bash -x", Some("bash")),
            ("#!/usr/bin/env -Sbash -x", Some("bash")),
            ("#!/usr/bin/env --split-string=bash -x", Some("bash")),
            ("#!/usr/bin/env -i A=b -u C -C / dash", Some("dash")),
            ("#!/usr/bin/env -S /bin/zsh -f", Some("zsh")),
            ("#!env sh", Some("sh")),
            ("#!sh", Some("sh")),
            ("#!/bin/busybox sh", Some("sh")),
            ("#!/usr/bin/env", None),
            ("#!/bin/", None),
            ("#!", None),
            (" #!/bin/sh", None),
            ("", None),
        ] {
            assert_eq!(of_first_line(text.as_bytes()), want, "{text}");
        }
        assert_eq!(of_first_line(b"#!/bin/\xff"), None);
    }

    #[test]
    fn only_without_an_extension() {
        let of = |path: &str| interpreter(&WorkspacePath::new(path).unwrap(), b"#!/bin/sh\n");
        assert_eq!(["run", "bin/run"].map(of), [Some("sh"); 2]);
        assert_eq!(["run.txt", ".run", ""].map(of), [None; 3]);
    }
}
