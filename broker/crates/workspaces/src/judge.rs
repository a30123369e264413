//! What of the linters' answers is told: suppressions, severities and the baseline, worked out once for all
//! branches with the same answers and the same configuration.

use std::sync::{Arc, Weak};

use checker::{
    Answer, Coverage, FileAnswers, Finding,
    baseline::{Baseline, Mark, Presence},
    policy::{self, Read, RuleIndex},
};
use config::{ConfigError, Configs, Effective, SetupFailure};
use lint::{Completeness, Fingerprint, suppress};
use overlay::{ContentHash, View, WorkspacePath};
use quick_cache::{Weighter, sync::Cache};

use super::DaemonError;

/// What is told of one file.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) findings: Vec<Told>,
    /// What a baseline would know them by.
    kinds: Vec<Fingerprint>,
    pub(super) suppressed: usize,
    pub(super) baselined: usize,
}

/// A finding as it is told to everyone who asks.
pub(super) type Told = Arc<(Finding, Fingerprint)>;

/// Judgements, each with all that it rests on, within a budget of memory.
pub(super) struct Judgements(Cache<Key, Arc<Judgement>, ByMemory>);

/// The answers by their addresses, which no other answer gets as long as the judgement is there.
type Key = Vec<usize>;

struct Judgement {
    /// Named and not held: the cache of answers has a budget of its own, and what it gives up is to be gone.
    answers: Vec<Weak<Answer>>,
    /// Which of those are whole depends on who else could have been asked.
    coverage: Coverage,
    effective: Arc<Effective>,
    every_rule: bool,
    judged: Arc<Judged>,
}

#[derive(Clone)]
struct ByMemory;

impl Weighter<Key, Arc<Judgement>> for ByMemory {
    fn weight(&self, key: &Key, it: &Arc<Judgement>) -> u64 {
        // An answer that is given up leaves its own few words behind as long as it is named here.
        let answers = key.len() * (size_of::<usize>() + size_of::<Weak<Answer>>() + size_of::<Answer>());
        (size_of::<Judgement>() + answers + it.judged.weight()) as u64
    }
}

/// Bytes of a usual judgement.
const USUAL: u64 = 512;

impl Judgements {
    /// `memory` in bytes.
    pub(super) fn within(memory: u64) -> Self {
        let usual = usize::try_from(memory / USUAL).unwrap_or(usize::MAX);
        Self(Cache::with_weighter(usual, memory, ByMemory))
    }
}

impl Judged {
    fn weight(&self) -> usize {
        let findings = self.findings.iter().map(|it| it.0.weight() + size_of::<Fingerprint>());
        size_of::<Self>() + findings.sum::<usize>() + self.kinds.len() * size_of::<Fingerprint>()
    }
}

/// Judges the files of one view.
pub(super) struct Judge<'v> {
    view: &'v dyn View,
    configs: Configs<'v>,
    baseline: Option<Baseline>,
    every_rule: bool,
    rules: RuleIndex<'v>,
    judgements: &'v Judgements,
}

impl<'v> Judge<'v> {
    pub(super) fn new(
        view: &'v dyn View,
        every_rule: bool,
        rules: RuleIndex<'v>,
        judgements: &'v Judgements,
    ) -> Result<Self, DaemonError> {
        let configs = Configs::new(view);
        let workspace = configs.workspace().map_err(wrong)?;
        let baseline = workspace.baseline().map(|it| Baseline::load(view, it)).transpose();
        let baseline =
            baseline.map_err(|error| DaemonError::Setup { message: error.to_string(), hint: None })?;
        Ok(Self { view, configs, baseline, every_rule, rules, judgements })
    }

    pub(super) fn view(&self) -> &'v dyn View {
        self.view
    }

    fn effective(&self, path: &WorkspacePath) -> Result<Arc<Effective>, DaemonError> {
        self.configs.for_file(path).map_err(wrong)
    }

    /// `linters` are the names of all by their places; the baseline may know the file as `moved_from`. `None` if
    /// the file has another text now than its answers are for.
    pub(super) fn judge(
        &self,
        file: &FileAnswers,
        linters: &[&str],
        moved_from: Option<&WorkspacePath>,
    ) -> Result<Option<Arc<Judged>>, DaemonError> {
        let effective = self.effective(&file.unit.path)?;
        let key: Key = file.answers.iter().map(|(_, it)| Arc::as_ptr(it).addr()).collect();
        let known = self.judgements.0.get(&key).filter(|it| it.is_for(file, &effective, self.every_rule));
        let judged = match known {
            Some(known) => Some(Arc::clone(&known.judged)),
            None => self.remember(key, file, linters, effective),
        };
        Ok(judged.map(|judged| match &self.baseline {
            Some(baseline) => Arc::new(leave_out_known(baseline, &file.unit.path, moved_from, &judged)),
            None => judged,
        }))
    }

    fn remember(
        &self,
        key: Key,
        file: &FileAnswers,
        linters: &[&str],
        effective: Arc<Effective>,
    ) -> Option<Arc<Judged>> {
        let judged = Arc::new(self.judge_afresh(file, linters, &effective)?);
        let judgement = Judgement {
            answers: file.answers.iter().map(|(_, it)| Arc::downgrade(it)).collect(),
            coverage: file.coverage.clone(),
            effective,
            every_rule: self.every_rule,
            judged: Arc::clone(&judged),
        };
        self.judgements.0.insert(key, Arc::new(judgement));
        Some(judged)
    }

    /// `None` if the file has another text now than its answers are for.
    fn judge_afresh(&self, file: &FileAnswers, linters: &[&str], effective: &Effective) -> Option<Judged> {
        let path = &file.unit.path;
        let findings = sorted(file);
        let mut contents = file.answers.iter().filter_map(|(_, it)| it.content);
        let content = contents.next();
        if contents.any(|it| Some(it) != content) {
            return None;
        }
        let is_excluded = file.answers.iter().all(|(_, it)| it.completeness == Completeness::Excluded);
        let Some(content) = content.filter(|_| !is_excluded) else { return Some(Judged::default()) };
        let text = self.view.open(path).ok()?;
        if ContentHash::of(&text) != content {
            return None;
        }
        let report_unused = effective.suppressions.report_unused.filter(|_| self.every_rule);
        let options = suppress::Options { report_unused, ..effective.suppressions };
        let (coverage, rules) = (&file.coverage, &self.rules);
        let read = Read { path, text: &text, linters, coverage, rules };
        let answer = policy::for_file(read, findings, &effective.severities, options);
        let sites: Vec<_> = answer.findings.iter().map(Finding::site).collect();
        let fingerprints = Fingerprint::of_file(&text, &sites);
        Some(Judged {
            findings: answer.findings.into_iter().zip(fingerprints).map(Arc::new).collect(),
            kinds: answer.fingerprints,
            suppressed: answer.suppressed,
            baselined: 0,
        })
    }
}

