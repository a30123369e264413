//! Evaluation of the linters' answers: suppressions, severities and the baseline, worked out once for all
//! views with the same answers and the same configuration.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
};

use config::{ConfigError, Configs, Effective, SetupFailure};
use lint::{Completeness, Fingerprint, RulePattern, suppress};
use overlay::{ContentHash, View, WorkspacePath};
use quick_cache::{Weighter, sync::Cache};

use super::{BaselineUse, Request};
use crate::{
    Answer, Coverage, FileAnswers, Finding, Refused, RuleRef,
    baseline::{Baseline, Mark, Presence},
    kept::FindingCounts,
    policy::{self, Read, RuleIndex},
};

/// Reported findings of one file.
#[derive(Debug, Default)]
pub struct FileFindings {
    pub findings: Vec<Reported>,
    /// Fingerprints of the findings in a baseline, in the same order.
    pub(super) kinds: Vec<Fingerprint>,
    /// Findings that are not reported, with their rules: another linter has the same one, or the rule is off. An entry of
    /// a baseline may be for one of them.
    pub(super) hidden: Vec<(Arc<RuleRef>, Fingerprint)>,
    pub suppressed: usize,
    pub baselined: usize,
}

impl FileFindings {
    pub(super) fn counts(&self) -> FindingCounts {
        let Self { findings, suppressed, baselined, .. } = self;
        FindingCounts { reported: findings.len(), suppressed: *suppressed, baselined: *baselined }
    }
}

/// A finding, and what it is recognised by in another version of its file.
pub type Reported = Arc<(Finding, Fingerprint)>;

/// Findings as they are reported, each with all that they rest on, within a budget of memory.
pub struct PolicyCache(Cache<Key, Arc<Cached>, ByMemory>);

/// The answers by their addresses, which no other answer gets as long as the entry is there.
type Key = Vec<usize>;

struct Cached {
    /// Named and not held: the cache of answers has a budget of its own, and what it gives up is to be gone.
    answers: Vec<Weak<Answer>>,
    /// Coverage of the answers, which depends on the other linters that could have been asked.
    coverage: Coverage,
    effective: Arc<Effective>,
    every_rule: bool,
    found: Arc<FileFindings>,
}

#[derive(Clone)]
struct ByMemory;

impl Weighter<Key, Arc<Cached>> for ByMemory {
    fn weight(&self, key: &Key, it: &Arc<Cached>) -> u64 {
        // An answer that is given up leaves its own few words behind as long as it is named here.
        let answers = key.len() * (size_of::<usize>() + size_of::<Weak<Answer>>() + size_of::<Answer>());
        (size_of::<Cached>() + answers + it.found.weight()) as u64
    }
}

/// Bytes of a usual entry.
const TYPICAL_ENTRY_BYTES: u64 = 512;

impl PolicyCache {
    /// `memory` in bytes.
    pub fn within(memory: u64) -> Self {
        let usual = usize::try_from(memory / TYPICAL_ENTRY_BYTES).unwrap_or(usize::MAX);
        Self(Cache::with_weighter(usual, memory, ByMemory))
    }
}

impl FileFindings {
    fn weight(&self) -> usize {
        let findings = self.findings.iter().map(|it| it.0.weight() + size_of::<Fingerprint>());
        size_of::<Self>()
            + findings.sum::<usize>()
            + self.kinds.len() * size_of::<Fingerprint>()
            + self.hidden.len() * size_of::<(Arc<RuleRef>, Fingerprint)>()
    }
}

/// Applies the policy to the files of one view.
pub(super) struct PolicyEvaluator<'v> {
    view: &'v dyn View,
    configs: Configs<'v>,
    baseline: Option<Arc<Baseline>>,
    every_rule: bool,
    rules: RuleIndex<'static>,
    cache: &'v PolicyCache,
}

impl<'v> PolicyEvaluator<'v> {
    pub(super) fn new(
        request: &Request,
        view: &'v Arc<dyn View>,
        cache: &'v PolicyCache,
    ) -> Result<Self, Refused> {
        Self::configured_by(request, view, view, cache)
    }

