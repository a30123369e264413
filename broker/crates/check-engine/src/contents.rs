//! One hash for the paths and contents of many files, brought up to date at the cost of what changed.
//!
//! A Merkle tree whose shape follows from the files alone: up to a certain number of them are a leaf; more are divided by
//! the hashes of their paths. So it does not matter in which order, or by which changes, the files came together.

use std::sync::{Arc, OnceLock};

use overlay::{ContentHash, WorkspacePath};

/// The files that count, each with its content. Cloning it copies nothing of them.
#[derive(Clone, Default)]
pub(crate) struct Contents(Arc<Node>);

/// `None` for what could not be read.
type Content = Option<ContentHash>;

#[derive(Clone, Default)]
struct Node {
    kind: Kind,
    files: usize,
    hash: OnceLock<ContentHash>,
}

#[derive(Clone)]
enum Kind {
    /// Sorted by path.
    Leaf(Vec<(WorkspacePath, Content)>),
    /// By the next digit of the hash of the path.
    Branch([Arc<Node>; BRANCHES]),
}

/// Number of children of a branch: one for each value of a digit.
const BRANCHES: usize = 16;

/// Files of a leaf, at most.
const LEAF: usize = 32;

/// A file with the hash of its path.
type Placed = (ContentHash, WorkspacePath, Content);

impl Contents {
    pub(crate) fn hash(&self) -> ContentHash {
        self.0.hash()
    }

    /// Notes what the file at `path` has.
    pub(crate) fn insert(&mut self, path: WorkspacePath, content: Content) {
        let place = ContentHash::of(path.as_str().as_bytes());
        Arc::make_mut(&mut self.0).insert((place, path, content), 0);
    }

    pub(crate) fn remove(&mut self, path: &WorkspacePath) {
        let place = ContentHash::of(path.as_str().as_bytes());
        if self.0.has(&place, path, 0) {
            Arc::make_mut(&mut self.0).remove(&place, path, 0);
        }
    }
}

impl FromIterator<(WorkspacePath, Content)> for Contents {
    /// Each path once.
    fn from_iter<I: IntoIterator<Item = (WorkspacePath, Content)>>(files: I) -> Self {
        let place = |(path, content): (WorkspacePath, Content)| {
            (ContentHash::of(path.as_str().as_bytes()), path, content)
        };
        Self(Arc::new(Node::of(files.into_iter().map(place).collect(), 0)))
    }
}

impl Default for Kind {
    fn default() -> Self {
        Self::Leaf(Vec::new())
    }
}

impl Node {
    /// The files have the first `depth` digits in common.
    fn of(mut files: Vec<Placed>, depth: usize) -> Self {
        let count = files.len();
        let kind = if count <= LEAF {
            files.sort_unstable_by(|a, b| a.1.cmp(&b.1));
            Kind::Leaf(files.into_iter().map(|(_, path, content)| (path, content)).collect())
        } else {
            let mut parts: [Vec<Placed>; BRANCHES] = Default::default();
            files.into_iter().for_each(|it| parts[digit(&it.0, depth)].push(it));
            Kind::Branch(parts.map(|it| Arc::new(Self::of(it, depth + 1))))
        };
        Self { kind, files: count, hash: OnceLock::new() }
    }

    fn insert(&mut self, file: Placed, depth: usize) {
        self.hash = OnceLock::new();
        match &mut self.kind {
            Kind::Leaf(files) => {
                match files.binary_search_by(|it| it.0.cmp(&file.1)) {
                    Ok(index) => files[index].1 = file.2,
                    Err(index) => files.insert(index, (file.1, file.2)),
                }
                self.files = files.len();
                if self.files > LEAF {
                    *self = Self::of(self.take(), depth);
                }
            }
            Kind::Branch(nodes) => {
                let node = Arc::make_mut(&mut nodes[digit(&file.0, depth)]);
                self.files -= node.files;
                node.insert(file, depth + 1);
                self.files += node.files;
            }
        }
    }

    /// The file is there.
    fn remove(&mut self, place: &ContentHash, path: &WorkspacePath, depth: usize) {
        self.hash = OnceLock::new();
        self.files -= 1;
        match &mut self.kind {
            Kind::Leaf(files) => files.retain(|it| it.0 != *path),
            Kind::Branch(nodes) => {
                Arc::make_mut(&mut nodes[digit(place, depth)]).remove(place, path, depth + 1);
                if self.files <= LEAF {
                    *self = Self::of(self.take(), depth);
                }
            }
        }
    }

