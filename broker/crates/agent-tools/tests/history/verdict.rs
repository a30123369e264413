//! Verdict on a case.

use std::{collections::BTreeMap, fs, time::Instant};

use agent_tools::edit::{self, Applied, Reason, Refused};
use overlay::WorkspacePath;
use syntax::Trees;

use crate::{
    definitions::{self, Kind},
    file::{Case, said},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Exact,
    /// Other blank lines, and nothing else.
    Blank,
    Refused {
        reason: String,
        /// Number of the reading that is right, from 0.
        right: Option<usize>,
    },
    Wrong {
        /// Whether a definition or many lines are gone that should still be there.
        is_lost: bool,
    },
}

pub(crate) struct Judged {
    pub(crate) repository: String,
    pub(crate) case: Case,
    pub(crate) verdict: Verdict,
    pub(crate) lines: usize,
    pub(crate) seconds: f64,
    /// Outcome of the edit; the text if it was applied.
    pub(crate) outcome: Result<Applied, Refused>,
}

/// Lines that may be gone without a definition among them, before it counts as a loss.
const LOST: usize = 5;

impl Verdict {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Blank => "blank",
            Self::Refused { .. } => "refused",
            Self::Wrong { .. } => "wrong",
        }
    }
}

pub(crate) fn judge(repository: &str, case: Case) -> Judged {
    let path = WorkspacePath::new(&case.path).unwrap();
    // New ones, so that no tree is known beforehand.
    let trees = Trees::new(1 << 26);
    let start = seconds();
    let outcome = edit::apply(&path, &case.before, &case.edit, None, &trees);
    let seconds = seconds() - start;
    let verdict = match (&outcome, &case.after) {
        (Ok(it), Some(after)) => compare(&case, after, &it.text),
        (Ok(_), None) => Verdict::Wrong { is_lost: false },
        (Err(_), None) => Verdict::Exact,
        (Err(it), Some(after)) => {
            let is_right = |id| {
                let text = edit::apply(&path, &case.before, &case.edit, Some(id), &trees).ok();
                text.is_some_and(|it| !matches!(compare(&case, after, &it.text), Verdict::Wrong { .. }))
            };
            let right = it.readings.iter().position(|it| is_right(&it.id));
            Verdict::Refused { reason: reason(&it.reason), right }
        }
    };
    Judged {
        repository: repository.to_owned(),
        verdict,
        lines: case.before.lines().count(),
        seconds,
        case,
        outcome,
    }
}

fn compare(case: &Case, after: &str, got: &str) -> Verdict {
    let loose = |text: &str| -> Vec<String> {
        said(text).map(|it| it.trim().trim_end_matches([',', ';']).to_owned()).collect()
    };
    match () {
        () if after == got => Verdict::Exact,
        () if case.is_loose && loose(after) == loose(got) => Verdict::Exact,
        () if said(after).eq(said(got)) => Verdict::Blank,
        () => Verdict::Wrong { is_lost: is_lost(case, after, got) },
    }
}

/// Whether definitions or lines that the file had, and still should have, are gone.
fn is_lost(case: &Case, after: &str, got: &str) -> bool {
    let names = |text: &str| {
        let all = definitions::of(&case.path, text).into_iter().filter(|it| it.kind != Kind::Section);
        counts(all.map(|it| it.name))
    };
    let lines = |text: &str| counts(said(text).map(|it| it.trim().to_owned()));
    missing(&names(&case.before), &names(after), &names(got)) > 0
        || missing(&lines(&case.before), &lines(after), &lines(got)) > LOST
}

fn counts(all: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    all.for_each(|it| *counts.entry(it).or_default() += 1);
    counts
}

fn missing(
    before: &BTreeMap<String, usize>,
    after: &BTreeMap<String, usize>,
    got: &BTreeMap<String, usize>,
) -> usize {
    let count = |all: &BTreeMap<String, usize>, it: &String| all.get(it).copied().unwrap_or_default();
    before.iter().map(|(it, old)| (*old).min(count(after, it)).saturating_sub(count(got, it))).sum()
}

/// Time that this thread had of a processor, where the system says so; else the time of the clock.
fn seconds() -> f64 {
    thread_local!(static START: Instant = Instant::now());
    let of_system = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = of_system.and_then(|it| it.split(' ').next()?.parse::<u64>().ok());
    nanoseconds.map_or_else(|| START.with(|it| it.elapsed().as_secs_f64()), |it| it as f64 / 1e9)
}

/// The name of a reason's variant.
fn reason(reason: &Reason) -> String {
    let text = format!("{reason:?}");
    text.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
}

impl Judged {
    /// Whether `wanted` names the case: a verdict or a reason, behind a shape and a slash or alone.
    pub(crate) fn is_named(&self, wanted: &str) -> bool {
        let (shape, kind) = wanted.rsplit_once('/').map_or((None, wanted), |it| (Some(it.0), it.1));
        let reason = match &self.verdict {
            Verdict::Refused { reason, .. } => reason,
            Verdict::Wrong { is_lost: true } => "lost",
            _ => "",
        };
        shape.is_none_or(|it| it == self.case.shape) && [self.verdict.name(), reason, "any"].contains(&kind)
    }

    /// The sketch, what it should do, and what came of it.
    pub(crate) fn text(&self) -> String {
        let Case { shape, language, path, commit, before, after, edit, .. } = &self.case;
        let why = match &self.verdict {
            Verdict::Refused { reason, right } => format!("{reason}, right reading: {right:?}"),
            other => format!("{other:?}"),
        };
        let head = format!(
            "{shape} {language}: {}\n{} {commit} {path}: {why}",
            self.verdict.name(),
            self.repository
        );
        let wanted = after.as_deref().map_or_else(String::new, |it| diff(before, it));
        let came = match (&self.outcome, after) {
            (Ok(it), Some(after)) => {
                format!("--- from what is right to what came\n{}", diff(after, &it.text))
            }
            (Ok(it), None) => format!("--- what came\n{}", it.diff),
            (Err(it), _) => {
                let readings =
                    it.readings.iter().map(|it| format!("--- reading: {}\n{}\n", it.what, it.diff));
                format!("--- {it}\n{}", readings.collect::<String>())
            }
        };
        format!("{head}\n--- sketch\n{edit}--- what is right\n{wanted}{came}\n")
    }
}

fn diff(old: &str, new: &str) -> String {
    similar::TextDiff::from_lines(old, new).unified_diff().context_radius(3).to_string()
}