    /// The configuration, what it names, and rules that the workspace defines are read in `configuration`, and the files
    /// in `view`, which is the same.
    pub(super) fn configured_by(
        request: &Request,
        configuration: &'v Arc<dyn View>,
        view: &'v Arc<dyn View>,
        cache: &'v PolicyCache,
    ) -> Result<Self, Refused> {
        let configs = request.configs(&**configuration);
        let baseline = match &request.policy.baseline {
            BaselineUse::Later => None,
            BaselineUse::This(baseline) => Some(Arc::clone(baseline)),
            BaselineUse::Configured => {
                let workspace = configs.workspace().map_err(wrong)?;
                let loaded = workspace.baseline().map(|it| Baseline::load(&**configuration, it)).transpose();
                let failure = |error: crate::baseline::BaselineError| SetupFailure::new(error.to_string());
                loaded.map_err(|error| Refused::Setup(failure(error)))?.map(Arc::new)
            }
        };
        let (every_rule, rules) = (request.policy.every_rule, request.rule_index(configuration));
        Ok(Self { view: &**view, configs, baseline, every_rule, rules, cache })
    }

    /// Returns an evaluator of the files of another view, where `configuration` is what this was configured by.
    pub(super) fn for_view(
        &self,
        request: &Request,
        configuration: &'v Arc<dyn View>,
        view: &'v Arc<dyn View>,
    ) -> Self {
        Self {
            view: &**view,
            configs: request.configs(&**configuration),
            baseline: self.baseline.clone(),
            every_rule: self.every_rule,
            rules: request.rule_index(configuration),
            cache: self.cache,
        }
    }

    /// Rules that a configuration file says something of, as far as files were looked at.
    pub(super) fn graded_rules(&self) -> BTreeSet<(WorkspacePath, RulePattern)> {
        self.configs.graded_rules()
    }

    pub(super) fn view(&self) -> &'v dyn View {
        self.view
    }

    fn effective(&self, path: &WorkspacePath) -> Result<Arc<Effective>, Refused> {
        self.configs.for_file(path).map_err(wrong)
    }

    /// `linters` are the names of all by their places; the baseline may know the file as `moved_from`. `None` if
    /// the file has another text now than its answers are for.
    pub(super) fn evaluate(
        &self,
        file: &FileAnswers,
        linters: &[&str],
        moved_from: Option<&WorkspacePath>,
    ) -> Result<Option<Arc<FileFindings>>, Refused> {
        let effective = self.effective(&file.unit.path)?;
        let key: Key = file.answers.iter().map(|(_, it)| Arc::as_ptr(it).addr()).collect();
        let known = self.cache.0.get(&key).filter(|it| it.is_for(file, &effective, self.every_rule));
        let found = match known {
            Some(known) => Some(Arc::clone(&known.found)),
            None => self.remember(key, file, linters, effective),
        };
        Ok(found.map(|found| match &self.baseline {
            Some(baseline) => Arc::new(leave_out_known(baseline, &file.unit.path, moved_from, &found)),
            None => found,
        }))
    }

    fn remember(
        &self,
        key: Key,
        file: &FileAnswers,
        linters: &[&str],
        effective: Arc<Effective>,
    ) -> Option<Arc<FileFindings>> {
        let found = Arc::new(self.evaluate_afresh(file, linters, &effective)?);
        let cached = Cached {
            answers: file.answers.iter().map(|(_, it)| Arc::downgrade(it)).collect(),
            coverage: file.coverage.clone(),
            effective,
            every_rule: self.every_rule,
            found: Arc::clone(&found),
        };
        self.cache.0.insert(key, Arc::new(cached));
        Some(found)
    }

    /// `None` if the file has another text now than its answers are for.
    fn evaluate_afresh(
        &self,
        file: &FileAnswers,
        linters: &[&str],
        effective: &Effective,
    ) -> Option<FileFindings> {
        let path = &file.unit.path;
        let findings = sorted(file);
        let mut contents = file.answers.iter().filter_map(|(_, it)| it.content);
        let content = contents.next();
        if contents.any(|it| Some(it) != content) {
            return None;
        }
        let is_excluded = file.answers.iter().all(|(_, it)| it.completeness == Completeness::Excluded);
        let Some(content) = content.filter(|_| !is_excluded) else { return Some(FileFindings::default()) };
        let text = self.view.open(path).ok()?;
        if ContentHash::of(&text) != content {
            return None;
        }
        let report_unused = effective.suppressions.report_unused.filter(|_| self.every_rule);
        let options = suppress::Options { report_unused, ..effective.suppressions };
        let (coverage, rules) = (&file.coverage, &self.rules);
        let read = Read { path, text: &text, linters, coverage, rules };
        let answer = policy::for_file(read, findings, &effective.severities, options);
        let keys: Vec<_> = answer.findings.iter().map(Finding::key).collect();
        let fingerprints = Fingerprint::of_file(&text, &keys);
        let mut findings: Vec<_> = answer.findings.into_iter().zip(fingerprints).map(Arc::new).collect();
        // Collected in place, they keep the room of what they were made of.
        findings.shrink_to_fit();
        Some(FileFindings {
            findings,
            kinds: answer.fingerprints,
            hidden: answer.hidden,
            suppressed: answer.suppressed,
            baselined: 0,
        })
    }
}

