//! Places in a view of the chunks that were found.

use std::{
    collections::{BinaryHeap, HashMap, HashSet},
    sync::Arc,
};

use overlay::{View, WorkspacePath};

use super::{Chunks, CodeMatch, LearnedFile, fusion::Resolved, rank::Candidate};
use crate::{
    Cancelled, Options,
    contents::{Contents, Difference, Document, State, Table, files, hashes},
};

/// Files of a view, by the documents that they have.
pub(super) struct Places {
    by_document: HashMap<Document, Vec<WorkspacePath>>,
    table: Option<(Arc<Table>, HashSet<WorkspacePath>)>,
    /// Files whose content no segment has. Sorted.
    pub(super) unknown: Vec<WorkspacePath>,
    pub(super) total: usize,
}

impl Places {
    pub(super) fn of(
        view: &dyn View,
        contents: &Contents<Chunks>,
        state: &State<Chunks>,
        options: &Options<'_>,
    ) -> Result<Self, Cancelled> {
        let tracked = view.tracked();
        let difference = tracked.zip(state.table.clone()).and_then(|(tracked, table)| {
            let difference = table.difference(view, &tracked, options.walk)?;
            Some((table, difference))
        });
        let (to_look_at, total, table) = match difference {
            Some((table, Difference { now, to_look_at, not_true })) => {
                (to_look_at, now.len(), Some((table, not_true)))
            }
            None => {
                let all = files(view, options)?;
                let total = all.len();
                (all, total, None)
            }
        };
        let (mut by_document, mut unknown) = (HashMap::<_, Vec<_>>::new(), Vec::new());
        for (path, hash) in to_look_at.iter().zip(hashes(view, &to_look_at, options)?) {
            // Links, and what cannot be read, have no content to be found.
            let Some(hash) = hash else { continue };
            match state.by_hash.get(&hash) {
                Some(document) => by_document.entry(*document).or_default().push(path.clone()),
                None if contents.is_refused(hash) => {}
                None => unknown.push(path.clone()),
            }
        }
        Ok(Self { by_document, table, unknown, total })
    }

    /// The first path of a document in the view.
    fn path(&self, document: Document) -> Option<WorkspacePath> {
        let by_table = self.table.as_ref().and_then(|(table, not_true)| {
            let number = std::iter::once(usize::from(document.number));
            table.paths(document.segment.into(), number, not_true).min().cloned()
        });
        let looked_at = self.by_document.get(&document).and_then(|it| it.iter().min().cloned());
        by_table.into_iter().chain(looked_at).min()
    }

    /// The best chunks that the view has, each text once.
    pub(super) fn resolve(
        &self,
        mut best: BinaryHeap<Candidate>,
        state: &State<Chunks>,
        learned: &[LearnedFile],
        limit: usize,
    ) -> Vec<Resolved> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        while found.len() < limit
            && let Some(candidate) = best.pop()
        {
            let resolved = match candidate.segment {
                Some(segment) => self.of_segment(state, segment, candidate),
                None => of_learned(learned, candidate),
            };
            let resolved = resolved.filter(|it| seen.insert(it.chunk));
            found.extend(resolved.map(|it| Resolved { found: it, scores: candidate.scores }));
        }
        found
    }

    fn of_segment(&self, state: &State<Chunks>, number: usize, candidate: Candidate) -> Option<CodeMatch> {
        let segment = state.segments.get(number)?;
        let document = segment.document(candidate.chunk);
        let document =
            Document { segment: u16::try_from(number).ok()?, number: u16::try_from(document).ok()? };
        let path = self.path(document)?;
        let entry = segment.entry(candidate.chunk)?;
        Some(CodeMatch {
            path,
            first_line: entry.first_line + 1,
            last_line: entry.end_line,
            symbol: entry.symbol,
            is_test: entry.is_test,
            score: 0.0,
            chunk: entry.hash,
            text: String::new(),
        })
    }
}

fn of_learned(learned: &[LearnedFile], candidate: Candidate) -> Option<CodeMatch> {
    let file = learned.get(candidate.file)?;
    let chunk = file.chunks.get(candidate.chunk)?;
    Some(CodeMatch {
        path: file.path.clone(),
        first_line: chunk.first_line + 1,
        last_line: chunk.end_line,
        symbol: chunk.symbol.clone(),
        is_test: chunk.is_test,
        score: 0.0,
        chunk: chunk.hash,
        text: String::new(),
    })
}
