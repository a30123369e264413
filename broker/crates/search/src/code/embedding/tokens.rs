//! Tokens of a text: the words of its identifiers, each whole if the vocabulary has it, or else in pieces.
//!
//! The rules are those by which the model was trained, `training/tokens.py`: a change here makes it another model.

use std::collections::HashMap;

/// Bytes of an identifier; what is longer is data.
const LONGEST: usize = 64;

/// Pieces of a word; what needs more is of another language, or noise.
const MAX_PIECES: usize = 4;

/// Mark of a piece that goes on with a word.
const CONTINUED: &str = "##";

/// The vocabulary, by its words and pieces.
pub(super) struct Tokenizer {
    words: HashMap<&'static str, u32>,
    pieces: HashMap<&'static str, u32>,
    /// Bytes of the longest.
    longest: usize,
}

impl Tokenizer {
    /// Reads words, each after its length in a byte; `None` if they are no such words.
    pub(super) fn of(mut packed: &'static [u8]) -> Option<Self> {
        let (mut words, mut pieces, mut longest) = (HashMap::new(), HashMap::new(), 0);
        for number in 0.. {
            let Some(length) = packed.split_off_first() else { break };
            let word = std::str::from_utf8(packed.split_off(..usize::from(*length))?).ok()?;
            let (all, word) = match word.strip_prefix(CONTINUED) {
                Some(piece) => (&mut pieces, piece),
                None => (&mut words, word),
            };
            longest = longest.max(word.len());
            all.insert(word, number);
        }
        Some(Self { words, pieces, longest })
    }

    pub(super) fn len(&self) -> usize {
        self.words.len() + self.pieces.len()
    }

    /// Calls `add` for each token of a text, as often as it is there.
    pub(super) fn read(&self, text: &str, mut add: impl FnMut(u32)) {
        let mut word = String::new();
        for run in runs(text).filter(|it| it.len() <= LONGEST && it.is_ascii()) {
            for part in parts(run).filter(|it| it.len() > 1) {
                word.clear();
                word.extend(part.chars().map(|it| it.to_ascii_lowercase()));
                match self.words.get(word.as_str()) {
                    Some(token) => add(*token),
                    None => self.pieces_of(&word).into_iter().flatten().flatten().for_each(&mut add),
                }
            }
        }
    }

    /// The longest pieces from the left; none of a word that needs too many.
    fn pieces_of(&self, word: &str) -> Option<[Option<u32>; MAX_PIECES]> {
        if word.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        let (mut found, mut at) = ([None; MAX_PIECES], 0);
        for piece in &mut found {
            let known = if at == 0 { &self.words } else { &self.pieces };
            let ends = (at + 1..=word.len().min(at + self.longest)).rev();
            let (end, token) = ends.clone().find_map(|end| Some((end, *known.get(&word[at..end])?)))?;
            (*piece, at) = (Some(token), end);
            if at == word.len() {
                return Some(found);
            }
        }
        None
    }
}

/// Letters, digits and underscores in a row. Letters of other scripts join in, so that a word with one is seen as a whole.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let is_inside = |it: char| {
        it.is_ascii_alphanumeric()
            || it == '_'
            || matches!(it, '\u{c0}'..='\u{1fff}' | '\u{2c00}'..='\u{2fff}' | '\u{3040}'..='\u{fe2f}' | '\u{fe50}'..)
    };
    text.split(move |it| !is_inside(it)).filter(|it| !it.is_empty())
}

/// Parts of an identifier of ASCII: capitals that no small letter follows, a word with or without a capital, or digits.
fn parts(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches('_');
        let kind = |it: &u8| (it.is_ascii_uppercase(), it.is_ascii_lowercase(), it.is_ascii_digit());
        let count = |text: &str, of: fn(&u8) -> bool| text.bytes().take_while(of).count();
        let end = match kind(rest.as_bytes().first()?) {
            (.., true) => count(rest, u8::is_ascii_digit),
            (_, true, _) => count(rest, u8::is_ascii_lowercase),
            _ => {
                let capitals = count(rest, u8::is_ascii_uppercase);
                let small = count(&rest[capitals..], u8::is_ascii_lowercase);
                match (capitals, small) {
                    (_, 0) => capitals,
                    (1, small) => 1 + small,
                    // The last of several capitals begins the next word.
                    (several, _) => several - 1,
                }
            }
        };
        let (part, more) = rest.split_at(end);
        rest = more;
        Some(part)
    })
}
