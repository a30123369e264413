//! Places of a patch's chunks in a file.

use std::cell::OnceCell;

use super::{
    super::{
        block::{Block, Closeness, SHOWN},
        haystack::Haystack,
        outcome::{Reason, Refused},
        scopes::Scopes,
        text::{Replacement, Text, is_blank},
    },
    section::Chunk,
};

/// A file that chunks are looked for in.
pub(super) struct Target<'a> {
    file: &'a Text<'a>,
    before: String,
    haystack: Haystack<'a>,
    scopes: OnceCell<Scopes<'a>>,
}

impl<'a> Target<'a> {
    pub(super) fn new(file: &'a Text<'a>) -> Self {
        let haystack = Haystack::lenient(file.lines());
        Self { file, before: file.replaced(&[], None), haystack, scopes: OnceCell::new() }
    }

    fn scopes(&self) -> &Scopes<'a> {
        self.scopes.get_or_init(|| Scopes::new(self.file.lines()))
    }

    pub(super) fn several(&self, block: &Block<'_>, places: &[(usize, usize)]) -> Refused {
        match places {
            [_] => block.not_found(self.file.lines()),
            _ => self.found_often(block, &places.iter().map(|it| it.0).collect::<Vec<_>>()),
        }
    }

    pub(super) fn found_often(&self, block: &Block<'_>, places: &[usize]) -> Refused {
        block.found_often(self.file, &self.before, places)
    }

    /// Finds the places of a chunk; without the blank line at its end if it is nowhere with it, as the end of a file has none.
    pub(super) fn fitting<'b>(
        &self,
        chunk: &Chunk<'b>,
    ) -> Result<(Block<'b>, Closeness, Vec<usize>), Refused> {
        let shorter =
            |chunk: &Chunk<'b>| Some(Chunk { block: chunk.block.without_last_blank()?, ..chunk.clone() });
        match (self.places(chunk), shorter(chunk)) {
            (Err(Refused { reason: Reason::NotFound { .. }, .. }), Some(chunk)) => {
                self.places(&chunk).map(|(closeness, places)| (chunk.block, closeness, places))
            }
            (found, _) => found.map(|(closeness, places)| (chunk.block.clone(), closeness, places)),
        }
    }

    fn places(&self, chunk: &Chunk<'_>) -> Result<(Closeness, Vec<usize>), Refused> {
        let (old, file) = (chunk.block.old(), self.file.lines());
        let heads = self.heads(chunk)?;
        let (closeness, places) = self.haystack.places(&old);
        let ends = |it: &usize| file[it + old.len()..].iter().all(|it| is_blank(it));
        let at_end: Vec<_> = places.iter().copied().filter(|it| chunk.is_last && ends(it)).collect();
        let places = if at_end.is_empty() { places } else { at_end };
        if places.is_empty() {
            return Err(chunk.block.not_found(self.file.lines()));
        }
        if chunk.heads.is_empty() {
            return Ok((closeness, places));
        }
        let below = self.scopes().below(&heads, &places, old.len());
        match places[..] {
            _ if !below.is_empty() => Ok((closeness, below)),
            [only] if heads.iter().any(|it| *it <= only) => Ok((closeness, places)),
            [_] => Err(chunk.block.not_found(self.file.lines())),
            // The head contradicts all of them.
            _ => Err(self.found_often(&chunk.block, &places)),
        }
    }

    /// The lines that the heads lead to: each head among what belongs to the one before.
    fn heads(&self, chunk: &Chunk<'_>) -> Result<Vec<usize>, Refused> {
        let mut found: Option<Vec<usize>> = None;
        for head in &chunk.heads {
            let all = self.scopes().heads(head);
            let below = match found {
                Some(above) => self.scopes().within(&above, &all),
                None => all,
            };
            if below.is_empty() {
                let text = chunk.heads.join(" / ");
                return Err(Reason::NotFound { part: chunk.block.part, text }.into());
            }
            found = Some(below);
        }
        Ok(found.unwrap_or_default())
    }

    /// Lines without any context go to the end of the file; with a head above them they may as well go below it.
    pub(super) fn added(&self, chunk: &Chunk<'_>) -> Result<Replacement, Refused> {
        let (heads, end) = (self.heads(chunk)?, self.file.lines().len());
        let lines: Vec<_> = chunk.block.lines.iter().map(|it| it.1.to_owned()).collect();
        let at = |it: usize| Replacement { range: it..it, lines: lines.clone() };
        if heads.is_empty() {
            return Ok(at(end));
        }
        let text = |it: usize| self.file.replaced(&[at(it)], None);
        let below = heads.iter().take(SHOWN);
        let below = below.map(|it| (format!("the lines are added below line {}", it + 1), text(it + 1)));
        let readings =
            below.chain([("the lines are added to the end of the file".to_owned(), text(end))]).collect();
        let reason = Reason::SeveralPlaces { first: chunk.block.part, last: chunk.block.part };
        Err(Refused::with_readings(reason, &self.before, readings))
    }
}
