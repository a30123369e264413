//! A request under way: the work that is left, and the answers so far about each file.

use std::{
    collections::{BTreeSet, VecDeque},
    ops::Range,
    sync::Arc,
    time::Duration,
};

use lint::{Completeness, Linter, Scope};
use overlay::ContentHash;
use scheduler::{End, Finished};

use super::{
    BatchSize, EngineRequest, FileAnswers, Listener, Output, Refused, Totals, done,
    plan::{Known, KnownAnswer, Plan},
};
use crate::{
    Coverage,
    answer::{Answer, Computed},
};

/// Number of files that are looked up at once: few enough that branches take turns, and that cores share the work
/// of a repository of usual size.
const PART: usize = 512;

/// A part of the work.
pub(super) enum WorkItem {
    /// To look up these files.
    Part(Range<usize>),
    Batch(Batch),
}

/// Files, by index, for one linter.
pub(super) struct Batch {
    pub(super) linter: usize,
    pub(super) files: Vec<usize>,
    /// Whether the batch is not shared with others: a shared answer did not hold here.
    pub(super) alone: bool,
}

/// The answers about a file that are there, by linter, and how many are not.
type Progress = (Vec<(usize, KnownAnswer)>, usize);

pub(super) struct CheckRun {
    pub(super) request: Arc<EngineRequest>,
    pub(super) plan: Arc<Plan>,
    parts: VecDeque<Range<usize>>,
    /// Files that were not looked up yet.
    unknown: usize,
    /// By linter: the files that it is to be asked about.
    misses: Vec<VecDeque<usize>>,
    again: Vec<Batch>,
    contents: Vec<Option<ContentHash>>,
    /// Hashes of files that are no links.
    own_contents: Vec<Option<ContentHash>>,
    files: Vec<Progress>,
    /// Whether a part of the work has begun.
    pub(super) began: bool,
    /// Files that were left out for their size.
    too_large: BTreeSet<usize>,
    pub(super) totals: Totals,
}

impl CheckRun {
    pub(super) fn new(request: &Arc<EngineRequest>, plan: Arc<Plan>) -> Self {
        let (count, linters) = (plan.routes.len(), plan.router.linters().len());
        let parts = (0..count).step_by(PART).map(|start| start..count.min(start + PART));
        let totals = Totals {
            skipped: plan.files.skipped.clone(),
            cached: vec![0; linters],
            queued: Duration::ZERO,
            plan: Arc::clone(&plan),
        };
        Self {
            request: Arc::clone(request),
            parts: parts.collect(),
            unknown: count,
            misses: vec![VecDeque::new(); linters],
            again: Vec::new(),
            contents: vec![None; count],
            own_contents: vec![None; count],
            files: plan.routes.iter().map(|it| (Vec::new(), it.wanting.len())).collect(),
            began: false,
            too_large: BTreeSet::new(),
            totals,
            plan,
        }
    }

    pub(super) async fn start(&self, listener: &mut impl Listener) {
        let answers: usize = self.plan.routes.iter().map(|it| it.wanting.len()).sum();
        let files = self.plan.routes.iter().filter(|it| !it.wanting.is_empty()).count();
        let missing = self.plan.router.missing_for(&self.plan.files, answers > 0);
        listener.start(&self.plan.router, missing, files, answers).await;
    }

    /// Takes the next work that can be begun: look-ups first, since answers that are known are reported at once.
    pub(super) fn next(&mut self) -> Option<WorkItem> {
        if let Some(part) = self.parts.pop_front() {
            return Some(WorkItem::Part(part));
        }
        if let Some(batch) = self.again.pop() {
            return Some(WorkItem::Batch(batch));
        }
        let (is_all_known, linters) = (self.unknown == 0, self.plan.router.linters());
        let take = |linter: usize, rest: usize| {
            let size = self.request.batch.for_linter(&*linters[linter], self.files.len());
            match rest {
                // More will come: what is no whole batch yet may become one.
                rest if !is_all_known && rest < size.largest => 0,
                _ if !is_all_known => size.largest,
                rest => size.of(rest),
            }
        };
        let ready = |(linter, misses): &(usize, &mut VecDeque<usize>)| take(*linter, misses.len()) > 0;
        let (linter, misses) = self.misses.iter_mut().enumerate().find(ready)?;
        let files = misses.drain(..take(linter, misses.len())).collect();
        Some(WorkItem::Batch(Batch { linter, files, alone: false }))
    }

