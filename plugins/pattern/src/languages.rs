//! The languages of rules: their names, and how a metavariable is written so that the grammar takes it for a name.
//!
//! Which grammar there is for a name, and which files are in a language, is the host's to say.

use std::{borrow::Cow, fmt, iter, path::Path};

use ast_grep_core::{Language, Pattern, PatternError, matcher::PatternBuilder};
use serde::{Deserialize, Deserializer, de};

use crate::{host, source::Source};

/// A place in [`TABLE`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lang(u8);

struct Entry {
    /// Name of the language for the host.
    name: &'static str,
    /// Other names that rules may use, in any case.
    aliases: &'static [&'static str],
    /// Character that stands for `$` in a pattern.
    sign: char,
}

const fn entry(name: &'static str, aliases: &'static [&'static str], sign: char) -> Entry {
    Entry { name, aliases, sign }
}

/// Aliases and signs are those of ast-grep-language 0.51.1. Those that it does not know come last: their names are of
/// ASCII letters, so that only `_` is left for a sign, as it is there for CSS, Nix and Zig.
static TABLE: [Entry; 33] = [
    entry("c", &[], '𐀀'),
    entry("cpp", &["cc", "c++", "cxx"], '𐀀'),
    entry("csharp", &["cs"], 'µ'),
    entry("css", &[], '_'),
    entry("dart", &[], '$'),
    entry("elixir", &["ex"], 'µ'),
    entry("go", &["golang"], 'µ'),
    entry("html", &[], 'z'),
    entry("java", &[], '$'),
    entry("javascript", &["js", "jsx"], '$'),
    entry("json", &[], '$'),
    entry("kotlin", &["kt"], 'µ'),
    entry("lua", &[], '$'),
    entry("nix", &[], '_'),
    entry("php", &[], 'µ'),
    entry("python", &["py"], 'µ'),
    entry("ruby", &["rb"], 'µ'),
    entry("rust", &["rs"], 'µ'),
    entry("scala", &[], '$'),
    entry("shellscript", &["bash"], '$'),
    entry("swift", &[], 'µ'),
    entry("terraform", &["hcl"], 'µ'),
    entry("typescript", &["ts"], '$'),
    entry("typescriptreact", &["tsx"], '$'),
    entry("yaml", &["yml"], '$'),
    entry("zig", &[], '_'),
    entry("dockerfile", &[], '_'),
    entry("dtd", &[], '_'),
    entry("graphql", &["gql"], '_'),
    entry("makefile", &["make"], '_'),
    entry("proto", &["protobuf"], '_'),
    entry("toml", &[], '_'),
    entry("xml", &[], '_'),
];

impl Lang {
    /// Returns the language with this name or alias.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let is = |it: &Entry| iter::once(&it.name).chain(it.aliases).any(|it| it.eq_ignore_ascii_case(name));
        let place = TABLE.iter().position(is)?;
        u8::try_from(place).ok().map(Self)
    }

    /// The language of a file with this name.
    pub(crate) fn of(path: &str) -> Option<Self> {
        Self::named(&host::language_of(path)?)
    }

    pub(crate) fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the text that code must begin with to be parsed; patterns do not have it.
    pub(crate) fn opening(self) -> &'static str {
        if self.name() == "php" { "<?php " } else { "" }
    }

    fn entry(self) -> &'static Entry {
        &TABLE[usize::from(self.0)]
    }
}

impl Language for Lang {
    fn pre_process_pattern<'q>(&self, pattern: &'q str) -> Cow<'q, str> {
        match self.entry().sign {
            '$' => Cow::Borrowed(pattern),
            sign => Cow::Owned(signed(pattern, sign)),
        }
    }

    fn expando_char(&self) -> char {
        self.entry().sign
    }

    fn from_path<P: AsRef<Path>>(path: P) -> Option<Self> {
        Self::of(path.as_ref().to_str()?)
    }

    /// 0 is no kind.
    fn kind_to_id(&self, kind: &str) -> u16 {
        host::names(self.name()).ok().and_then(|it| it.kind(kind)).unwrap_or_default()
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        host::names(self.name()).ok()?.field(field)
    }

    fn build_pattern(&self, builder: &PatternBuilder) -> Result<Pattern, PatternError> {
        builder.build(|text| Source::snippet(text, *self))
    }
}

/// The pattern with another sign in place of the `$` of its metavariables: `$A`, `$_`, `$$$`.
fn signed(pattern: &str, sign: char) -> String {
    let mut signed = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(at) = rest.find('$') {
        let after = rest[at..].trim_start_matches('$');
        let count = rest.len() - at - after.len();
        let is_variable = count == 3 || after.starts_with(|it: char| it.is_ascii_uppercase() || it == '_');
        signed.push_str(&rest[..at]);
        signed.extend(iter::repeat_n(if is_variable { sign } else { '$' }, count));
        rest = after;
    }
    signed + rest
}

impl<'de> Deserialize<'de> for Lang {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let unknown = || de::Error::custom(format!("there is no grammar of the language `{name}` here"));
        Self::named(&name).ok_or_else(unknown)
    }
}

impl fmt::Debug for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_in_any_case() {
        let name = |it: &str| Lang::named(it).map(Lang::name);
        for (alias, want) in [
            ("ts", Some("typescript")),
            ("Tsx", Some("typescriptreact")),
            ("TypeScript", Some("typescript")),
            ("C++", Some("cpp")),
            ("golang", Some("go")),
            ("Bash", Some("shellscript")),
            ("haskell", None),
        ] {
            assert_eq!(name(alias), want, "{alias}");
        }
    }

    #[test]
    fn the_sign_replaces_what_is_a_metavariable() {
        for (pattern, want) in [
            ("f($A, $$B, $$$C, $_D)", "f(µA, µµB, µµµC, µ_D)"),
            ("f($$$)", "f(µµµ)"),
            ("$$$", "µµµ"),
            ("\"$a costs $5\" $", "\"$a costs $5\" $"),
        ] {
            assert_eq!(signed(pattern, 'µ'), want);
        }
    }
}