/// What is told beyond the baseline, of the file at `path` that was at `moved_from` when the baseline was made.
fn leave_out_known(
    baseline: &Baseline,
    path: &WorkspacePath,
    moved_from: Option<&WorkspacePath>,
    judged: &Judged,
) -> Judged {
    let mark = |(told, fingerprint): (&Told, &Fingerprint)| Mark {
        path: path.clone(),
        rule: told.0.rule.to_string(),
        fingerprint: *fingerprint,
    };
    let marks: Vec<_> = judged.findings.iter().zip(&judged.kinds).map(mark).collect();
    // File by file it is not known whether another file has taken the entries of one that is gone: a known finding
    // that is reported is better than a new one that is not.
    let presence = |listed: &Mark| match &listed.path {
        listed if listed == path => Presence::Checked,
        listed if Some(listed) == moved_from => Presence::Gone,
        _ => Presence::Unchecked,
    };
    let known = baseline.split(&marks, &presence).known;
    let kept = |index: &usize| !known.get(*index).copied().unwrap_or(false);
    let left = (0..judged.findings.len()).filter(kept);
    Judged {
        findings: left.map(|it| Arc::clone(&judged.findings[it])).collect(),
        kinds: Vec::new(),
        suppressed: judged.suppressed,
        baselined: known.iter().filter(|it| **it).count(),
    }
}

impl Judgement {
    fn is_for(&self, file: &FileAnswers, effective: &Arc<Effective>, every_rule: bool) -> bool {
        let same =
            |(own, (_, other)): (&Weak<Answer>, &(usize, Arc<Answer>))| own.as_ptr() == Arc::as_ptr(other);
        self.every_rule == every_rule
            && self.answers.len() == file.answers.len()
            && self.coverage == file.coverage
            && self.answers.iter().zip(&file.answers).all(same)
            && (Arc::ptr_eq(&self.effective, effective) || self.effective == *effective)
    }
}

fn wrong(error: ConfigError) -> DaemonError {
    SetupFailure::from(error).into()
}

fn sorted(file: &FileAnswers) -> Vec<Finding> {
    let mut findings: Vec<_> = file.answers.iter().flat_map(|(_, it)| it.findings.iter().cloned()).collect();
    findings.sort_by(Finding::order);
    findings
}

#[cfg(test)]
mod tests {
    use checker::{CheckedFile, Range, RuleRef};
    use lint::{LineColumn, Severity, Span};

    use super::*;

    fn told(message: &str) -> Told {
        let path = WorkspacePath::new("a").unwrap();
        let start = LineColumn { line: 1, column: 1 };
        let finding = Finding {
            file: Arc::new(CheckedFile { path, content: None }),
            rule: Arc::new(RuleRef {
                linter: "l".into(),
                code: "C".to_owned(),
                name: None,
                url: None,
                is_syntax_error: false,
            }),
            message: message.into(),
            severity: Severity::Error,
            cell: None,
            span: Span::new(0, 1),
            range: Range { start, end: start },
            fixes: [].into(),
            related: [].into(),
        };
        let fingerprint = Fingerprint::of_file(b"x", &[finding.site()])[0];
        Arc::new((finding, fingerprint))
    }

    #[test]
    fn judgements_stay_within_their_memory() {
        const MEMORY: u64 = 1 << 20;
        let judgements = Judgements::within(MEMORY);
        let view = overlay::Memory::default();
        let effective = Configs::new(&view).for_file(&WorkspacePath::new("a").unwrap()).unwrap();
        let message = "m".repeat(10_000);
        let findings: Vec<_> = (0..1000).map(|_| told(&message)).collect();
        for (number, finding) in findings.iter().enumerate() {
            let judged = Judged { findings: vec![Arc::clone(finding)], ..Judged::default() };
            let effective = Arc::clone(&effective);
            let judged = Arc::new(judged);
            let (answers, coverage) = (vec![Weak::new()], Coverage::default());
            let judgement = Judgement { answers, coverage, effective, every_rule: true, judged };
            judgements.0.insert(vec![number], Arc::new(judgement));
        }
        assert!(judgements.0.weight() <= MEMORY && judgements.0.len() > 1, "{}", judgements.0.weight());
        let held = findings.iter().filter(|it| Arc::strong_count(it) > 1).count();
        assert!((2..200).contains(&held), "{held} of 1000 are held, each of 10 kB");
    }
}
