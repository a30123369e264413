//! Tests of a base's answers while the disk changes under it, with and without unsaved texts on top.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    fs::{self, File},
    os::unix::fs::{PermissionsExt as _, symlink},
    time::Duration,
};

use tempfile::TempDir;

use super::*;
use crate::{Branch, EditError, FileKind};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn open(folder: &TempDir) -> Base {
    Base::open(folder.path(), BaseOptions::default()).unwrap()
}

/// Lets so much time pass that what is on the disk is known to be at rest.
fn rest() {
    std::thread::sleep(Duration::from_millis(70));
}

fn kind_of<T: std::fmt::Debug>(answer: io::Result<T>) -> io::ErrorKind {
    answer.unwrap_err().kind()
}

fn names(view: &dyn View, directory: &str) -> Vec<String> {
    view.list(&path(directory)).unwrap().entries.into_iter().map(|it| it.name).collect()
}

#[track_caller]
fn at_once_as_one_by_one(view: &dyn View) {
    let names = ["dir", "file", "other", "inner"];
    for directory in ["", "dir", "dir/file", "other"].map(path) {
        let one_by_one = names.map(|it| view.file_hash(&directory.child(it)).map_err(|it| it.kind()));
        let at_once = view.hash_all(&directory, &names, u64::MAX).into_iter();
        assert_eq!(
            at_once.map(|it| it.map_err(|it| it.kind())).collect::<Vec<_>>(),
            one_by_one,
            "{directory}"
        );
    }
}

#[test]
fn a_file_over_the_limit_is_not_read_for_its_hash() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("small"), "text").unwrap();
    // A hole of 64 GiB: to hash it would take a minute.
    File::create(folder.path().join("large")).unwrap().set_len(1 << 36).unwrap();
    let mut branch = Branch::new(Arc::new(open(&folder)));
    branch.write(&path("edited"), "edit".into()).unwrap();
    let names = ["edited", "large", "small"];
    let too_large = Err(io::ErrorKind::FileTooLarge);
    let over_disk = [Err(io::ErrorKind::NotFound), too_large, Ok(())];
    let (disk, base, snapshot) = (Disk::new(folder.path()).unwrap(), open(&folder), branch.snapshot());
    let views: [(&dyn View, _); 3] =
        [(&disk, over_disk), (&base, over_disk), (&snapshot, [Ok(()), too_large, Ok(())])];
    for (view, want) in views {
        let hashes = view.hash_all(&WorkspacePath::root(), &names, 4).into_iter();
        assert_eq!(hashes.map(|it| it.map(|_| ()).map_err(|it| it.kind())).collect::<Vec<_>>(), want);
    }
}

/// Fills a folder, lets it rest and be read, changes it, and compares with a disk that knows nothing: with
/// the base at once and after another rest, and with an unsaved text over `dir/file`.
#[track_caller]
fn check(change: impl Fn(&Path)) {
    for is_buffered in [false, true] {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("dir")).unwrap();
        fs::write(folder.path().join("dir/file"), "before").unwrap();
        let base = open(&folder);
        rest();
        let all = ["", "dir", "dir/file", "dir/other", "dir/file/inner"].map(path);
        let look = |view: &dyn View| {
            at_once_as_one_by_one(view);
            all.each_ref().map(|it| {
                let text = view.read(it).map_err(|it| it.kind());
                let hash = view.hash(it).map_err(|it| it.kind());
                assert_eq!(hash, text.clone().map(|it| ContentHash::of(&it)));
                let listing = view.list(it).map_err(|it| it.kind());
                (text, listing, view.metadata(it).map_err(|it| it.kind()))
            })
        };
        assert_eq!(look(&base), look(&Disk::new(folder.path()).unwrap()));
        if is_buffered {
            base.set_buffer(&path("dir/file"), "unsaved".into()).unwrap();
        }
        change(folder.path());
        for _ in 0..2 {
            if is_buffered {
                assert_eq!(base.read(&path("dir/file")).unwrap(), "unsaved");
                assert_eq!(base.hash(&path("dir/file")).unwrap(), ContentHash::of(b"unsaved"));
                assert_eq!(base.metadata(&path("dir/file")).unwrap().size, 7);
                assert!(names(&base, "dir").contains(&"file".to_owned()));
                assert!(base.close_buffer(&path("dir/file")));
            }
            assert_eq!(look(&base), look(&Disk::new(folder.path()).unwrap()));
            if is_buffered {
                break;
            }
            rest();
        }
    }
}

