//! Checkers that a configuration defines: unknown ones, or known ones with other settings.

use super::{Checker, Format};

pub(super) const BUILT_IN: &str = include_str!("../checkers.toml");

/// Fields that a checker needs which is not built in.
const NEEDED: [(&str, &str); 3] = [
    ("command", "the program, a name or a path, and its arguments"),
    ("globs", "the files it reports on, as in a `.gitignore`"),
    (
        "output",
        "what it prints: `cargo`, `sarif`, `checkstyle`, `rdjson`, `rdjsonl`, `json`, `jsonl` or `regex`",
    ),
];

impl Checker {
    /// The one of this name with what is `said` of it. For a name that is not built in, what is not said is cautious: its
    /// answers may rest on every file.
    pub fn defined(name: &str, said: toml::Table) -> Result<Self, String> {
        let known = table_of(name);
        if known.is_none()
            && let Some((key, what)) = NEEDED.iter().find(|(key, _)| !said.contains_key(*key))
        {
            return Err(format!("`{key}` is missing: {what}"));
        }
        let mut table = known.unwrap_or_else(|| unknown(name));
        if said.contains_key("command") {
            table.remove("list-with");
            table.remove("version");
        }
        table.extend(said);
        let checker: Self = table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
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
        if self.command.is_empty() {
            Err("`command` names no program".to_owned())
        } else if self.output == Format::Regex && self.pattern.is_none() {
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

fn table_of(name: &str) -> Option<toml::Table> {
    let all: toml::Table = toml::from_str(BUILT_IN).ok()?;
    let mut tables = all.get("checker")?.as_array()?.iter().filter_map(toml::Value::as_table);
    tables.find(|it| it.get("name").and_then(toml::Value::as_str) == Some(name)).cloned()
}

/// Defaults for an untested command.
fn unknown(name: &str) -> toml::Table {
    toml::toml! {
        name = name
        depends-on = ["*"]
        findings-codes = [1]
        find = ["node-modules", "venv", "path"]
        install = "see its own documentation"
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
        assert_eq!((tsc.command.len(), tsc.output), (2, Format::Regex));
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
