//! Options of a measurement, from the environment that `tests/bench/sketches` sets.

use std::env;

pub(crate) struct Options {
    pub(crate) repositories: Vec<String>,
    pub(crate) seed: u64,
    /// Cases of each shape from each repository.
    pub(crate) cases: usize,
    /// A verdict, a reason, or one of a shape, such as `wrong` or `func/SeveralPlaces`: its cases are printed.
    pub(crate) show: Option<String>,
    /// A shape, the only one that is drawn.
    pub(crate) only: Option<String>,
    /// A folder for the wrong and the refused cases.
    pub(crate) dump: Option<String>,
    /// Whether the table of each shape is by language, too.
    pub(crate) has_languages: bool,
    /// Whether a wrong text fails the run.
    pub(crate) is_strict: bool,
}

impl Options {
    pub(crate) fn of_environment() -> Self {
        let text = |name: &str| env::var(format!("BROKER_SKETCH_{name}")).ok().filter(|it| !it.is_empty());
        let number = |name: &str| text(name).map(|it| it.parse().unwrap());
        let repositories = text("REPOSITORIES").unwrap_or_default();
        Self {
            repositories: repositories.split(':').filter(|it| !it.is_empty()).map(str::to_owned).collect(),
            seed: number("SEED").unwrap_or(1),
            cases: number("CASES").and_then(|it| usize::try_from(it).ok()).unwrap_or(12),
            show: text("SHOW"),
            only: text("ONLY"),
            dump: text("DUMP"),
            has_languages: text("LANGUAGES").is_some(),
            is_strict: text("STRICT").is_some(),
        }
    }
}
