//! Words of values, and names that are deprecated.

use super::{check, check_as, recommended, settings, told};

const VALUE: &str = "declaration-property-value-no-unknown";

#[test]
fn look_ups_of_less_are_no_colors() {
    for value in
        ["#a[b]", "#lib[@c]", "#lib.mix(1px)[@d]", "#lib.mix()[]", "#lib > #sub[@e]", "1px solid #lib[$f]"]
    {
        assert_eq!(check_as("a.less", &format!(".a {{ border: {value}; }}")), "", "{value}");
    }
    for value in ["#xyz", "#xyz solid", "#xyz rgba(1, 2, 3, 0.5)", "#xyz .5px"] {
        let told = check_as("a.less", &format!(".a {{ border: {value}; }}"));
        assert_eq!(told, "1 color-no-invalid-hex \"#xyz\"", "{value}");
    }
}

#[test]
fn words_that_a_property_does_not_take() {
    for (declaration, word) in [
        ("display: blok", "blok"),
        ("DISPLAY: inline Flow-rot", "Flow-rot"),
        ("position: absolut !important", "absolut"),
        ("float: center", "center"),
        ("clear: all", "all"),
        ("visibility: show", "show"),
        ("overflow-x: /* a */ none", "none"),
        ("text-align: middle", "middle"),
        ("white-space: no-wrap", "no-wrap"),
        ("font-weight: semibold", "semibold"),
        ("justify-content: space-betwen", "space-betwen"),
    ] {
        assert_eq!(check(&format!("a {{ {declaration}; }}")), format!("1 {VALUE} {word:?}"));
    }
}

#[test]
fn words_that_may_be_right() {
    for declaration in [
        "display: Inline Flow-Root List-Item",
        "display: revert-layer",
        "float: Revert-Rule",
        "display: -ms-grid",
        "display: inline-block\\9",
        "*display: inlin",
        "_position: absolut",
        "display: var(--x, blok)",
        "display: if(media(print): none; else: block)",
        "display: box",
        "display: ",
        "float: START_EDGE",
        "text-align: __MSG_@@bidi_start_edge__",
        "text-align: \".\" center",
        "position: running(head)",
        "font-weight: 350",
        "font-style: oblique 10deg",
        "white-space: hp-pre-wrap",
        "cursor: hand",
        "--display: blok",
        "-x-display: blok",
    ] {
        assert_eq!(check(&format!("a {{ {declaration}; }}")), "", "{declaration}");
    }
    for name in ["a.scss", "a.less"] {
        assert_eq!(check_as(name, "a { display: blok }"), "", "only in CSS");
    }
    assert_eq!(check("@value side: left;\na { float: side }"), "", "a name of CSS modules");
    assert_eq!(check("@font-face { font-weight: wide; font-style: x }"), "");
    assert_eq!(check("a { display: blok /* stylelint-disable-line */ }"), "");
}

#[test]
fn words_that_a_configuration_allows() {
    let text = "a { display: x; float: y; clear: z }\n";
    let with = |config: &str| told(&[("a.css", text), (".stylelintrc.json", config)], settings(), "a.css");
    let rule = |options: &str| with(&format!("{{\"rules\": {{\"{VALUE}\": {options}}}}}"));
    let (x, y, z) = (format!("1 {VALUE} \"x\""), format!("1 {VALUE} \"y\""), format!("1 {VALUE} \"z\""));
    assert_eq!(rule("true"), format!("{x}, {y}, {z}"));
    assert_eq!(rule("null"), "");
    let ignored =
        "[true, {\"ignoreProperties\": {\"display\": [\"x\"], \"/^cl/\": [\"/^z/\"], \"float\": [\"x\"]}}]";
    assert_eq!(rule(ignored), y);
    assert_eq!(rule("[true, {\"propertiesSyntax\": {\"display\": \"| x\", \"float\": \"| y\"}}]"), z);
    let own = "{\"rules\": {\"NAME\": true}, \"languageOptions\": {\"syntax\": {\"properties\": {\"float\": \"| y\"}, \
        \"cssWideKeywords\": [\"z\"]}}}";
    assert_eq!(with(&own.replace("NAME", VALUE)), x);
}

#[test]
fn what_is_deprecated() {
    for (declaration, told) in [
        ("page-break-after: always", "property-no-deprecated \"page-break-after\""),
        ("-moz-box-flex: 1", "property-no-deprecated \"-moz-box-flex\""),
        ("-webkit-box-orient: horizontal", "property-no-deprecated \"-webkit-box-orient\""),
        ("overflow-y: overlay", "declaration-property-value-keyword-no-deprecated \"overlay\""),
        ("border-color: red WindowFrame", "declaration-property-value-keyword-no-deprecated \"WindowFrame\""),
        ("color: light-dark(menutext, red)", "declaration-property-value-keyword-no-deprecated \"menutext\""),
        ("width: min-intrinsic", "declaration-property-value-keyword-no-deprecated \"min-intrinsic\""),
    ] {
        let text = format!("a {{ {declaration} }}");
        assert_eq!(recommended(&text), format!("1 {told}"));
        assert_eq!(check(&text), "", "off by default: {text}");
    }
    for declaration in [
        "-webkit-box-orient: vertical",
        "-ms-user-modify: none",
        "-webkit-grid-gap: 1px",
        "--clip: 1",
        "color: var(--x, menutext)",
        "background: window",
        "word-break: break-all",
    ] {
        assert_eq!(recommended(&format!("a {{ {declaration} }}")), "", "{declaration}");
    }
    let config = (
        ".stylelintrc.json",
        "{\"rules\": {\"property-no-deprecated\": [true, {\"ignoreProperties\": [\"clip\"]}]}}",
    );
    let text = "a { clip: auto; word-wrap: normal }";
    assert_eq!(
        told(&[("a.css", text), config], settings(), "a.css"),
        "1 property-no-deprecated \"word-wrap\""
    );
}

#[test]
fn fonts_without_a_generic_family() {
    let told = |value: &str| recommended(&format!("a {{ {value} }}"));
    for (declaration, families) in [
        ("font-family: A", "A"),
        ("font-family: \"A b\", C d", "\"A b\", C d"),
        ("font-family: \"serif\"", "\"serif\""),
        ("font: bold 1em/1.2 A, B", "A, B"),
        ("font: 120%/normal 'A'", "'A'"),
        ("font: italic small A", "A"),
    ] {
        let rule = "font-family-no-missing-generic-family-keyword";
        assert_eq!(told(declaration), format!("1 {rule} {families:?}"));
        assert_eq!(check(&format!("a {{ {declaration} }}")), "", "off by default");
    }
    for declaration in [
        "font-family: A, Monospace, B",
        "font-family: inherit",
        "font-family: Revert-Rule",
        "font: revert-layer",
        "font-family: A, var(--x)",
        "font-family: var(--x), A",
        "font: menu",
        "font: inherit",
        "font: 1em serif",
        "font: 12px/1 A, system-ui",
        "font: 12px",
    ] {
        assert_eq!(told(declaration), "", "{declaration}");
    }
    assert_eq!(recommended("@font-face { font-family: A }"), "");
    let config = "{\"rules\": {\"font-family-no-missing-generic-family-keyword\": [true, {\"ignoreFontFamilies\": [\"My Icons\"]}]}}";
    let text = "a { font-family: \"My Icons\" }\nb { font-family: X }";
    let found = super::told(&[("a.css", text), (".stylelintrc.json", config)], settings(), "a.css");
    assert_eq!(found, "2 font-family-no-missing-generic-family-keyword \"X\"");
}
