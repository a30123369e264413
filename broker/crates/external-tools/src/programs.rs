//! Programs of `PATH`, and those that run scripts.

use std::{
    env,
    ffi::OsString,
    io::Read as _,
    path::{Path, PathBuf},
};

/// Lookup of a variable in the environment that a tool gets.
pub type Variables<'v> = &'v dyn Fn(&str) -> Option<OsString>;

/// Bytes of a script that the kernel looks at.
const FIRST_LINE: u64 = 256;

/// The first program of this name in the folders of `PATH`.
pub fn in_folders_of_path(name: &str, variable: Variables<'_>) -> Option<PathBuf> {
    let folders = variable("PATH")?;
    let mut programs = env::split_paths(&folders).filter(|it| it.is_absolute()).map(|it| it.join(name));
    programs.find(|it| it.is_file())
}

/// The program that runs this one, if that is a script: the one that its first line names, or has `env` look for.
pub fn interpreter_of(script: &Path, variable: Variables<'_>) -> Option<PathBuf> {
    let mut start = Vec::new();
    overlay::open_regular(script).ok()?.take(FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.split(|it| *it == b'\n').next()?.strip_prefix(b"#!")?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    let named = PathBuf::from(words.next()?);
    if !named.ends_with("env") {
        return Some(named).filter(|it| it.is_absolute());
    }
    let is_setting = |it: &&str| it.starts_with('-') || it.contains('=');
    in_folders_of_path(words.find(|it| !is_setting(it))?, variable)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::fs;

    use super::*;

    #[test]
    fn first_lines() {
        let folder = tempfile::tempdir().unwrap();
        let (script, node) = (folder.path().join("own"), folder.path().join("node"));
        fs::write(&node, "").unwrap();
        let variable = |name: &str| (name == "PATH").then(|| folder.path().as_os_str().to_owned());
        let of = |text: &str| {
            fs::write(&script, text).unwrap();
            interpreter_of(&script, &variable)
        };
        assert_eq!(of("#!/opt/python -I\nx"), Some("/opt/python".into()));
        for by_env in ["#!/usr/bin/env node", "#! /usr/bin/env -S A=b node --x\n"] {
            assert_eq!(of(by_env), Some(node.clone()), "{by_env}");
        }
        for none in ["", "#!", "#!node\n", "#!/usr/bin/env none\n", "\x7fELF"] {
            assert_eq!(of(none), None, "{none}");
        }
        assert_eq!(interpreter_of(folder.path(), &variable), None, "a folder");
    }
}
