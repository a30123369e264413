//! `property-no-deprecated` and `declaration-property-value-keyword-no-deprecated`, by the tables of stylelint 17.16.
//!
//! Left out: fixes, since not all browsers in use know what comes in place of these.

use raffia::ast::Declaration;

use crate::declarations::{is_made, shifted, value_of};
use crate::names::is_prefixed;
use crate::rules::{DEPRECATED_KEYWORD, DEPRECATED_PROPERTY};
use crate::tokens::{Kind, Token, tokens};
use crate::walk::Sheet;

/// Functions whose arguments are colours or numbers of them.
const COLOR_FUNCTIONS: [&str; 15] = [
    "color",
    "color-contrast",
    "color-mix",
    "contrast-color",
    "device-cmyk",
    "hsl",
    "hsla",
    "hwb",
    "lab",
    "lch",
    "light-dark",
    "oklab",
    "oklch",
    "rgb",
    "rgba",
];

/// A deprecated name, and what there is in its place; nothing where that depends on the use.
type Successors = &'static [(&'static str, &'static str)];

const COLORS: Successors = &[
    ("activeborder", "ButtonBorder"),
    ("activecaption", "Canvas"),
    ("appworkspace", "Canvas"),
    ("background", "Canvas"),
    ("buttonhighlight", "ButtonFace"),
    ("buttonshadow", "ButtonFace"),
    ("captiontext", "CanvasText"),
    ("inactiveborder", "ButtonBorder"),
    ("inactivecaption", "Canvas"),
    ("inactivecaptiontext", "GrayText"),
    ("infobackground", "Canvas"),
    ("infotext", "CanvasText"),
    ("menu", "Canvas"),
    ("menutext", "CanvasText"),
    ("scrollbar", "Canvas"),
    ("threeddarkshadow", "ButtonBorder"),
    ("threedface", "ButtonFace"),
    ("threedhighlight", "ButtonBorder"),
    ("threedlightshadow", "ButtonBorder"),
    ("threedshadow", "ButtonBorder"),
    ("window", "Canvas"),
    ("windowframe", "ButtonBorder"),
    ("windowtext", "CanvasText"),
];

const APPEARANCES: Successors = &[
    ("button", "auto"),
    ("checkbox", "auto"),
    ("listbox", "auto"),
    ("menulist", "auto"),
    ("meter", "auto"),
    ("progress-bar", "auto"),
    ("push-button", "auto"),
    ("radio", "auto"),
    ("searchfield", "auto"),
    ("slider-horizontal", "auto"),
    ("square-button", "auto"),
    ("textarea", "auto"),
];

const PROPERTIES: Successors = &[
    ("box-align", "align-items"),
    ("box-direction", ""),
    ("box-flex", "flex-grow"),
    ("box-lines", ""),
    ("box-ordinal-group", "order"),
    ("box-orient", ""),
    ("box-pack", ""),
    ("clip", ""),
    ("grid-column-gap", "column-gap"),
    ("grid-gap", "gap"),
    ("grid-row-gap", "row-gap"),
    ("ime-mode", ""),
    ("page-break-after", "break-after"),
    ("page-break-before", "break-before"),
    ("page-break-inside", "break-inside"),
    ("position-try-options", "position-try-fallbacks"),
    ("scroll-snap-coordinate", ""),
    ("scroll-snap-destination", ""),
    ("scroll-snap-margin", "scroll-margin"),
    ("scroll-snap-margin-bottom", "scroll-margin-bottom"),
    ("scroll-snap-margin-left", "scroll-margin-left"),
    ("scroll-snap-margin-right", "scroll-margin-right"),
    ("scroll-snap-margin-top", "scroll-margin-top"),
    ("scroll-snap-points-x", ""),
    ("scroll-snap-points-y", ""),
    ("scroll-snap-type-x", ""),
    ("scroll-snap-type-y", ""),
    ("user-modify", ""),
    ("word-wrap", "overflow-wrap"),
];

