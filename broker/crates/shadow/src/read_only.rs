//! The workspace as it is on the disk, for programs that run on while people edit it: they see each change at once, are told of
//! it by the system if they watch for it, and cannot write there.
//!
//! Not possible without namespaces, and with a kernel before 5.12.

use std::{
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
};

use crate::{Launcher, OpenError, Program, Running, Sandbox, linux::Folder};

/// A folder that programs cannot write to. When it is dropped they are ended.
pub struct ReadOnly {
    folder: Folder,
    root: PathBuf,
}

impl ReadOnly {
    /// Shows the folder on the disk at `root`, which is absolute and free of links, where it is.
    pub fn open(launcher: &Launcher, root: &Path, sandbox: &Sandbox) -> Result<Self, OpenError> {
        let folder = Folder::open_read_only(&launcher.starter, root, sandbox)?;
        Ok(Self { folder, root: root.to_owned() })
    }

    /// Starts a program with these as its standard input, output and error.
    pub fn run(&self, mut program: Program, files: [BorrowedFd<'_>; 3]) -> Result<Running, OpenError> {
        let temporary = temporary_folder(&self.root);
        program.environment.retain(|it| it.0 != "TMPDIR");
        program.environment.push(("TMPDIR".into(), temporary.into()));
        let (program, terminal) = self.folder.run(program, Some(files))?;
        Ok(Running { program, relays: Vec::new(), copy: None, terminal })
    }
}

/// The folder for temporary files of programs in such a folder at `root`. Below a folder around it they cannot write.
pub fn temporary_folder(root: &Path) -> &'static str {
    if root.starts_with("/tmp") { "/var/tmp" } else { "/tmp" }
}
