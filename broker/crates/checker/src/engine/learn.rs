//! A look at every file of a folder: which answers of the cache hold there, and what each rests on.

use std::{ops::Range, sync::Arc};

use lint::{Reads, Scope};
use overlay::{ChangeLog, ContentHash, Look, View};
use scheduler::{Looks, ReadIndex};

use super::{
    Engine, Inquiry, Refused,
    lookup::{Survey, key, prepare},
};
use crate::{Answer, Coverage, FileAnswers, Files, Lack, Router};

/// What was found.
pub(crate) struct Learned {
    pub(crate) files: Files,
    pub(crate) router: Arc<Router>,
    pub(crate) lacks: Vec<Lack>,
    /// By file: `None` if it cannot be said what its answers are, or what they rest on.
    pub(crate) answers: Vec<Option<Known>>,
    pub(crate) index: ReadIndex,
}

/// The answers about one file.
pub(crate) struct Known {
    pub(crate) content: ContentHash,
    /// By linter.
    pub(crate) answers: Vec<(usize, Arc<Answer>)>,
    /// The numbers of their read sets.
    pub(crate) sets: Vec<u32>,
}

/// How many files are looked up with one memory of what was seen.
const PART: usize = 4096;

impl Engine {
    /// Looks at all files of an inquiry about a folder whose changes `log` tells. Takes its time. `None` without a
    /// cache.
    pub(crate) async fn learn(
        &self,
        inquiry: Inquiry,
        log: Arc<dyn ChangeLog>,
    ) -> Result<Option<Learned>, Refused> {
        let engine = self.clone();
        let learn = move || engine.learn_here(&inquiry, &*log);
        let learned = tokio::task::spawn_blocking(learn).await;
        learned.map_err(|error| Refused::Broken(error.to_string()))?
    }

    fn learn_here(&self, inquiry: &Inquiry, log: &dyn ChangeLog) -> Result<Option<Learned>, Refused> {
        let survey = Survey::of(inquiry, self.build).map_err(Refused::Setup)?;
        let mut index = ReadIndex::default();
        let mut answers = Vec::with_capacity(survey.files.units.len());
        for start in (0..survey.files.units.len()).step_by(PART) {
            let part = start..survey.files.units.len().min(start + PART);
            match self.learn_part(&survey, part, &inquiry.view, log, &mut index) {
                Some(known) => answers.extend(known),
                None => return Ok(None),
            }
        }
        index.finish(|read| {
            log.covers(match read {
                overlay::Read::Listing(path) => Look::Listing(path),
                read => Look::At(read.path()),
            })
        });
        let is_answered = survey.wanting.iter().any(|it| !it.is_empty());
        let lacks = survey.router.lacks_for(&survey.files, is_answered);
        let Survey { files, router, .. } = survey;
        Ok(Some(Learned { files, router, lacks, answers, index }))
    }

    fn learn_part(
        &self,
        survey: &Survey,
        part: Range<usize>,
        view: &Arc<dyn View>,
        log: &dyn ChangeLog,
        index: &mut ReadIndex,
    ) -> Option<Vec<Option<Known>>> {
        let cache = self.cache.as_deref()?;
        let linters = survey.router.linters();
        let mut looks = Looks::new(&**view);
        prepare(&mut looks, &survey.files.units[part.clone()]);
        let mut known = |file: usize| {
            let unit = &survey.files.units[file];
            if survey.wanting[file].is_empty() {
                return Some(Known { content: ContentHash::of(b""), answers: Vec::new(), sets: Vec::new() });
            }
            // A link shows what stands elsewhere.
            let content = looks.own_content(&unit.path).filter(|_| log.covers(Look::At(&unit.path)))?;
            let mut known = Known { content, answers: Vec::new(), sets: Vec::new() };
            for place in &survey.wanting[file] {
                let profile = linters[*place].profile();
                if profile.scope == Scope::Project || profile.reads == Reads::Context {
                    return None;
                }
                let key = key(survey.digests[*place], unit);
                let (answer, reads) = cache.find_with_reads(&key, content, &mut looks)?;
                if !answer.is_reusable() || answer.lease.is_some() {
                    return None;
                }
                known.sets.push(index.add(&reads));
                known.answers.push((*place, answer));
            }
            known.sets.dedup();
            Some(known)
        };
        Some(part.map(&mut known).collect())
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