    /// Puts back work for which there was no room.
    pub(super) fn put_back(&mut self, item: WorkItem) {
        match item {
            WorkItem::Part(part) => self.parts.push_front(part),
            WorkItem::Batch(batch) => self.again.push(batch),
        }
    }

    /// Hash of a file's text, if it was looked up.
    pub(super) fn content(&self, file: usize) -> Option<ContentHash> {
        self.contents[file]
    }

    pub(super) async fn take(
        &mut self,
        item: WorkItem,
        finished: Finished<Arc<Output>>,
        listener: &mut impl Listener,
    ) -> Result<(), Refused> {
        self.totals.queued = self.totals.queued.max(finished.queued);
        match item {
            WorkItem::Batch(batch) => self.take_batch(batch, finished, listener).await,
            WorkItem::Part(part) => match &*done(finished.end)? {
                Output::Known(known) => {
                    self.learn(part, known, listener).await;
                    Ok(())
                }
                Output::Plan(_) | Output::Batch(_) => Err(Refused::mistaken()),
            },
        }
    }

    /// Reports the answers that are known already; the others are left for the linters.
    pub(super) async fn learn(&mut self, part: Range<usize>, known: &[Known], listener: &mut impl Listener) {
        let plan = Arc::clone(&self.plan);
        self.unknown -= part.len();
        for (file, known) in part.zip(known) {
            self.contents[file] = known.content;
            self.own_contents[file] = known.own_content;
            for (linter, answer) in plan.routes[file].wanting.iter().zip(&known.answers) {
                let Some(answer) = answer else {
                    self.misses[*linter].push_back(file);
                    continue;
                };
                self.totals.cached[*linter] += 1;
                (self.request.answered)(None);
                self.answer(file, *linter, answer.clone(), listener).await;
            }
        }
    }

    async fn take_batch(
        &mut self,
        batch: Batch,
        finished: Finished<Arc<Output>>,
        listener: &mut impl Listener,
    ) -> Result<(), Refused> {
        let name = || &self.plan.router.linters()[batch.linter].identity().name;
        let computed = match &finished.end {
            End::Done(output) => match &**output {
                Output::Batch(computed) if finished.joined && !self.holds(computed, &batch) => {
                    self.again.push(Batch { alone: true, ..batch });
                    return Ok(());
                }
                Output::Batch(computed) => computed.clone(),
                Output::Plan(_) | Output::Known(_) => return Err(Refused::mistaken()),
            },
            End::Superseded => return Err(Refused::Superseded),
            End::ShuttingDown => return Err(Refused::ShuttingDown),
            End::Cancelled => all(&batch, Completeness::Pending("interrupted".to_owned())),
            End::Panicked(why) => {
                let reason = format!("the linter `{}` broke off: {why}; this is a bug in Broker", name());
                all(&batch, Completeness::Failed(reason))
            }
        };
        for (file, computed) in batch.files.iter().zip(computed) {
            if computed.is_too_large && self.too_large.insert(*file) {
                self.totals.skipped.too_large += 1;
            }
            self.answer(*file, batch.linter, (computed.answer, computed.kept_reads), listener).await;
        }
        Ok(())
    }

    /// Whether answers that were computed for another view hold in this one: as for an answer that is kept, the reads must
    /// name all that it depends on.
    fn holds(&self, computed: &[Computed], batch: &Batch) -> bool {
        batch.files.iter().zip(computed).all(|(file, computed)| {
            computed.answer.is_reusable()
                && computed.answer.content == self.content(*file)
                && computed.answer.rests_on(&computed.reads)
                && computed.reads.holds_in(&*self.request.view)
        })
    }