#[test]
fn an_equal_size_rewrite_in_the_same_tick_is_seen() {
    check(|root| {
        for text in ["aaaaaa", "bbbbbb"] {
            fs::write(root.join("dir/file"), text).unwrap();
        }
    });
    // Each is read before the next is written, so that what was read could be believed too soon.
    let folder = TempDir::new().unwrap();
    let base = open(&folder);
    for text in (0..200).map(|it| format!("{it:03}")) {
        fs::write(folder.path().join("file"), &text).unwrap();
        assert_eq!(base.read(&path("file")).unwrap(), text);
        assert_eq!(base.hash(&path("file")).unwrap(), ContentHash::of(text.as_bytes()));
    }
}

#[test]
fn a_rewrite_that_sets_the_time_back_is_seen() {
    check(|root| {
        let file = root.join("dir/file");
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "BEFORE").unwrap();
        fs::OpenOptions::new().write(true).open(&file).unwrap().set_modified(before).unwrap();
    });
}

#[test]
fn a_file_that_is_replaced_is_seen() {
    check(|root| {
        fs::write(root.join("dir/other"), "BEFORE").unwrap();
        fs::rename(root.join("dir/other"), root.join("dir/file")).unwrap();
    });
    check(|root| fs::write(root.join("dir/file"), "and it grew").unwrap());
    check(|root| {
        fs::remove_file(root.join("dir/file")).unwrap();
        fs::write(root.join("dir/file"), "BEFORE").unwrap();
    });
    check(|root| fs::remove_file(root.join("dir/file")).unwrap());
}

#[test]
fn a_file_that_becomes_something_else_is_seen() {
    check(|root| {
        fs::remove_file(root.join("dir/file")).unwrap();
        fs::create_dir(root.join("dir/file")).unwrap();
        fs::write(root.join("dir/file/inner"), "").unwrap();
    });
    check(|root| fs::set_permissions(root.join("dir/file"), fs::Permissions::from_mode(0o755)).unwrap());
}

#[test]
fn a_directory_that_goes_or_moves_is_seen() {
    check(|root| fs::remove_dir_all(root.join("dir")).unwrap());
    check(|root| {
        fs::remove_dir_all(root.join("dir")).unwrap();
        fs::write(root.join("dir"), "a file").unwrap();
    });
    check(|root| {
        fs::rename(root.join("dir"), root.join("gone")).unwrap();
        fs::create_dir(root.join("dir")).unwrap();
    });
}

#[test]
fn a_link_that_is_swapped_in_is_never_followed() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("file"), "secret").unwrap();
    check(|root| {
        fs::remove_file(root.join("dir/file")).unwrap();
        symlink(outside.path().join("file"), root.join("dir/file")).unwrap();
    });
    // The inode behind the link is the very one that is known by that path.
    check(|root| {
        fs::rename(root.join("dir"), root.join("real")).unwrap();
        symlink("real", root.join("dir")).unwrap();
    });
    check(|root| {
        fs::remove_dir_all(root.join("dir")).unwrap();
        symlink(outside.path(), root.join("dir")).unwrap();
    });
}

#[test]
fn equal_texts_are_one() {
    let folder = TempDir::new().unwrap();
    for name in ["a", "b"] {
        fs::write(folder.path().join(name), "the same").unwrap();
    }
    let base = open(&folder);
    let texts = ["a", "b", "a"].map(|it| base.clone().read(&path(it)).unwrap());
    assert!(texts.iter().all(|it| it.as_ptr() == texts[0].as_ptr()));
}

#[test]
fn a_buffer_goes_before_the_disk_until_it_is_closed() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file"), "saved").unwrap();
    let base = open(&folder);
    base.set_buffer(&path("file"), "one".into()).unwrap();
    base.set_buffer(&path("file"), "two and more".into()).unwrap();
    base.set_buffer(&path("new/dir/file"), "new".into()).unwrap();
    assert_eq!(base.read(&path("file")).unwrap(), "two and more");
    assert_eq!(base.metadata(&path("file")).unwrap().size, 12);
    assert_eq!(names(&base, ""), ["file", "new"]);
    assert_eq!(names(&base, "new/dir"), ["file"]);
    let want = [("file", "two and more"), ("new/dir/file", "new")];
    assert_eq!(base.buffers(), want.map(|(it, text)| (path(it), ContentHash::of(text.as_bytes()))));

    assert!(base.close_buffer(&path("file")));
    assert!(!base.close_buffer(&path("file")));
    assert_eq!(base.read(&path("file")).unwrap(), "saved");
    assert_eq!(base.read(&path("new/dir/file")).unwrap(), "new");
    assert!(base.close_buffer(&path("new/dir/file")));
    assert_eq!(names(&base, ""), ["file"]);
    assert!(base.buffers().is_empty());
    assert_eq!(names(base.disk(), ""), ["file"], "nothing was written");
}

