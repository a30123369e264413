//! Names that CSS has: properties, units, selectors and at-rules. The lists in `names/` are those of stylelint 17.16, which has
//! them from the CSS specifications by way of css-tree and MDN's data. `keywords.txt` is from the specifications.

use std::collections::{HashMap, HashSet};

/// All names that are known, in small letters.
pub(crate) struct Names {
    pub(crate) at_rules: HashSet<&'static str>,
    pub(crate) elements: HashSet<&'static str>,
    /// All words that a property takes, of those whose values are words: drafts' and old ones too.
    pub(crate) keywords: HashMap<&'static str, Vec<&'static str>>,
    pub(crate) media_features: HashSet<&'static str>,
    pub(crate) properties: HashSet<&'static str>,
    pub(crate) pseudo_classes: HashSet<&'static str>,
    pub(crate) pseudo_elements: HashSet<&'static str>,
    pub(crate) units: HashSet<&'static str>,
    /// Properties that a shorthand sets.
    pub(crate) shorthands: HashMap<&'static str, Vec<&'static str>>,
}

/// Keywords that every property takes, in small letters.
pub(crate) const CSS_WIDE: [&str; 6] =
    ["inherit", "initial", "revert", "revert-layer", "revert-rule", "unset"];

/// At-rules of Tailwind, PostCSS's well-known plugins and CSS modules, which build tools take out.
const OF_TOOLS: [&str; 24] = [
    "apply",
    "config",
    "custom-variant",
    "plugin",
    "reference",
    "responsive",
    "screen",
    "slot",
    "source",
    "tailwind",
    "theme",
    "utility",
    "variant",
    "variants",
    "value",
    "define-mixin",
    "mixin",
    "mixin-content",
    "include",
    "each",
    "for",
    "if",
    "else",
    "extend",
];

/// Areas of a page to which programs that print move notes: those of CSS Generated Content for Paged Media, and of Prince and
/// Vivliostyle.
const AREAS: [&str; 7] = ["footnote", "footnotes", "leftnote", "note", "rightnote", "sidenote", "sidenotes"];

/// Pseudo-elements of those programs.
const OF_PAGES: [&str; 9] = [
    "after-if-continues",
    "before-if-continues",
    "footnote-area",
    "footnote-call",
    "footnote-marker",
    "note-call",
    "note-marker",
    "sidenote-call",
    "sidenote-marker",
];

/// Properties of the same, of drafts of CSS for pages, and of WeasyPrint.
const FOR_PRINT: [&str; 20] = [
    "anchor",
    "bleed",
    "bookmark-target",
    "border-length",
    "border-parts",
    "crop",
    "fit",
    "fit-position",
    "float-policy",
    "float-placement",
    "footnote-style-position",
    "hyphenate-after",
    "hyphenate-before",
    "hyphenate-lines",
    "hyphenate-patterns",
    "hyphenate-resource",
    "link",
    "marks",
    "page-policy",
    "text-replace",
];

/// Beginning of the names that Prince adds to properties and at-rules.
const OF_PRINCE: &str = "prince-";

impl Names {
    pub(crate) fn new() -> Self {
        let set = |text: &'static str| text.lines().collect::<HashSet<_>>();
        let mut at_rules = set(include_str!("names/at-rules.txt"));
        at_rules.insert("charset"); // no at-rule to stylelint, which reads it as the encoding
        at_rules.extend(OF_TOOLS.iter().chain(&AREAS));
        let line =
            |it: &'static str| it.split_once(' ').map(|(name, rest)| (name, rest.split(' ').collect()));
        let mut properties = set(include_str!("names/properties.txt"));
        properties.insert("composes"); // of CSS modules
        properties.extend(FOR_PRINT);
        let mut pseudo_elements = set(include_str!("names/pseudo-elements.txt"));
        pseudo_elements.extend(OF_PAGES);
        Self {
            at_rules,
            elements: set(include_str!("names/elements.txt")),
            keywords: include_str!("names/keywords.txt").lines().filter_map(line).collect(),
            media_features: set(include_str!("names/media-features.txt")),
            properties,
            pseudo_classes: set(include_str!("names/pseudo-classes.txt")),
            pseudo_elements,
            units: set(include_str!("names/units.txt")),
            shorthands: include_str!("names/shorthands.txt").lines().filter_map(line).collect(),
        }
    }
}

/// Names of browsers' and of Prince's own begin so.
pub(crate) fn is_prefixed(name: &str) -> bool {
    name.starts_with('-') || name.starts_with(OF_PRINCE)
}
