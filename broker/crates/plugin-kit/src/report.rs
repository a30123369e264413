//! Findings of a try-out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// Kinds of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// The plugin can be loaded; its rules and its imports.
    Declaration,
    /// The findings and fixes in the fixtures.
    Golden,
    /// Equal questions have equal answers, whatever was asked before.
    Determinism,
    /// A fix removes its finding and breaks nothing.
    Fixes,
    /// Odd files are answered as well.
    Robustness,
    /// Time and memory.
    Budget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Passed,
    /// Worth knowing; fails nothing.
    Note,
    Failed,
}

/// Result of one check, or a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub check: Check,
    pub verdict: Verdict,
    /// Subject of the finding: a fixture's path or a rule; empty for the plugin as a whole.
    pub subject: String,
    /// Text for people; for a check that passed, a summary of it.
    pub message: String,
    /// Key that failures with the same cause share; `None` if the finding stands for itself.
    cause: Option<String>,
    /// Number of further failures with the same cause, by check.
    more: BTreeMap<Check, usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub findings: Vec<Finding>,
    failed: BTreeSet<Check>,
}

impl Report {
    pub fn has_failed(&self) -> bool {
        self.findings.iter().any(|it| it.verdict == Verdict::Failed)
    }

    /// Whether the plugin cannot be loaded or configured at all.
    pub(crate) fn is_broken(&self) -> bool {
        let is_whole = |it: &&Finding| it.subject.is_empty() && it.check == Check::Declaration;
        self.findings.iter().filter(is_whole).any(|it| it.verdict == Verdict::Failed)
    }

    pub(crate) fn add(
        &mut self,
        check: Check,
        verdict: Verdict,
        subject: impl Into<String>,
        message: impl Into<String>,
    ) {
        let (subject, message) = (subject.into(), shortened(message.into(), MAX_MESSAGE));
        self.findings.push(Finding { check, verdict, subject, message, cause: None, more: BTreeMap::new() });
    }

    /// There was no answer, which has one cause in all checks.
    pub(crate) fn no_answer(
        &mut self,
        check: Check,
        subject: impl Into<String>,
        what: &str,
        why: &str,
        text: &[u8],
    ) {
        /// A plugin's own words may quote all of a file.
        const MAX_WHY: usize = 300;
        let message = shortened(format!("{what}: {why}"), MAX_WHY);
        self.fail_for(cause_of(why, &String::from_utf8_lossy(text)), check, subject, message);
    }

    /// Failed for a cause that others may have as well: the first is told, with the number of the others.
    pub(crate) fn fail_for(
        &mut self,
        cause: String,
        check: Check,
        subject: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.failed.insert(check);
        if let Some(known) = self.findings.iter_mut().find(|it| it.cause.as_ref() == Some(&cause)) {
            *known.more.entry(check).or_default() += 1;
            return;
        }
        self.add(check, Verdict::Failed, subject, message);
        if let Some(told) = self.findings.last_mut() {
            told.cause = Some(cause);
        }
    }

    /// Adds the number of further failures to the message of each cause.
    pub(crate) fn count_causes(&mut self) {
        for it in self.findings.iter_mut().filter(|it| !it.more.is_empty()) {
            let all: usize = it.more.values().sum();
            let elsewhere = it.more.iter().filter(|(check, _)| **check != it.check);
            let elsewhere: String = elsewhere.map(|(check, count)| format!(", {count} in {check}")).collect();
            let (first, rest) = it.message.split_once('\n').unwrap_or((&it.message, ""));
            let line_break = if rest.is_empty() { "" } else { "\n" };
            it.message = format!("{first} (and {all} more for the same cause{elsewhere}){line_break}{rest}");
        }
    }

    pub(crate) fn fail(&mut self, check: Check, subject: impl Into<String>, message: impl Into<String>) {
        self.failed.insert(check);
        self.add(check, Verdict::Failed, subject, message);
    }

    /// Says what was done, if nothing of this kind failed.
    pub(crate) fn pass(&mut self, check: Check, message: impl Into<String>) {
        if !self.failed.contains(&check) {
            self.add(check, Verdict::Passed, "", message);
        }
    }
}

