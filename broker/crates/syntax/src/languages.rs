//! The languages that have a grammar here, and which files are written in them.
//!
//! Names are the identifiers of LSP where it has one. A file's text is not looked at: what has no name and no ending
//! that says so is of no language.

use std::{collections::HashMap, fmt, sync::LazyLock};

use overlay::WorkspacePath;
use tree_sitter_language::LanguageFn;

/// A language with a grammar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(u8);

struct Grammar {
    name: &'static str,
    grammar: LanguageFn,
    /// Endings after the last dot, and whole names with a slash before them.
    files: &'static [&'static str],
}

const fn grammar(name: &'static str, grammar: LanguageFn, files: &'static [&'static str]) -> Grammar {
    Grammar { name, grammar, files }
}

/// By name.
static GRAMMARS: [Grammar; 33] = [
    grammar("c", tree_sitter_c::LANGUAGE, &["c", "h"]),
    grammar(
        "cpp",
        tree_sitter_cpp::LANGUAGE,
        &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "tpp"],
    ),
    grammar("csharp", tree_sitter_c_sharp::LANGUAGE, &["cs", "csx"]),
    grammar("css", tree_sitter_css::LANGUAGE, &["css"]),
    grammar("dart", tree_sitter_dart::LANGUAGE, &["dart"]),
    grammar(
        "dockerfile",
        tree_sitter_containerfile::LANGUAGE,
        &["dockerfile", "/Dockerfile", "/Containerfile"],
    ),
    grammar("elixir", tree_sitter_elixir::LANGUAGE, &["ex", "exs"]),
    grammar("go", tree_sitter_go::LANGUAGE, &["go"]),
    grammar("graphql", tree_sitter_graphql::LANGUAGE, &["graphql", "gql"]),
    grammar("html", tree_sitter_html::LANGUAGE, &["html", "htm"]),
    grammar("java", tree_sitter_java::LANGUAGE, &["java"]),
    grammar("javascript", tree_sitter_javascript::LANGUAGE, &["js", "cjs", "mjs", "jsx"]),
    grammar("json", tree_sitter_json::LANGUAGE, &["json", "jsonc"]),
    grammar("kotlin", tree_sitter_kotlin_ng::LANGUAGE, &["kt", "kts"]),
    grammar("lua", tree_sitter_lua::LANGUAGE, &["lua"]),
    grammar("makefile", tree_sitter_make::LANGUAGE, &["mk", "/Makefile", "/makefile", "/GNUmakefile"]),
    grammar("nix", tree_sitter_nix::LANGUAGE, &["nix"]),
    grammar("php", tree_sitter_php::LANGUAGE_PHP, &["php", "phtml"]),
    grammar("proto", tree_sitter_proto::LANGUAGE, &["proto"]),
    grammar("python", tree_sitter_python::LANGUAGE, &["py", "pyi", "pyw"]),
    grammar("ruby", tree_sitter_ruby::LANGUAGE, &["rb", "rake", "gemspec", "/Gemfile", "/Rakefile"]),
    grammar("rust", tree_sitter_rust::LANGUAGE, &["rs"]),
    grammar("scala", tree_sitter_scala::LANGUAGE, &["scala", "sbt", "sc"]),
    grammar("shellscript", tree_sitter_bash::LANGUAGE, &["sh", "bash", "ebuild"]),
    grammar("swift", tree_sitter_swift::LANGUAGE, &["swift"]),
    grammar("terraform", tree_sitter_hcl::LANGUAGE, &["hcl", "tf", "tfvars"]),
    grammar("toml", tree_sitter_toml_ng::LANGUAGE, &["toml", "/Cargo.lock", "/poetry.lock", "/uv.lock"]),
    grammar("typescript", tree_sitter_typescript::LANGUAGE_TYPESCRIPT, &["ts", "cts", "mts"]),
    grammar("typescriptreact", tree_sitter_typescript::LANGUAGE_TSX, &["tsx"]),
    grammar("xml", tree_sitter_xml::LANGUAGE_XML, &["xml", "xsd", "xsl", "svg"]),
    grammar("yaml", tree_sitter_yaml::LANGUAGE, &["yaml", "yml"]),
    grammar("zig", tree_sitter_zig::LANGUAGE, &["zig", "zon"]),
    grammar("dtd", tree_sitter_xml::LANGUAGE_DTD, &["dtd"]),
];

static BY_FILE: LazyLock<HashMap<&str, Language>> = LazyLock::new(|| {
    let all = Language::all().flat_map(|it| it.grammar_data().files.iter().map(move |file| (*file, it)));
    all.collect()
});

impl Language {
    pub fn all() -> impl Iterator<Item = Self> {
        (0..GRAMMARS.len()).filter_map(|it| u8::try_from(it).ok()).map(Self)
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
        self.grammar_data().name
    }

    /// The kinds of nodes of a table, by their number: what they are called, and whether that is a name and not the
    /// text itself.
    pub fn kinds(self) -> Vec<(String, bool)> {
        let grammar = self.grammar();
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let name = |it| grammar.node_kind_for_id(it).unwrap_or_default().to_owned();
        (0..count).map(|it| (name(it), grammar.node_kind_is_named(it))).collect()
    }

    /// What the fields of a table are called, by their number; 0 is none.
    pub fn fields(self) -> Vec<String> {
        let grammar = self.grammar();
        let count = u16::try_from(grammar.field_count()).unwrap_or(u16::MAX - 1);
        (0..=count).map(|it| grammar.field_name_for_id(it).unwrap_or_default().to_owned()).collect()
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        self.grammar_data().grammar.into()
    }

    fn grammar_data(self) -> &'static Grammar {
        &GRAMMARS[usize::from(self.0)]
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
        assert_eq!(names.len(), GRAMMARS.len());
        let files: usize = GRAMMARS.iter().map(|it| it.files.len()).sum();
        assert_eq!(BY_FILE.len(), files, "no ending is of two languages");
        for it in Language::all() {
            tree_sitter::Parser::new().set_language(&it.grammar()).unwrap();
            assert!(it.kinds().len() > 2, "{it:?}");
        }
    }
}
