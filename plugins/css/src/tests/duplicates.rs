//! Duplicates in a stylesheet.

use super::{check, check_as, recommended, settings, told};

const DUPLICATE: &str = "declaration-block-no-duplicate-properties";

#[test]
fn fallbacks_have_an_effect() {
    for text in [
        "a { margin: 1px; top: 2px; margin: var(--m); top: env(x, 3px) }",
        "a { transition: top 1s; left: 0; transition: top calc(VAR(--t) * 2) }",
        "a { -webkit-columns: 1; columns: 1; -webkit-columns: max(1, 2); columns: max(1, 2) }",
        "a { display: inline-block; *display: inline; display: flow-root }",
        "a { display: inline-block; zoom: 1; *display: inline; *padding-top: 1px; *padding: 0 }",
    ] {
        for name in ["a.css", "a.scss", "a.less"] {
            assert_eq!(check_as(name, text), "", "{name}: {text}");
        }
    }
}

#[test]
fn words_of_vendors_are_fallbacks_anywhere() {
    for text in [
        "a { width: -moz-available; top: 0; width: -webkit-fill-available; left: 0; width: stretch }",
        "a { cursor: -webkit-grab; top: 0; CURSOR: grab }",
        "a { background: red; top: 0; background: -moz-linear-gradient(red, blue) }",
        "a { background: -webkit-gradient(x); top: 0; background: -webkit-linear-gradient(x) }",
        "a { display: -ms-grid !important; top: 0; display: grid }",
    ] {
        for name in ["a.css", "a.scss", "a.less"] {
            assert_eq!(check_as(name, text), "", "{name}: {text}");
        }
    }
    for (text, property) in [
        ("a { cursor: -webkit-grab; top: 0; cursor: -WEBKIT-grab }", "cursor"),
        ("a { margin: -1px -x; top: 0; margin: -2px -x }", "margin"),
        ("a { transition: -moz-transform 1s; top: 0; transition: -moz-transform 2s }", "transition"),
    ] {
        assert_eq!(check(text), format!("1 {DUPLICATE} \"{property}\""), "{text}");
    }
    let three = "a { width: -moz-available; width: 1px; top: 0; width: 2px }";
    assert_eq!(check(three), format!("1 {DUPLICATE} \"width\""));
}

#[test]
fn what_is_no_fallback() {
    let margin = format!("1 {DUPLICATE} \"margin\"");
    for text in [
        "a { margin: var(--m); top: 1px; margin: 1px }",
        "a { margin: var(--m); top: 1px; margin: var(--n) }",
        "a { margin: 1px; top: 1px; margin: 2px }",
        "a { margin: 1px; top: 1px; margin: max(1px, 2px) }",
        "a { margin: 1px !important; top: 1px; margin: var(--m) }",
    ] {
        assert_eq!(check(text), margin, "{text}");
    }
    let both = "a { -webkit-columns: 1; columns: 1; -webkit-columns: 2; columns: 2 }";
    assert_eq!(check(both), format!("1 {DUPLICATE} \"-webkit-columns\", 1 {DUPLICATE} \"columns\""));
}

#[test]
fn selectors_are_told_where_a_configuration_asks() {
    let text = ".x > .y { top: 1px }\n.z { top: 1px }\n.x>.y { left: 1px }\n";
    let config = (".stylelintrc.json", "{\"rules\": {\"no-duplicate-selectors\": true}}");
    for name in ["a.css", "a.scss", "a.less"] {
        assert_eq!(check_as(name, text), "", "two sections of a file may be about one element");
        let found = told(&[(name, text), config], settings(), name);
        assert_eq!(found, "3 no-duplicate-selectors \".x>.y\"", "{name}");
    }
    assert_eq!(recommended(text), "3 no-duplicate-selectors \".x>.y\"");
    let disabled =
        text.replace(".x>.y {", "/* stylelint-disable-next-line no-duplicate-selectors */\n.x>.y {");
    assert_eq!(recommended(&disabled), "");
}

#[test]
fn long_lists_take_linear_time() {
    let count = 20_000;
    let list = |name: &str, sign: &str| (0..count).map(|it| format!("{name}{it}{sign}")).collect::<String>();
    let selectors = list(".x", ",\n");
    assert_eq!(recommended(&format!("{selectors}.y {{ top: 1px }}\n")), "");
    let told = format!("{} no-duplicate-selectors \".x7\"", count + 1);
    assert_eq!(recommended(&format!("{selectors}.x7 {{ top: 1px }}\n")), told);
    assert_eq!(recommended(&format!("a {{ font-family: {}serif }}\n", list("F", ",\n"))), "");
    let frames = format!("@keyframes k {{ {}to {{ top: 1px }} }}\n", list("", "%,\n"));
    assert_eq!(recommended(&frames), "");
}

#[test]
fn selectors_that_differ() {
    for text in [
        ".x { top: 1px } .x, .y { left: 1px }",
        ".x { top: 1px } @media print { .x { top: 2px } } @supports (top: 1px) { .x { top: 3px } }",
        "@keyframes k { from { top: 1px } } @-webkit-keyframes k { from { top: 1px } }",
        "[a=\" \"] { top: 1px } [a=\"  \"] { top: 1px }",
        ".x.y { top: 1px } .x .y { top: 1px }",
        "[a] .y { top: 1px } [a].y { top: 1px } :not(.a) .y { top: 1px } :not(.a).y { top: 1px }",
        ".x { .x { top: 1px } }",
    ] {
        assert_eq!(recommended(text), "", "{text}");
    }
    assert_eq!(
        recommended(
            ".x ,.y>.z{ top: 1px }\n.y > .z,\n.x { left: 1px }\n:is( a , b ) { top: 1px }\n:is(a,b) { left: 1px }\n"
        ),
        "2 no-duplicate-selectors \".y > .z,\\n.x\", 5 no-duplicate-selectors \":is(a,b)\""
    );
}

#[test]
fn selectors_that_a_configuration_ignores() {
    let config =
        "{\"rules\": {\"no-duplicate-selectors\": [true, {\"ignoreSelectors\": [\".x\", \"/^#y/\"]}]}}";
    let text = ".x { top: 1px }\n.x { left: 1px }\n#y1, b { top: 1px }\n#y1, b { left: 1px }\nb { top: 1px }\nb { left: 1px }\n";
    let told = told(&[("a.css", text), (".stylelintrc.json", config)], settings(), "a.css");
    assert_eq!(told, "6 no-duplicate-selectors \"b\"");
    assert!(recommended(text).contains("2 no-duplicate-selectors \".x\""));
}
