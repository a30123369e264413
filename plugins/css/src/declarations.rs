//! Rules on properties and their values.

use std::collections::HashMap;
use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Fix, Related, Severity};
use raffia::Syntax;
use raffia::ast::{Declaration, Statement};

use crate::names::is_prefixed;
use crate::rules::SYNTAX;
use crate::tokens::{Kind, Token, tokens};
use crate::walk::{Context, Sheet, name_of, normal};

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

    fn declaration(&mut self, it: &Declaration<'_>, context: &Context) {
        let Some(name) = name_of(it) else { return };
        let whole = format!("{}{name}", context.prefix);
        let folded = whole.to_ascii_lowercase();
        let is_descriptor = context.at_rule.as_deref().is_some_and(|it| DESCRIPTORS.contains(&it));
        let at = it.span.start..it.span.start + name.len();
        let is_odd = name.starts_with(['$', '@', '_', '*'])
            || name.contains(['\\', '#', '{'])
            || it.name_suffix.is_some();
        let is_known = self.names.properties.contains(&*folded) || is_prefixed(name) || is_odd;
        // `a: { b: c }` of Sass.
        let is_nested = self.text[it.span.start..it.span.end].ends_with('}');
        if !is_known && !is_descriptor && !is_nested && !context.is_map {
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
        if !name.starts_with("--") && !is_nested {
            self.value(it, &folded);
        }
    }

    fn value(&mut self, it: &Declaration<'_>, name: &str) {
        let start = it.colon_span.end.min(it.span.end);
        let end = it.important.as_ref().map_or(it.span.end, |it| it.span.start).max(start);
        let text = &self.text[start..end];
        let tokens = tokens(text, !self.is_plain_css());
        self.missing_semicolon(text, start, &tokens);
        // What is put together when it is built is nothing to judge.
        let is_made =
            text.contains("#{") || text.contains("@{") || text.contains("~\"") || text.contains("progid:");
        if is_made {
            return;
        }
        self.units(text, start, &tokens);
        for token in tokens.iter().filter(|it| it.kind == Kind::Hash) {
            let word = &text[token.range.clone()];
            let is_color =
                matches!(word.len(), 4 | 5 | 7 | 9) && word[1..].bytes().all(|it| it.is_ascii_hexdigit());
            if !is_color {
                self.tell(
                    "color-no-invalid-hex",
                    format!("`{word}` is no color"),
                    shifted(&token.range, start),
                );
            }
        }
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
                let found = Diagnostic::new(SYNTAX, found, shifted(&first.range, start));
                self.found.push(Diagnostic { severity: Severity::Error, ..found });
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

    fn families(&mut self, text: &str, start: usize, tokens: &[Token], name: &str) {
        let mut known: Vec<String> = Vec::new();
        let commas = tokens.iter().filter(|it| it.kind == Kind::Comma).map(|it| it.range.start);
        let ends: Vec<usize> = commas.chain([text.len()]).collect();
        let mut from = 0;
        for (number, end) in ends.iter().enumerate() {
            let part = &text[from..*end];
            let is_size = name == "font" && number == 0;
            let plain = normal(part);
            let word = plain.trim_matches(['"', '\'']).to_owned();
            let is_name = !is_size && !word.is_empty() && !word.contains(['(', '$', '@']);
            // Twice on purpose: browsers take another size for `monospace` alone.
            let is_name = is_name && !word.eq_ignore_ascii_case("monospace");
            if is_name && known.iter().any(|it| it.eq_ignore_ascii_case(&word)) {
                let lead = part.len() - part.trim_start().len();
                let range = start + from + lead..start + from + part.trim_end().len().max(lead);
                self.tell("font-family-no-duplicate-names", format!("{plain} is there twice"), range);
            }
            known.extend(is_name.then_some(word));
            from = end + 1;
        }
    }

    /// Two declarations of one property: told of the one that has no effect.
    fn duplicates(&mut self, all: &[Statement<'_>]) {
        let mut known: HashMap<String, Written> = HashMap::new();
        for (number, it) in all.iter().enumerate() {
            let Statement::Declaration(it) = it else { continue };
            let Some(name) = name_of(it).filter(|it| !it.starts_with(['$', '@', '_', '*'])) else { continue };
            let is_custom = name.starts_with("--");
            let folded = if is_custom { name.to_owned() } else { name.to_ascii_lowercase() };
            let now = self.written(it, name, number);
            let Some(before) = known.remove(&folded) else {
                known.insert(folded, now);
                continue;
            };
            let is_fallback = !is_custom && self.is_fallback(&before, &now);
            let stays = before.is_important && !now.is_important;
            let (told, other) = if stays || is_custom { (&now, &before) } else { (&before, &now) };
            if folded != "src" && it.less_property_merge.is_none() && !is_fallback {
                self.duplicate(name, told, other);
            }
            known.insert(folded, if stays { before } else { now });
        }
    }

    fn written(&self, it: &Declaration<'_>, name: &str, number: usize) -> Written {
        let start = it.colon_span.end.min(it.span.end);
        let end = it.important.as_ref().map_or(it.span.end, |it| it.span.start).max(start);
        Written {
            value: normal(&self.text[start..end]),
            range: it.span.start..it.span.start + name.len(),
            number,
            is_important: it.important.is_some(),
        }
    }

    /// Right before what is of another kind, a value is for browsers that do not know the other.
    fn is_fallback(&self, before: &Written, now: &Written) -> bool {
        let has_lines = !self.is_plain_css();
        before.number + 1 == now.number && !is_one_kind(&before.value, &now.value, has_lines)
    }

    fn duplicate(&mut self, name: &str, told: &Written, other: &Written) {
        let code = if name.starts_with("--") {
            "declaration-block-no-duplicate-custom-properties"
        } else {
            "declaration-block-no-duplicate-properties"
        };
        let (what, message) = if told.number < other.number {
            (format!("`{name}` is set again, so that this has no effect"), "it is set again here")
        } else {
            (format!("`{name}` is set already"), "the first is here")
        };
        let related = Related { path: None, span: other.range.clone().into(), message: message.to_owned() };
        let found = Diagnostic::new(code, what, told.range.clone());
        self.found.push(Diagnostic { related: vec![related], ..found });
    }

    /// A shorthand after what it sets again, unless that is more important.
    fn overrides(&mut self, all: &[&Declaration<'_>]) {
        let mut known: HashMap<String, bool> = HashMap::new();
        for it in all {
            let Some(name) = name_of(it) else { continue };
            let folded = name.to_ascii_lowercase();
            let is_important = it.important.is_some();
            let mut longhands = self.names.shorthands.get(&*folded).into_iter().flatten();
            let is_lost = |name: &str| known.get(name).is_some_and(|kept| is_important || !kept);
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

/// A declaration, as far as another of the same property asks.
struct Written {
    value: String,
    range: Range<usize>,
    /// Which of the statements it is.
    number: usize,
    is_important: bool,
}

/// Whether who understands one of two values understands the other: they differ in numbers, colours and strings at most.
fn is_one_kind(one: &str, other: &str, has_lines: bool) -> bool {
    if one == other || one.contains(['$', '@']) || other.contains(['$', '@']) {
        return one == other;
    }
    let (these, those) = (tokens(one, has_lines), tokens(other, has_lines));
    let is_same = |(this, that): (&Token, &Token)| {
        let (here, there) = (&one[this.range.clone()], &other[that.range.clone()]);
        let is_any = matches!(this.kind, Kind::Number | Kind::Hash | Kind::String)
            || here.starts_with("--") && there.starts_with("--");
        this.kind == that.kind && (is_any || here.eq_ignore_ascii_case(there))
    };
    these.len() == those.len() && these.iter().zip(&those).all(is_same)
}

pub(crate) fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}
