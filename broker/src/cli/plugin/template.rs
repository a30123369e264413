//! Files of a new plugin's folder. The SDK is one of them, so that a plugin builds without this repository and
//! against the world of the program that made it.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    Rust,
    Python,
    #[value(name = "javascript")]
    JavaScript,
    #[value(name = "typescript")]
    TypeScript,
    C,
}

const WIT: &str = include_str!("../../../../wit/broker-plugin.wit");

const IGNORED: &str = "/dist\n/target\n/node_modules\n/.venv\n__pycache__\n";

/// Path and text.
type File = (String, String);

/// File of a template before the plugin has a name.
type Part = (&'static str, &'static str);

pub(super) fn files(language: Language, name: &str) -> Vec<File> {
    let named = |(path, text): &Part| ((*path).to_owned(), text.replace("@NAME@", name));
    let mut files: Vec<File> = COMMON.iter().chain(own(language)).map(named).collect();
    // Rust's crate has no workspace here, and finds the world a folder nearer.
    let nearer = |text: &str| text.replace("\"../../wit\"", "\"../wit\"");
    files.extend(sdk(language).iter().map(|(path, text)| (format!("sdk/{path}"), nearer(text))));
    files.extend(world(language).iter().map(|(path, text)| (format!("wit/{path}"), (*text).to_owned())));
    files.push((".gitignore".to_owned(), IGNORED.to_owned()));
    files
}

fn own(language: Language) -> &'static [Part] {
    match language {
        Language::Rust => &RUST,
        Language::Python => &PYTHON,
        Language::JavaScript => &JAVASCRIPT,
        Language::TypeScript => &TYPESCRIPT,
        Language::C => &C,
    }
}

fn sdk(language: Language) -> &'static [Part] {
    match language {
        Language::Rust => &RUST_SDK,
        Language::Python => &PYTHON_SDK,
        Language::JavaScript | Language::TypeScript => &JAVASCRIPT_SDK,
        Language::C => &C_SDK,
    }
}

fn world(language: Language) -> &'static [Part] {
    match language {
        Language::Rust | Language::Python | Language::C => &[("broker-plugin.wit", WIT)],
        Language::JavaScript | Language::TypeScript => &JAVASCRIPT_WORLD,
    }
}

impl Language {
    /// Returns the command that installs the tools beside the plugin, where they belong there.
    pub(super) fn first_command(self) -> Option<&'static str> {
        match self {
            Self::Python => Some("python3 -m venv .venv; .venv/bin/pip install -r requirements.txt"),
            Self::JavaScript | Self::TypeScript => Some("npm install"),
            Self::Rust | Self::C => None,
        }
    }
}

/// Files of every template: the manifest, and fixtures with a finding and without one.
const COMMON: [Part; 5] = [
    ("broker-plugin.toml", include_str!("template/broker-plugin.toml.in")),
    ("fixtures/valid/good.py", include_str!("template/fixtures/good.py")),
    ("fixtures/invalid/bad.py", include_str!("template/fixtures/bad.py")),
    ("fixtures/invalid/bad.py.findings", include_str!("template/fixtures/bad.py.findings")),
    ("fixtures/invalid/bad.py.fixed", include_str!("template/fixtures/bad.py.fixed")),
];

const RUST: [Part; 4] = [
    ("Cargo.toml", include_str!("template/rust/Cargo.toml.in")),
    (".cargo/config.toml", include_str!("template/rust/config.toml")),
    ("README.md", include_str!("template/rust/README.md.in")),
    ("src/lib.rs", include_str!("template/rust/lib.rs.in")),
];

