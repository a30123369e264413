//! Words for errors of the file system.

use std::io;

/// Returns the reason why a file cannot be read, in words about the file and not about the system call.
pub fn io_reason(error: &io::Error) -> String {
    // A sentence of the project's own.
    if error.get_ref().is_some() {
        return error.to_string();
    }
    let words = match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::IsADirectory => "it is a directory",
        io::ErrorKind::NotADirectory => "it, or something on the way there, is not a directory",
        io::ErrorKind::Unsupported => "it is not a regular file",
        io::ErrorKind::FileTooLarge => "it is too large to be read",
        io::ErrorKind::InvalidInput => "it is not a symbolic link",
        _ => return error.to_string(),
    };
    words.to_owned()
}
