//! Vectors of texts: a static embedding, in which each token has a vector, and a text the weighted sum of its tokens' vectors.
//!
//! The model is a table that `training/` makes; its README has the format of the file. Nothing of a text counts but how often it has
//! which token: no order, no syntax. That is enough to bring "removes old entries" near to `evict_expired`.

mod tokens;
mod vector;

use std::{collections::HashMap, sync::LazyLock};

use tokens::Tokenizer;
pub(crate) use vector::{BYTES, Vector, dot};

/// Beginning of a file with a model, with the version of its format.
const MAGIC: [u8; 8] = *b"BRKEMB\0\x01";

/// Numbers of a vector.
const DIMENSIONS: usize = 256;

/// A table of vectors by token.
pub(crate) struct Model {
    tokenizer: Tokenizer,
    /// A vector of each token, without its length.
    rows: &'static [[u8; DIMENSIONS]],
    /// Lengths of the tokens' vectors in a question, and in code.
    of_question: Vec<f32>,
    of_code: Vec<f32>,
    /// Number of times that a token of a definition's name counts.
    defined: f32,
}

/// The model that the program has.
static OWN: LazyLock<Model> = LazyLock::new(|| {
    Model::read(include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../training/model.bin")))
        .expect("the model is of this version")
});

impl Model {
    pub(crate) fn own() -> &'static Self {
        &OWN
    }

    /// Returns the model in a file; `None` if it is none of this version.
    pub(crate) fn read(file: &'static [u8]) -> Option<Self> {
        let mut rest = file.strip_prefix(&MAGIC)?;
        let mut number = || rest.split_off(..4)?.try_into().ok();
        let [dimensions, tokens, words] = [number()?, number()?, number()?].map(u32::from_le_bytes);
        let defined = f32::from_le_bytes(number()?);
        let (tokens, words) = (tokens as usize, rest.split_off(..words as usize)?);
        let [of_question, of_code] =
            [rest.split_off(..tokens * 2)?, rest.split_off(..tokens * 2)?].map(halves);
        let (rows, more) = rest.as_chunks::<DIMENSIONS>();
        let is_whole = dimensions as usize == DIMENSIONS && rows.len() == tokens && more.is_empty();
        let tokenizer = Tokenizer::of(words).filter(|it| is_whole && it.len() == tokens)?;
        Some(Self { tokenizer, rows, of_question, of_code, defined })
    }

    pub(crate) fn of_question(&self, text: &str) -> Vector {
        let mut counts = HashMap::new();
        self.tokenizer.read(text, |it| *counts.entry(it).or_default() += 1.0);
        self.sum(&counts, &self.of_question)
    }

    /// Returns the vector of code that defines these names.
    pub(crate) fn of_code(&self, text: &str, names: &str) -> Vector {
        let mut counts = HashMap::new();
        self.tokenizer.read(text, |it| *counts.entry(it).or_default() += 1.0);
        self.tokenizer.read(names, |it| *counts.entry(it).or_default() += self.defined);
        self.sum(&counts, &self.of_code)
    }

    fn sum(&self, counts: &HashMap<u32, f32>, lengths: &[f32]) -> Vector {
        let mut sum = [0.0; DIMENSIONS];
        for (token, count) in counts {
            let weight = lengths[*token as usize] * (1.0 + count.ln());
            let row = &self.rows[*token as usize];
            sum.iter_mut().zip(row).for_each(|(sum, it)| *sum += weight * f32::from(it.cast_signed()));
        }
        Vector::of(&sum)
    }
}

/// Numbers of which the file has the upper 16 bits.
fn halves(bytes: &[u8]) -> Vec<f32> {
    let numbers = bytes.as_chunks::<2>().0.iter();
    numbers.map(|it| f32::from_bits(u32::from(u16::from_le_bytes(*it)) << 16)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The texts of `training/vectors.py`, with the tokens and vectors that the training sees.
    #[test]
    fn texts_have_the_vectors_of_the_training() {
        let file = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../training/vectors.json"));
        let cases: Value = serde_json::from_str(file).unwrap();
        let symbol = cases["symbol"].as_str().unwrap();
        let numbers = |it: &Value| -> Vec<f32> {
            it.as_array().unwrap().iter().map(|it| it.as_f64().unwrap() as f32).collect()
        };
        let is_near = |vector: Vector, wanted: &Value| {
            let wanted: [f32; DIMENSIONS] = numbers(wanted).try_into().unwrap();
            let is_none = wanted.iter().all(|it| *it == 0.0);
            let cosine = dot(&vector, &Vector::of(&wanted).to_bytes());
            if is_none { cosine.abs() < f32::EPSILON } else { cosine > 0.998 }
        };
        let cases = cases["texts"].as_array().unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let (model, text) = (Model::own(), case["text"].as_str().unwrap());
            let mut tokens = Vec::new();
            model.tokenizer.read(text, |it| tokens.push(f32::from(u16::try_from(it).unwrap())));
            assert_eq!(tokens, numbers(&case["tokens"]), "{text}");
            assert!(is_near(model.of_question(text), &case["question"]), "{text}");
            assert!(is_near(model.of_code(text, symbol), &case["chunk"]), "{text}");
        }
    }

    #[test]
    fn what_is_no_model_is_refused() {
        assert!(Model::read(b"").is_none());
        assert!(Model::read(b"BRKEMB\0\x01").is_none());
        let whole: &'static [u8] =
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../training/model.bin"));
        assert!(Model::read(&whole[..whole.len() - 1]).is_none());
    }

    #[test]
    fn meaning_is_near_without_common_words() {
        let question = Model::own().of_question("remove entries that are too old");
        let cosine = |code: &str, name: &str| dot(&question, &Model::own().of_code(code, name).to_bytes());
        let right = cosine("def evict_expired(self, cache): self.items.pop()", "evict_expired");
        assert!(right > cosine("def parse_header(line): return line.split()", "parse_header") + 0.1);
    }
}
