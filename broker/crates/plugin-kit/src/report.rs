//! What came of it.

use std::fmt;

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// What the plugin says of itself: its rules, and what it imports.
    Declaration,
    /// The findings and fixes in the fixtures.
    Golden,
    /// The same question has the same answer, whatever was asked before.
    Determinism,
    /// A fix removes its finding and breaks nothing.
    Fixes,
    /// Odd files are answered as well.
    Robustness,
    /// Time and memory.
    Budget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Passed,
    /// Worth knowing; fails nothing.
    Note,
    Failed,
}

/// One thing that was tried, or is worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub check: Check,
    pub verdict: Verdict,
    /// What it is about: a fixture's path, a rule; empty for the plugin as a whole.
    pub subject: String,
    /// In words for people; for what passed, what was done.
    pub message: String,
    /// Why the plugin gave no answer, if that is what it is about.
    cause: Option<String>,
    /// How often it was so for the same cause.
    times: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub findings: Vec<Finding>,
}

impl Report {
    pub fn has_failed(&self) -> bool {
        self.findings.iter().any(|it| it.verdict == Verdict::Failed)
    }

    /// Whether the plugin cannot be loaded or configured at all.
    pub(crate) fn is_broken(&self) -> bool {
        let is_whole = |it: &&Finding| it.subject.is_empty() && it.check == Check::Declaration;
        self.findings.iter().filter(is_whole).any(|it| it.verdict == Verdict::Failed)
    }

    pub(crate) fn add(
        &mut self,
        check: Check,
        verdict: Verdict,
        subject: impl Into<String>,
        message: impl Into<String>,
    ) {
        let (subject, message) = (subject.into(), shortened(message.into()));
        self.findings.push(Finding { check, verdict, subject, message, cause: None, times: 1 });
    }

    /// There was no answer. One cause is told once for each check, however many files it is true of.
    pub(crate) fn no_answer(&mut self, check: Check, subject: impl Into<String>, what: &str, cause: String) {
        let same = |it: &&mut Finding| it.check == check && it.cause.as_ref() == Some(&cause);
        if let Some(known) = self.findings.iter_mut().find(same) {
            known.times += 1;
            return;
        }
        self.fail(check, subject, format!("{what}: {cause}"));
        if let Some(told) = self.findings.last_mut() {
            told.cause = Some(cause);
        }
    }

    /// Says of each cause how often it was met.
    pub(crate) fn count_causes(&mut self) {
        for it in self.findings.iter_mut().filter(|it| it.times > 1) {
            let more = it.times - 1;
            it.message += &format!(" (and {more} more for the same cause)");
        }
    }

    pub(crate) fn fail(&mut self, check: Check, subject: impl Into<String>, message: impl Into<String>) {
        self.add(check, Verdict::Failed, subject, message);
    }

    /// Says what was done, if nothing of this kind failed.
    pub(crate) fn pass(&mut self, check: Check, message: impl Into<String>) {
        let has_failed = |it: &Finding| it.check == check && it.verdict == Verdict::Failed;
        if !self.findings.iter().any(has_failed) {
            self.add(check, Verdict::Passed, "", message);
        }
    }
}

/// What a plugin says may hold the file that it is about.
fn shortened(message: String) -> String {
    const MOST: usize = 2_000;
    match message.char_indices().nth(MOST) {
        Some((at, _)) => format!("{} …", &message[..at]),
        None => message,
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Declaration => "declaration",
            Self::Golden => "golden",
            Self::Determinism => "determinism",
            Self::Fixes => "fixes",
            Self::Robustness => "robustness",
            Self::Budget => "budget",
        })
    }
}
