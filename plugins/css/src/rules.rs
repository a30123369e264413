//! The table of rules, by stylelint's names.

use broker_plugin_sdk::{FixAvailability, Rule};

pub(crate) const SYNTAX: &str = "syntax-error";
pub(crate) const DOUBLE_SLASH: &str = "no-invalid-double-slash-comments";
pub(crate) const DEPRECATED_KEYWORD: &str = "declaration-property-value-keyword-no-deprecated";
pub(crate) const DEPRECATED_PROPERTY: &str = "property-no-deprecated";
pub(crate) const DUPLICATE_SELECTORS: &str = "no-duplicate-selectors";
pub(crate) const EMPTY_BLOCK: &str = "block-no-empty";
pub(crate) const EMPTY_SOURCE: &str = "no-empty-source";
pub(crate) const MEDIA_FEATURE: &str = "media-feature-name-no-unknown";
pub(crate) const MISSING_GENERIC: &str = "font-family-no-missing-generic-family-keyword";
pub(crate) const UNKNOWN_VALUE: &str = "declaration-property-value-no-unknown";

/// Name, one line, explanation.
const TABLE: [(&str, &str, &str); 28] = [
    (
        SYNTAX,
        "The stylesheet cannot be parsed",
        "Brackets, strings and comments that are not closed, and what is neither a declaration nor a rule. Else it is a \
        warning in CSS, since browsers skip what they do not know; and where only the parser may lack some of SCSS or Less, \
        the file is told as not checked.",
    ),
    (
        "at-rule-no-unknown",
        "An at-rule that does not exist",
        "Those of Tailwind and of PostCSS's well-known plugins are left alone, those of programs that print (`@footnote`), and so is \
        all of SCSS and Less.",
    ),
    (
        EMPTY_BLOCK,
        "A block with nothing in it",
        "A comment is something. Mixins, functions, placeholders, layers, rules of Less that extend others, and conditions of Sass that \
        call a function may be empty unless stylelint is configured: they have an effect all the same. Off, unless stylelint is configured.",
    ),
    ("color-no-invalid-hex", "A hex colour that is none", "They have 3, 4, 6 or 8 digits."),
    ("comment-no-empty", "A comment with nothing in it", "It was perhaps forgotten."),
    (
        "custom-property-no-missing-var-function",
        "A custom property without `var()`",
        "Told where the file itself sets the property.",
    ),
    (
        "declaration-block-no-duplicate-custom-properties",
        "A custom property is set twice in one block",
        "The first has no effect.",
    ),
    (
        "declaration-block-no-duplicate-properties",
        "A property is set twice in one block",
        "The first has no effect. Right after each other, with values that differ in more than numbers, they are left alone, and \
        so is what comes before `var()` and `env()`: the first is for browsers that do not know the second.",
    ),
    (
        "declaration-block-no-shorthand-property-overrides",
        "A shorthand sets again what was set before it",
        "`padding-left: 1px; padding: 2px` leaves nothing of the first. What is `!important` stays, unless the shorthand is too.",
    ),
    (
        DEPRECATED_KEYWORD,
        "A value that is deprecated",
        "Browsers may stop to know it. Off, unless stylelint's configuration asks for it.",
    ),
    (
        UNKNOWN_VALUE,
        "A value that its property does not take",
        "Browsers skip the declaration. Looked at are properties that take only keywords, such as `display`, `float` and \
        `text-align`, and in CSS only; values with functions, prefixes and hacks are left alone.",
    ),
    ("font-family-no-duplicate-names", "A font is there twice", "The second is never reached."),
    (
        MISSING_GENERIC,
        "No generic family among fonts",
        "Where none of the fonts is installed, a browser takes its own. Off, unless stylelint's configuration asks for it; fonts \
        of symbols can be ignored there (`ignoreFontFamilies`).",
    ),
    ("keyframe-block-no-duplicate-selectors", "A keyframe is there twice", "Only one of them holds."),
    ("keyframe-declaration-no-important", "`!important` in keyframes", "Browsers ignore the declaration."),
    (
        MEDIA_FEATURE,
        "A media feature that does not exist",
        "The query is never true. Off, unless stylelint is configured: most such features are those of some browsers.",
    ),
    (
        "named-grid-areas-no-invalid",
        "Grid areas that fit no grid",
        "All rows need as many cells, and each area is one rectangle.",
    ),
    ("no-duplicate-at-import-rules", "A file is imported twice", "Once is enough."),
    (
        DUPLICATE_SELECTORS,
        "Two rules for one selector",
        "In the same place they could be one rule, and the second is easily overlooked. Off, unless stylelint's configuration asks \
        for it: many stylesheets have a selector in two sections on purpose.",
    ),
    (
        EMPTY_SOURCE,
        "A file with nothing in it",
        "It was perhaps forgotten. Off, unless stylelint is configured.",
    ),
    (
        DOUBLE_SLASH,
        "`//` in CSS",
        "It is no comment in CSS: what follows is read as a selector or a property, and the next rule is lost.",
    ),
    ("no-invalid-position-at-import-rule", "An import after other rules", "Browsers ignore it."),
    (
        DEPRECATED_PROPERTY,
        "A property that is deprecated",
        "Another has taken its place, or browsers drop it. Off, unless stylelint's configuration asks for it.",
    ),
    (
        "property-no-unknown",
        "A property that does not exist",
        "Those of browsers (`-webkit-…`) and custom ones are left alone.",
    ),
    (
        "selector-pseudo-class-no-unknown",
        "A pseudo-class that does not exist",
        "The whole rule has no effect. Those of CSS modules are left alone.",
    ),
    (
        "selector-pseudo-element-no-unknown",
        "A pseudo-element that does not exist",
        "The whole rule has no effect.",
    ),
    (
        "selector-type-no-unknown",
        "An element that does not exist",
        "Names with a hyphen are of custom elements.",
    ),
    ("unit-no-unknown", "A unit that does not exist", "Browsers skip the declaration."),
];

