//! Work done ahead of time, so that no instance has to do it: regular expressions and tables that deno_lint builds
//! on first use. Reads no files.

use std::path::Path;

use broker_plugin_sdk::Report;
use deno_config::deno_json::LintRulesConfig;

use crate::lint::FileLinter;
use crate::project;
use crate::rules::{self, Kind};
use crate::selection::Selection;

/// Something for those of the rules to look at that have such tables.
const SAMPLE: &str = include_str!("warm_up.tsx");

pub(crate) fn run() {
    drop(lint());
}

/// Lints the sample with all rules.
fn lint() -> Result<Report, String> {
    let every = Some(rules::all().into_iter().map(|it| it.code).collect());
    let config = LintRulesConfig { include: every, ..LintRulesConfig::default() };
    let codes = rules::configured(Kind::Deno, &config);
    let linter =
        FileLinter::new(Kind::Deno, codes, project::classic(None, None), false, &Selection::default());
    linter.run(Path::new("/warm_up.tsx"), SAMPLE, Path::new("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_read_to_its_end() {
        let found = lint().unwrap().diagnostics;
        assert!(found.iter().any(|it| it.code == "jsx-no-unescaped-entities"), "{found:#?}");
        assert!(found.len() > 40, "{found:#?}");
    }
}
