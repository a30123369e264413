//! Folders, and patterns of file names, most of whose files have errors, and whose names say that this is meant.
//!
//! The narrowest that hold the errors: a folder stands for what is below it only if that adds no sound file, or if its parts
//! are too small to be named one by one.

use std::collections::BTreeMap;

/// Parts of names that say that a file is a sample rather than code, and whole names.
const OF_SAMPLES: [&str; 7] = ["fixture", "golden", "corpus", "sample", "snapshot", "invalid", "malformed"];
const OF_TESTS: [&str; 6] = ["test", "tests", "__tests__", "testdata", "test-data", "test_data"];

/// The fewest files with errors that are worth a line.
const FEWEST: usize = 10;

/// A file, and whether it has an error.
pub(super) type Judged<'p> = (&'p str, bool);

/// Files of a cluster. Folders end with a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Extent {
    Folder(String),
    /// The files of a folder, and not of those below it, whose names begin and end so.
    Names {
        folder: String,
        prefix: String,
        suffix: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cluster {
    pub(super) extent: Extent,
    pub(super) broken: usize,
    pub(super) sound: usize,
}

/// The clusters of these files, which are sorted by path.
pub(super) fn clusters(files: &[Judged<'_>]) -> Vec<Cluster> {
    in_folder("", files)
}

impl Extent {
    pub(super) fn holds(&self, path: &str) -> bool {
        match self {
            Self::Folder(folder) => path.starts_with(folder),
            Self::Names { folder, prefix, suffix } => path.strip_prefix(folder).is_some_and(|name| {
                let rest = name.strip_prefix(&**prefix).and_then(|it| it.strip_suffix(&**suffix));
                rest.is_some_and(|it| !it.contains('/'))
            }),
        }
    }

    /// A line of a `.gitignore` at the workspace's root.
    pub(super) fn glob(&self) -> String {
        match self {
            Self::Folder(folder) => format!("/{}", escaped(folder)),
            Self::Names { folder, prefix, suffix } => {
                format!("/{}{}*{}", escaped(folder), escaped(prefix), escaped(suffix))
            }
        }
    }

    fn is_of_samples(&self) -> bool {
        let glob = self.glob().to_lowercase();
        let is_sample = |name: &str| OF_SAMPLES.iter().any(|it| name.contains(it));
        glob.split('/').any(|name| OF_TESTS.contains(&name) || is_sample(name))
    }
}

impl Cluster {
    fn of(extent: Extent, files: &[Judged<'_>]) -> Self {
        let held: Vec<_> = files.iter().filter(|(path, _)| extent.holds(path)).collect();
        let broken = held.iter().filter(|(_, is_broken)| *is_broken).count();
        Self { extent, broken, sound: held.len() - broken }
    }

    fn is_wanted(&self) -> bool {
        self.broken >= FEWEST && self.broken > self.sound && self.extent.is_of_samples()
    }

    /// Whether the cluster is better than its parts: it holds no more sound files, or they lack most of the broken ones. A folder
    /// below it that holds the same is better.
    fn is_better_than(&self, parts: &[Self]) -> bool {
        if let [Self { extent: Extent::Folder(_), broken, sound }] = parts
            && (*broken, *sound) == (self.broken, self.sound)
        {
            return false;
        }
        let sound: usize = parts.iter().map(|it| it.sound).sum();
        let broken: usize = parts.iter().map(|it| it.broken).sum();
        self.sound == sound || broken * 2 < self.broken
    }
}

fn in_folder(folder: &str, files: &[Judged<'_>]) -> Vec<Cluster> {
    if files.iter().filter(|(_, is_broken)| *is_broken).count() < FEWEST {
        return Vec::new();
    }
    let rest = |path: &str| path[folder.len()..].find('/').map(|end| path[..=folder.len() + end].to_owned());
    let (below, own): (Vec<_>, Vec<_>) = files.iter().partition(|(path, _)| rest(path).is_some());
    let parts = below.chunk_by(|(one, _), (other, _)| rest(one) == rest(other));
    let parts = parts.flat_map(|part| in_folder(&rest(part[0].0).unwrap_or_default(), part));
    let parts: Vec<_> = parts.chain(by_name(folder, &own)).collect();
    let whole = Cluster::of(Extent::Folder(folder.to_owned()), files);
    if whole.is_wanted() && whole.is_better_than(&parts) { vec![whole] } else { parts }
}

/// Clusters of the files right in a folder: one for each ending.
fn by_name(folder: &str, files: &[Judged<'_>]) -> Vec<Cluster> {
    let mut endings = BTreeMap::<&str, Vec<Judged<'_>>>::new();
    for (path, is_broken) in files {
        let name = &path[folder.len()..];
        let ending = name.rfind('.').map_or("", |at| &name[at..]);
        endings.entry(ending).or_default().push((path, *is_broken));
    }
    let cluster = |(ending, files): (&str, Vec<_>)| of_ending(folder, ending, &files);
    endings.into_iter().map(cluster).filter(Cluster::is_wanted).collect()
}

/// Files of an ending; only those whose names begin as the broken ones do, if that leaves sound ones in.
fn of_ending(folder: &str, ending: &str, files: &[Judged<'_>]) -> Cluster {
    let names = |prefix: &str| {
        let (folder, prefix, suffix) = (folder.to_owned(), prefix.to_owned(), ending.to_owned());
        Cluster::of(Extent::Names { folder, prefix, suffix }, files)
    };
    let broken = files.iter().filter(|(_, is_broken)| *is_broken);
    let broken: Vec<_> = broken.map(|(path, _)| &path[folder.len()..path.len() - ending.len()]).collect();
    let (all, some) = (names(""), names(common_prefix(&broken)));
    if some.sound < all.sound { some } else { all }
}

/// Returns the common prefix of the names, without a number at its end, which would be that of the first few.
fn common_prefix<'n>(names: &[&'n str]) -> &'n str {
    let Some((first, others)) = names.split_first() else { return "" };
    let is_common = |end: &usize| others.iter().all(|it| it.starts_with(&first[..*end]));
    let ends = first.char_indices().map(|(at, it)| at + it.len_utf8());
    let end = ends.take_while(is_common).last().unwrap_or_default();
    first[..end].trim_end_matches(|it: char| it.is_ascii_digit())
}

/// The text as a glob that matches nothing else.
fn escaped(text: &str) -> String {
    let one = |it: char| if "*?[]{}\\".contains(it) { format!("[{it}]") } else { it.to_string() };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` files; a `#` stands for the number of each.
    type Files<'t> = &'t [(&'t str, usize)];

    fn check(broken: Files<'_>, sound: Files<'_>) -> String {
        let all = |files: Files<'_>, is_broken| -> Vec<_> {
            let of = |(path, count): &(&str, usize)| {
                (0..*count).map(|it| (path.replace('#', &it.to_string()), is_broken)).collect::<Vec<_>>()
            };
            files.iter().flat_map(of).collect()
        };
        let mut files = [all(broken, true), all(sound, false)].concat();
        files.sort();
        let files: Vec<_> = files.iter().map(|(path, is_broken)| (path.as_str(), *is_broken)).collect();
        let shown = |it: Cluster| format!("{} {} of {}\n", it.extent.glob(), it.broken, it.broken + it.sound);
        clusters(&files).into_iter().map(shown).collect()
    }

    #[test]
    fn the_narrowest_that_hold_the_errors() {
        let uri = "test/integration/targets/uri/files";
        let (fail, pass) = (format!("{uri}/fail#.json"), format!("{uri}/pass#.json"));
        let readme = format!("{uri}/README");
        let elsewhere = [("test/units/#.py", 5), ("lib/#.py", 13)];
        let broken: Vec<_> = elsewhere.into_iter().chain([(&*fail, 31)]).collect();
        let sound = [(&*pass, 4), (&*readme, 1), ("test/sanity/#.py", 4000), ("lib/ok#.py", 900)];
        assert_eq!(check(&broken, &sound), "/test/integration/targets/uri/files/fail*.json 31 of 31\n");
        // A broken file of another name makes the cluster all files of the ending.
        let other = format!("{uri}/other.json");
        let broken = [(&*fail, 31), (&*other, 1)];
        assert_eq!(check(&broken, &sound), "/test/integration/targets/uri/files/*.json 32 of 36\n");
    }

    #[test]
    fn a_folder_stands_for_its_parts_if_no_sound_file_is_added() {
        let parts = [("tests/bad/a/#.py", 10), ("tests/bad/b/#.js", 10), ("tests/bad/c.py", 1)];
        assert_eq!(check(&parts, &[("tests/ok#.py", 50)]), "/tests/bad/ 21 of 21\n");
        let separate = "/tests/bad/a/ 10 of 10\n/tests/bad/b/ 10 of 10\n";
        assert_eq!(check(&parts, &[("tests/bad/d/#.py", 3)]), separate);
        // Parts that are too small.
        let small = [("fixtures/case#/in.py", 30)];
        assert_eq!(check(&small, &[("fixtures/ok#/in.py", 3)]), "/fixtures/ 30 of 33\n");
        // All in one part.
        assert_eq!(check(&[("tests/a/b/#.py", 10)], &[("c.py", 1)]), "/tests/a/b/ 10 of 10\n");
    }

    #[test]
    fn what_is_mostly_sound_or_may_be_code_is_left_in() {
        assert_eq!(check(&[("tests/#.py", 20)], &[("tests/ok/#.py", 20), ("tests/x#.py", 20)]), "");
        assert_eq!(check(&[("src/#.py", 90)], &[]), "", "nothing says that it is meant");
        assert_eq!(check(&[("src/latest/#.py", 90)], &[]), "");
        assert_eq!(check(&[("tests/#.py", 9)], &[]), "", "these are few");
        assert_eq!(check(&[], &[("tests/#.py", 90)]), "");
    }

    #[test]
    fn names_are_matched_as_they_are() {
        assert_eq!(check(&[("tests/[id]/#.js", 10)], &[("a", 1)]), "/tests/[[]id[]]/ 10 of 10\n");
        assert_eq!(check(&[("tests/é1#", 10)], &[("tests/è", 1)]), "/tests/é* 10 of 10\n");
        let deep = [("data/invalid_#.json", 10)];
        assert_eq!(check(&deep, &[("data/a#.json", 20)]), "/data/invalid_*.json 10 of 10\n");
    }
}
