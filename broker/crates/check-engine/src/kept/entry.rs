//! Facts that are kept of one file, and the sums over many.

use std::sync::Arc;

use lint::Completeness;
use overlay::{ContentHash, Observation, Read, View};
use scheduler::Reads;

use crate::{Answer, FileAnswers};

/// Facts about one file from a check.
pub(crate) struct FileFacts {
    /// Hash of the file's text, also of one behind a link; `None` if its name alone says that no linter wants it.
    pub(super) content: Option<ContentHash>,
    /// Whether the text is behind a link; then all answers name it, and the link, among what they rest on.
    pub(super) is_link: bool,
    pub(super) linters: Box<[LinterFacts]>,
    /// Whether every linter that wants the file has looked at it, and nothing is reported of it.
    pub(super) is_clean: bool,
    pub(super) suppressed: u32,
    pub(super) baselined: u32,
}

/// The numbers of a file's findings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FindingCounts {
    pub(crate) reported: usize,
    pub(crate) suppressed: usize,
    pub(crate) baselined: usize,
}

/// The answer of one linter, with what it rests on besides the file's text.
pub(super) struct LinterFacts {
    pub(super) linter: u16,
    pub(super) is_left_out: bool,
    pub(super) reads: Reads,
}

/// Kept facts of a file, which are added to the sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(super) linters: Box<[LinterEntry]>,
    pub(super) is_clean: bool,
    pub(super) suppressed: u32,
    pub(super) baselined: u32,
}

/// The answer of one linter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinterEntry {
    pub(super) linter: u16,
    pub(super) is_left_out: bool,
    /// The number of the read set that it rests on.
    pub(super) set: u32,
}

/// FolderTotals over many files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FolderTotals {
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
    /// `None` if an answer is not final, is for another text than the file's in `view`, or rests on more than its read set.
    pub(crate) fn of(file: &FileAnswers, view: &dyn View, counts: FindingCounts) -> Option<Self> {
        let linked = if file.own_content.is_none() { Some(Linked::of(file, view)?) } else { None };
        let content = file.own_content.or_else(|| Some(linked.as_ref()?.content))?;
        let names_text = |reads: &Reads| linked.as_ref().is_none_or(|it| it.is_named_by(reads));
        let facts = |(linter, answer): &(usize, Arc<Answer>), reads: &Option<Reads>| {
            let is_left_out = match answer.completeness {
                Completeness::Complete => false,
                Completeness::Excluded => true,
                Completeness::Partial(_) | Completeness::Pending(_) | Completeness::Failed(_) => return None,
            };
            let reads = reads.clone().filter(|it| answer.content == Some(content) && names_text(it))?;
            Some(LinterFacts { linter: u16::try_from(*linter).ok()?, is_left_out, reads })
        };
        let linters = file.answers.iter().zip(&file.reads).map(|(answer, reads)| facts(answer, reads));
        Some(Self {
            content: Some(content),
            is_link: linked.is_some(),
            linters: linters.collect::<Option<_>>()?,
            is_clean: counts.reported == 0 && file.answers.iter().all(|(_, it)| it.is_whole()),
            suppressed: u32::try_from(counts.suppressed).ok()?,
            baselined: u32::try_from(counts.baselined).ok()?,
        })
    }

    /// No linter wants the file, by its name or by this text.
    pub(crate) fn nothing(content: Option<ContentHash>) -> Self {
        Self { content, is_link: false, linters: [].into(), is_clean: true, suppressed: 0, baselined: 0 }
    }

    pub(super) fn is_answered(&self) -> bool {
        self.linters.iter().any(|it| !it.is_left_out)
    }
}

/// A text behind a link.
struct Linked {
    link: Read,
    text: Read,
    content: ContentHash,
}

impl Linked {
    fn of(file: &FileAnswers, view: &dyn View) -> Option<Self> {
        let path = &file.unit.path;
        let target = view.resolve(path).ok().filter(|it| it != path)?;
        let content = file.answers.first()?.1.content?;
        Some(Self { link: Read::Link(path.clone()), text: Read::Content(target), content })
    }

    /// Whether `reads` name the text and the link, and so change with both.
    fn is_named_by(&self, reads: &Reads) -> bool {
        let is_followed = matches!(reads.observation(&self.link), Some(Observation::Found(_)));
        is_followed && reads.observation(&self.text) == Some(Observation::Found(self.content))
    }
}

impl Entry {
    fn is_answered(&self) -> bool {
        self.linters.iter().any(|it| !it.is_left_out)
    }

    pub(super) fn sets(&self) -> impl Iterator<Item = u32> {
        self.linters.iter().map(|it| it.set)
    }
}

impl FolderTotals {
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
            // The count is a `u32` to which one was added, or from which one was taken.
            *sum = u32::try_from(count).unwrap_or(u32::MAX);
        }
    }
}
