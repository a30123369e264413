//! Differences of a view to the disk, as a layer of a shadow folder.

use std::{collections::BTreeSet, io};

use overlay::{FileKind, View, WalkOptions, WorkspacePath, walk};
use shadow::{Entry, EntryKind, Layer};

/// Returns the differences of the view to the disk.
///
/// A view that is no edit of the folder, such as a commit of git's, shows its files in the place of those that git does
/// not ignore: what is installed or built stays.
pub(crate) fn layer(view: &dyn View, disk: &dyn View) -> io::Result<Layer> {
    if view.edits().iter().any(WorkspacePath::is_root) { difference(view, disk) } else { Layer::of(view) }
}

/// The layer that makes the files of `view` of those on the disk.
fn difference(view: &dyn View, disk: &dyn View) -> io::Result<Layer> {
    let files =
        |it: &dyn View| walk(it, &[WorkspacePath::root()], &WalkOptions::default()).collect::<BTreeSet<_>>();
    let (here, there) = (files(view), files(disk));
    let mut layer = Layer::default();
    for path in there.difference(&here) {
        // A file that takes the place of a folder hides what was in it.
        if path.ancestors().skip(1).any(|it| here.contains(&it)) {
            continue;
        }
        let is_folder = view.metadata(path).is_ok_and(|it| it.kind == FileKind::Directory);
        let kind = if is_folder { EntryKind::Directory } else { EntryKind::Removed };
        layer.entries.push(Entry { path: path.clone(), kind });
    }
    let changed = here.into_iter().filter(|it| !is_same(view, disk, it));
    layer.entries.extend(Layer::at(view, changed)?.entries);
    Ok(layer)
}

fn is_same(view: &dyn View, disk: &dyn View, path: &WorkspacePath) -> bool {
    let (Ok(here), Ok(there)) = (view.metadata(path), disk.metadata(path)) else { return false };
    let content_is_same = || match here.kind {
        FileKind::Symlink => view.read_link(path).ok() == disk.read_link(path).ok(),
        _ => view.hash(path).is_ok_and(|it| disk.hash(path).is_ok_and(|there| it == there)),
    };
    (here.kind, here.executable) == (there.kind, there.executable) && content_is_same()
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    fn of(view: &[(&str, &str)], disk: &[(&str, &str)]) -> String {
        let memory = |files: &[(&str, &str)]| Memory::from_files(files.iter().copied()).unwrap();
        let layer = difference(&memory(view), &memory(disk)).unwrap();
        let kind = |it: &EntryKind| match it {
            EntryKind::Removed => "removed".to_owned(),
            EntryKind::Directory => "folder".to_owned(),
            EntryKind::File { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
            EntryKind::Link(to) => format!("-> {to}"),
        };
        layer.entries.iter().map(|it| format!("{} {}\n", it.path, kind(&it.kind))).collect()
    }

    #[test]
    fn files_and_folders_change_places() {
        let disk = [("a", "1"), ("b/x", "2"), ("b/y/z", "3"), ("c", "4"), ("d", "5")];
        insta::assert_snapshot!(of(&[("a/x", "6"), ("a/y/z", "7"), ("b", "8"), ("d", "5")], &disk), @r"
        a folder
        c removed
        a/x 6
        a/y/z 7
        b 8
        ");
        insta::assert_snapshot!(of(&disk, &disk), @"");
    }

    #[test]
    fn what_git_ignores_stays() {
        let disk = [(".gitignore", "out\n"), (".git/HEAD", ""), ("out/made", "1"), ("a", "1")];
        insta::assert_snapshot!(of(&[(".gitignore", "out\n"), (".git/HEAD", "")], &disk), @"a removed");
    }
}
