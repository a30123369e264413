//! A question about files, with the texts of edited ones: it needs no folder that shows them.
//!
//! A text can be told of a file that is on the disk. A tool that looks for files reads folders of the disk, where new ones are
//! missing and deleted ones are not: views with such edits, or with other links, are checked in a shadow folder.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use overlay::{FileKind, View, WorkspacePath};
use serde::Serialize;

use super::rules::{Asked, Rules};

const BOM: char = '\u{feff}';

/// Texts of files by their places on the disk, as the protocol calls them.
pub(crate) type SourceOverrides = BTreeMap<PathBuf, String>;

/// Question to `tsgolint headless`.
#[derive(Serialize)]
struct Question<'q> {
    version: u32,
    configs: [Files<'q>; 1],
    source_overrides: &'q SourceOverrides,
    report_syntactic: bool,
    report_semantic: bool,
}

#[derive(Serialize)]
struct Files<'q> {
    file_paths: Vec<PathBuf>,
    rules: Vec<Asked<'q>>,
}

/// Returns the texts that differ from those on the disk, in the folder `root`; `None` if something else differs.
pub(crate) fn edited(view: &dyn View, disk: &dyn View, root: &Path) -> Option<SourceOverrides> {
    let is_file = |it: &dyn View, path: &WorkspacePath| {
        it.metadata(path).is_ok_and(|it| it.kind == FileKind::File)
            && it.resolve(path).is_ok_and(|it| it == *path)
    };
    let text = |path: WorkspacePath| {
        let text = String::from_utf8(view.read(&path).ok()?.to_vec()).ok()?;
        let text = text.strip_prefix(BOM).map(str::to_owned).unwrap_or(text);
        (is_file(view, &path) && is_file(disk, &path)).then(|| (root.join(path.as_str()), text))
    };
    view.edits().into_iter().map(text).collect()
}

/// The question about these files, with these texts instead of those that are found.
pub(crate) fn question(
    files: Vec<PathBuf>,
    overrides: &SourceOverrides,
    rules: &Rules,
) -> Result<Vec<u8>, String> {
    let question = Question {
        version: 2,
        configs: [Files { file_paths: files, rules: rules.asked() }],
        source_overrides: overrides,
        report_syntactic: true,
        report_semantic: true,
    };
    serde_json::to_vec(&question).map_err(|error| format!("cannot be asked: {error}"))
}

#[cfg(test)]
mod tests {
    use overlay::{Branch, Memory};
    use std::sync::Arc;

    use super::*;

    #[test]
    fn texts_of_files_on_the_disk_can_be_told() {
        let disk: Arc<dyn View> = Arc::new(Memory::from_files([("a.ts", "1"), ("b/c.ts", "2")]).unwrap());
        let path = |it: &str| WorkspacePath::new(it).unwrap();
        let told = |edit: &dyn Fn(&mut Branch)| {
            let mut branch = Branch::new(Arc::clone(&disk));
            branch.write(&path("a.ts"), "\u{feff}one".into()).unwrap();
            edit(&mut branch);
            edited(&branch.snapshot(), &*disk, Path::new("/w")).map(|it| format!("{it:?}"))
        };
        assert_eq!(told(&|_| {}).as_deref(), Some(r#"{"/w/a.ts": "one"}"#));
        let both = told(&|it| _ = it.write(&path("b/c.ts"), "two".into()).unwrap());
        assert_eq!(both.as_deref(), Some(r#"{"/w/a.ts": "one", "/w/b/c.ts": "two"}"#));
        assert_eq!(told(&|it| _ = it.write(&path("b/new.ts"), "".into()).unwrap()), None);
        assert_eq!(told(&|it| _ = it.write(&path("b/c.ts"), vec![0xff].into()).unwrap()), None);
        assert_eq!(told(&|it| _ = it.remove(&path("b/c.ts")).unwrap()), None);
        assert_eq!(edited(&*disk, &*disk, Path::new("/w")), Some(SourceOverrides::new()));
    }
}
