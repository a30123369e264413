//! What is kept of one file, and the sums over many.

use lint::Completeness;
use overlay::ContentHash;
use scheduler::Reads;

use crate::engine::KnownAnswers;

/// What was learned of one file.
pub(crate) struct FileFacts {
    pub(super) entry: Entry,
    pub(super) content: ContentHash,
    pub(super) reads: Vec<Reads>,
}

/// What a file adds to the sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    linters: Box<[LinterEntry]>,
    suppressed: u32,
    baselined: u32,
}

/// The answer of one linter.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LinterEntry {
    linter: u16,
    is_left_out: bool,
    /// The number of the read set that it rests on.
    set: u32,
}

/// Over many files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Files that a linter is asked about.
    pub(crate) asked: usize,
    /// Files that a linter does not leave out.
    pub(crate) files: usize,
    /// By linter: the answers that are complete, and those that leave the file out.
    pub(crate) linters: Vec<(u32, u32)>,
    pub(crate) suppressed: usize,
    pub(crate) baselined: usize,
}

impl FileFacts {
    /// `None` if an answer is not the last word.
    pub(crate) fn of(known: &KnownAnswers, suppressed: usize, baselined: usize) -> Option<Self> {
        let mut linters = Vec::with_capacity(known.answers.len());
        for (place, answer) in &known.answers {
            let is_left_out = match answer.completeness {
                Completeness::Complete => false,
                Completeness::Excluded => true,
                _ => return None,
            };
            linters.push(LinterEntry { linter: u16::try_from(*place).ok()?, is_left_out, set: 0 });
        }
        let entry = Entry {
            linters: linters.into(),
            suppressed: u32::try_from(suppressed).ok()?,
            baselined: u32::try_from(baselined).ok()?,
        };
        Some(Self { entry, content: known.content, reads: known.reads.clone() })
    }
}

impl Entry {
    pub(super) fn is_answered(&self) -> bool {
        self.linters.iter().any(|it| !it.is_left_out)
    }

    /// Notes the set that the answer at `place` rests on.
    pub(super) fn rests_on(&mut self, place: usize, set: u32) {
        self.linters[place].set = set;
    }

    pub(super) fn sets(&self) -> impl Iterator<Item = u32> {
        self.linters.iter().map(|it| it.set)
    }
}

impl Sums {
    pub(super) fn of_linters(linters: usize) -> Self {
        Self { linters: vec![(0, 0); linters], ..Self::default() }
    }

    pub(super) fn add(&mut self, entry: &Entry) {
        self.change(entry, |sum, more| *sum += more);
    }

    pub(super) fn subtract(&mut self, entry: &Entry) {
        self.change(entry, |sum, less| *sum -= less);
    }

    fn change(&mut self, entry: &Entry, change: impl Fn(&mut usize, usize)) {
        change(&mut self.asked, usize::from(!entry.linters.is_empty()));
        change(&mut self.files, usize::from(entry.is_answered()));
        change(&mut self.suppressed, entry.suppressed as usize);
        change(&mut self.baselined, entry.baselined as usize);
        for answer in &entry.linters {
            let (complete, left_out) = &mut self.linters[usize::from(answer.linter)];
            let sum = if answer.is_left_out { left_out } else { complete };
            let mut count = *sum as usize;
            change(&mut count, 1);
            // It was no more than that before one was added, or taken away.
            *sum = u32::try_from(count).unwrap_or(u32::MAX);
        }
    }
}