/// Rules that are on only where a configuration turns them on: what they tell is true, and breaks nothing.
const QUIET: [&str; 4] = [DEPRECATED_KEYWORD, DEPRECATED_PROPERTY, DUPLICATE_SELECTORS, MISSING_GENERIC];

/// Rules that are on where stylelint is configured, be it in a way that cannot be read here.
const CHOSEN: [&str; 3] = [EMPTY_BLOCK, EMPTY_SOURCE, MEDIA_FEATURE];

/// Rules about what has no effect, which compilers leave behind, and which breaks nothing.
const LEFTOVERS: [&str; 9] = [
    "comment-no-empty",
    "declaration-block-no-duplicate-custom-properties",
    "declaration-block-no-duplicate-properties",
    "declaration-block-no-shorthand-property-overrides",
    "font-family-no-duplicate-names",
    "keyframe-block-no-duplicate-selectors",
    "keyframe-declaration-no-important",
    "no-duplicate-at-import-rules",
    DUPLICATE_SELECTORS,
];

pub(crate) fn all() -> Vec<Rule> {
    TABLE.iter().map(|it| rule(*it)).collect()
}

pub(crate) fn is_quiet(code: &str) -> bool {
    QUIET.contains(&code)
}

/// Whether a rule does not report on files of other projects or on generated files unless it is selected.
pub(crate) fn is_of_leftovers(code: &str) -> bool {
    LEFTOVERS.contains(&code)
}

/// Whether a rule is off where no configuration of stylelint's is found.
pub(crate) fn needs_stylelint(code: &str) -> bool {
    is_quiet(code) || CHOSEN.contains(&code)
}

fn rule((code, summary, explanation): (&str, &str, &str)) -> Rule {
    let is_fixed = code == "keyframe-declaration-no-important";
    Rule {
        explanation: explanation.to_owned(),
        url: url(code),
        fix: if is_fixed { FixAvailability::Sometimes } else { FixAvailability::None },
        default: !needs_stylelint(code),
        ..Rule::new(code, summary)
    }
}

pub(crate) fn url(code: &str) -> Option<String> {
    (code != SYNTAX).then(|| format!("https://stylelint.io/user-guide/rules/{code}"))
}
