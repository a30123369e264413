//! List of a tool's files, by which damage is noticed: a line for each with its digest, whether it can be run, and its path.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

/// Name of the list, in the tool's folder.
const LIST: &str = "contents";

/// Lists the files of a tool. Links are made by the store itself, from the plan.
#[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
pub(super) fn write(folder: &Path) -> io::Result<()> {
    let mut lines = Vec::new();
    for path in files(folder)? {
        lines.push(line(folder, &path)?);
    }
    fs::write(folder.join(LIST), lines.concat())
}

/// Whether each file of the list is as it was. Files beside them, such as caches of Python, do not count.
#[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
pub(super) fn is_whole(folder: &Path) -> bool {
    let Ok(list) = fs::read_to_string(folder.join(LIST)) else { return false };
    list.split_inclusive('\n').all(|it| {
        let path = it.trim_end().splitn(3, ' ').nth(2);
        path.is_some_and(|path| line(folder, Path::new(path)).is_ok_and(|now| now == it))
    })
}

fn line(folder: &Path, path: &Path) -> io::Result<String> {
    #[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
    let mut file = File::open(folder.join(path))?;
    let kind = if file.metadata()?.permissions().mode() & 0o100 == 0 { "file" } else { "program" };
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    let digest: String = hash.finalize().iter().map(|it| format!("{it:02x}")).collect();
    Ok(format!("{digest} {kind} {}\n", path.display()))
}

/// Paths below `folder`, sorted. Names with a line break, which no package has, are left out.
#[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut open, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at)? {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            if kind.is_dir() {
                open.push(path);
            } else if let (true, Ok(path)) = (kind.is_file(), path.strip_prefix(folder))
                && path.to_str().is_some_and(|it| !it.contains('\n'))
            {
                found.push(path.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}
