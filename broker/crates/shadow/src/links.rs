//! Links on the way to a file.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// Number of links that are followed on the way to one file.
const MAX_LINKS: usize = 40;

/// Links on the way to a file, each by a path whose folder is free of links.
pub fn links_to(path: &Path) -> Vec<PathBuf> {
    way(path).into_iter().filter(|(_, is_link)| *is_link).map(|(it, _)| it).collect()
}

/// Whether the way to a file leads through the workspace at `root`, be it by a link, or begins there.
pub fn leads_through(path: &Path, root: &Path) -> bool {
    way(path).iter().any(|(it, _)| it.starts_with(root))
}

/// All that is on the way to a file, by paths whose folders are free of links, and whether each is a link.
fn way(path: &Path) -> Vec<(PathBuf, bool)> {
    let (mut way, mut links) = (Vec::new(), 0);
    let (mut at, mut rest) = (PathBuf::new(), path.to_owned());
    while links < MAX_LINKS {
        let mut parts = rest.components();
        let Some(part) = parts.next() else { break };
        let left = parts.as_path().to_owned();
        match part {
            Component::ParentDir => {
                at.pop();
            }
            it => at.push(it),
        }
        rest = left;
        let target = fs::read_link(&at);
        way.push((at.clone(), target.is_ok()));
        if let Ok(target) = target {
            links += 1;
            at.pop();
            rest = target.join(rest);
        }
    }
    way
}
