//! Rules on properties and their values.

use std::collections::HashMap;
use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Fix};
use raffia::Syntax;
use raffia::ast::{Declaration, Statement};

use crate::names::is_prefixed;
use crate::rules::SYNTAX;
use crate::tokens::{Kind, Token, tokens};
use crate::walk::{Context, Sheet, name_of};

/// At-rules whose declarations are no properties; those of `@font-feature-values` have names of the font's own.
const DESCRIPTORS: [&str; 16] = [
    "annotation",
    "character-variant",
    "function",
    "ornaments",
    "styleset",
    "stylistic",
    "swash",
    "font-face",
    "counter-style",
    "property",
    "page",
    "font-feature-values",
    "font-palette-values",
    "color-profile",
    "view-transition",
    "viewport",
];

impl Sheet<'_> {
    /// Checks the declarations of one block, all together.
    pub(crate) fn declarations(&mut self, all: &[Statement<'_>], context: &Context) {
        let found: Vec<&Declaration<'_>> = all
            .iter()
            .filter_map(|it| if let Statement::Declaration(it) = it { Some(it) } else { None })
            .collect();
        for it in &found {
            self.declaration(it, context);
        }
        self.duplicates(all);
        self.overrides(&found);
    }

    /// Whether only browsers of old read a declaration: `*name: value`, of which the parser does not see the sign.
    pub(crate) fn is_hack(&self, it: &Declaration<'_>) -> bool {
        self.text[..it.span.start].ends_with('*')
    }

    fn declaration(&mut self, it: &Declaration<'_>, context: &Context) {
        let Some(name) = name_of(it) else { return };
        let whole = format!("{}{name}", context.prefix);
        let folded = whole.to_ascii_lowercase();
        let is_descriptor = context.at_rule.as_deref().is_some_and(|it| DESCRIPTORS.contains(&it));
        let at = it.span.start..it.span.start + name.len();
        let is_odd = name.starts_with(['$', '@', '_', '*'])
            || name.contains(['\\', '#', '{'])
            || it.name_suffix.is_some()
            || self.is_hack(it);
        let is_known = self.names.properties.contains(&*folded) || is_prefixed(name) || is_odd;
        // `a: { b: c }` of Sass.
        let is_nested = self.text[it.span.start..it.span.end].ends_with('}');
        if !is_known && !is_descriptor && !is_nested && !context.is_map && !self.has_own_names {
            self.tell("property-no-unknown", format!("there is no property `{whole}`"), at);
        }
        if let Some(important) = it.important.as_ref().filter(|_| context.is_keyframes) {
            let range = important.span.start..important.span.end;
            let start = self.text[..range.start].trim_end().len();
            let message = "`!important` has no effect in keyframes: the declaration is ignored";
            let fix = Fix {
                applicability: broker_plugin_sdk::Applicability::Unsafe,
                ..Fix::safe("Remove `!important`", start..range.end, "")
            };
            self.found
                .push(Diagnostic::new("keyframe-declaration-no-important", message, range).with_fix(fix));
        }
        let is_plain = context.prefix.is_empty() && !context.is_map && !is_nested && !self.has_own_names;
        if is_plain && !is_odd {
            self.deprecated_property(it, name);
            self.deprecated_keywords(it, &folded);
        }
        if !name.starts_with("--") && !is_nested {
            self.value(it, &folded);
        }
        if is_plain && !is_odd && !is_descriptor {
            self.keywords(it, &folded);
            self.generic_family(it, &folded);
        }
    }

    fn value(&mut self, it: &Declaration<'_>, name: &str) {
        let Range { start, end } = value_of(it);
        let text = &self.text[start..end];
        let tokens = tokens(text, !self.is_plain_css());
        self.missing_semicolon(text, start, &tokens);
        if is_made(text) {
            return;
        }
        self.units(text, start, &tokens);
        self.colors(text, start, &tokens);
        self.missing_var(text, start, &tokens, name);
        if matches!(name, "font-family" | "font") {
            self.families(text, start, &tokens, name);
        }
        if matches!(name, "grid-template-areas" | "grid-template" | "grid") {
            self.areas(text, start, &tokens);
        }
    }

    /// `top: 1px` in one line, `left: 2px` or `@include a` in the next, and nothing between them.
    fn missing_semicolon(&mut self, text: &str, start: usize, tokens: &[Token]) {
        let mut depth = 0_usize;
        for pair in tokens.windows(2) {
            let [first, second] = pair else { continue };
            let (word, after) = (&text[first.range.clone()], &text[second.range.clone()]);
            match first.kind {
                Kind::Open | Kind::Function => {
                    depth += 1;
                    continue;
                }
                Kind::Close => {
                    depth = depth.saturating_sub(1);
                    continue;
                }
                // Syntax of old Internet Explorers.
                Kind::Ident if word.eq_ignore_ascii_case("progid") => return,
                Kind::Ident if depth == 0 && after == ":" => {}
                Kind::Sign if depth == 0 && word == "@" && self.syntax != Syntax::Less => {}
                _ => continue,
            }
            let lead = text[..first.range.start].trim_end_matches([' ', '\t']);
            if lead.ends_with('\n') && !lead.trim().is_empty() {
                let found = format!("a `;` is missing before `{word}`");
                self.found.push(Diagnostic::error(SYNTAX, found, shifted(&first.range, start)));
                return;
            }
        }
    }

    fn units(&mut self, text: &str, start: usize, tokens: &[Token]) {
        for token in tokens.iter().filter(|it| it.kind == Kind::Unit) {
            let unit = &text[token.range.clone()];
            let folded = unit.to_ascii_lowercase();
            // `1x` is for images; `\9` is for browsers of old; `2n` and `U+26` are no numbers with units.
            let is_known =
                self.names.units.contains(&*folded) || unit.contains('\\') || folded.starts_with('-');
            let is_range = text[..token.range.start].to_ascii_lowercase().contains("u+");
            let is_less = !self.is_plain_css() && (unit.contains("e(") || unit.contains('-'));
            if !is_known && !is_range && !is_less {
                self.tell(
                    "unit-no-unknown",
                    format!("there is no unit `{unit}`"),
                    shifted(&token.range, start),
                );
            }
        }
    }

    /// `color: --name` instead of `var(--name)`, where the file sets such a property.
    fn missing_var(&mut self, text: &str, start: usize, tokens: &[Token], name: &str) {
        const TAKE_NAMES: [&str; 12] = [
            "transition",
            "transition-property",
            "will-change",
            "animation",
            "animation-name",
            "anchor-name",
            "position-anchor",
            "view-transition-name",
            "scroll-timeline",
            "scroll-timeline-name",
            "view-timeline",
            "container-name",
        ];
        if TAKE_NAMES.contains(&name) {
            return;
        }
        for (number, token) in tokens.iter().enumerate().filter(|it| it.1.kind == Kind::Ident) {
            let word = &text[token.range.clone()];
            let is_argument = number > 0 && matches!(tokens[number - 1].kind, Kind::Function);
            if word.starts_with("--") && !is_argument && self.customs.iter().any(|it| it == word) {
                let message = format!("`{word}` is a custom property: write `var({word})`");
                self.tell("custom-property-no-missing-var-function", message, shifted(&token.range, start));
            }
        }
    }

    /// A shorthand after what it sets again, unless that is more important.
    fn overrides(&mut self, all: &[&Declaration<'_>]) {
        let mut known: HashMap<String, bool> = HashMap::new();
        for it in all {
            let Some(name) = name_of(it).filter(|_| !self.is_hack(it)) else { continue };
            let folded = name.to_ascii_lowercase();
            let is_important = it.important.is_some();
            let mut longhands = self.names.shorthands.get(&*folded).into_iter().flatten();
            let is_image = has_generated_image(&self.text[value_of(it)]);
            // The colour where the browser does not know the image.
            let is_fallback = |name: &str| name == "background-color" && is_image;
            let is_lost =
                |name: &str| known.get(name).is_some_and(|kept| is_important || !kept) && !is_fallback(name);
            if let Some(lost) = longhands.find(|it| is_lost(it)) {
                let message = format!("`{name}` sets `{lost}` again, which is set before");
                let range = it.span.start..it.span.start + name.len();
                self.found.push(Diagnostic::new(
                    "declaration-block-no-shorthand-property-overrides",
                    message,
                    range,
                ));
            }
            known.insert(folded, is_important);
        }
    }
}

/// Range of the value, without `!important`.
pub(crate) fn value_of(it: &Declaration<'_>) -> Range<usize> {
    let start = it.colon_span.end.min(it.span.end);
    start..it.important.as_ref().map_or(it.span.end, |it| it.span.start).max(start)
}

/// Whether a value has an image that browsers of old do not know: `linear-gradient(…)`, `image-set(…)`.
fn has_generated_image(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    ["gradient(", "image-set(", "cross-fade(", "element(", "image("].iter().any(|it| value.contains(it))
}

/// Whether a value is put together when it is built, so that it cannot be checked.
pub(crate) fn is_made(text: &str) -> bool {
    ["#{", "@{", "~\"", "progid:"].iter().any(|it| text.contains(it))
}

pub(crate) fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}
