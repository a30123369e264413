//! The version of a checker's program, as it prints it.

use std::{sync::LazyLock, time::Instant};

use lint::Cancel;
use overlay::WorkspacePath;
use regex::Regex;

use crate::{
    checker::Checker,
    run::{Folder, Ran, Setup},
};

impl Checker {
    /// Runs its program in the workspace's root to ask for its version, until it is cancelled or late. `None` if nothing is known that asks for it.
    pub fn ask_version(
        &self,
        setup: &Setup,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Option<Result<String, String>> {
        (!self.version.is_empty()).then(|| {
            let program = setup.find_anywhere(self);
            let program = program.ok_or_else(|| self.tool.not_installed().message)?;
            let folder = Folder::open(setup, self, &program, &*setup.disk, &WorkspacePath::root())?;
            let arguments = self.version.iter().map(Into::into);
            let command = [program.into_os_string()].into_iter().chain(arguments).collect();
            said(&folder.run(command, cancel, Some(deadline))?, self)
        })
    }
}

fn said(ran: &Ran, checker: &Checker) -> Result<String, String> {
    let code = ran.code(checker)?;
    if code != 0 {
        return Err(format!("it ended with exit code {code}{}", ran.last_words(checker)));
    }
    let streams = [&ran.stdout, &ran.stderr].map(|it| String::from_utf8_lossy(it));
    streams.iter().find_map(|it| in_text(it)).ok_or_else(|| "it printed no version".to_owned())
}

/// The first word that looks like a version, or the part of one that does.
fn in_text(text: &str) -> Option<String> {
    static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d+(\.\d+)+[-+.\w]*").ok());
    VERSION.as_ref()?.find(text).map(|it| it.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_what_tools_print() {
        for (text, version) in [
            ("cargo 1.91.0 (ea2d97820 2025-10-10)\n", "1.91.0"),
            ("go version go1.27.3 linux/amd64\n", "1.27.3"),
            ("v9.39.1\n", "9.39.1"),
            ("ShellCheck - shell script analysis tool\nversion: 0.11.0\n", "0.11.0"),
            ("LLVM (http://llvm.org/):\n  LLVM version 23.1.0\n", "23.1.0"),
            ("Version 5.9.0-beta\n", "5.9.0-beta"),
        ] {
            assert_eq!(in_text(text).as_deref(), Some(version));
        }
        assert_eq!(in_text("it has none"), None);
    }
}