#[test]
fn a_buffer_needs_a_place_where_a_file_can_be() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("dir")).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    symlink("..", folder.path().join("out")).unwrap();
    let base = open(&folder);
    let error = |it| base.set_buffer(&path(it), "".into()).unwrap_err();
    assert!(matches!(error("dir"), EditError::IsADirectory(_)));
    assert!(matches!(error(""), EditError::Root));
    assert!(matches!(error("file/inner"), EditError::NotADirectory(_)));
    assert!(matches!(error("out/file"), EditError::Unreachable { .. }));
    assert!(base.buffers().is_empty());
    assert_eq!(names(&base, ""), ["dir", "file", "out"]);
}

#[test]
fn a_buffer_follows_links_as_they_were_when_it_was_opened() {
    let folder = TempDir::new().unwrap();
    for name in ["one", "two"] {
        fs::write(folder.path().join(name), name).unwrap();
    }
    symlink("one", folder.path().join("link")).unwrap();
    let base = open(&folder);
    base.set_buffer(&path("link"), "unsaved".into()).unwrap();
    base.set_buffer(&path("one"), "of both".into()).unwrap();
    assert_eq!(base.buffers(), [(path("one"), ContentHash::of(b"of both"))]);
    assert_eq!(base.metadata(&path("link")).unwrap().kind, FileKind::Symlink);
    assert_eq!(base.open(&path("link")).unwrap(), "of both");
    fs::remove_file(folder.path().join("link")).unwrap();
    symlink("two", folder.path().join("link")).unwrap();
    base.set_buffer(&path("link"), "again".into()).unwrap();
    assert_eq!(base.open(&path("link")).unwrap(), "two");
    assert_eq!(base.read(&path("one")).unwrap(), "again");
    assert!(base.close_buffer(&path("one")));
    assert_eq!(base.read(&path("one")).unwrap(), "again", "it is still open by its other name");
    assert!(base.close_buffer(&path("link")));
    assert_eq!(base.read(&path("one")).unwrap(), "one");
}

#[test]
fn buffers_stay_whatever_comes_in_their_way() {
    let folder = TempDir::new().unwrap();
    let at = |it: &str| folder.path().join(it);
    for name in ["a", "b", "c", "d"] {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join("file"), "saved").unwrap();
    }
    let base = open(&folder);
    for name in ["a/file", "b/file", "c/file", "d/file"] {
        base.set_buffer(&path(name), name.to_owned().into()).unwrap();
    }
    for name in ["a", "b", "c"] {
        fs::remove_dir_all(at(name)).unwrap();
    }
    fs::write(at("a"), "a file").unwrap();
    symlink("d", at("b")).unwrap();
    fs::create_dir_all(at("c/file/deep")).unwrap();
    // The others are made anew over what is there now.
    assert!(base.close_buffer(&path("d/file")));
    for name in ["a/file", "b/file", "c/file"] {
        assert_eq!(base.read(&path(name)).unwrap(), name);
    }
    assert_eq!(base.read(&path("d/file")).unwrap(), "saved");
    for name in ["a/file", "b/file", "c/file"] {
        assert!(base.close_buffer(&path(name)));
    }
    assert_eq!(base.read(&path("a")).unwrap(), "a file");
    assert_eq!(kind_of(base.read(&path("b/file"))), io::ErrorKind::NotADirectory);
    assert_eq!(kind_of(base.read(&path("c/file"))), io::ErrorKind::IsADirectory);
}

