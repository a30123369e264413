//! Rules in ShellCheck's own configuration: `disable=` and `shell=` in `.shellcheckrc`.
//!
//! Left out: its optional checks, where it looks for sourced files, and shells that shuck does not know (`busybox`).

use shuck_linter::{RuleSet, ShellCheckCodeMap, ShellDialect};

use crate::dialect;
use crate::extra::Extra;

/// Settings of one `.shellcheckrc`.
#[derive(Debug, Default, Clone)]
pub(crate) struct ShellCheckRc {
    pub(crate) disabled: RuleSet,
    pub(crate) extras: Vec<Extra>,
    pub(crate) disables_all: bool,
    pub(crate) shell: Option<ShellDialect>,
}

impl ShellCheckRc {
    pub(crate) fn parse(text: &str, map: &ShellCheckCodeMap) -> Self {
        let mut made =
            Self { disabled: RuleSet::EMPTY, extras: Vec::new(), disables_all: false, shell: None };
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            for (key, value) in line.split_whitespace().filter_map(|it| it.split_once('=')) {
                match key {
                    "disable" => value.split(',').for_each(|it| made.disable(it, map)),
                    "shell" => made.shell = dialect::named(value),
                    _ => {}
                }
            }
        }
        made
    }

    /// `SC2086`, `2086`, `SC1090-SC1092` or `all`.
    fn disable(&mut self, name: &str, map: &ShellCheckCodeMap) {
        if name == "all" {
            self.disables_all = true;
            self.extras.extend(Extra::ALL);
        }
        let number = |it: &str| it.strip_prefix("SC").unwrap_or(it).parse::<u32>().ok();
        let (first, last) = name.split_once('-').unwrap_or((name, name));
        let (Some(first), Some(last)) = (number(first), number(last)) else { return };
        for code in first..=last.min(first.saturating_add(MAX_CODES)) {
            let code = format!("SC{code}");
            self.extras.extend(Extra::selected(&code));
            for rule in map.resolve_all(&code) {
                self.disabled.insert(rule);
            }
        }
    }
}

/// Limit on the codes of a range: there are not as many.
const MAX_CODES: u32 = 10_000;
