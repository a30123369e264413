//! The grammars of all languages that have a syntax tree here, as one shared library.
//!
//! Their tables are 36 MB and compress to a fifteenth, so the program carries the library compressed, and loads it when
//! a first text is parsed. Knows nothing of files or trees; the one export is [`broker_grammar`].

use tree_sitter_language::LanguageFn;

/// Function that [`LanguageFn`] wraps: makes a `TSLanguage`.
pub type Grammar = unsafe extern "C" fn() -> *const ();

/// The grammar of this name.
fn named(name: &[u8]) -> Option<LanguageFn> {
    Some(match name {
        b"c" => tree_sitter_c::LANGUAGE,
        b"cpp" => tree_sitter_cpp::LANGUAGE,
        b"csharp" => tree_sitter_c_sharp::LANGUAGE,
        b"css" => tree_sitter_css::LANGUAGE,
        b"dart" => tree_sitter_dart::LANGUAGE,
        b"dockerfile" => tree_sitter_containerfile::LANGUAGE,
        b"dtd" => tree_sitter_xml::LANGUAGE_DTD,
        b"elixir" => tree_sitter_elixir::LANGUAGE,
        b"go" => tree_sitter_go::LANGUAGE,
        b"graphql" => tree_sitter_graphql::LANGUAGE,
        b"html" => tree_sitter_html::LANGUAGE,
        b"java" => tree_sitter_java::LANGUAGE,
        b"javascript" => tree_sitter_javascript::LANGUAGE,
        b"json" => tree_sitter_json::LANGUAGE,
        b"kotlin" => tree_sitter_kotlin_ng::LANGUAGE,
        b"lua" => tree_sitter_lua::LANGUAGE,
        b"makefile" => tree_sitter_make::LANGUAGE,
        b"nix" => tree_sitter_nix::LANGUAGE,
        b"php" => tree_sitter_php::LANGUAGE_PHP,
        b"proto" => tree_sitter_proto::LANGUAGE,
        b"python" => tree_sitter_python::LANGUAGE,
        b"ruby" => tree_sitter_ruby::LANGUAGE,
        b"rust" => tree_sitter_rust::LANGUAGE,
        b"scala" => tree_sitter_scala::LANGUAGE,
        b"shellscript" => tree_sitter_bash::LANGUAGE,
        b"swift" => tree_sitter_swift::LANGUAGE,
        b"terraform" => tree_sitter_hcl::LANGUAGE,
        b"toml" => tree_sitter_toml_ng::LANGUAGE,
        b"typescript" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        b"typescriptreact" => tree_sitter_typescript::LANGUAGE_TSX,
        b"xml" => tree_sitter_xml::LANGUAGE_XML,
        b"yaml" => tree_sitter_yaml::LANGUAGE,
        b"zig" => tree_sitter_zig::LANGUAGE,
        _ => return None,
    })
}

/// The grammar of the name in `length` bytes at `name`; null if there is none.
///
/// # Safety
///
/// `name` must be valid for reads of `length` bytes.
#[expect(unsafe_code, reason = "an export for who loads the library")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn broker_grammar(name: *const u8, length: usize) -> Option<Grammar> {
    // SAFETY: as the caller promises.
    let name = unsafe { std::slice::from_raw_parts(name, length) };
    named(name).map(LanguageFn::into_raw)
}
