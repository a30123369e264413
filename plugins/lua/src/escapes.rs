//! Escapes in strings that selene takes for wrong, though the versions of Lua that a file may be of have them: `\x80` and
//! `\z` came with Lua 5.2, `\u{1f600}` with 5.3, and LuaJIT and Luau have all three.

use full_moon::LuaVersion;
use selene_lib::CheckerDiagnostic;

/// Takes such findings out.
pub(crate) fn drop_valid(found: &mut Vec<CheckerDiagnostic>, text: &str, version: LuaVersion) {
    found.retain(|it| {
        let at = it.diagnostic.primary_label.range.0 as usize;
        let escape = text.get(at..).unwrap_or_default();
        it.diagnostic.code != "bad_string_escape" || !is_valid(escape, version)
    });
}

/// Whether a text begins with an escape that Lua 5.1 lacks and one of the versions has.
fn is_valid(text: &str, version: LuaVersion) -> bool {
    let is_of_all = version.has_luajit() || version.has_luau();
    let Some(escape) = text.strip_prefix('\\') else { return false };
    match escape.split_at_checked(1) {
        Some(("x", rest)) => (is_of_all || version.has_lua52()) && is_byte(rest),
        Some(("z", _)) => is_of_all || version.has_lua52(),
        Some(("u", rest)) => (is_of_all || version.has_lua53()) && is_character(rest, version),
        _ => false,
    }
}

fn is_byte(text: &str) -> bool {
    text.get(..2).is_some_and(is_hex)
}

/// Whether a number in braces follows that is a valid code point. Lua 5.4 accepts numbers up to 2³¹.
fn is_character(text: &str, version: LuaVersion) -> bool {
    let most = if version.has_lua54() { 0x7fff_ffff } else { 0x0010_ffff };
    let digits = text.strip_prefix('{').and_then(|it| it.split_once('}')).map(|it| it.0);
    let number = digits.filter(|it| is_hex(it)).and_then(|it| u32::from_str_radix(it, 16).ok());
    number.is_some_and(|it| it <= most)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let (old, jit) = (LuaVersion::lua51(), LuaVersion::luajit());
        for text in ["\\xfF0", "\\z\n", "\\u{1F4a9}\""] {
            assert!(is_valid(text, jit) && is_valid(text, LuaVersion::luau()), "{text}");
            assert!(is_valid(text, LuaVersion::lua53()) && !is_valid(text, old), "{text}");
        }
        assert!(is_valid("\\x1b", LuaVersion::lua52()) && !is_valid("\\u{1b}", LuaVersion::lua52()));
        assert!(is_valid("\\u{7fffffff}", LuaVersion::lua54()) && !is_valid("\\u{7fffffff}", jit));
    }

    #[test]
    fn what_no_version_has() {
        for text in ["\\x8", "\\xg0", "\\u0041", "\\u{}", "\\u{41", "\\u{xy}", "\\q", "\\", "x41", "\\é"] {
            assert!(!is_valid(text, crate::defaults::plain()), "{text}");
        }
    }
}