    async fn answer(
        &mut self,
        file: usize,
        linter: usize,
        answer: KnownAnswer,
        listener: &mut impl Listener,
    ) {
        let (answers, missing) = &mut self.files[file];
        answers.push((linter, answer));
        *missing -= 1;
        if *missing > 0 {
            return;
        }
        let mut answers = std::mem::take(answers);
        answers.sort_by_key(|(linter, _)| *linter);
        let (unit, router) = (self.plan.files.units[file].clone(), &self.plan.router);
        let rests_on_reads = |linter: usize, answer: &Answer| {
            answer.is_final() && answer.lease.is_none() && self.plan.is_traced(linter)
        };
        let reads = |(linter, (answer, reads)): &(usize, KnownAnswer)| {
            reads.clone().filter(|_| rests_on_reads(*linter, answer))
        };
        let reads = answers.iter().map(reads).collect();
        let answers: Vec<_> = answers.into_iter().map(|(linter, (answer, _))| (linter, answer)).collect();
        let others = self.plan.routes[file].others;
        let coverage = Coverage::of(&answers, |it| &*router.linters()[it], others);
        let own_content = self.own_contents[file];
        listener.file(FileAnswers { unit, answers, coverage, own_content, reads }).await;
    }

    /// Answers everything that was not answered with the reason for that.
    pub(super) async fn give_up(&mut self, why: Completeness, listener: &mut impl Listener) {
        let plan = Arc::clone(&self.plan);
        let unanswered = Computed::without_findings(why).answer;
        for file in 0..self.files.len() {
            if self.files[file].1 == 0 {
                continue;
            }
            let there: Vec<_> = self.files[file].0.iter().map(|(linter, _)| *linter).collect();
            for linter in plan.routes[file].wanting.iter().filter(|it| !there.contains(it)) {
                self.answer(file, *linter, (Arc::clone(&unanswered), None), listener).await;
            }
        }
    }
}

fn all(batch: &Batch, completeness: Completeness) -> Vec<Computed> {
    batch.files.iter().map(|_| Computed::without_findings(completeness.clone())).collect()
}

impl BatchSize {
    /// A linter of project scope looks over the whole view for each batch, so that there may be few of them if there
    /// are many files, and no batch is cut for the sake of other workers.
    fn for_linter(self, linter: &dyn Linter, files: usize) -> Self {
        const TIMES: usize = 8;
        let largest = (TIMES * self.largest).max(files / TIMES);
        match linter.profile().scope {
            Scope::Project => Self { largest, workers: 1 },
            Scope::File => self,
        }
    }

    /// Guided self-scheduling: a fixed share of what is left, within reason. Batches are large at first, so that
    /// a linter's set-up is paid rarely, and small at the end, so that the workers finish together.
    fn of(self, rest: usize) -> usize {
        const SMALLEST: usize = 8;
        let fair = rest.div_ceil(self.workers);
        let share = if self.workers == 1 { rest } else { (rest / (4 * self.workers)).max(SMALLEST) };
        share.min(self.largest).min(fair)
    }
}

#[cfg(test)]
mod tests {
    use lint::{Cancel, Diagnostic, Job, Related, Severity, Span};
    use lint_testkit::Scripted;
    use overlay::{Memory, View, WorkspacePath};
    use scheduler::{BranchKey, Class};

    use super::*;
    use crate::{Files, Router, SharedLinter, Wanted, answer::ask};

    fn finding(related: Option<&str>) -> Diagnostic {
        let related = related.map(|it| Related {
            path: Some(WorkspacePath::new(it).unwrap()),
            span: Span::new(0, 1),
            message: String::new(),
        });
        Diagnostic {
            code: "C".into(),
            name: None,
            message: "m".into(),
            severity: Severity::Error,
            cell: None,
            span: Span::new(0, 1),
            tags: vec![],
            url: None,
            shared_name: None,
            fixes: vec![],
            related: related.into_iter().collect(),
        }
    }

