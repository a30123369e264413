//! The files of a request, and what is known of each without asking a linter.

use std::{ops::Range, sync::Arc};

use config::SetupFailure;
use lint::{Linter, Reads, Unit};
use overlay::{ContentHash, View, WorkspacePath};
use scheduler::{Cache, Key, ReadChecker};

use super::EngineRequest;
use crate::{Answer, Files, Others, Router, interest::RoutedFile};

/// Files of a request, and the linters that are to be asked about each.
pub(crate) struct Plan {
    pub(super) files: Files,
    pub(crate) router: Arc<Router>,
    /// Routes of the files, in their order.
    pub(super) routes: Vec<FileRoute>,
    /// By linter: what names it, and all that its answers rest on besides what they say they do.
    pub(super) digests: Vec<ContentHash>,
    build: &'static str,
}

/// Linters that are asked about a file.
#[derive(Debug)]
pub(crate) struct FileRoute {
    /// Linters that want the file, by their places in the router.
    pub(super) wanting: Box<[usize]>,
    pub(super) others: Others,
    pub(crate) tracing: Tracing,
    /// Hash of the file's text if its name did not say enough.
    pub(crate) content: Option<ContentHash>,
}

/// Tracing of reads by the linters that are asked about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tracing {
    /// No linter is asked.
    Unasked,
    /// All linters name what their answers depend on.
    Traced,
    /// At least one linter does not.
    Untraced,
}

/// Cached answers about one file.
pub(crate) struct Known {
    /// `None` if there is no cache, or the file cannot be read or is too large.
    pub(super) content: Option<ContentHash>,
    /// Hash of the text of a file that is no link.
    pub(super) own_content: Option<ContentHash>,
    /// For each linter that wants the file, in the same order.
    pub(super) answers: Box<[Option<KnownAnswer>]>,
}

/// An answer that holds, and what it rests on, unless it is one that is not kept.
pub(crate) type KnownAnswer = (Arc<Answer>, Option<scheduler::Reads>);

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan")
            .field("files", &self.files)
            .field("routes", &self.routes)
            .finish_non_exhaustive()
    }
}

impl Plan {
    pub(super) fn of(request: &EngineRequest, build: &'static str) -> Result<Self, SetupFailure> {
        let mut files = request.wanted.files(&*request.view);
        let mut router = (request.route)(&files)?;
        if let Some(dependents) = &request.dependents {
            dependents.add_to(&mut files, router.linters(), &*request.view);
            if !files.dependents.is_empty() {
                // Their configuration may be another.
                router = (request.route)(&files)?;
            }
        }
        let mut plan = Self { digests: Vec::new(), files, router, routes: Vec::new(), build };
        plan.routes = plan.files.units.iter().map(|it| plan.route(request, &it.path)).collect();
        plan.digests = plan.router.linters().iter().map(|it| digest(&**it, None, build)).collect();
        Ok(plan)
    }

    fn route(&self, request: &EngineRequest, path: &WorkspacePath) -> FileRoute {
        let file = RoutedFile::new(&*request.view, path);
        let (wanting, others) = self.router.asked(&self.files, &file);
        let tracing = if wanting.is_empty() {
            Tracing::Unasked
        } else if wanting.iter().all(|it| self.is_traced(*it)) {
            Tracing::Traced
        } else {
            Tracing::Untraced
        };
        let is_passed_over = request.traced_only && tracing == Tracing::Untraced;
        let wanting = if is_passed_over { [].into() } else { wanting };
        FileRoute { wanting, others, tracing, content: file.content() }
    }

    /// Linters whose reads are not traced, so that a look at the whole view must say what their answers rest on.
    pub(super) fn with_context(&self) -> Vec<usize> {
        let linters = self.router.linters();
        let is_wanted = |it: &usize| self.routes.iter().any(|route| route.wanting.contains(it));
        let has_context = |it: &usize| linters[*it].profile().reads == Reads::Context;
        (0..linters.len()).filter(has_context).filter(is_wanted).collect()
    }

