//! Parser of the text after `broker:` in a comment.

use crate::{RulePattern, Span};

/// A suppression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Directive {
    pub(super) kind: Kind,
    /// `None`: all rules.
    pub(super) list: Option<List>,
    pub(super) has_reason: bool,
    /// Words right behind a suppression without brackets that may have been meant for them.
    pub(super) bare: Option<Bare>,
}

/// Words that could be rules, outside of brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bare {
    /// End of the suppression's own word.
    pub(super) start: u32,
    /// Each with its end.
    pub(super) words: Vec<(RulePattern, u32)>,
    /// Whether there are no other words, and each looks like a code.
    pub(super) are_codes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ignore,
    IgnoreNextLine,
    IgnoreFile,
    Disable,
    Enable,
}

/// Rules in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct List {
    /// Span of the text between the brackets.
    pub(super) span: Span,
    pub(super) rules: Vec<RulePattern>,
}

const WORDS: [(&str, Kind); 5] = [
    ("ignore", Kind::Ignore),
    ("ignore-next-line", Kind::IgnoreNextLine),
    ("ignore-file", Kind::IgnoreFile),
    ("disable", Kind::Disable),
    ("enable", Kind::Enable),
];

impl Kind {
    pub(super) fn word(self) -> &'static str {
        WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

/// Parses `body`, which begins at the offset `start`. `None` if it is prose that happens to begin with
/// `broker:`; an error says what is wrong.
pub(super) fn parse(body: &str, start: u32) -> Option<Result<Directive, String>> {
    let text = body.trim_start();
    let length = text.find(|it: char| !it.is_ascii_alphabetic() && it != '-').unwrap_or(text.len());
    let (word, rest) = text.split_at(length);
    let offset = |part: &str| start + u32::try_from(body.len() - part.len()).unwrap_or(u32::MAX);
    let Some((_, kind)) = WORDS.into_iter().find(|(known, _)| *known == word) else {
        return rest.starts_with('[').then(|| Err(unknown(word)));
    };
    if let Some(inner) = rest.strip_prefix('[') {
        let Some((names, reason)) = inner.split_once(']') else {
            return Some(Err("the `[` of this suppression is never closed".to_owned()));
        };
        let span = Span::new(offset(inner), offset(inner) + u32::try_from(names.len()).unwrap_or(u32::MAX));
        let list = rules(names).map(|rules| Some(List { span, rules }));
        return Some(list.map(|list| Directive { kind, list, has_reason: is_reason(reason), bare: None }));
    }
    let ends = rest.is_empty() || rest.starts_with(|it: char| it.is_whitespace() || it == ':');
    ends.then(|| {
        Ok(Directive { kind, list: None, has_reason: is_reason(rest), bare: bare(rest, offset(rest)) })
    })
}

/// `rest` begins at the offset `start`.
fn bare(rest: &str, start: u32) -> Option<Bare> {
    let is_between = |it: char| it.is_whitespace() || it == ',';
    let given: Vec<_> = rest.trim_start_matches(':').split(is_between).filter(|it| !it.is_empty()).collect();
    let rule = |word: &&str| {
        let end = word.as_ptr().addr() + word.len() - rest.as_ptr().addr();
        Some((word.parse().ok()?, start + u32::try_from(end).unwrap_or(u32::MAX)))
    };
    let words: Vec<_> = given.iter().map_while(rule).collect();
    let are_codes = given.len() == words.len() && given.iter().all(|it| is_code(it));
    (!words.is_empty()).then_some(Bare { start, words, are_codes })
}

/// Whether the word looks like `F401` or `python/F401`.
fn is_code(word: &str) -> bool {
    let code = word.rsplit_once('/').map_or(word, |(_, code)| code);
    let digits = code.trim_start_matches(|it: char| it.is_ascii_uppercase());
    let (letters, digits) = (code.len() - digits.len(), digits.as_bytes());
    (1..=6).contains(&letters) && (3..=5).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
}

fn rules(names: &str) -> Result<Vec<RulePattern>, String> {
    if names.trim().is_empty() {
        return Err("the brackets of this suppression name no rule".to_owned());
    }
    let rule = |name: &str| {
        let name = name.trim();
        name.parse().map_err(|why| format!("`{name}` names no rule: {why}"))
    };
    names.split(',').map(rule).collect()
}

fn is_reason(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

fn unknown(word: &str) -> String {
    const ALIKE: f64 = 0.6;
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(word, known);
    let best =
        WORDS.map(|(known, _)| (likeness(known), known)).into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((likeness, known)) if likeness >= ALIKE => {
            format!("there is no suppression `{word}`; did you mean `{known}`?")
        }
        _ => format!("there is no suppression `{word}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> String {
        match parse(body, 100) {
            None => "prose".to_owned(),
            Some(Err(why)) => why,
            Some(Ok(it)) => {
                let list = it.list.map(|list| {
                    let rules: Vec<_> = list.rules.iter().map(ToString::to_string).collect();
                    format!("{}..{} {}", list.span.start, list.span.end, rules.join("+"))
                });
                format!("{:?} {} {}", it.kind, list.unwrap_or("all".to_owned()), it.has_reason)
            }
        }
    }

    #[test]
    fn what_is_a_suppression() {
        for (body, want) in [
            (" ignore", "Ignore all false"),
            ("ignore", "Ignore all false"),
            (" ignore[F401]", "Ignore 108..112 F401 false"),
            (" ignore[ F401 , text/* ] -- it is so", "Ignore 108..123 F401+text/* true"),
            (" ignore-next-line: because", "IgnoreNextLine all true"),
            (" ignore-file[*]", "IgnoreFile 113..114 * false"),
            (" disable[A] --", "Disable 109..110 A false"),
            (" enable", "Enable all false"),
        ] {
            assert_eq!(shown(body), want, "{body}");
        }
    }

    #[test]
    fn what_is_none() {
        for body in ["", " the one in the middle", "8080/x", " ignored", " ignore-all", " ignore.this"] {
            assert_eq!(shown(body), "prose", "{body}");
        }
    }

    #[test]
    fn what_is_a_mistake() {
        for (body, want) in [
            (" ingore[F401]", "there is no suppression `ingore`; did you mean `ignore`?"),
            (" zap[F401]", "there is no suppression `zap`"),
            (" ignore[F401", "the `[` of this suppression is never closed"),
            (" ignore[]", "the brackets of this suppression name no rule"),
            (" ignore[A,]", "`` names no rule: a rule has no name"),
            (" ignore[A B]", "`A B` names no rule: no rule has ' ' in its name"),
        ] {
            assert_eq!(shown(body), want, "{body}");
        }
    }
}
