//! Rules on the families of fonts.

use std::collections::HashSet;
use std::ops::Range;

use raffia::ast::Declaration;

use crate::declarations::{is_made, shifted, value_of};
use crate::names::CSS_WIDE;
use crate::rules::MISSING_GENERIC;
use crate::tokens::{Kind, Token, tokens};
use crate::walk::{Sheet, normal};

/// Families that every browser has.
const GENERIC: [&str; 13] = [
    "serif",
    "sans-serif",
    "cursive",
    "fantasy",
    "monospace",
    "system-ui",
    "ui-serif",
    "ui-sans-serif",
    "ui-monospace",
    "ui-rounded",
    "emoji",
    "math",
    "fangsong",
];

/// Fonts of the system, which `font` takes with all that belongs to them.
const SYSTEM: [&str; 6] = ["caption", "icon", "menu", "message-box", "small-caption", "status-bar"];

/// Sizes of `font` that are words.
const SIZES: [&str; 10] = [
    "xx-small",
    "x-small",
    "small",
    "medium",
    "large",
    "x-large",
    "xx-large",
    "xxx-large",
    "larger",
    "smaller",
];

impl Sheet<'_> {
    pub(crate) fn families(&mut self, text: &str, start: usize, tokens: &[Token], name: &str) {
        let mut known: HashSet<String> = HashSet::new();
        let commas = tokens.iter().filter(|it| it.kind == Kind::Comma).map(|it| it.range.start);
        let ends: Vec<usize> = commas.chain([text.len()]).collect();
        let mut from = 0;
        for (number, end) in ends.iter().enumerate() {
            let part = &text[from..*end];
            let is_size = name == "font" && number == 0;
            let plain = normal(part);
            let word = plain.trim_matches(['"', '\'']);
            let is_name = !is_size && !word.is_empty() && !word.contains(['(', '$', '@']);
            // Twice on purpose: browsers take another size for `monospace` alone.
            let is_name = is_name && !word.eq_ignore_ascii_case("monospace");
            if is_name && !known.insert(word.to_ascii_lowercase()) {
                let lead = part.len() - part.trim_start().len();
                let range = start + from + lead..start + from + part.trim_end().len().max(lead);
                self.tell("font-family-no-duplicate-names", format!("{plain} is there twice"), range);
            }
            from = end + 1;
        }
    }

    /// Families of which a system may have none. If a function or a variable is among them, one may be generic.
    pub(crate) fn generic_family(&mut self, it: &Declaration<'_>, property: &str) {
        if !matches!(property, "font" | "font-family") {
            return;
        }
        let value = value_of(it);
        let text = &self.text[value.clone()];
        let tokens = tokens(text, !self.is_plain_css());
        let is_variable = text.contains(['$', '@', '~']) || tokens.iter().any(|it| it.kind == Kind::Function);
        if is_made(text) || is_variable {
            return;
        }
        let Some(families) = families_of(text, &tokens, property) else { return };
        let words = || GENERIC.iter().chain(&CSS_WIDE);
        let is_generic = |it: &str| words().any(|word| word.eq_ignore_ascii_case(it));
        if !text[families.clone()].split(',').any(|it| is_generic(&normal(it))) {
            self.tell(
                MISSING_GENERIC,
                "no family is generic, as `sans-serif` is",
                shifted(&families, value.start),
            );
        }
    }
}

/// Range of the families: in `font`, they follow the size and the height of lines; without those, it has none.
fn families_of(text: &str, tokens: &[Token], property: &str) -> Option<Range<usize>> {
    let word = |it: &Token| text[it.range.clone()].to_ascii_lowercase();
    let from = match property {
        "font" if tokens.iter().all(|it| SYSTEM.contains(&&*word(it))) => return None,
        "font" => {
            let first = tokens.iter().take_while(|it| it.kind != Kind::Comma);
            let last = first.enumerate().filter(|(_, it)| is_size(it, &word(it))).last()?.0;
            last + if word(&tokens[last]) == "/" { 2 } else { 1 }
        }
        _ => 0,
    };
    let families = tokens.get(from..)?;
    Some(families.first()?.range.start..families.last()?.range.end)
}

fn is_size(token: &Token, word: &str) -> bool {
    match token.kind {
        Kind::Number | Kind::Unit => true,
        Kind::Sign => matches!(word, "%" | "/"),
        Kind::Ident => SIZES.contains(&word),
        _ => false,
    }
}
