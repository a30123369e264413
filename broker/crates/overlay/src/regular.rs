//! Files outside of any workspace that others may have put there.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

/// The bytes of a regular file of at most `most` bytes. Never waits, whatever the path names: a pipe, a device and a folder are
/// [`io::ErrorKind::InvalidInput`], what is larger is [`io::ErrorKind::FileTooLarge`]. Links are followed.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let size = file.metadata()?.len();
    if size > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Opens a regular file of any size, to be read in pieces. Never waits; the rest is as in [`read_regular`].
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    Ok(file)
}

/// Without `NONBLOCK`, to open a pipe would wait for someone to write into it.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "it is no workspace file")]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn only_a_regular_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let kind = |path: &Path, most| read_regular(path, most).map_err(|it| it.kind());
        assert_eq!(kind(&at("file"), 4), Ok(b"text".to_vec()));
        assert_eq!(kind(&at("link"), 9), Ok(b"text".to_vec()));
        assert_eq!(kind(&at("file"), 3), Err(io::ErrorKind::FileTooLarge));
        assert_eq!(kind(&at("pipe"), 9), Err(io::ErrorKind::InvalidInput));
        assert_eq!(kind(Path::new("/dev/zero"), 9), Err(io::ErrorKind::InvalidInput));
        assert_eq!(kind(folder.path(), 9), Err(io::ErrorKind::InvalidInput));
        assert_eq!(open_regular(&at("file")).unwrap().metadata().unwrap().len(), 4);
        assert_eq!(open_regular(&at("pipe")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
