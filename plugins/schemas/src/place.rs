//! Places of violations in a value, and the part of the text to point at.

use std::ops::Range;

use serde_json::Value;

/// A step from a value into one of its parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    Key(String),
    Index(usize),
}

/// Part of the value at a path that a violation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViolationPart {
    /// The key that the path ends in.
    Key,
    Value,
    /// The value as a whole: something is missing in it.
    Whole,
}

/// Ranges in the text of a value and of the key before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub key: Option<Range<usize>>,
    pub value: Range<usize>,
}

/// The part of `text` to point at: what is meant, if it is on one line; else the key before it, or its first word or sign.
pub fn span(place: ViolationPart, spot: &Spot, text: &str) -> Range<usize> {
    let is_short =
        |it: &Range<usize>| text.get(it.clone()).is_some_and(|it| !it.contains('\n') && !it.is_empty());
    let key = spot.key.clone();
    match (place, key) {
        (ViolationPart::Key, Some(key)) => key,
        (ViolationPart::Value, _) if is_short(&spot.value) => spot.value.clone(),
        (_, Some(key)) => key,
        _ => first_word(spot.value.start, text),
    }
}

fn first_word(start: usize, text: &str) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '-';
    let word = rest.find(|it| !is_word(it)).unwrap_or(rest.len());
    let sign = rest.chars().next().map_or(0, char::len_utf8);
    start..start + word.max(sign)
}

/// The steps of a JSON pointer into `value`: only the value says which are numbers of a list.
pub(crate) fn segments(pointer: &str, value: &Value) -> Vec<Segment> {
    let mut found = Vec::new();
    let mut at = Some(value);
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let index = at.filter(|it| it.is_array()).and_then(|_| step.parse().ok());
        at = match index {
            Some(index) => at.and_then(|it: &Value| it.get::<usize>(index)),
            None => at.and_then(|it| it.get(step.as_str())),
        };
        found.push(index.map_or(Segment::Key(step), Segment::Index));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_at_little() {
        let text = "{\"a\": [\n1]}";
        let spot = Spot { key: Some(1..4), value: 6..10 };
        assert_eq!(span(ViolationPart::Key, &spot, text), 1..4);
        assert_eq!(span(ViolationPart::Value, &spot, text), 1..4, "over two lines");
        assert_eq!(span(ViolationPart::Value, &Spot { key: None, value: 8..9 }, text), 8..9);
        assert_eq!(span(ViolationPart::Whole, &Spot { key: None, value: 0..11 }, text), 0..1);
    }

    #[test]
    fn pointers() {
        let value = serde_json::json!({"a/b": [{"0": 1}]});
        let steps = segments("/a~1b/0/0", &value);
        assert_eq!(steps, [Segment::Key("a/b".into()), Segment::Index(0), Segment::Key("0".into())]);
    }
}
