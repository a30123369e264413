//! Stylesheets that are not for browsers, and text that is none.

use super::{check, check_as, report, settings, told};
use broker_plugin_sdk::Completeness;

#[test]
fn toolkits_have_elements_of_their_own() {
    let text = "window.a > popover label:insensitive { icon-shadow: none; color: red }\n";
    for path in [
        "gtk-4.0/a.css",
        "themes/x/gtk-3.20/b.scss",
        "gtk.css",
        "gnome-shell/c.css",
        ".config/waybar/style.css",
    ] {
        assert_eq!(check_as(path, text), "", "{path}");
    }
    for more in [
        "@define-color x red;\n",
        "a { color: @view_bg_color; }\n",
        "a { color: alpha(@card_fg, 0.5); }\n",
        "a { -gtk-icon-size: 1px; }\n",
        "a { color: red; -GtkWidget-focus: 1; }\n",
    ] {
        assert_eq!(check(&format!("{more}{text}")), "", "{more}");
    }
    for none in [
        "",
        "/* -gtk-icon-size, @define-color */\n",
        ".devices-gtk-plain, .-gtk-x { --gtk-y: 1px }\n",
        "a { background: url(@a_b); content: \"@a_b\" }\n",
    ] {
        assert!(check(&format!("{none}{text}")).contains("selector-type-no-unknown \"window\""), "{none}");
    }
}

#[test]
fn toolkits_have_all_else_of_css() {
    let told = |text: &str| check_as("gtk-4.0/a.css", text);
    assert_eq!(told("row { /**/ }\n"), "1 comment-no-empty \"/**/\"");
    assert_eq!(told("row { color: #ggg; background: #111222333 }\n"), "1 color-no-invalid-hex \"#ggg\"");
    assert_eq!(check("a { background: #111222333 }\n"), "1 color-no-invalid-hex \"#111222333\"");
}

#[test]
fn output_for_terminals_is_left_out() {
    for (name, text) in [
        ("a.css", "\u{1b}[1mh1\u{1b}[0m { \u{1b}[38;5;12mtop\u{1b}[0m: 1px }\n".to_owned()),
        ("a.scss", format!("{}\n", "\u{1b}[38:2:1:2:3m.x\u{1b}[m {}\n".repeat(300))),
        ("a.less", "\u{1b}[31m\u{1b}[K/* a */\u{1b}[m\n".to_owned()),
    ] {
        assert_eq!(check_as(name, &text), "excluded", "{name}");
        let report = report(&[(name, &text)], settings(), name, name).unwrap();
        assert!(matches!(report.completeness, Completeness::Excluded), "even where it is named");
    }
    let told = told(&[("a.css", "/* \u{1b}[1m */ a { colr: \"\u{1b}[0m\" }\n")], settings(), "a.css");
    assert_eq!(told, "1 property-no-unknown \"colr\"", "comments and strings may have anything");
}
