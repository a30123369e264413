//! The only thing here that writes: other texts of files that are staged already.

use std::{io::Write as _, process::Stdio, thread, time::Duration};

use overlay::WorkspacePath;

use super::{Git, cannot_run, failed};
use crate::CliError;

/// Another text of a file that is staged.
pub(crate) struct Restaged {
    pub(crate) path: WorkspacePath,
    pub(crate) old: bytes::Bytes,
    pub(crate) new: bytes::Bytes,
    /// Whether the texts are as git stores them, and not as a working copy has them, perhaps with other line ends.
    pub(crate) is_stored: bool,
}

/// Pauses before another attempt while another program holds the index, in milliseconds.
const PAUSES: [u64; 5] = [20, 80, 300, 600, 1_000];

impl Git {
    /// Replaces the staged texts, all or none. Fails if one of them is no longer `old`.
    pub(crate) fn restage(&self, files: &[Restaged]) -> Result<(), CliError> {
        if files.is_empty() {
            return Ok(());
        }
        let prefix = self.prefix()?;
        let mut list = Vec::new();
        for file in files {
            let mode = self.mode_of(file)?;
            let blob = self.blob(file, &file.new, true)?;
            list.extend(format!("{mode} {blob}\t{prefix}{}\0", file.path).into_bytes());
        }
        let arguments = ["update-index", "-z", "--index-info"];
        let mut pauses = PAUSES.iter();
        loop {
            let done = self.feed(&arguments, &list)?;
            if done.status.success() {
                return Ok(());
            }
            let is_locked = String::from_utf8_lossy(&done.stderr).contains("index.lock");
            match pauses.next().filter(|_| is_locked) {
                Some(pause) => thread::sleep(Duration::from_millis(*pause)),
                None => return Err(failed(&arguments, &done.stderr)),
            }
        }
    }

    /// The mode of a staged file, whose text must be `old` still.
    fn mode_of(&self, file: &Restaged) -> Result<String, CliError> {
        let staged = self.run(&["ls-files", "--stage", "-z", "--", &literal(&file.path)])?;
        let staged = String::from_utf8_lossy(&staged).into_owned();
        // `MODE BLOB STAGE\tPATH`
        let fields: Vec<_> = staged.split([' ', '\t', '\0']).collect();
        let is_same =
            fields.get(1).is_some_and(|it| self.blob(file, &file.old, false).is_ok_and(|old| old == *it));
        match fields.first().filter(|_| is_same) {
            Some(mode) => Ok((*mode).to_owned()),
            None => {
                let error = format!("the index has another `{}` now than was checked", file.path);
                Err(CliError::files(error).hint("run it again: it starts from what is staged now"))
            }
        }
    }

    fn blob(&self, file: &Restaged, text: &[u8], keep: bool) -> Result<String, CliError> {
        let path = format!("--path={}", file.path);
        let mut arguments = vec!["hash-object", "--stdin"];
        arguments.push(if file.is_stored { "--no-filters" } else { &path });
        arguments.extend(keep.then_some("-w"));
        let done = self.feed(&arguments, text)?;
        if !done.status.success() {
            return Err(failed(&arguments, &done.stderr));
        }
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    pub(super) fn feed(&self, arguments: &[&str], input: &[u8]) -> Result<std::process::Output, CliError> {
        let mut command = self.command(arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().map_err(|error| cannot_run(&error))?;
        let mut stdin = child.stdin.take();
        thread::scope(|scope| {
            // Git reports an error about input that it does not read.
            scope.spawn(move || stdin.as_mut().map(|it| it.write_all(input)));
            child.wait_with_output()
        })
        .map_err(|error| cannot_run(&error))
    }
}

/// A path that is no pattern.
fn literal(path: &WorkspacePath) -> String {
    format!(":(literal){path}")
}