/// Returns the key that failures with the same cause share: the place where the plugin broke off, if that is named, else
/// the words without the parts that differ from file to file: numbers, and a part of the file's text at the end.
fn cause_of(why: &str, text: &str) -> String {
    const PANICKED: &str = "panicked at ";
    if let Some(at) = why.find(PANICKED) {
        let place = why[at + PANICKED.len()..].split(": ").next().unwrap_or_default();
        return format!("{PANICKED}{place}");
    }
    if let Some(at) = why.rfind(" (in ") {
        return why[at..].to_owned();
    }
    let said = match why.rsplit_once(": ") {
        // An excerpt that the host cut off ends with `…`.
        Some((said, quoted)) if text.contains(quoted.trim_end_matches([' ', '…'])) => said,
        _ => why,
    };
    let mut cause = String::with_capacity(said.len());
    let mut is_in_word = false;
    for it in said.chars() {
        let is_number = it.is_ascii_digit() && !is_in_word;
        is_in_word = it.is_alphabetic() || (is_in_word && it.is_alphanumeric());
        if !is_number || !cause.ends_with('#') {
            cause.push(if is_number { '#' } else { it });
        }
    }
    cause
}

/// Characters of a message: what a plugin says may hold the file that it is about.
const MAX_MESSAGE: usize = 2_000;

fn shortened(message: String, most: usize) -> String {
    match message.char_indices().nth(most) {
        Some((at, _)) => format!("{} …", &message[..at]),
        None => message,
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Declaration => "declaration",
            Self::Golden => "golden",
            Self::Determinism => "determinism",
            Self::Fixes => "fixes",
            Self::Robustness => "robustness",
            Self::Budget => "budget",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let mut report = Report::default();
        let crash = |index: usize| format!("plugin `x` crashed: panicked at src/lib.rs:9:9: index {index}");
        report.no_answer(Check::Golden, "valid/a", "there is no answer", &crash(1), b"");
        report.no_answer(Check::Golden, "valid/b", "there is no answer", &crash(2), b"");
        report.no_answer(Check::Robustness, "a", "empty", &crash(3), b"");
        report.no_answer(
            Check::Robustness,
            "b",
            "empty",
            "plugin `x` crashed: panicked at src/lib.rs:10:9: no",
            b"",
        );
        for at in [3, 40] {
            let message = format!("the fix of F401 at byte {at} leads to an error\nmore");
            report.fail_for("F401 leads to an error".to_owned(), Check::Fixes, "valid/a", message);
        }
        report.pass(Check::Robustness, "never");
        report.pass(Check::Budget, "1 µs");
        report.count_causes();
        let told = |it: &Finding| format!("{} {}: {}\n", it.check, it.subject, it.message);
        insta::assert_snapshot!(report.findings.iter().map(told).collect::<String>(), @r"
golden valid/a: there is no answer: plugin `x` crashed: panicked at src/lib.rs:9:9: index 1 (and 2 more for the same cause, 1 in robustness)
robustness b: empty: plugin `x` crashed: panicked at src/lib.rs:10:9: no
fixes valid/a: the fix of F401 at byte 3 leads to an error (and 1 more for the same cause)
more
budget : 1 µs
");
    }

    #[test]
    fn numbers_do_not_make_another_cause() {
        let same = |one: &str, other: &str| cause_of(one, "x = 1") == cause_of(other, "x = 1");
        assert!(same("0 to 5 are no bytes", "10 to 3 are no bytes"));
        assert!(same(
            "rule x: KeyError: 'a' (in f, plugin.py:3)",
            "rule x: KeyError: 'b' (in f, plugin.py:3)"
        ));
        assert!(!same(
            "rule x: KeyError: 'a' (in f, plugin.py:3)",
            "rule x: KeyError: 'a' (in f, plugin.py:4)"
        ));
        assert!(!same("`F401` is found", "`F841` is found"));
        assert!(same("plugin `a` 0.1.0: cannot parse: x", "plugin `a` 0.1.0: cannot parse: 1"));
        assert!(!same("plugin `a` 0.1.0: cannot parse: x", "plugin `a` 0.1.0: cannot read: y"));
    }
}
