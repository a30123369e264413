//! Work done ahead of time, so that no instance has to do it: regular expressions and tables that deno_lint builds
//! on first use. Reads no files.

use std::path::Path;

use deno_config::deno_json::LintRulesConfig;

use crate::lint::FileLinter;
use crate::project;
use crate::rules::{self, Kind};

/// Something for those of the rules to look at that have such tables.
const SAMPLE: &str = include_str!("warm_up.tsx");

/// Lints the sample with all rules.
pub(crate) fn run() {
    let every = |it: broker_plugin_sdk::Rule| it.code;
    let config = LintRulesConfig {
        include: Some(rules::all().into_iter().map(every).collect()),
        ..Default::default()
    };
    let codes = rules::configured(Kind::Deno, &config);
    let linter = FileLinter::new(Kind::Deno, codes, project::classic(None, None), false, true);
    drop(linter.run(Path::new("/warm_up.tsx"), SAMPLE));
}