/// Leaves out the findings in the baseline. The file at `path` was at `moved_from` when the baseline was made.
fn leave_out_known(
    baseline: &Baseline,
    path: &WorkspacePath,
    moved_from: Option<&WorkspacePath>,
    found: &FileFindings,
) -> FileFindings {
    let mark = |(reported, fingerprint): (&Reported, &Fingerprint)| Mark {
        path: path.clone(),
        rule: reported.0.rule.to_string(),
        fingerprint: *fingerprint,
    };
    let marks: Vec<_> = found.findings.iter().zip(&found.kinds).map(mark).collect();
    // File by file it is not known whether another file has taken the entries of one that is gone: a known finding
    // that is reported is better than a new one that is not.
    let presence = |listed: &Mark| match &listed.path {
        listed if listed == path => Presence::Checked,
        listed if Some(listed) == moved_from => Presence::Gone,
        _ => Presence::Unchecked,
    };
    // All others would be unchecked.
    let files: Vec<_> = [Some(path), moved_from].into_iter().flatten().collect();
    let known = baseline.for_files(&files).split(&marks, &presence).known;
    let kept = |index: &usize| !known.get(*index).copied().unwrap_or(false);
    let left: Vec<_> = (0..found.findings.len()).filter(kept).collect();
    FileFindings {
        findings: left.iter().map(|it| Arc::clone(&found.findings[*it])).collect(),
        kinds: left.iter().map(|it| found.kinds[*it]).collect(),
        hidden: found.hidden.clone(),
        suppressed: found.suppressed,
        baselined: known.iter().filter(|it| **it).count(),
    }
}

impl Cached {
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

fn wrong(error: ConfigError) -> Refused {
    Refused::Setup(error.into())
}

fn sorted(file: &FileAnswers) -> Vec<Finding> {
    let mut findings: Vec<_> = file.answers.iter().flat_map(|(_, it)| it.findings.iter().cloned()).collect();
    findings.sort_by(Finding::order);
    findings
}

#[cfg(test)]
mod tests {
    use lint::{LineColumn, Severity, Span};

    use super::*;
    use crate::{CheckedFile, Range, RuleRef};

    fn reported(message: &str) -> Reported {
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
                fixes_first: false,
                is_unnecessary: false,
                is_deprecated: false,
                shared_name: None,
            }),
            message: message.into(),
            severity: Severity::Error,
            cell: None,
            span: Span::new(0, 1),
            range: Range { start, end: start },
            fixes: [].into(),
            related: [].into(),
        };
        let fingerprint = Fingerprint::of_file(b"x", &[finding.key()])[0];
        Arc::new((finding, fingerprint))
    }

    #[test]
    fn entries_stay_within_their_memory() {
        const MEMORY: u64 = 1 << 20;
        let cache = PolicyCache::within(MEMORY);
        let view = overlay::Memory::default();
        let effective = Configs::new(&view).for_file(&WorkspacePath::new("a").unwrap()).unwrap();
        let message = "m".repeat(10_000);
        let findings: Vec<_> = (0..1000).map(|_| reported(&message)).collect();
        for (number, finding) in findings.iter().enumerate() {
            let found = FileFindings { findings: vec![Arc::clone(finding)], ..FileFindings::default() };
            let effective = Arc::clone(&effective);
            let found = Arc::new(found);
            let (answers, coverage) = (vec![Weak::new()], Coverage::default());
            let cached = Cached { answers, coverage, effective, every_rule: true, found };
            cache.0.insert(vec![number], Arc::new(cached));
        }
        assert!(cache.0.weight() <= MEMORY && cache.0.len() > 1, "{}", cache.0.weight());
        let held = findings.iter().filter(|it| Arc::strong_count(it) > 1).count();
        assert!((2..200).contains(&held), "{held} of 1000 are held, each of 10 kB");
    }
}
