//! `<<` of TypeScript that opens two lists of types, as in `f<<T>(a: T) => T>()`.
//!
//! swc reads a shift there, except behind the name of a type. With a blank in between it reads what is meant; places are
//! counted without these blanks. A shift never becomes two lists: that is tried only where an error is, and counts only
//! if the error is gone, or a later one is left.

/// Limit on the blanks that are tried in one file.
const MAX_BLANKS: usize = 50;

/// Number of `<<` before an error that may be its cause.
const NEAR: usize = 3;

/// A text with blanks put in.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub(crate) text: String,
    /// Offsets of the blanks, in order.
    blanks: Vec<usize>,
}

impl Split {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), blanks: Vec::new() }
    }

    /// Offset of the place in the text without the blanks.
    pub(crate) fn original(blanks: &[usize], at: usize) -> usize {
        at - blanks.partition_point(|it| *it < at)
    }

    pub(crate) fn blanks(&self) -> &[usize] {
        &self.blanks
    }

    /// With one more blank, for each of the last `<<` before an error; the nearest first.
    pub(crate) fn attempts(&self, error: usize) -> impl Iterator<Item = Self> + '_ {
        let length = self.text.len();
        let before = &self.text[..self.text.floor_char_boundary((error + 2).min(length))];
        let nearest = before.rmatch_indices("<<").map(|it| it.0 + 1).take(NEAR);
        // The `<<` of an element of JSX is behind the place where swc fails.
        let behind = self.text.ceil_char_boundary((error + 1).min(length));
        let next = self.text[behind..].lines().next().and_then(|it| it.find("<<"));
        let next = next.map(|it| behind + it + 1);
        nearest.chain(next).take(if self.blanks.len() < MAX_BLANKS { NEAR + 1 } else { 0 }).map(|at| {
            let mut new = self.clone();
            new.text.insert(at, ' ');
            let index = new.blanks.partition_point(|it| *it < at);
            new.blanks[index..].iter_mut().for_each(|it| *it += 1);
            new.blanks.insert(index, at);
            new
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let text = "a<<b; c<<d;";
        let first = Split::new(text).attempts(5).next().unwrap();
        assert_eq!(first.text, "a< <b; c<<d;");
        let both: Vec<_> = first.attempts(12).map(|it| it.text).collect();
        assert_eq!(both, ["a< <b; c< <d;"], "one that is split is no `<<` any more");
        let both = first.attempts(12).next().unwrap();
        let letters = both.text.char_indices().filter(|it| it.1 != ' ');
        let back: String =
            letters.map(|(at, _)| &text[Split::original(&both.blanks, at)..][..1]).collect::<String>();
        assert_eq!(back, "a<<b;c<<d;");
    }
}