const RUST_SDK: [Part; 15] = [
    ("Cargo.toml", include_str!("../../../../plugins/sdk/Cargo.toml")),
    ("src/lib.rs", include_str!("../../../../plugins/sdk/src/lib.rs")),
    ("src/bindings.rs", include_str!("../../../../plugins/sdk/src/bindings.rs")),
    ("src/config.rs", include_str!("../../../../plugins/sdk/src/config.rs")),
    ("src/guest.rs", include_str!("../../../../plugins/sdk/src/guest.rs")),
    ("src/minified.rs", include_str!("../../../../plugins/sdk/src/minified.rs")),
    ("src/offsets.rs", include_str!("../../../../plugins/sdk/src/offsets.rs")),
    ("src/samples.rs", include_str!("../../../../plugins/sdk/src/samples.rs")),
    ("src/selection.rs", include_str!("../../../../plugins/sdk/src/selection.rs")),
    ("src/settings.rs", include_str!("../../../../plugins/sdk/src/settings.rs")),
    ("src/syntax.rs", include_str!("../../../../plugins/sdk/src/syntax.rs")),
    ("src/template.rs", include_str!("../../../../plugins/sdk/src/template.rs")),
    ("src/template/site.rs", include_str!("../../../../plugins/sdk/src/template/site.rs")),
    ("src/testing.rs", include_str!("../../../../plugins/sdk/src/testing.rs")),
    ("src/vendored.rs", include_str!("../../../../plugins/sdk/src/vendored.rs")),
];

const PYTHON: [Part; 3] = [
    ("requirements.txt", include_str!("template/python/requirements.txt")),
    ("README.md", include_str!("template/python/README.md.in")),
    ("src/plugin.py", include_str!("template/python/plugin.py")),
];

const PYTHON_SDK: [Part; 2] = [
    ("broker.py", include_str!("../../../../sdk/python/broker.py")),
    ("broker_component.py", include_str!("../../../../sdk/python/broker_component.py")),
];

const JAVASCRIPT: [Part; 3] = [
    ("package.json", include_str!("template/javascript/package.json.in")),
    ("README.md", include_str!("template/javascript/README.md.in")),
    ("src/plugin.js", include_str!("template/javascript/plugin.js")),
];

const TYPESCRIPT: [Part; 4] = [
    ("package.json", include_str!("template/typescript/package.json.in")),
    ("tsconfig.json", include_str!("template/typescript/tsconfig.json")),
    ("README.md", include_str!("template/typescript/README.md.in")),
    ("src/plugin.ts", include_str!("template/typescript/plugin.ts")),
];

const JAVASCRIPT_SDK: [Part; 1] = [("broker.js", include_str!("../../../../sdk/javascript/broker.js"))];

const JAVASCRIPT_WORLD: [Part; 3] = [
    ("world.wit", include_str!("../../../../sdk/javascript/wit/world.wit")),
    ("deps/filesystem.wit", include_str!("../../../../sdk/javascript/wit/deps/filesystem.wit")),
    ("deps/broker-plugin.wit", WIT),
];

const C: [Part; 3] = [
    ("compile_flags.txt", include_str!("template/c/compile_flags.txt")),
    ("README.md", include_str!("template/c/README.md.in")),
    ("src/plugin.c", include_str!("template/c/plugin.c")),
];

const C_SDK: [Part; 4] = [
    ("broker.h", include_str!("../../../../sdk/c/broker.h")),
    ("broker.c", include_str!("../../../../sdk/c/broker.c")),
    ("linter.h", include_str!("../../../../sdk/c/linter.h")),
    ("linter.c", include_str!("../../../../sdk/c/linter.c")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_whole() {
        for language in Language::value_variants() {
            let files = files(*language, "no-todo");
            for (path, text) in &files {
                assert!(!text.contains('@') || !text.contains("@NAME"), "{path}");
                assert!(!text.contains("../../wit"), "{path}");
            }
            let has = |wanted: &str| files.iter().any(|(path, _)| path.ends_with(wanted));
            assert!(
                has("broker-plugin.toml") && has("broker-plugin.wit") && has("README.md"),
                "{language:?}"
            );
        }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test looks at the repository itself")]
    fn the_sdk_for_rust_is_whole() {
        let sdk = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("plugins").join("sdk");
        for folder in ["src", "src/template"] {
            for file in std::fs::read_dir(sdk.join(folder)).unwrap().map(|it| it.unwrap()) {
                let path = format!("{folder}/{}", file.file_name().to_str().unwrap());
                let is_known = file.path().is_dir() || RUST_SDK.iter().any(|it| it.0 == path);
                assert!(is_known, "name plugins/sdk/{path} in RUST_SDK");
            }
        }
    }
}
