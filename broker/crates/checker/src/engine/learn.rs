//! A look at files of a folder: which answers of the cache hold there, and what each rests on.

use std::{ops::Range, sync::Arc};

use lint::{Reads, Scope};
use overlay::{ChangeLog, ContentHash, Look, View};
use scheduler::ReadChecker;

use super::{
    Engine, EngineRequest, Refused,
    plan::{Plan, key, prepare},
};
use crate::{Answer, Coverage, FileAnswers, Files, Router};

/// What was found.
pub(crate) struct Learned {
    pub(crate) files: Files,
    pub(crate) router: Arc<Router>,
    /// By file: `None` if it cannot be said what its answers are, or what they rest on.
    pub(crate) answers: Vec<Option<KnownAnswers>>,
}

/// The answers about one file.
pub(crate) struct KnownAnswers {
    pub(crate) content: ContentHash,
    /// By linter.
    pub(crate) answers: Vec<(usize, Arc<Answer>)>,
    pub(crate) reads: Vec<scheduler::Reads>,
}

/// How many files are looked up with one memory of what was seen.
const PART: usize = 4096;

impl Engine {
    /// Looks at all files of a request about a folder whose changes `log` tells. Takes its time. `None` without a
    /// cache.
    pub(crate) async fn learn(
        &self,
        request: EngineRequest,
        log: Arc<dyn ChangeLog>,
    ) -> Result<Option<Learned>, Refused> {
        let engine = self.clone();
        let learn = move || engine.learn_here(&request, &*log);
        let learned = tokio::task::spawn_blocking(learn).await;
        learned.map_err(|error| Refused::Broken(error.to_string()))?
    }

    fn learn_here(&self, request: &EngineRequest, log: &dyn ChangeLog) -> Result<Option<Learned>, Refused> {
        let plan = Plan::of(request, self.build).map_err(Refused::Setup)?;
        let mut answers = Vec::with_capacity(plan.files.units.len());
        for start in (0..plan.files.units.len()).step_by(PART) {
            let part = start..plan.files.units.len().min(start + PART);
            match self.learn_part(&plan, part, &request.view, log) {
                Some(known) => answers.extend(known),
                None => return Ok(None),
            }
        }
        let Plan { files, router, .. } = plan;
        Ok(Some(Learned { files, router, answers }))
    }

    fn learn_part(
        &self,
        plan: &Plan,
        part: Range<usize>,
        view: &Arc<dyn View>,
        log: &dyn ChangeLog,
    ) -> Option<Vec<Option<KnownAnswers>>> {
        let cache = self.cache.as_deref()?;
        let linters = plan.router.linters();
        let mut checker = ReadChecker::new(&**view);
        prepare(&mut checker, &plan.files.units[part.clone()]);
        let mut known = |file: usize| {
            let unit = &plan.files.units[file];
            if plan.wanting[file].is_empty() {
                return Some(KnownAnswers::nothing());
            }
            // A link shows what stands elsewhere.
            let content = checker.own_content(&unit.path).filter(|_| log.covers(Look::At(&unit.path)))?;
            let mut known = KnownAnswers { content, ..KnownAnswers::nothing() };
            for place in &plan.wanting[file] {
                let profile = linters[*place].profile();
                if profile.scope == Scope::Project || profile.reads == Reads::Context {
                    return None;
                }
                let key = key(plan.digests[*place], unit);
                let (answer, reads) = cache.find_with_reads(&key, content, &mut checker)?;
                if !answer.is_reusable() || answer.lease.is_some() {
                    return None;
                }
                known.reads.push(reads);
                known.answers.push((*place, answer));
            }
            Some(known)
        };
        Some(part.map(&mut known).collect())
    }
}

impl KnownAnswers {
    /// No linter wants the file.
    fn nothing() -> Self {
        Self { content: ContentHash::of(b""), answers: Vec::new(), reads: Vec::new() }
    }
}

impl Learned {
    /// The answers about a file as a check has them.
    pub(crate) fn file(&self, file: usize) -> Option<FileAnswers> {
        let (unit, known) = (self.files.units.get(file)?.clone(), self.answers.get(file)?.as_ref()?);
        let router = &self.router;
        let absent = router.absent_for(&self.files, &unit.path);
        let coverage = Coverage::of(&known.answers, |it| &*router.linters()[it], absent);
        Some(FileAnswers { unit, answers: known.answers.clone(), coverage })
    }
}
