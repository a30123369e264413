//! Files that were moved and edited: those of one name first, then by git's rule: half of the lines are the same.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
    hash::{BuildHasher as _, RandomState},
};

use overlay::{View, WorkspacePath};

/// Pairs of files of different names that are compared at most.
const MAX_PAIRS: usize = 2_500;

/// In thousandths.
const SIMILAR: usize = 500;

/// In bytes. What is larger was hardly written by a person, and is like no other.
const LARGEST: u64 = 256 << 10;

type Pair = (WorkspacePath, WorkspacePath);

/// Returns the files that came, each with the most similar one of those that went, as new place and old one; each file is
/// in one pair at most. A file that cannot be read is like no other.
pub(super) fn pairs(
    before: &dyn View,
    gone: Vec<WorkspacePath>,
    after: &dyn View,
    come: Vec<WorkspacePath>,
) -> Vec<Pair> {
    let hasher = RandomState::new();
    let (mut gone, mut come) = (read(before, gone, &hasher), read(after, come, &hasher));
    let mut pairs = of_one_name(&mut gone, &mut come);
    if gone.len() * come.len() <= MAX_PAIRS {
        pairs.extend(best(&gone, &come));
    }
    pairs
}

/// A file, and how many bytes of it are in lines of each hash.
struct Lines {
    path: WorkspacePath,
    length: usize,
    bytes: HashMap<u64, usize>,
}

fn read(view: &dyn View, paths: Vec<WorkspacePath>, hasher: &RandomState) -> Vec<Lines> {
    let lines = |path: WorkspacePath| {
        view.metadata(&path).ok().filter(|it| it.size <= LARGEST)?;
        Some(Lines::of(&view.read(&path).ok()?, path, hasher))
    };
    paths.into_iter().filter_map(lines).collect()
}

/// Takes out those files that have a name which one file of each side has, and are alike.
fn of_one_name(gone: &mut Vec<Lines>, come: &mut Vec<Lines>) -> Vec<Pair> {
    let old = by_name(gone);
    let new = by_name(come);
    let mut pairs = Vec::new();
    for (name, new) in new {
        if let ([new], Some([old])) = (&*new, old.get(&name).map(|it| &**it))
            && gone[*old].similarity(&come[*new]) >= SIMILAR
        {
            pairs.push((come[*new].path.clone(), gone[*old].path.clone()));
        }
    }
    let used: HashSet<_> = pairs.iter().flat_map(|(new, old)| [new, old]).collect();
    gone.retain(|it| !used.contains(&it.path));
    come.retain(|it| !used.contains(&it.path));
    pairs
}

fn by_name(files: &[Lines]) -> BTreeMap<String, Vec<usize>> {
    let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        names.entry(file.path.file_name().unwrap_or_default().to_owned()).or_default().push(index);
    }
    names
}

fn best(gone: &[Lines], come: &[Lines]) -> Vec<Pair> {
    let mut scores = Vec::new();
    for (new, new_file) in come.iter().enumerate() {
        for (old, old_file) in gone.iter().enumerate() {
            let score = old_file.similarity(new_file);
            scores.extend((score >= SIMILAR).then_some((Reverse(score), new, old)));
        }
    }
    scores.sort_unstable();
    let (mut used_new, mut used_old) = (HashSet::new(), HashSet::new());
    let is_free = |(_, new, old): &(_, usize, usize)| {
        !used_new.contains(new) && !used_old.contains(old) && used_new.insert(*new) && used_old.insert(*old)
    };
    let free = scores.into_iter().filter(is_free);
    free.map(|(_, new, old)| (come[new].path.clone(), gone[old].path.clone())).collect()
}

impl Lines {
    fn of(text: &[u8], path: WorkspacePath, hasher: &RandomState) -> Self {
        let mut bytes: HashMap<u64, usize> = HashMap::new();
        for line in text.split_inclusive(|it| *it == b'\n') {
            *bytes.entry(hasher.hash_one(line)).or_default() += line.len();
        }
        Self { path, length: text.len(), bytes }
    }

    /// Thousandths of the longer text's bytes that are in lines of both.
    fn similarity(&self, other: &Self) -> usize {
        let (shorter, longer) = if self.length < other.length { (self, other) } else { (other, self) };
        // However alike they are, it would not be enough.
        if longer.length == 0 || shorter.length * 1000 < longer.length * SIMILAR {
            return 0;
        }
        let in_both = |(line, bytes): (&u64, &usize)| *bytes.min(longer.bytes.get(line).unwrap_or(&0));
        shorter.bytes.iter().map(in_both).sum::<usize>() * 1000 / longer.length
    }
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    #[test]
    fn the_most_alike_are_paired() {
        let (one, two) = ("a\nb\nc\nd\n", "p\nq\nr\ns\n");
        let before = Memory::from_files([("one", one), ("two", two), ("three", "other\n")]).unwrap();
        let edited =
            [("1", "a\nb\nc\nx\n"), ("1b", "a\nb\nx\ny\n"), ("2", "p\nq\nr\ns\nt\n"), ("new", "z\n")];
        let after = Memory::from_files(edited).unwrap();
        let paths = |all: &[&str]| all.iter().map(|it| WorkspacePath::new(it).unwrap()).collect::<Vec<_>>();
        let mut pairs =
            pairs(&before, paths(&["one", "two", "three"]), &after, paths(&["1", "1b", "2", "new", "gone"]));
        pairs.sort();
        let names: Vec<_> = pairs.iter().map(|(new, old)| format!("{new} {old}")).collect();
        assert_eq!(names, ["1 one", "2 two"]);
    }

    #[test]
    fn a_name_that_is_there_once_tells_more_than_any_other_file() {
        let names = ["a.py", "b.py"];
        let old = names.map(|it| (format!("old/{it}"), "x\ny\nz\n"));
        let new = names.map(|it| (format!("new/{it}"), "x\ny\nz\nmore\n"));
        let [before, after] = [&old, &new].map(|it| Memory::from_files(it.clone()).unwrap());
        let [gone, come] = [old, new]
            .map(|it| it.iter().map(|(path, _)| WorkspacePath::new(path).unwrap()).collect::<Vec<_>>());
        let pairs = pairs(&before, gone.clone(), &after, come.clone());
        assert_eq!(pairs, come.into_iter().zip(gone).collect::<Vec<_>>());
    }

    #[test]
    fn lines_count_as_often_as_both_have_them() {
        let similarity = |a: &[u8], b: &[u8]| {
            let hasher = RandomState::new();
            let [a, b] = [a, b].map(|it| Lines::of(it, WorkspacePath::root(), &hasher));
            a.similarity(&b)
        };
        assert_eq!(similarity(b"a\na\na\nb\n", b"a\nb\nb\nb\n"), 500);
        assert_eq!(similarity(b"", b""), 0);
        assert_eq!(similarity(b"a\n", b"a\n"), 1000);
    }
}