#[test]
fn edits_are_those_of_buffers_and_of_branches_over_them() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("dir")).unwrap();
    fs::write(folder.path().join("dir/file"), "saved").unwrap();
    let base = open(&folder);
    assert_eq!(base.edits(), []);
    base.set_buffer(&path("dir/file"), "unsaved".into()).unwrap();
    assert_eq!(base.edits(), [path("dir/file")]);

    let mut branch = crate::Branch::new(std::sync::Arc::new(base.clone()));
    branch.write(&path("a"), "new".into()).unwrap();
    let snapshot = branch.snapshot();
    assert_eq!(snapshot.edits(), [path("a"), path("dir/file")]);
    branch.remove(&path("dir")).unwrap();
    let traced = crate::Traced::new(std::sync::Arc::new(branch.snapshot()));
    assert_eq!(traced.edits(), [path("a"), path("dir")]);
    assert!(traced.read_set().is_empty());

    assert!(base.close_buffer(&path("dir/file")));
    assert_eq!(base.edits(), []);
    assert_eq!(snapshot.edits(), [path("a")]);
}

#[test]
fn unsaved_texts_have_a_limit_in_all() {
    const HALF: usize = 128 << 20;
    let folder = TempDir::new().unwrap();
    let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
    let text = Bytes::from(vec![b'a'; HALF]);
    base.set_buffer(&path("a"), text.clone()).unwrap();
    base.set_buffer(&path("b"), text.clone()).unwrap();
    base.set_buffer(&path("b"), text.slice(1..)).unwrap();
    let refused = base.set_buffer(&path("c"), Bytes::from("xy")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the unsaved texts would have 268435457 bytes in all; the limit is 268435456"
    );
    base.set_buffer(&path("c"), Bytes::from("x")).unwrap();
    assert!(base.close_buffer(&path("a")));
    base.set_buffer(&path("d"), text).unwrap();
}

#[test]
fn texts_that_are_hidden_count_towards_the_limit() {
    const HALF: usize = 128 << 20;
    let folder = TempDir::new().unwrap();
    let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
    let set = |editor: &str, bytes: Bytes, is_opened| {
        let editor = Some(EditorId(editor.into()));
        base.set_buffer_of(BufferText { editor, path: path("a"), bytes, is_opened })
    };
    let text = Bytes::from(vec![b'a'; HALF]);
    assert!(!set("first", text.clone(), true).unwrap().is_hidden);
    assert!(set("second", text.clone(), true).unwrap().is_hidden);
    let refused = set("third", Bytes::from("x"), false).unwrap_err();
    assert!(matches!(refused, EditError::BuffersFull { .. }), "{refused}");
    assert_eq!(base.buffers(), [(path("a"), ContentHash::of(&text))], "nothing has changed");
    set("second", Bytes::from("x"), true).unwrap();
    assert!(!set("third", Bytes::from("x"), false).unwrap().is_hidden);
    let change = BufferChange {
        place: path("a"),
        shown: Some(ShownText { editor: Some(EditorId("first".into())), hash: ContentHash::of(&text) }),
        is_other_content: true,
    };
    assert_eq!(base.close_buffers_of(&EditorId("third".into())), [change]);
}

#[test]
fn texts_of_the_past_are_not_kept() {
    let folder = TempDir::new().unwrap();
    let base = open(&folder);
    let old = Bytes::from(b"old".to_vec());
    base.set_buffer(&path("a"), old.clone()).unwrap();
    base.set_buffer(&path("b"), "other".into()).unwrap();
    assert!(!old.is_unique());
    base.set_buffer(&path("a"), "new".into()).unwrap();
    assert!(old.is_unique());
}

#[test]
fn a_text_that_is_only_opened_is_what_the_disk_has() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a"), "disk").unwrap();
    let base = open(&folder);
    let editor = EditorId("editor".into());
    let set = |bytes: &'static str, is_opened| {
        let text =
            BufferText { editor: Some(editor.clone()), path: path("a"), bytes: bytes.into(), is_opened };
        base.set_buffer_of(text).unwrap().change.map(|it| it.shown.is_some())
    };
    assert_eq!(set("disk", true), None);
    assert!(base.buffers().is_empty());
    fs::write(folder.path().join("a"), "newer").unwrap();
    assert_eq!(base.read(&path("a")).unwrap(), "newer");
    assert_eq!(set("typed", false), Some(true));
    assert_eq!(set("typed", true), None, "it is not saved");
    fs::write(folder.path().join("a"), "typed").unwrap();
    assert_eq!(set("typed", true), Some(false), "it is");
    fs::write(folder.path().join("a"), "newest").unwrap();
    assert_eq!(base.read(&path("a")).unwrap(), "newest");
    assert!(base.close_buffer_of(Some(&editor), &path("a")).was_open);
    assert!(!base.close_buffer_of(Some(&editor), &path("a")).was_open);
}
