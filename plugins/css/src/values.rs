//! Rules on the words of values: colours, and keywords.

use broker_plugin_sdk::Diagnostic;
use raffia::Syntax;
use raffia::ast::Declaration;

use crate::declarations::{is_made, shifted, value_of};
use crate::names::{CSS_WIDE, is_prefixed};
use crate::rules::UNKNOWN_VALUE;
use crate::tokens::{Kind, Token, tokens};
use crate::walk::Sheet;

/// `declaration-property-value-no-unknown`, which a configuration may leave alone by both names.
pub(crate) struct UnknownValue {
    pub(crate) property: String,
    pub(crate) word: String,
    pub(crate) found: Diagnostic,
}

impl Sheet<'_> {
    pub(crate) fn colors(&mut self, text: &str, start: usize, tokens: &[Token]) {
        for token in tokens.iter().filter(|it| it.kind == Kind::Hash) {
            let word = &text[token.range.clone()];
            let is_length = match word.len() {
                4 | 5 | 7 | 9 => true,
                10 | 13 => self.has_own_names, // GTK has colours of 16 bits
                _ => false,
            };
            let is_color = is_length && word[1..].bytes().all(|it| it.is_ascii_hexdigit());
            let is_look_up = self.syntax == Syntax::Less && is_look_up(&text[token.range.start..]);
            if !is_color && !is_look_up {
                let range = shifted(&token.range, start);
                self.tell("color-no-invalid-hex", format!("`{word}` is no color"), range);
            }
        }
    }

    /// The first word that a property does not take, where all that it takes are words that are known.
    pub(crate) fn keywords(&mut self, it: &Declaration<'_>, property: &str) {
        if !self.is_plain_css() || self.has_value_names {
            return;
        }
        let Some(known) = self.names.keywords.get(property) else { return };
        let range = value_of(it);
        let text = &self.text[range.clone()];
        let tokens = tokens(text, false);
        let words: Vec<&str> = tokens.iter().map(|it| &text[it.range.clone()]).collect();
        if is_made(text) || !tokens.iter().zip(&words).all(|(token, word)| is_keyword(token.kind, word)) {
            return;
        }
        let is_known = |word: &str| known.contains(&word) || CSS_WIDE.contains(&word);
        let Some(at) = words.iter().position(|it| !is_known(&it.to_ascii_lowercase())) else { return };
        let (property, word) = (property.to_owned(), words[at].to_owned());
        let message = format!("`{word}` is no value of `{property}`");
        let found = Diagnostic::new(UNKNOWN_VALUE, message, shifted(&tokens[at].range, range.start));
        self.unknown_values.push(UnknownValue { property, word, found });
    }
}

/// Whether a word is one that a list can have: without prefixes, hacks, and names that a build replaces, as `START_EDGE`.
fn is_keyword(kind: Kind, word: &str) -> bool {
    kind == Kind::Ident
        && !is_prefixed(word)
        && word.is_ascii()
        && !word.contains('\\')
        && (!word.contains('_') || word.contains(|it: char| it.is_ascii_lowercase()))
        && !word.starts_with('_')
}

/// Whether a text begins with a look-up or a call of Less in a namespace: `#names[key]`, `#names.mixin(1)[@key]`,
/// `#names > .mixin()`.
fn is_look_up(text: &str) -> bool {
    let mut rest = text;
    loop {
        let Some(name) = rest.strip_prefix(['#', '.']) else { return false };
        let length = name.len() - name.trim_start_matches(is_of_name).len();
        if length == 0 || rest.starts_with('.') && name.starts_with(|it: char| it.is_ascii_digit()) {
            return false;
        }
        rest = &name[length..];
        if rest.starts_with(['[', '(']) {
            return true;
        }
        let next = rest.trim_start();
        rest = next.strip_prefix('>').map_or(next, str::trim_start);
    }
}

fn is_of_name(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '-' | '_')
}
