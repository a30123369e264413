//! Extended attributes of a merged folder's files: the user's own, and no others.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStringExt as _,
};

use fuser::{Errno, ReplyXattr};

use super::{
    files::is_users,
    node::{Id, os},
    tree::Tree,
};

pub(super) fn set_extended(
    tree: &mut Tree,
    id: Id,
    name: &OsStr,
    value: &[u8],
    flags: i32,
) -> io::Result<()> {
    if !is_users(name) {
        return Err(os(libc::EOPNOTSUPP));
    }
    let all = tree.load_extended(id)?;
    match all.contains_key(name) {
        true if flags & libc::XATTR_CREATE != 0 => return Err(os(libc::EEXIST)),
        false if flags & libc::XATTR_REPLACE != 0 => return Err(os(libc::ENODATA)),
        _ => all.insert(name.to_owned(), value.to_owned()),
    };
    tree.change(id).map(drop)
}

pub(super) fn get_extended(tree: &Tree, id: Id, name: &OsStr) -> io::Result<Vec<u8>> {
    if !is_users(name) {
        return Err(os(libc::EOPNOTSUPP));
    }
    tree.extended(id)?.remove(name).ok_or_else(|| os(libc::ENODATA))
}

/// The names, each with a NUL after it.
pub(super) fn list_extended(tree: &Tree, id: Id) -> io::Result<Vec<u8>> {
    let names = tree.extended(id)?.into_keys().map(OsString::into_vec);
    Ok(names.flat_map(|name| name.into_iter().chain([0])).collect())
}

pub(super) fn remove_extended(tree: &mut Tree, id: Id, name: &OsStr) -> io::Result<()> {
    tree.load_extended(id)?.remove(name).ok_or_else(|| os(libc::ENODATA))?;
    tree.change(id).map(drop)
}

/// Answers with a value, or with its length if that is asked for.
pub(super) fn tell_extended(value: io::Result<Vec<u8>>, size: u32, reply: ReplyXattr) {
    match value {
        Ok(value) if size == 0 => reply.size(u32::try_from(value.len()).unwrap_or(u32::MAX)),
        Ok(value) if value.len() > size as usize => reply.error(Errno::ERANGE),
        Ok(value) => reply.data(&value),
        Err(error) => reply.error(error.into()),
    }
}
