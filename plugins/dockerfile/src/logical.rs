//! A text that is put together of pieces of the file, and where each piece is from.

use std::ops::Range;

/// The lines of an instruction as one, without what continues them and without comments.
#[derive(Debug, Default, Clone)]
pub(crate) struct Logical {
    pub(crate) text: String,
    /// Offsets of each piece in `text` and in the file.
    pieces: Vec<(usize, usize)>,
}

impl Logical {
    pub(crate) fn push(&mut self, piece: &str, at: usize) {
        self.pieces.push((self.text.len(), at));
        self.text.push_str(piece);
    }

    /// Range in the file of a part of the text.
    pub(crate) fn place(&self, part: Range<usize>) -> Range<usize> {
        let start = self.at(part.start);
        let end = if part.end > part.start { self.at(part.end - 1) + 1 } else { start };
        start..end
    }

    fn at(&self, offset: usize) -> usize {
        let piece = self.pieces.partition_point(|it| it.0 <= offset).saturating_sub(1);
        let (start, place) = self.pieces.get(piece).copied().unwrap_or_default();
        place + (offset - start)
    }
}
