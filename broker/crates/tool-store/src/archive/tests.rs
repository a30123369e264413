//! Archives as they are, and as they must not be.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::testing::{tarball, wheel};

const UNLIMITED: Room = Room(u64::MAX);

/// The unpacked files, a line for each file, or the reason.
fn unpacked(unpack: impl FnOnce(Unpacker<'_>) -> Result<(), Refusal>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    let result = unpack(Unpacker::new(&inner, 100, &mut UNLIMITED.clone()));
    let outside: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().map(|it| it.file_name()).collect();
    assert!(outside.iter().all(|it| it == "inner"), "{outside:?}");
    match result {
        Ok(()) => listed(&inner, &inner),
        Err(Refusal::Archive(why)) => why,
        Err(Refusal::Io(path, error)) => panic!("{}: {error}", path.display()),
    }
}

fn listed(root: &Path, folder: &Path) -> String {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    let line = |path: &PathBuf| match path.is_dir() {
        true => listed(root, path),
        false => {
            let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
            format!(
                "{} {mode:o} {}\n",
                path.strip_prefix(root).unwrap().display(),
                fs::read_to_string(path).unwrap()
            )
        }
    };
    paths.iter().map(line).collect()
}

fn of_tarball(entries: &[(&str, EntryType, u32, &str)]) -> String {
    unpacked(|it| it.tarball(&tarball(entries)))
}

fn of_wheel(entries: &[(&str, u32, &str)]) -> String {
    unpacked(|it| it.wheel(&wheel(entries)))
}

#[test]
fn a_tarball_is_laid_out_as_by_npm() {
    let files = [
        ("package/package.json", EntryType::Regular, 0o666, "{}"),
        ("package/bin", EntryType::Directory, 0o777, ""),
        ("package/bin/run", EntryType::Regular, 0o4755, "run"),
    ];
    insta::assert_snapshot!(of_tarball(&files), @"
    bin/run 755 run
    package.json 644 {}
    ");
}

#[test]
fn a_wheel_is_laid_out_as_by_pip() {
    let files = [
        ("a/__init__.py", 0o100_644, "import b"),
        ("a-1.data/scripts/run", 0o100_644, "run"),
        ("a-1.data/purelib/b.py", 0o100_644, ""),
        ("a-1.data/data/share/c", 0, "c"),
        ("a/bin/native", 0o100_755, "elf"),
    ];
    insta::assert_snapshot!(of_wheel(&files), @"
    a/__init__.py 644 import b
    a/bin/native 755 elf
    b.py 644 
    data/share/c 644 c
    scripts/run 755 run
    ");
}

#[test]
fn what_leads_out_of_a_tarball_is_refused() {
    let of = |name: &str, kind| {
        of_tarball(&[("package/a", EntryType::Regular, 0o644, "a"), (name, kind, 0o644, "/etc/passwd")])
    };
    insta::assert_snapshot!(of("package/../../out", EntryType::Regular), @"`package/../../out` in it leads out of the package");
    insta::assert_snapshot!(of("/etc/out", EntryType::Regular), @"`/etc/out` in it leads out of the package");
    insta::assert_snapshot!(of("out", EntryType::Regular), @"`out` in it lies beside the package");
    insta::assert_snapshot!(of("package/link", EntryType::Symlink), @"`package/link` in it is a link");
    insta::assert_snapshot!(of("package/link", EntryType::Link), @"`package/link` in it is a link");
    insta::assert_snapshot!(of("package/zero", EntryType::Char), @"`package/zero` in it is a device");
    insta::assert_snapshot!(of("package/pipe", EntryType::Fifo), @"`package/pipe` in it is a pipe");
    insta::assert_snapshot!(of("package/\u{1b}[2J/../..", EntryType::Regular), @r"`package/\u{1b}[2J/../..` in it leads out of the package");
}

#[test]
fn what_leads_out_of_a_wheel_is_refused() {
    let of = |name: &str, mode| of_wheel(&[("a.py", 0o100_644, "a"), (name, mode, "/etc/passwd")]);
    insta::assert_snapshot!(of("../out", 0o100_644), @"`../out` in it leads out of the package");
    insta::assert_snapshot!(of("/etc/out", 0o100_644), @"`/etc/out` in it leads out of the package");
    insta::assert_snapshot!(of("a-1.data/scripts/../../../out", 0o100_644), @"`a-1.data/scripts/../../../out` in it leads out of the package");
    insta::assert_snapshot!(of("link", 0o120_777), @"`link` in it is a link");
    insta::assert_snapshot!(of("device", 0o020_644), @"`device` in it is no regular file");
}

#[test]
fn what_grows_without_end_is_refused() {
    let zeros = "\0".repeat((SMALLEST_LIMIT + 1) as usize);
    let large = tarball(&[("package/a", EntryType::Regular, 0o644, &zeros)]);
    assert!(large.len() < 100_000);
    insta::assert_snapshot!(unpacked(|it| it.tarball(&large)), @"it holds more bytes than a package of its size may");
    let large = wheel(&[("a", 0o100_644, &zeros)]);
    insta::assert_snapshot!(unpacked(|it| it.wheel(&large)), @"it holds more bytes than a package of its size may");
    let folder = tempfile::tempdir().unwrap();
    let mut room = UNLIMITED;
    let two = Unpacker { files: 1, ..Unpacker::new(folder.path(), 100, &mut room) };
    let many = [("a", 0o100_644, "a"), ("b", 0o100_644, "b")];
    assert!(matches!(two.wheel(&wheel(&many)), Err(Refusal::Archive(why)) if why.contains("more files")));
}

#[test]
fn what_is_damaged_is_said_to_be() {
    let whole = tarball(&[("package/a", EntryType::Regular, 0o644, &"a\n".repeat(10_000))]);
    let half = unpacked(|it| it.tarball(&whole[..whole.len() / 2]));
    assert!(half.starts_with("it is damaged: "), "{half}");
    let none = unpacked(|it| it.wheel(b"<html>"));
    assert!(none.starts_with("it is damaged: "), "{none}");
}
