//! Rules on selectors, keyframes, at-rules and media queries.

use std::collections::HashSet;
use std::ops::Range;

use broker_plugin_sdk::{Diagnostic, Related};
use raffia::Syntax;
use raffia::ast::{
    AtRule, ComplexSelector, ComplexSelectorChild, CompoundSelector, InterpolableIdent,
    PseudoClassSelectorArgKind, SelectorList, SimpleSelector, Statement, TypeSelector,
};

use crate::names::is_prefixed;
use crate::tokens::{Kind, tokens};
use crate::walk::{Context, Sheet, normal};

/// Pseudo-classes of CSS modules, Vue and Angular.
const OF_TOOLS: [&str; 6] = ["global", "local", "export", "import", "deep", "slotted"];

/// Pseudo-classes of scrollbars in WebKit.
const OF_SCROLLBARS: [&str; 11] = [
    "corner-present",
    "decrement",
    "double-button",
    "end",
    "horizontal",
    "increment",
    "no-button",
    "single-button",
    "start",
    "vertical",
    "window-inactive",
];

impl Sheet<'_> {
    pub(crate) fn selector_list(&mut self, list: &SelectorList<'_>, context: &Context) {
        let text = &self.text[list.span.start..list.span.end];
        if !context.is_keyframes && !text.contains("#{") && !text.contains("@{") {
            self.duplicate_selector(list, text, context);
        }
        self.selectors_of(list, context);
    }

    /// In Less, keyframes are rules too: `from` is no element.
    pub(crate) fn selectors_of(&mut self, list: &SelectorList<'_>, context: &Context) {
        if !context.is_keyframes {
            list.selectors.iter().for_each(|it| self.complex(it));
        }
    }

    fn duplicate_selector(&mut self, list: &SelectorList<'_>, text: &str, context: &Context) {
        let range = list.span.start..list.span.start + text.trim_end().len();
        let mut parts: Vec<String> = Vec::new();
        let mut known = HashSet::new();
        for it in &list.selectors {
            let part = spaced(&self.text[it.span.start..it.span.end]);
            if !known.insert(part.clone()) {
                let message = format!("`{part}` is in the list already");
                self.tell("no-duplicate-selectors", message, it.span.start..it.span.end);
            }
            parts.push(part);
        }
        parts.sort();
        let key = (context.path.clone(), parts.join(","));
        match self.selectors.get(&key) {
            Some(first) => {
                let related = Related {
                    path: None,
                    span: first.clone().into(),
                    message: "the first is here".to_owned(),
                };
                let message = format!("there is a rule for `{}` already", normal(text));
                let found = Diagnostic::new("no-duplicate-selectors", message, range);
                self.found.push(Diagnostic { related: vec![related], ..found });
            }
            None => drop(self.selectors.insert(key, range)),
        }
    }

    fn complex(&mut self, it: &ComplexSelector<'_>) {
        for child in &it.children {
            if let ComplexSelectorChild::CompoundSelector(it) = child {
                self.compound(it);
            }
        }
    }

    fn compound(&mut self, it: &CompoundSelector<'_>) {
        for it in &it.children {
            match it {
                SimpleSelector::Type(TypeSelector::TagName(tag)) => {
                    if let InterpolableIdent::Literal(name) = &tag.name.name {
                        self.element(name.raw, name.span.start..name.span.end, tag.name.prefix.is_some());
                    }
                }
                SimpleSelector::PseudoClass(class) => {
                    if let InterpolableIdent::Literal(name) = &class.name {
                        let range = class.span.start..name.span.end;
                        self.pseudo_class(name.raw, range);
                    }
                    match class.arg.as_ref().map(|it| &it.kind) {
                        Some(PseudoClassSelectorArgKind::SelectorList(it)) => {
                            it.selectors.iter().for_each(|it| self.complex(it));
                        }
                        Some(PseudoClassSelectorArgKind::CompoundSelector(it)) => self.compound(it),
                        _ => {}
                    }
                }
                SimpleSelector::PseudoElement(element) => {
                    if let InterpolableIdent::Literal(name) = &element.name {
                        self.pseudo_element(name.raw, element.span.start..name.span.end);
                    }
                }
                _ => {}
            }
        }
    }

    fn element(&mut self, name: &str, range: Range<usize>, has_prefix: bool) {
        let folded = name.to_ascii_lowercase();
        let is_custom = name.contains('-') || name.contains('\\') || has_prefix;
        if !is_custom && !self.has_own_names && !self.names.elements.contains(&*folded) {
            self.tell("selector-type-no-unknown", format!("there is no element `{name}`"), range);
        }
    }

    fn pseudo_class(&mut self, name: &str, range: Range<usize>) {
        let folded = name.to_ascii_lowercase();
        let is_known = self.names.pseudo_classes.contains(&*folded)
            || self.names.pseudo_elements.contains(&*folded)
            || OF_TOOLS.contains(&&*folded)
            || OF_SCROLLBARS.contains(&&*folded)
            || folded == "extend" && self.syntax == Syntax::Less
            || is_prefixed(&folded);
        if !is_known && !self.has_own_names {
            self.tell(
                "selector-pseudo-class-no-unknown",
                format!("there is no pseudo-class `:{name}`"),
                range,
            );
        }
    }

    fn pseudo_element(&mut self, name: &str, range: Range<usize>) {
        let folded = name.to_ascii_lowercase();
        let is_known = self.names.pseudo_elements.contains(&*folded)
            || matches!(&*folded, "v-deep" | "v-slotted" | "v-global" | "ng-deep")
            || is_prefixed(&folded);
        if !is_known && !self.has_own_names {
            self.tell(
                "selector-pseudo-element-no-unknown",
                format!("there is no pseudo-element `::{name}`"),
                range,
            );
        }
    }

    pub(crate) fn at_rule_name(&mut self, it: &AtRule<'_>, name: &str) {
        let is_known = self.names.at_rules.contains(name) || is_prefixed(name) || self.has_own_names;
        if self.is_plain_css() && !is_known {
            let range = it.span.start..it.name.span.end;
            self.tell("at-rule-no-unknown", format!("there is no at-rule `@{name}`"), range);
        }
    }

    /// Names of features in the brackets of a media query.
    pub(crate) fn media(&mut self, span: Range<usize>) {
        let text = &self.text[span.clone()];
        if text.contains(['$', '@', '#']) {
            return;
        }
        let tokens = tokens(text, false);
        for pair in tokens.windows(3) {
            let [open, name, after] = pair else { continue };
            let word = &text[name.range.clone()];
            let is_feature = open.kind == Kind::Open
                && name.kind == Kind::Ident
                && (after.kind == Kind::Close || text[after.range.clone()].starts_with([':', '<', '>', '=']));
            let folded = word.to_ascii_lowercase();
            // Firefox has its prefix in the middle: `min--moz-device-pixel-ratio`.
            let plain = folded.trim_start_matches("min-").trim_start_matches("max-");
            let is_odd =
                is_prefixed(plain) || word.contains('\\') || matches!(&*folded, "not" | "and" | "or");
            if is_feature && !is_odd && !self.names.media_features.contains(&*folded) {
                let range = span.start + name.range.start..span.start + name.range.end;
                self.tell(
                    "media-feature-name-no-unknown",
                    format!("there is no media feature `{word}`"),
                    range,
                );
            }
        }
    }

    pub(crate) fn keyframe_blocks(&mut self, all: &[Statement<'_>], context: &Context) {
        let mut known: HashSet<String> = HashSet::new();
        for it in all {
            let (start, end) = match it {
                Statement::KeyframeBlock(it) => (it.span.start, it.block.span.start),
                Statement::QualifiedRule(it) if context.is_keyframes => (it.span.start, it.block.span.start),
                _ => continue,
            };
            let mut at = start;
            for part in self.text[start..end.max(start)].split(',') {
                let word = normal(part).to_ascii_lowercase();
                let lead = part.len() - part.trim_start().len();
                let range = at + lead..at + part.trim_end().len().max(lead);
                at += part.len() + 1;
                if !known.insert(word.clone()) {
                    let message = format!("there is a keyframe `{word}` already");
                    self.tell("keyframe-block-no-duplicate-selectors", message, range);
                }
            }
        }
    }
}

/// A selector without the spaces that have no meaning: around combinators, and within brackets. With strings or escapes,
/// in which they have one, it is as it was written.
fn spaced(selector: &str) -> String {
    if selector.contains(['"', '\'', '\\']) {
        return selector.trim().to_owned();
    }
    let mut plain = String::new();
    for it in normal(selector).chars() {
        if it == ' ' && plain.ends_with(['>', '+', '~', ',', '=', '(', '[']) {
            continue;
        }
        if matches!(it, '>' | '+' | '~' | ',' | '=' | ')' | ']') {
            plain.truncate(plain.trim_end().len());
        }
        plain.push(it);
    }
    plain
}
