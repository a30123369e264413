//! Known and accepted findings, which are not reported.
//!
//! A finding is known by its path, its rule and its [`Fingerprint`], and by how many like it there may be.
//! If a file is gone, its entries are for findings like them in any other file: it was moved.

mod file;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::OnceLock,
};

use lint::Fingerprint;
use overlay::{ContentHash, WorkspacePath};

pub use self::file::BaselineError;

/// Identity of a finding in a baseline.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mark {
    pub path: WorkspacePath,
    /// `python/F401`
    pub rule: String,
    /// One of [`Fingerprint::kinds`]: findings that are alike have the same.
    pub fingerprint: Fingerprint,
}

/// A list of known findings.
#[derive(Debug, Clone, Default)]
pub struct Baseline {
    /// Number of findings with each mark; at least one.
    entries: BTreeMap<Mark, u32>,
    /// Hash of the entries, computed when first asked for.
    digest: OnceLock<ContentHash>,
}

impl PartialEq for Baseline {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Eq for Baseline {}

/// Result of a comparison of findings with a baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// For each finding, whether it is known.
    pub known: Vec<bool>,
    /// Entries, and how many of each, for which there is no finding any more.
    pub stale: Vec<(Mark, u32)>,
}

/// State of the file and the linter that an entry is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The file is there, and its linter may have more to find in it.
    Unchecked,
    /// All that its linter finds in the file is at hand.
    Checked,
    /// The file is not there.
    Gone,
}

impl Baseline {
    pub fn of(findings: impl IntoIterator<Item = Mark>) -> Self {
        let mut baseline = Self::default();
        findings.into_iter().for_each(|it| baseline.add(it));
        baseline
    }

    /// Number of known findings.
    pub fn count(&self) -> usize {
        self.entries.values().map(|it| *it as usize).sum()
    }

    /// Hash of the entries.
    pub(super) fn digest(&self) -> ContentHash {
        *self.digest.get_or_init(|| ContentHash::of(self.to_json().as_bytes()))
    }

    /// The entries for files at these paths.
    pub(super) fn for_files(&self, paths: &[&WorkspacePath]) -> Self {
        let first = |path: &WorkspacePath| Mark {
            path: path.clone(),
            rule: String::new(),
            fingerprint: Fingerprint::MIN,
        };
        let of_file = |path| self.entries.range(first(path)..).take_while(move |(it, _)| it.path == *path);
        let entries = paths.iter().flat_map(|it| of_file(it)).map(|(mark, count)| (mark.clone(), *count));
        Self { entries: entries.collect(), digest: OnceLock::new() }
    }

    /// Tells known findings from new ones. `presence` is asked for entries without a finding; those that could not
    /// be found are never stale.
    pub fn split(&self, findings: &[Mark], presence: &dyn Fn(&Mark) -> Presence) -> Split {
        let mut left = self.entries.clone();
        let mut known: Vec<bool> = findings.iter().map(|it| take(left.get_mut(it))).collect();
        left.retain(|_, count| *count > 0);
        let mut gone: HashSet<Mark> = HashSet::new();
        left.retain(|mark, _| {
            let presence = presence(mark);
            if presence == Presence::Gone {
                gone.insert(mark.clone());
            }
            presence != Presence::Unchecked
        });
        let mut moved = Moved::default();
        for (mark, count) in &mut left {
            if gone.contains(mark) {
                moved.entry((&mark.rule, mark.fingerprint)).or_default().push(count);
            }
        }
        for (mark, known) in findings.iter().zip(&mut known).filter(|(_, known)| !**known) {
            let counts = moved.get_mut(&(mark.rule.as_str(), mark.fingerprint));
            *known = counts.is_some_and(|it| it.iter_mut().any(|count| take(Some(*count))));
        }
        Split { known, stale: left.into_iter().filter(|(_, count)| *count > 0).collect() }
    }

    /// Takes out what [`split`](Self::split) found to be stale.
    pub fn prune(&mut self, stale: &[(Mark, u32)]) {
        self.digest.take();
        for (mark, gone) in stale {
            if let Some(count) = self.entries.get_mut(mark) {
                *count = count.saturating_sub(*gone);
            }
        }
        self.entries.retain(|_, count| *count > 0);
    }

    /// Makes `findings` what is known. What could not be found stays known.
    pub fn update(&mut self, findings: impl IntoIterator<Item = Mark>, presence: &dyn Fn(&Mark) -> Presence) {
        self.digest.take();
        self.entries.retain(|mark, _| presence(mark) == Presence::Unchecked);
        for (mark, found) in Self::of(findings).entries {
            let known = self.entries.entry(mark).or_default();
            *known = found.max(*known);
        }
    }

    fn add(&mut self, finding: Mark) {
        self.digest.take();
        *self.entries.entry(finding).or_default() += 1;
    }
}

/// Entries of files that are gone, by what is left to know them by.
type Moved<'a> = HashMap<(&'a str, Fingerprint), Vec<&'a mut u32>>;

fn take(count: Option<&mut u32>) -> bool {
    match count {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}
