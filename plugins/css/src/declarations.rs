//! Rules on properties and their values.

use std::collections::HashMap;
use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Fix, Related};
use raffia::ast::{Declaration, Statement};

use crate::names::is_prefixed;
use crate::tokens::{Kind, Token, tokens};
use crate::walk::{Context, Sheet, name_of, normal};

/// At-rules whose declarations are no properties.
const DESCRIPTORS: [&str; 9] = [
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
    /// Of one block, all together.
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
        let folded = name.to_ascii_lowercase();
        let is_descriptor = context.at_rule.as_deref().is_some_and(|it| DESCRIPTORS.contains(&it));
        let at = it.span.start..it.span.start + name.len();
        let is_odd = name.starts_with(['$', '@', '_', '*'])
            || name.contains(['\\', '#', '{'])
            || it.name_suffix.is_some();
        let is_known = self.names.properties.contains(&*folded) || is_prefixed(name) || is_odd;
        // `a: { b: c }` of Sass, and maps.
        let is_nested = self.text[it.span.start..it.span.end].ends_with('}');
        if !is_known && !is_descriptor && !is_nested {
            self.tell("property-no-unknown", format!("there is no property `{name}`"), at);
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
        if name == "grid-template-areas" {
            self.areas(text, start, &tokens);
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
            if is_name && known.iter().any(|it| it.eq_ignore_ascii_case(&word)) {
                let lead = part.len() - part.trim_start().len();
                let range = start + from + lead..start + from + part.trim_end().len().max(lead);
                self.tell("font-family-no-duplicate-names", format!("{plain} is there twice"), range);
            }
            known.extend(is_name.then_some(word));
            from = end + 1;
        }
    }

    /// Rows of one length.
    fn areas(&mut self, text: &str, start: usize, tokens: &[Token]) {
        let rows: Vec<&Token> = tokens.iter().filter(|it| it.kind == Kind::String).collect();
        let cells = |it: &Token| text[it.range.clone()].trim_matches(['"', '\'']).split_whitespace().count();
        let Some(first) = rows.first() else { return };
        for row in &rows {
            let message = match cells(row) {
                0 => "the row is empty".to_owned(),
                it if it != cells(first) => format!("the row has {it} cells, the first has {}", cells(first)),
                _ => continue,
            };
            self.tell("named-grid-areas-no-invalid", message, shifted(&row.range, start));
        }
    }

    /// Two declarations of one property. Right after each other, and with different values, they are for browsers that
    /// do not know the second.
    fn duplicates(&mut self, all: &[Statement<'_>]) {
        let mut known: HashMap<String, (String, Range<usize>, usize)> = HashMap::new();
        for (number, it) in all.iter().enumerate() {
            let Statement::Declaration(it) = it else { continue };
            let Some(name) = name_of(it).filter(|it| !it.starts_with(['$', '@', '_', '*'])) else { continue };
            let is_custom = name.starts_with("--");
            let folded = if is_custom { name.to_owned() } else { name.to_ascii_lowercase() };
            let value = normal(&self.text[it.colon_span.end.min(it.span.end)..it.span.end]);
            let range = it.span.start..it.span.start + name.len();
            let before = known.insert(folded.clone(), (value.clone(), range.clone(), number));
            let Some((other, first, place)) = before else { continue };
            let is_fallback = place + 1 == number && other != value;
            if folded == "src" || it.less_property_merge.is_some() || (is_fallback && !is_custom) {
                continue;
            }
            let code = if is_custom {
                "declaration-block-no-duplicate-custom-properties"
            } else {
                "declaration-block-no-duplicate-properties"
            };
            let related = Related { path: None, span: first.into(), message: "the first is here".to_owned() };
            let found = Diagnostic::new(code, format!("`{name}` is set already"), range);
            self.found.push(Diagnostic { related: vec![related], ..found });
        }
    }

    /// A shorthand after what it sets again.
    fn overrides(&mut self, all: &[&Declaration<'_>]) {
        let mut known: HashMap<String, bool> = HashMap::new();
        for it in all {
            let Some(name) = name_of(it) else { continue };
            let folded = name.to_ascii_lowercase();
            let is_important = it.important.is_some();
            let mut longhands = self.names.shorthands.get(&*folded).into_iter().flatten();
            if let Some(lost) = longhands.find(|it| known.get(**it) == Some(&is_important)) {
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

fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}
