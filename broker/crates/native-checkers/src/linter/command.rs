//! The words of a checker's commands.

use std::{ffi::OsString, path::Path};

use external_tools::is_there;
use overlay::{View, WorkspacePath};

use crate::checker::{Checker, Checks};

/// The program of a checker for a project.
pub(super) struct Call<'c> {
    pub(super) checker: &'c Checker,
    pub(super) program: &'c Path,
    pub(super) project: &'c WorkspacePath,
    /// The project's folder on the disk.
    pub(super) place: &'c Path,
}

impl Call<'_> {
    /// The commands of a run: one for a project, or as many as its files take.
    pub(super) fn commands(&self, files: &[WorkspacePath], view: &dyn View) -> Vec<Vec<OsString>> {
        let checker = self.checker;
        let words = self.with(checker.tool.arguments().iter());
        let and = |more: Vec<OsString>| words.iter().cloned().chain(more).collect();
        match checker.checks {
            Checks::Project => {
                let says_where = checker.unless.iter().any(|it| is_there(view, self.project, it));
                let target = checker.target.iter().filter(|_| !says_where);
                vec![and(target.map(OsString::from).collect())]
            }
            // Not as options, whatever they are called.
            Checks::Files => {
                let argument = |it: &WorkspacePath| {
                    format!("./{}", it.strip_prefix(self.project).unwrap_or(it.as_str())).into()
                };
                files.chunks(checker.at_once).map(|it| and(it.iter().map(argument).collect())).collect()
            }
        }
    }

    /// The program with these arguments.
    pub(super) fn with<'a>(&self, arguments: impl Iterator<Item = &'a String>) -> Vec<OsString> {
        let arguments = arguments.map(|it| it.replace("${root}", &self.place.to_string_lossy()).into());
        [self.program.as_os_str().to_owned()].into_iter().chain(arguments).collect()
    }
}