    /// Adds to the digests of these linters what their answers depend on.
    pub(super) fn in_context(mut self, view: &Arc<dyn View>) -> Self {
        for place in self.with_context() {
            let linter = &self.router.linters()[place];
            self.digests[place] = digest(&**linter, linter.context(view), self.build);
        }
        self
    }

    /// Looks up the cached answers about some of the files.
    pub(super) fn look_up(
        &self,
        part: Range<usize>,
        cache: Option<&Cache<Answer>>,
        request: &EngineRequest,
    ) -> Vec<Known> {
        let Some(cache) = cache else {
            return part.map(|file| self.nothing_known(file)).collect();
        };
        let checker = match &request.parent {
            Some(parent) => ReadChecker::over_parent(&*request.view, Arc::clone(parent)),
            None => ReadChecker::new(&*request.view),
        };
        let mut checker = checker.limited(request.largest);
        prepare(&mut checker, &self.files.units[part.clone()]);
        let known = part.map(|file| self.known(file, cache, request, &mut checker)).collect();
        if let Some(seen) = &request.seen {
            let _nobody_asks_any_more = seen.send(checker.into_seen());
        }
        known
    }

    fn known(
        &self,
        file: usize,
        cache: &Cache<Answer>,
        request: &EngineRequest,
        checker: &mut ReadChecker<'_>,
    ) -> Known {
        let (unit, wanting) = (&self.files.units[file], &self.routes[file].wanting);
        if wanting.is_empty() {
            return self.nothing_known(file);
        }
        let Ok(content) = checker.content(&unit.path) else { return self.nothing_known(file) };
        let own_content = checker.own_content(&unit.path);
        let mut find = |linter: &usize| {
            let key = key(self.digests[*linter], unit);
            let found = cache.find_with_reads(&key, content, checker).filter(|(it, _)| it.is_reusable());
            let found = found.map(|(answer, reads)| (answer, Some(reads)));
            let mut retries = || request.retries.as_ref()?.find(&key, content, checker);
            found.or_else(|| retries().map(|answer| (answer, None)))
        };
        let answers = wanting.iter().map(&mut find).collect();
        Known { content: Some(content), own_content, answers }
    }

    fn nothing_known(&self, file: usize) -> Known {
        let answers = self.routes[file].wanting.iter().map(|_| None).collect();
        Known { content: None, own_content: None, answers }
    }

    /// Whether a linter's answers can change with nothing but the file's text and what their read sets name.
    pub(super) fn is_traced(&self, linter: usize) -> bool {
        self.router.linters()[linter].profile().is_traced()
    }

    pub(crate) fn routes(&self) -> impl Iterator<Item = (&WorkspacePath, &FileRoute)> {
        self.files.units.iter().map(|it| &it.path).zip(&self.routes)
    }
}

/// Looks at all files directory by directory: they are sorted by path.
fn prepare(checker: &mut ReadChecker<'_>, units: &[Unit]) {
    for siblings in units.chunk_by(|a, b| directory(a) == directory(b)) {
        if let [first, _, ..] = siblings
            && let Some(directory) = first.path.parent()
        {
            checker.prepare(&directory, siblings.iter().map(|it| &it.path));
        }
    }
}

fn directory(unit: &Unit) -> &str {
    unit.path.as_str().rsplit_once('/').map_or("", |(directory, _)| directory)
}

pub(super) fn key(linter: ContentHash, unit: &Unit) -> Key {
    Key { linter, path: unit.path.clone(), named: unit.named.clone() }
}

/// Cache identity of a linter: all that may change its answers but the files that they name. The build of this program
/// is part of it: grammars, queries, the file system that a guest sees, places and the format that answers are kept in
/// are code of the host's.
pub(super) fn digest(linter: &dyn Linter, context: Option<ContentHash>, build: &str) -> ContentHash {
    let it = linter.identity();
    let context = context.map_or_else(String::new, |it| format!("\0{it}"));
    ContentHash::of(format!("{build}\0{}\0{}\0{}{context}", it.name, it.version, it.digest).as_bytes())
}
