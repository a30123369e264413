//! Work done ahead of time, so that no instance has to do it: regular expressions and tables that rumdl builds on
//! first use. Reads no files: rumdl remembers where it first looked for the project.

use rumdl_lib::config::{Config, default_registry};
use rumdl_lib::document_run::DocumentRun;

use crate::rules;

/// Something for most of rumdl's rules to look at.
const SAMPLE: &str = include_str!("warm_up.md");

/// Lints the sample with all rules, as each kind of Markdown.
pub(crate) fn run() {
    default_registry();
    let config = Config::default();
    let rules = rules::under(&config);
    for name in ["a.md", "a.mdx", "a.qmd"] {
        let run = DocumentRun::new(SAMPLE, &rules, &config).config_path(Some(name.as_ref()));
        drop(run.analyze_raw());
    }
}