    fn has(&self, place: &ContentHash, path: &WorkspacePath, depth: usize) -> bool {
        match &self.kind {
            Kind::Leaf(files) => files.binary_search_by(|it| it.0.cmp(path)).is_ok(),
            Kind::Branch(nodes) => nodes[digit(place, depth)].has(place, path, depth + 1),
        }
    }

    /// All its files.
    fn take(&self) -> Vec<Placed> {
        match &self.kind {
            Kind::Leaf(files) => {
                let place = |(path, content): &(WorkspacePath, Content)| {
                    (ContentHash::of(path.as_str().as_bytes()), path.clone(), *content)
                };
                files.iter().map(place).collect()
            }
            Kind::Branch(nodes) => nodes.iter().flat_map(|it| it.take()).collect(),
        }
    }

    fn hash(&self) -> ContentHash {
        *self.hash.get_or_init(|| match &self.kind {
            Kind::Leaf(files) => ContentHash::of(&text(files)),
            Kind::Branch(nodes) => {
                // No text of a leaf begins so.
                let mut text = vec![0];
                nodes.iter().for_each(|it| text.extend_from_slice(it.hash().as_bytes()));
                ContentHash::of(&text)
            }
        })
    }
}

fn text(files: &[(WorkspacePath, Content)]) -> Vec<u8> {
    let mut text = Vec::with_capacity(files.len() * 96);
    for (path, content) in files {
        text.extend_from_slice(path.as_str().as_bytes());
        // No path contains it.
        text.push(0);
        text.extend_from_slice(content.as_ref().map_or(&[0; 32], |it| it.as_bytes()));
    }
    text
}

/// Digits of four bits; no two paths have so many in common that they would run out.
fn digit(place: &ContentHash, depth: usize) -> usize {
    let byte = usize::from(place.as_bytes()[depth / 2]);
    if depth.is_multiple_of(2) { byte / BRANCHES } else { byte % BRANCHES }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn path(number: usize) -> WorkspacePath {
        WorkspacePath::new(&format!("a/{number}")).unwrap()
    }

    fn content(text: &str) -> Content {
        Some(ContentHash::of(text.as_bytes()))
    }

    #[test]
    fn the_order_of_changes_does_not_matter() {
        let mut files = BTreeMap::new();
        let mut contents = Contents::default();
        let from_nothing = |files: &BTreeMap<_, _>| {
            files
                .iter()
                .map(|(path, content): (&WorkspacePath, _)| (path.clone(), *content))
                .collect::<Contents>()
        };
        for step in 0..4000 {
            // Numbers that repeat, some of them, over growing and shrinking sets.
            let path = path(step * 7919 % 1500);
            if step / 900 % 2 == 1 {
                files.remove(&path);
                contents.remove(&path);
            } else {
                files.insert(path.clone(), content(&step.to_string()));
                contents.insert(path, content(&step.to_string()));
            }
            if step % 97 == 0 || files.len() <= LEAF + 1 {
                assert_eq!(contents.hash(), from_nothing(&files).hash(), "step {step}");
            }
        }
    }

    #[test]
    fn different_files_have_different_hashes() {
        let of = |files: &[(usize, Content)]| {
            files.iter().map(|(number, content)| (path(*number), *content)).collect::<Contents>().hash()
        };
        let hashes = [
            of(&[]),
            of(&[(1, None)]),
            of(&[(1, content("a"))]),
            of(&[(2, content("a"))]),
            of(&[(1, content("a")), (2, content("b"))]),
            of(&[(1, content("b")), (2, content("a"))]),
        ];
        let different: std::collections::BTreeSet<_> = hashes.iter().collect();
        assert_eq!(different.len(), hashes.len());
    }

    #[test]
    fn a_clone_keeps_what_it_had() {
        let mut contents: Contents = (0..100).map(|it| (path(it), content("a"))).collect();
        let (before, kept) = (contents.hash(), contents.clone());
        contents.insert(path(5), content("b"));
        assert_ne!(contents.hash(), before);
        assert_eq!(kept.hash(), before);
        contents.insert(path(5), content("a"));
        assert_eq!(contents.hash(), before);
    }
}
