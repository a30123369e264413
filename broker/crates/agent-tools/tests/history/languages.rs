//! Languages by the endings of files, with their comments.

pub(crate) struct Language {
    pub(crate) name: &'static str,
    endings: &'static [&'static str],
    pub(crate) comment: (&'static str, &'static str),
}

const SLASHES: (&str, &str) = ("// ", "");
const HASH: (&str, &str) = ("# ", "");
const STARS: (&str, &str) = ("/* ", " */");
const ARROWS: (&str, &str) = ("<!-- ", " -->");

const LANGUAGES: &[Language] = &[
    Language { name: "python", endings: &["py", "pyi"], comment: HASH },
    Language { name: "rust", endings: &["rs"], comment: SLASHES },
    Language { name: "go", endings: &["go"], comment: SLASHES },
    Language { name: "typescript", endings: &["ts", "mts", "cts"], comment: SLASHES },
    Language { name: "tsx", endings: &["tsx"], comment: SLASHES },
    Language { name: "javascript", endings: &["js", "jsx", "mjs", "cjs"], comment: SLASHES },
    Language { name: "java", endings: &["java"], comment: SLASHES },
    Language { name: "kotlin", endings: &["kt", "kts"], comment: SLASHES },
    Language { name: "c", endings: &["c", "h"], comment: STARS },
    Language { name: "cpp", endings: &["cc", "cpp", "cxx", "hpp", "hh"], comment: SLASHES },
    Language { name: "csharp", endings: &["cs"], comment: SLASHES },
    Language { name: "ruby", endings: &["rb", "rake"], comment: HASH },
    Language { name: "php", endings: &["php"], comment: SLASHES },
    Language { name: "swift", endings: &["swift"], comment: SLASHES },
    Language { name: "shell", endings: &["sh", "bash"], comment: HASH },
    Language { name: "yaml", endings: &["yml", "yaml"], comment: HASH },
    Language { name: "toml", endings: &["toml"], comment: HASH },
    Language { name: "markdown", endings: &["md"], comment: ARROWS },
    Language { name: "html", endings: &["html"], comment: ARROWS },
    Language { name: "css", endings: &["css"], comment: STARS },
];

pub(crate) fn of(path: &str) -> Option<&'static Language> {
    let ending = path.rsplit_once('.')?.1;
    LANGUAGES.iter().find(|it| it.endings.contains(&ending))
}