    #[test]
    fn an_answer_whose_reads_do_not_name_a_related_file_is_not_shared() {
        let view: Arc<dyn View> = Arc::new(Memory::from_files([("a", "x"), ("b", "y")]).unwrap());
        let holds = |related| {
            let linter = Arc::new(Scripted::new("one", &["a"]).finds("a", vec![finding(related)]));
            let path = WorkspacePath::new("a").unwrap();
            let units = Files::of_named([path.clone()]);
            let linters: Vec<SharedLinter> = vec![Arc::clone(&linter) as _];
            let request = Arc::new(EngineRequest {
                view: Arc::clone(&view),
                wanted: Wanted::Files(units.clone()),
                dependents: None,
                route: Box::new(move |_| Ok(Arc::new(Router::new(&linters)))),
                class: Class::Agent,
                branch: BranchKey(1),
                revision: 0,
                supersede: false,
                timeout: Duration::from_secs(1),
                batch: BatchSize { largest: 1, workers: 1 },
                jobs: None,
                use_cache: true,
                share: true,
                cancel: None,
                due: None,
                answered: Arc::new(|_| {}),
                seen: None,
                parent: None,
                retries: None,
                traced_only: false,
                largest: u64::MAX,
            });
            let mut run = CheckRun::new(&request, Arc::new(Plan::of(&request, "").unwrap()));
            run.contents[0] = view.hash(&path).ok();
            let job = Job {
                view: Arc::clone(&view),
                units: units.units,
                cancel: Cancel::default(),
                timeout: Duration::from_secs(1),
                is_awaited: false,
            };
            let computed = ask(&*linter, &job, u64::MAX, |_| ());
            assert_eq!(computed[0].answer.findings[0].related.len(), usize::from(related.is_some()));
            run.holds(&computed, &Batch { linter: 0, files: vec![0], alone: false })
        };
        assert!(holds(None) && !holds(Some("b")));
    }

    #[test]
    fn batches_are_large_where_each_costs_a_look_at_the_project() {
        let size_for = |profile| {
            let linter = Scripted::new("one", &["a"]).works(profile);
            let size = BatchSize { largest: 16, workers: 4 }.for_linter(&linter, 4000);
            (size.largest, size.workers)
        };
        let outside = lint::Profile { runs: lint::Runs::Outside, ..lint::Profile::LOCAL };
        assert_eq!([size_for(lint::Profile::LOCAL), size_for(outside)], [(16, 4); 2]);
        let of_project = lint::Profile { scope: Scope::Project, ..lint::Profile::LOCAL };
        assert_eq!([size_for(of_project), size_for(lint::Profile::SERVER)], [(500, 1); 2]);
    }

    #[test]
    fn batches_shrink_and_share_fairly() {
        let sizes = |count: usize, workers, largest| {
            let mut rest = count;
            let next = || {
                let size = BatchSize { largest, workers }.of(rest);
                rest -= size;
                (size > 0).then_some(size)
            };
            std::iter::from_fn(next).collect::<Vec<_>>()
        };
        assert!(sizes(0, 2, 256).is_empty());
        assert_eq!(sizes(1, 2, 256), [1]);
        assert_eq!(sizes(10, 2, 256), [5, 3, 1, 1]);
        assert_eq!(sizes(100, 2, 256), [12, 11, 9, 8, 8, 8, 8, 8, 8, 8, 6, 3, 2, 1]);
        assert_eq!(sizes(10_000, 2, 256)[..2], [256, 256]);
        assert_eq!(sizes(10_000, 1, 256).iter().sum::<usize>(), 10_000);
        assert!(sizes(10_000, 2, 16).iter().all(|it| *it <= 16));
    }
}
