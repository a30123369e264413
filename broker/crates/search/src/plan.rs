//! Selection of the files in which a query has to be looked for.

use overlay::{View, WorkspacePath};

use crate::{
    Cancelled, Index, Options,
    contents::{Difference, Document, State, files, hashes},
    index::Trigrams,
    trigram::{Documents, Needs},
};

/// The files that may match, sorted.
pub(crate) struct Plan {
    pub(crate) files: Vec<WorkspacePath>,
    /// Number of other files, which do not match.
    pub(crate) ruled_out: usize,
}

impl Plan {
    /// All files of a view.
    pub(crate) fn everything(view: &dyn View, options: &Options<'_>) -> Result<Self, Cancelled> {
        Ok(Self { files: files(view, options)?, ruled_out: 0 })
    }

    fn new(mut files: Vec<WorkspacePath>, total: usize) -> Self {
        files.sort();
        files.dedup();
        Self { ruled_out: total.saturating_sub(files.len()), files }
    }
}

impl Index {
    /// The files of a view that may have what is needed: whatever is not known not to.
    pub(crate) fn plan(
        &self,
        view: &dyn View,
        needs: &Needs,
        options: &Options<'_>,
    ) -> Result<Plan, Cancelled> {
        let state = self.0.state();
        if *needs == Needs::Nothing || state.by_hash.is_empty() {
            return Plan::everything(view, options);
        }
        let search =
            Lookup { view, found: state.segments.iter().map(|it| it.find(needs)).collect(), state: &state };
        search.plan(options)
    }
}

struct Lookup<'a> {
    view: &'a dyn View,
    state: &'a State<Trigrams>,
    /// Documents that may match, by segment.
    found: Vec<Documents>,
}

impl Lookup<'_> {
    fn plan(&self, options: &Options<'_>) -> Result<Plan, Cancelled> {
        let tracked = self.view.tracked();
        let table = self.state.table.as_ref();
        let difference = tracked
            .zip(table)
            .and_then(|(tracked, table)| Some((table, table.difference(self.view, &tracked, options.walk)?)));
        let Some((table, Difference { now, to_look_at, not_true })) = difference else {
            let all = files(self.view, options)?;
            return Ok(Plan::new(self.possible(&all, options)?, all.len()));
        };
        let mut files = self.possible(&to_look_at, options)?;
        for (segment, documents) in self.found.iter().enumerate() {
            options.check()?;
            files.extend(table.paths(segment, documents.iter(), &not_true).cloned());
        }
        Ok(Plan::new(files, now.len()))
    }

    /// Returns the files that may match, by the content that each has now.
    fn possible(
        &self,
        files: &[WorkspacePath],
        options: &Options<'_>,
    ) -> Result<Vec<WorkspacePath>, Cancelled> {
        let hashes = hashes(self.view, files, options)?;
        let may_match =
            |document: &Document| self.found[usize::from(document.segment)].has(document.number.into());
        let known = hashes.iter().map(|it| self.state.by_hash.get(it.as_ref()?));
        let possible = files.iter().zip(known).filter(|(_, known)| known.is_none_or(may_match));
        Ok(possible.map(|(path, _)| path.clone()).collect())
    }
}