impl Sheet<'_> {
    pub(crate) fn deprecated_property(&mut self, it: &Declaration<'_>, name: &str) {
        let folded = name.to_ascii_lowercase();
        let Some(successor) = successor_of_property(&folded) else { return };
        // Lines are still clamped by it in all browsers.
        let is_vertical = self.text[value_of(it)].trim().eq_ignore_ascii_case("vertical");
        if folded == "-webkit-box-orient" && is_vertical {
            return;
        }
        let message = message(name, successor);
        self.tell(DEPRECATED_PROPERTY, message, it.span.start..it.span.start + name.len());
    }

    pub(crate) fn deprecated_keywords(&mut self, it: &Declaration<'_>, property: &str) {
        let range = value_of(it);
        let text = &self.text[range.clone()];
        let keywords = keywords_of(property);
        if keywords.is_empty() || text.contains(['$', '@']) || is_made(text) {
            return;
        }
        for token in plain_words(text, &tokens(text, !self.is_plain_css())) {
            let word = &text[token.range.clone()];
            if let Some(it) = keywords.iter().find(|it| it.0.eq_ignore_ascii_case(word)) {
                self.tell(DEPRECATED_KEYWORD, message(word, it.1), shifted(&token.range, range.start));
            }
        }
    }
}

fn message(name: &str, successor: &str) -> String {
    match successor {
        "" => format!("`{name}` is deprecated"),
        _ => format!("`{name}` is deprecated: use `{successor}`"),
    }
}

/// Successor of a deprecated property. Some are deprecated with the prefix of a browser only.
fn successor_of_property(name: &str) -> Option<&'static str> {
    let vendors = ["-khtml-", "-moz-", "-ms-", "-webkit-"];
    let vendor = vendors.into_iter().find(|it| name.starts_with(it));
    let plain = &name[vendor.map_or(0, str::len)..];
    let is_vendors = plain.starts_with("box-") || plain == "user-modify" && vendor != Some("-ms-");
    let found = PROPERTIES.iter().find(|it| it.0 == plain)?;
    (vendor.is_some() == is_vendors).then_some(found.1)
}

fn keywords_of(property: &str) -> Successors {
    match property {
        "appearance" => APPEARANCES,
        "image-rendering" => &[("optimizequality", "smooth"), ("optimizespeed", "pixelated")],
        "overflow" | "overflow-x" | "overflow-y" => &[("overlay", "auto")],
        "text-justify" => &[("distribute", "inter-character")],
        "text-orientation" => &[("sideways-right", "sideways")],
        "user-select" => &[("element", "contain")],
        "zoom" => &[("reset", "1")],
        "text-decoration" | "text-decoration-line" => &[("blink", "")],
        "box-sizing" => &[("padding-box", "")],
        "image-orientation" => &[("flip", "")],
        "height" | "max-height" | "max-width" | "min-height" | "min-width" | "width" => {
            &[("intrinsic", ""), ("min-intrinsic", "")]
        }
        "word-break" => &[("break-word", "")],
        "color" | "scrollbar-color" => COLORS,
        it if it.ends_with("-color") && !is_prefixed(it) => COLORS,
        _ => &[],
    }
}

/// The words of a value that are no arguments, but for those of colours.
fn plain_words<'t>(text: &str, tokens: &'t [Token]) -> Vec<&'t Token> {
    let mut open: Vec<bool> = Vec::new();
    let mut words = Vec::new();
    for it in tokens {
        match it.kind {
            Kind::Function => {
                let name = text[it.range.clone()].to_ascii_lowercase();
                open.push(COLOR_FUNCTIONS.contains(&&*name));
            }
            Kind::Open => open.push(true),
            Kind::Close => drop(open.pop()),
            Kind::Ident if open.iter().all(|it| *it) => words.push(it),
            _ => {}
        }
    }
    words
}
