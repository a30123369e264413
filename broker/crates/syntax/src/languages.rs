//! The languages that have a grammar here, and which files are written in them.
//!
//! Names are the identifiers of LSP where it has one. A file's text is not looked at: what has no name and no ending
//! that says so is of no language.

use std::{collections::HashMap, fmt, sync::LazyLock};

use overlay::WorkspacePath;

use crate::library;

/// A language with a grammar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(u8);

struct Description {
    name: &'static str,
    /// Endings after the last dot, and whole names with a slash before them.
    files: &'static [&'static str],
}

const fn language(name: &'static str, files: &'static [&'static str]) -> Description {
    Description { name, files }
}

/// By name.
static LANGUAGES: [Description; 33] = [
    language("c", &["c", "h"]),
    language("cpp", &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "tpp"]),
    language("csharp", &["cs", "csx"]),
    language("css", &["css"]),
    language("dart", &["dart"]),
    language("dockerfile", &["dockerfile", "/Dockerfile", "/Containerfile"]),
    language("elixir", &["ex", "exs"]),
    language("go", &["go"]),
    language("graphql", &["graphql", "gql"]),
    language("html", &["html", "htm"]),
    language("java", &["java"]),
    language("javascript", &["js", "cjs", "mjs", "jsx"]),
    language("json", &["json", "jsonc"]),
    language("kotlin", &["kt", "kts"]),
    language("lua", &["lua"]),
    language("makefile", &["mk", "/Makefile", "/makefile", "/GNUmakefile"]),
    language("nix", &["nix"]),
    language("php", &["php", "phtml"]),
    language("proto", &["proto"]),
    language("python", &["py", "pyi", "pyw"]),
    language("ruby", &["rb", "rake", "gemspec", "/Gemfile", "/Rakefile"]),
    language("rust", &["rs"]),
    language("scala", &["scala", "sbt", "sc"]),
    language("shellscript", &["sh", "bash", "ebuild"]),
    language("swift", &["swift"]),
    language("terraform", &["hcl", "tf", "tfvars"]),
    language("toml", &["toml", "/Cargo.lock", "/poetry.lock", "/uv.lock"]),
    language("typescript", &["ts", "cts", "mts"]),
    language("typescriptreact", &["tsx"]),
    language("xml", &["xml", "xsd", "xsl", "svg"]),
    language("yaml", &["yaml", "yml"]),
    language("zig", &["zig", "zon"]),
    language("dtd", &["dtd"]),
];

static BY_FILE: LazyLock<HashMap<&str, Language>> = LazyLock::new(|| {
    let all = Language::all().flat_map(|it| it.description().files.iter().map(move |file| (*file, it)));
    all.collect()
});

impl Language {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..LANGUAGES.len()).filter_map(|it| u8::try_from(it).ok()).map(Self)
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|it| it.name() == name)
    }

    /// By the file's name, or by its ending.
    pub fn of(path: &WorkspacePath) -> Option<Self> {
        let name = format!("/{}", path.file_name()?);
        let by_name = || BY_FILE.get(&*name);
        let by_ending = || BY_FILE.get(path.extension()?);
        by_name().or_else(by_ending).copied()
    }

    pub fn name(self) -> &'static str {
        self.description().name
    }

    /// Returns the kinds of nodes of a table, by their number: the name of each, and whether that is a name and not the
    /// text itself. The error is the reason why the grammar cannot be had.
    pub fn kinds(self) -> Result<Vec<(String, bool)>, String> {
        let grammar = self.grammar()?;
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let name = |it| grammar.node_kind_for_id(it).unwrap_or_default().to_owned();
        Ok((0..count).map(|it| (name(it), grammar.node_kind_is_named(it))).collect())
    }

    /// Returns the names of a table's fields, by their number; 0 is none. The error as with the kinds.
    pub fn fields(self) -> Result<Vec<String>, String> {
        let grammar = self.grammar()?;
        let count = u16::try_from(grammar.field_count()).unwrap_or(u16::MAX - 1);
        Ok((0..=count).map(|it| grammar.field_name_for_id(it).unwrap_or_default().to_owned()).collect())
    }

    /// Returns the grammar; the error is the reason why it cannot be had.
    pub(crate) fn grammar(self) -> Result<tree_sitter::Language, String> {
        library::grammar(self.name())
    }

    fn description(self) -> &'static Description {
        &LANGUAGES[usize::from(self.0)]
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn files_are_told_by_name_and_ending() {
        let of = |path: &str| Language::of(&WorkspacePath::new(path).unwrap()).map(Language::name);
        for (path, want) in [
            ("src/a.py", Some("python")),
            ("a.d.ts", Some("typescript")),
            ("x/Dockerfile", Some("dockerfile")),
            ("web.dockerfile", Some("dockerfile")),
            ("Makefile", Some("makefile")),
            ("Makefile.md", None),
            ("README", None),
            (".py", None),
        ] {
            assert_eq!(of(path), want, "{path}");
        }
    }

    #[test]
    fn each_has_a_name_and_a_grammar_of_its_own() {
        let names: BTreeSet<_> = Language::all().map(Language::name).collect();
        assert_eq!(names.len(), LANGUAGES.len());
        let files: usize = LANGUAGES.iter().map(|it| it.files.len()).sum();
        assert_eq!(BY_FILE.len(), files, "no ending is of two languages");
        for it in Language::all() {
            tree_sitter::Parser::new().set_language(&it.grammar().unwrap()).unwrap();
            assert!(it.kinds().unwrap().len() > 2, "{it:?}");
        }
    }
}
