//! What the folder of a new plugin holds. The SDK is part of it, so that a plugin builds without this repository and
//! against the world of the program that made it.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    Rust,
}

const WIT: &str = include_str!("../../../../wit/broker-plugin.wit");

/// Path and text.
type File = (String, String);

pub(super) fn files(language: Language, name: &str) -> Vec<File> {
    let own = match language {
        Language::Rust => RUST,
    };
    let named = |(path, text): (&str, &str)| (path.to_owned(), text.replace("@NAME@", name));
    let mut files: Vec<File> = COMMON.into_iter().chain(own).map(named).collect();
    files.extend(sdk(language));
    files.push(("wit/broker-plugin.wit".to_owned(), WIT.to_owned()));
    files.push((".gitignore".to_owned(), "/dist\n/target\n".to_owned()));
    files
}

fn sdk(language: Language) -> Vec<File> {
    let nearer = |text: &str| text.replace("\"../../wit\"", "\"../wit\"");
    match language {
        Language::Rust => RUST_SDK.map(|(path, text)| (format!("sdk/{path}"), nearer(text))).to_vec(),
    }
}

/// Those of the SDK, whose crate has no workspace here and finds the world a folder nearer.
const RUST_SDK: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("../../../../plugins/sdk/Cargo.toml")),
    ("src/lib.rs", include_str!("../../../../plugins/sdk/src/lib.rs")),
    ("src/bindings.rs", include_str!("../../../../plugins/sdk/src/bindings.rs")),
    ("src/guest.rs", include_str!("../../../../plugins/sdk/src/guest.rs")),
    ("src/selection.rs", include_str!("../../../../plugins/sdk/src/selection.rs")),
    ("src/syntax.rs", include_str!("../../../../plugins/sdk/src/syntax.rs")),
];

/// What every template does, to a file with a finding and to one without.
const COMMON: [(&str, &str); 5] = [
    ("broker-plugin.toml", include_str!("template/broker-plugin.toml.in")),
    ("fixtures/valid/good.py", include_str!("template/fixtures/good.py")),
    ("fixtures/invalid/bad.py", include_str!("template/fixtures/bad.py")),
    ("fixtures/invalid/bad.py.findings", include_str!("template/fixtures/bad.py.findings")),
    ("fixtures/invalid/bad.py.fixed", include_str!("template/fixtures/bad.py.fixed")),
];

const RUST: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("template/rust/Cargo.toml.in")),
    (".cargo/config.toml", include_str!("template/rust/config.toml")),
    ("README.md", include_str!("template/rust/README.md.in")),
    ("src/lib.rs", include_str!("template/rust/lib.rs.in")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_whole() {
        for language in Language::value_variants() {
            for (path, text) in files(*language, "no-todo") {
                assert!(!text.contains('@') || !text.contains("@NAME"), "{path}");
                assert!(!text.contains("../../wit"), "{path}");
            }
        }
    }
}
