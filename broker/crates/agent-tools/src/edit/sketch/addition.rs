//! Definitions that the file has not, after the last marker: at the end of the block that the sketch names, or of the file.

use super::{
    super::{
        definitions,
        file_kind::FileKind,
        outcome::{Reason, Refused},
        text::{Replacement, Text, is_blank},
    },
    CLEARLY_OUTSIDE, Work,
    blocks::is_container,
    edges::Placer,
    parse::Piece,
    place::Placement,
};

/// Languages whose functions stand at the margin as well as in classes, and those whose methods name the object.
const WITH_FUNCTIONS: [&str; 9] =
    ["python", "rust", "javascript", "typescript", "tsx", "go", "c", "cpp", "lua"];

const SELF: [&str; 5] = ["(self", "(&self", "(&mut self", "(mut self", "(cls"];

impl Placer<'_, '_> {
    /// The line of the file above which the last piece goes, if it only adds definitions and its place is certain.
    pub(super) fn addition(&self) -> Option<usize> {
        let (piece, lines) = (self.sketch.pieces.last()?, self.pieces.last()?);
        let follows_marker = self.sketch.pieces.len() > 1 || self.sketch.starts_open;
        let first_is_new = self.lines.places(lines.keys[0]).is_empty();
        let is_addition = follows_marker
            && !self.sketch.ends_open
            && first_is_new
            && definitions::are_all_new(&piece.lines, self.file.lines(), self.parser);
        is_addition.then(|| self.end_of_block(piece)).flatten()
    }

    fn end_of_block(&self, piece: &Piece<'_>) -> Option<usize> {
        let level = |line: &&str| self.parser.kind.level(line);
        let deep = piece.lines.first().and_then(level)?;
        let is_least = |it: &&str| self.parser.kind.is_aside(it) || level(it).is_none_or(|it| it >= deep);
        match self.head_above(deep) {
            Head::None => {
                let is_clear = self.file.lines().iter().all(is_least) && !self.may_be_method(piece);
                is_clear.then_some(self.file.lines().len())
            }
            Head::At(head) => self.end_of(head, deep),
            Head::Unknown => None,
        }
    }

    /// The nearest line of the sketch above the last piece that stands less deep.
    fn head_above(&self, deep: usize) -> Head {
        let earlier = self.sketch.pieces.iter().zip(&self.pieces).rev().skip(1);
        for (piece, keys) in earlier {
            // Lines above the first line of the file have no key.
            let skipped = piece.lines.len() - keys.keys.len();
            let lines = piece.lines.iter().enumerate().rev();
            let head = lines.into_iter().find(|it| self.parser.kind.level(it.1).is_some_and(|it| it < deep));
            let Some((at, _)) = head else { continue };
            let key = at.checked_sub(skipped).map(|it| keys.keys[it]);
            return match key.filter(|it| self.lines.is_telling(*it)) {
                Some(key) => Head::At(self.lines.places(key)[0]),
                None => Head::Unknown,
            };
        }
        Head::None
    }

    /// Behind the last line of a block whose lines stand so deep; `None` if that is not certain.
    fn end_of(&self, head: usize, deep: usize) -> Option<usize> {
        let (kind, lines) = (self.parser.kind, self.file.lines());
        let is_python = self.parser.language.is_some_and(|it| it.name() == "python");
        let has_members = match kind {
            FileKind::Code => is_python && is_container(lines[head]),
            FileKind::Yaml => lines[head].trim_end().ends_with(':'),
            FileKind::Sections => true,
            FileKind::Prose => false,
        };
        let least = kind.level(lines[head])?;
        let is_inside = |it: &&&str| kind.level(it).is_none_or(|it| it > least);
        let block = &lines[head + 1..];
        let block = &block[..block.iter().take_while(is_inside).count()];
        // Comments above the next section are its own.
        let is_loose = |it: &str| is_blank(it) || (kind == FileKind::Sections && kind.is_aside(it));
        let count = block.iter().rposition(|it| !is_loose(it))? + 1;
        let fits = block.iter().find_map(|it| kind.level(it)) == Some(deep);
        let ends_text =
            ["\"\"\"", "'''"].iter().any(|quotes| block.join("\n").matches(quotes).count() % 2 == 1);
        (has_members && fits && !ends_text).then_some(head + 1 + count)
    }

    /// Whether a definition at the margin may be meant for a class.
    fn may_be_method(&self, piece: &Piece<'_>) -> bool {
        let names_object =
            piece.lines.iter().any(|it| SELF.iter().any(|own| it.contains(own)) && is_at_margin(it));
        let is_free = self.parser.language.is_some_and(|it| WITH_FUNCTIONS.contains(&it.name()))
            || self.parser.kind != FileKind::Code;
        let word = |it: &&str| it.split_whitespace().next().map(str::to_owned);
        let first = piece.lines.first().and_then(word);
        let mut same = self.file.lines().iter().filter(|it| word(it) == first).peekable();
        names_object || (!is_free && same.peek().is_some() && !same.any(|it| is_at_margin(it)))
    }
}

/// The line that a piece stands below.
enum Head {
    None,
    At(usize),
    /// A line that the file has not, or more than once.
    Unknown,
}

fn is_at_margin(line: &str) -> bool {
    !line.starts_with(char::is_whitespace)
}

impl Work<'_, '_> {
    /// Nothing else goes below what is added, and few lines below it may have been meant to go.
    pub(super) fn expect_clear_addition(
        &self,
        places: &[&Placement],
        text: &str,
        before: &str,
    ) -> Result<(), Refused> {
        let Some((at, piece)) = self.addition.zip(self.sketch.pieces.last()) else { return Ok(()) };
        if places.iter().any(|it| it.end > at) {
            return Err(Reason::OutOfOrder { first: piece.line, last: piece.last() }.into());
        }
        let count = self.file.lines()[at..].iter().filter(|it| !is_blank(it)).count();
        if (1..=CLEARLY_OUTSIDE).contains(&count) {
            let reading = ("these lines stay".to_owned(), text.to_owned());
            return Err(Refused::with_readings(Reason::OpenEnd { end: "end", count }, before, vec![reading]));
        }
        Ok(())
    }
}

/// A piece below a line, with as many empty lines between as in the sketch.
pub(super) fn added(file: &Text<'_>, at: usize, piece: &Piece<'_>) -> Replacement {
    let blank_before = file.lines()[..at].iter().rev().take_while(|it| is_blank(it)).count();
    let blank = piece.blank_before.saturating_sub(blank_before);
    let lines =
        std::iter::repeat_n(String::new(), blank).chain(piece.lines.iter().map(|it| (*it).to_owned()));
    Replacement { range: at..at, lines: lines.collect() }
}
