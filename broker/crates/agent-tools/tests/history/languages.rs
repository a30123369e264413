//! Languages by the endings of files, with their comments.

pub(crate) struct Language {
    pub(crate) name: &'static str,
    endings: &'static [&'static str],
    pub(crate) comment: (&'static str, &'static str),
}

const SLASHES: (&str, &str) = ("// ", "");
const HASH: (&str, &str) = ("# ", "");

const LANGUAGES: &[Language] = &[
    Language { name: "python", endings: &["py"], comment: HASH },
    Language { name: "rust", endings: &["rs"], comment: SLASHES },
    Language { name: "go", endings: &["go"], comment: SLASHES },
    Language { name: "typescript", endings: &["ts", "tsx"], comment: SLASHES },
    Language { name: "javascript", endings: &["js", "jsx", "mjs"], comment: SLASHES },
    Language { name: "java", endings: &["java"], comment: SLASHES },
    Language { name: "c", endings: &["c", "h"], comment: ("/* ", " */") },
    Language { name: "ruby", endings: &["rb"], comment: HASH },
    Language { name: "php", endings: &["php"], comment: SLASHES },
    Language { name: "yaml", endings: &["yml", "yaml"], comment: HASH },
    Language { name: "toml", endings: &["toml"], comment: HASH },
    Language { name: "markdown", endings: &["md"], comment: ("<!-- ", " -->") },
    Language { name: "css", endings: &["css"], comment: ("/* ", " */") },
];

pub(crate) fn of(path: &str) -> Option<&'static Language> {
    let ending = path.rsplit_once('.')?.1;
    LANGUAGES.iter().find(|it| it.endings.contains(&ending))
}
