//! Work done ahead of time, so that no instance has to do it: regular expressions and tables that rumdl builds on
//! first use. Reads no files.

use rumdl_lib::config::{Config, default_registry};
use rumdl_lib::document_run::DocumentRun;

use crate::rules;

/// Something for most of rumdl's rules to look at.
const SAMPLE: &str = include_str!("warm_up.md");

/// Looks for the folder of the project where the process runs, and remembers it: here that is not the workspace yet.
const REMEMBERS: &str = "MD057";

/// Lints the sample with all other rules, as each kind of Markdown.
pub(crate) fn run() {
    default_registry();
    let config = Config::default();
    let mut rules = rules::under(&config);
    rules.retain(|it| it.name() != REMEMBERS);
    for name in ["a.md", "a.mdx", "a.qmd"] {
        let run = DocumentRun::new(SAMPLE, &rules, &config).config_path(Some(name.as_ref()));
        drop(run.analyze_raw());
    }
}
