//! Definitions of checkers, those that Broker has and those of a configuration.

use std::sync::LazyLock;

use external_tools::Definitions;
use toml::Table;

use super::{Checker, Format};

/// Keys that the definition of a checker must have which Broker does not know.
const REQUIRED: &[(&str, &str)] = &[
    ("command", "the program, a name or a path, and its arguments"),
    ("globs", "the files it reports on, as in a `.gitignore`"),
    (
        "output",
        "what it prints: `cargo`, `sarif`, `checkstyle`, `rdjson`, `rdjsonl`, `json`, `jsonl`, `regex` or `tsgolint`",
    ),
];

/// Keys that are of no use with another command.
const OF_COMMAND: &[&str] = &["list-with", "version"];

static DEFINITIONS: LazyLock<Definitions> = LazyLock::new(|| {
    let definitions =
        Definitions::new(include_str!("../checkers.toml"), "checker", REQUIRED, unknown(), OF_COMMAND);
    definitions.unwrap_or_else(|error| unreachable!("the tests read it, too: {error}"))
});

/// Returns the checkers that are built into Broker.
pub fn checkers() -> &'static [Checker] {
    static ALL: LazyLock<Vec<Checker>> = LazyLock::new(|| {
        DEFINITIONS.known().unwrap_or_else(|error| unreachable!("the tests read it, too: {error}"))
    });
    &ALL
}

impl Checker {
    /// The checker of this name with its definition in a configuration. For a name that is not built in, what is not defined is
    /// cautious: its answers may rest on every file.
    pub fn defined(name: &str, definition: Table) -> Result<Self, String> {
        let checker: Self = DEFINITIONS.defined(name, definition)?;
        checker.check()?;
        Ok(checker)
    }

    /// Fails if one part of it needs another that is not there.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_json = matches!(self.output, Format::Json | Format::Jsonl);
        let groups = |name: &str| {
            let pattern = self.pattern.as_ref();
            pattern.is_some_and(|it| it.capture_names().flatten().any(|it| it == name))
        };
        self.tool.check()?;
        if self.output == Format::Regex && self.pattern.is_none() {
            Err("`pattern` is missing: what a line with a finding looks like".to_owned())
        } else if self.output == Format::Regex && !(groups("path") && groups("line") && groups("message")) {
            Err("`pattern` needs groups of the names path, line and message".to_owned())
        } else if self
            .listed_pattern
            .as_ref()
            .is_some_and(|it| it.capture_names().flatten().all(|it| it != "path"))
        {
            Err("`listed-pattern` needs a group of the name path".to_owned())
        } else if is_json && self.fields.is_none() {
            Err("`fields` is missing: where everything is in the JSON".to_owned())
        } else if self.at_once == 0 {
            Err("`at-once` is 0: no file would be checked".to_owned())
        } else {
            Ok(())
        }
    }
}

/// Defaults for an untested command.
fn unknown() -> Table {
    toml::toml! {
        depends-on = ["*"]
        findings-codes = [1]
        find = ["node-modules", "venv", "path"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::Checks;

    fn defined(name: &str, said: &str) -> Result<Checker, String> {
        Checker::defined(name, toml::from_str(said).unwrap())
    }

    #[test]
    fn own_definitions() {
        let own = defined("own", "command = ['lint']\nglobs = ['*.x']\noutput = 'sarif'").unwrap();
        assert_eq!(
            (own.checks, &*own.depends_on, own.findings_codes),
            (Checks::Project, &["*".to_owned()][..], vec![1])
        );
        let tsc = defined("tsc", "command = ['tsc', '--build']").unwrap();
        assert_eq!((tsc.tool.command.len(), tsc.output), (2, Format::Regex));
        let go = defined("go-vet", "command = ['go', 'vet', '-tags=x', './...']").unwrap();
        assert!(go.list_with.is_empty(), "other files than those of the command");
        let wrong = [
            ("own", "globs = ['*.x']\noutput = 'sarif'", "`command` is missing"),
            ("own", "command = ['a']\nglobs = ['*']\noutput = 'regex'", "`pattern` is missing"),
            ("own", "command = ['a']\nglobs = ['*']\noutput = 'json'", "`fields` is missing"),
            ("own", "command = ['a']\nglobs = ['*']\noutput = 'regex'\npattern = 'a'", "needs groups"),
            ("own", "command = ['a']\nglobs = ['*']\noutput = 'regex'\npattern = '('", "unclosed group"),
            ("tsc", "output = 'guess'", "unknown variant `guess`"),
            ("tsc", "listed-pattern = '.'", "needs a group"),
        ];
        for (name, said, why) in wrong {
            let error = defined(name, said).unwrap_err();
            assert!(error.contains(why), "{said}: {error}");
        }
    }
}
