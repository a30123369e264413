//! Files that are searched, and their contents.

use overlay::{ContentHash, View, WorkspacePath, kept_walk, walk};
use parking_lot::Mutex;

use crate::{Cancelled, Options, parallel};

/// The files that are searched, sorted.
pub(crate) fn files(view: &dyn View, options: &Options<'_>) -> Result<Vec<WorkspacePath>, Cancelled> {
    if let Some(kept) = kept_walk(view, options.walk) {
        return Ok(kept.files().cloned().collect());
    }
    let mut found = Vec::new();
    for path in walk(view, &[WorkspacePath::root()], options.walk) {
        options.check()?;
        found.push(path);
    }
    Ok(found)
}

/// The hashes of files, which are sorted; `None` for what cannot be read and for links. A directory's are asked for
/// together, which costs a look at each file that the view knows already.
pub(crate) fn hashes(
    view: &dyn View,
    files: &[WorkspacePath],
    options: &Options<'_>,
) -> Result<Vec<Option<ContentHash>>, Cancelled> {
    let folders: Vec<_> = files.chunk_by(|a, b| folder(a) == folder(b)).collect();
    let found = Mutex::new(vec![Vec::new(); folders.len()]);
    let look = |index: usize, folder: &[WorkspacePath]| {
        let names: Vec<_> = folder.iter().filter_map(WorkspacePath::file_name).collect();
        let directory = folder.first().and_then(WorkspacePath::parent).unwrap_or_else(WorkspacePath::root);
        let hashes =
            view.hash_all(&directory, &names, u64::MAX).into_iter().map(|it| it.ok().map(|it| it.hash));
        let hashes: Vec<_> = hashes.collect();
        found.lock()[index] = hashes;
    };
    parallel::for_each(&folders, options, || (), |(), index, folder| look(index, folder))?;
    let found = found.into_inner();
    Ok(found.into_iter().flatten().collect())
}

fn folder(path: &WorkspacePath) -> &str {
    path.as_str().rsplit_once('/').map_or("", |it| it.0)
}
