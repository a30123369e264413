//! Supported languages, and the reliability of their grammars.
//!
//! A grammar of tree-sitter is made for editors, which do not mind an error in good code. So each was run over code that
//! compiles: the numbers below are what it found fault with (Rust's with a second parser, [`crate::rust`]: by its grammar alone
//! it was 1,591). A language that gets a plugin of its own is taken out here
//! and in `broker-plugin.toml`.

/// Degree to which errors of a grammar are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Everything: less than 1 in 200 of the good files has an error.
    Grammar,
    /// That something is wrong, if the brackets do not match either.
    Brackets,
    /// Nothing, unless it is asked for.
    Nothing,
}

/// A language that is checked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Language {
    /// Name of the language for the host; also the code of its rule.
    pub(crate) name: &'static str,
    /// Name of the language for people.
    pub(crate) title: &'static str,
    pub(crate) trust: Trust,
    /// The code of the rule on brackets, if there is one.
    pub(crate) brackets: &'static str,
    /// Number of good files, and in how many of them the grammar, or where it is not trusted the brackets, found fault.
    pub(crate) files: usize,
    pub(crate) by_grammar: usize,
    pub(crate) by_brackets: usize,
    /// Origin of those files, and constructs that the grammar does not know.
    pub(crate) note: &'static str,
}

impl Language {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|it| it.name == name)
    }
}

const fn exact(
    name: &'static str,
    title: &'static str,
    (by_grammar, files): (usize, usize),
    note: &'static str,
) -> Language {
    Language { name, title, trust: Trust::Grammar, brackets: "", files, by_grammar, by_brackets: 0, note }
}

const fn rough(
    (name, brackets): (&'static str, &'static str),
    title: &'static str,
    (by_grammar, by_brackets, files): (usize, usize, usize),
    note: &'static str,
) -> Language {
    Language { name, title, trust: Trust::Brackets, brackets, files, by_grammar, by_brackets, note }
}

const fn vague(
    name: &'static str,
    title: &'static str,
    (by_grammar, files): (usize, usize),
    note: &'static str,
) -> Language {
    Language { name, title, trust: Trust::Nothing, brackets: "", files, by_grammar, by_brackets: 0, note }
}

/// Languages by name.
pub(crate) static ALL: [Language; 22] = [
    rough(
        ("c", "c-brackets"),
        "C",
        (1304, 1, 3000),
        "sources and headers of some fifty projects; macros that are no expressions and no statements look wrong",
    ),
    rough(
        ("cpp", "cpp-brackets"),
        "C++",
        (1467, 6, 4241),
        "Boost, gRPC, Protobuf and others; macros that are no expressions and no statements look wrong",
    ),
    rough(
        ("csharp", "csharp-brackets"),
        "C#",
        (79, 0, 1495),
        "Mono and libraries of .NET; conditions of the preprocessor within a statement look wrong",
    ),
    exact("dart", "Dart", (0, 131), "parts of Thrift, ANTLR, FlatBuffers and bridges to Rust: not much"),
    vague("dtd", "DTD", (14, 47), "DocBook and XHTML"),
    exact("elixir", "Elixir", (0, 460), "Elixir itself and what it comes with"),
    exact(
        "go",
        "Go",
        (0, 1500),
        "Go's standard library and others; `new` of a value is known, other news after Go 1.25 may not be",
    ),
    vague(
        "graphql",
        "GraphQL",
        (19, 303),
        "tests of parsers; escaped quotes and extensions without fields look wrong",
    ),
    vague(
        "html",
        "HTML",
        (277, 1456),
        "documentation; what browsers forgive looks wrong, and so do templates",
    ),
    exact("java", "Java", (0, 1500), "JDK 25, React Native and others"),
    rough(
        ("kotlin", "kotlin-brackets"),
        "Kotlin",
        (31, 0, 2434),
        "Kotlin's compiler, React Native and others; qualified patterns and modifiers on lines of their own may look wrong",
    ),
    vague(
        "makefile",
        "Makefile",
        (68, 603),
        "Linux, Mono and others; what is between `$(` and `)` often looks wrong",
    ),
    exact("nix", "Nix", (1, 882), "parts of nixpkgs and Nix itself"),
    exact("php", "PHP", (1, 1498), "WordPress, Symfony and others; what came after PHP 8.4 may look wrong"),
    exact("proto", "Protocol Buffers", (0, 583), "gRPC, Protobuf and Google's own"),
    exact("ruby", "Ruby", (2, 1499), "Rails, Ruby's standard library and others"),
    exact(
        "rust",
        "Rust",
        (2, 29_404),
        "crates of the registry; what syn can read is not told; `impl !! {}`, which rustc's parser alone takes, looks wrong",
    ),
    rough(
        ("scala", "scala-brackets"),
        "Scala",
        (16, 0, 1500),
        "Scala 2 itself; `super[T]` and names such as `enum` look wrong",
    ),
    rough(
        ("swift", "swift-brackets"),
        "Swift",
        (16, 0, 437),
        "Expo, Stripe and others; what is new in Swift 6, such as `sending`, looks wrong",
    ),
    exact("terraform", "Terraform and HCL", (0, 41), "the tests of HCL itself: not much"),
    exact("xml", "XML", (1, 3108), "XML, XSD and SVG of some fifty projects"),
    rough(
        ("zig", "zig-brackets"),
        "Zig",
        (110, 0, 1775),
        "the standard libraries of Zig 0.13 and 0.17; what came after Zig 0.13 looks wrong",
    ),
];
