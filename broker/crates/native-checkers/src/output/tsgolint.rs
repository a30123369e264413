//! Messages of `tsgolint headless`: on standard output frames of a length (four bytes, the least significant first), a kind (one
//! byte) and JSON; in its log (`OXC_LOG=debug`) the `tsconfig.json` of each file.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use lint::{Applicability, Severity};
use regex::Regex;
use serde::{Deserialize, de::DeserializeOwned};

use super::{Extent, Message, Note, Printed, Repair, Replacement, unreadable};
use crate::checker::Columns;

/// Kinds of frames.
const ERROR: u8 = 0;
const FINDING: u8 = 1;

/// Name of a message about a `tsconfig.json` for which no program could be made.
const OF_PROJECT: &str = "tsconfig-error";

/// Start of an entry of the log. What it says of a path may have several lines.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^\d{4}/\d\d/\d\d ")
        .unwrap_or_else(|error| unreachable!("the tests use it, too: {error}"))
});

/// Start of what an entry says of a file and its `tsconfig.json`.
const PROJECT_OF: &str = " Got tsconfig for file ";

/// The `tsconfig.json` of a file that is in no project.
const NONE: &str = "<none>";

#[derive(Deserialize)]
struct Failure {
    error: String,
}

#[derive(Deserialize)]
struct Finding {
    file_path: Option<String>,
    range: Option<Range>,
    message: Words,
    /// None for an error of the compiler.
    rule: Option<String>,
    #[serde(default)]
    labeled_ranges: Vec<Label>,
    #[serde(default)]
    fixes: Vec<Change>,
    #[serde(default)]
    suggestions: Vec<Suggestion>,
}

#[derive(Deserialize)]
struct Words {
    id: String,
    description: String,
    #[serde(default)]
    help: String,
}

#[derive(Clone, Copy, Deserialize)]
struct Range {
    pos: u32,
    end: u32,
}

#[derive(Deserialize)]
struct Label {
    label: String,
    range: Range,
}

#[derive(Deserialize)]
struct Change {
    text: String,
    range: Range,
}

#[derive(Deserialize)]
struct Suggestion {
    message: Words,
    fixes: Vec<Change>,
}

/// Reads findings in the files that were `asked` about.
pub(super) fn read(printed: &[u8], log: &str, asked: &BTreeSet<String>) -> Result<Printed, String> {
    let projects = Projects::read(log, asked);
    let (mut messages, mut errors) = (Vec::new(), BTreeMap::new());
    for (kind, body) in frames(printed)? {
        match kind {
            ERROR => return Err(parsed::<Failure>(body)?.error),
            FINDING => {}
            _ => continue,
        }
        let finding: Finding = parsed(body)?;
        let Some(path) = finding.file_path.clone() else { continue };
        if finding.message.id == OF_PROJECT {
            errors.entry(path).or_insert(finding.message.help);
        } else if projects.take_in(&path) {
            messages.push(finding.message(path));
        }
    }
    let refused = projects.refused_files(&errors);
    let unanswered = asked.iter().filter(|it| !projects.of.contains_key(it.as_str())).cloned().collect();
    let listed = Some(asked.iter().filter(|it| projects.take_in(it)).cloned().collect());
    Ok(Printed { messages, listed, refused, unanswered, ..Printed::default() })
}

/// Fails if the last frame is not whole.
fn frames(mut printed: &[u8]) -> Result<Vec<(u8, &[u8])>, String> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = printed.split_first_chunk::<5>() {
        let [a, b, c, d, kind] = *head;
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        let (body, rest) = rest.split_at_checked(length).ok_or_else(|| ends_early(printed))?;
        frames.push((kind, body));
        printed = rest;
    }
    if printed.is_empty() { Ok(frames) } else { Err(ends_early(printed)) }
}

fn ends_early(printed: &[u8]) -> String {
    let start = String::from_utf8_lossy(&printed[..printed.len().min(80)]);
    unreadable(&start, &"it ends within a message")
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| unreadable(&String::from_utf8_lossy(body), &error))
}

/// Projects of files, as the log has them.
#[derive(Default)]
struct Projects<'l> {
    /// The `tsconfig.json` of each file that was asked about, or [`NONE`].
    of: BTreeMap<&'l str, &'l str>,
    /// Configurations for which no program was made.
    refused: BTreeSet<&'l str>,
}

impl<'l> Projects<'l> {
    fn read(log: &'l str, asked: &BTreeSet<String>) -> Self {
        let (mut all, mut latest) = (Self::default(), None);
        for entry in DATE.split(log).map(|it| it.strip_suffix('\n').unwrap_or(it)) {
            if let Some((_, said)) = entry.split_once(PROJECT_OF) {
                // The paths themselves may have a colon.
                let parts =
                    said.rmatch_indices(": ").map(|(at, colon)| (&said[..at], &said[at + colon.len()..]));
                all.of.extend(parts.into_iter().find(|(path, _)| asked.contains(*path)));
            } else if let Some((_, config)) = entry.split_once(" Running linter on program: ") {
                all.refused.insert(config);
                latest = Some(config);
            } else if entry.contains(" Program created with ") {
                latest.take().map(|it| all.refused.remove(it));
            }
        }
        all
    }

    /// Whether one of them has a file.
    fn take_in(&self, path: &str) -> bool {
        self.of.get(path).is_some_and(|config| *config != NONE)
    }

    /// Files of projects without a program, each with the error of its project, which may be in what its configuration extends.
    fn refused_files(&self, errors: &BTreeMap<String, String>) -> Vec<(String, String)> {
        let files = self.of.iter().filter(|(_, config)| self.refused.contains(*config));
        let reason = |config: &str| {
            let (path, why) = errors.get_key_value(config).or_else(|| errors.first_key_value())?;
            let name = path.rsplit_once('/').map_or(&**path, |it| it.1);
            Some(format!("TypeScript 7 refuses `{name}`: {}", why.lines().next().unwrap_or_default()))
        };
        let unknown = || "TypeScript 7 made no program of its project".to_owned();
        files.map(|(file, config)| ((*file).to_owned(), reason(config).unwrap_or_else(unknown))).collect()
    }
}

impl Finding {
    fn message(self, path: String) -> Message {
        let notes = self.labeled_ranges.into_iter();
        let note = |it: Label| Note { path: path.clone(), extent: Some(it.range.extent()), text: it.label };
        let notes = notes.map(note).collect();
        let own = (!self.fixes.is_empty()).then(|| repair(&path, self.fixes, None));
        let suggested = self.suggestions.into_iter();
        let suggested = suggested.map(|it| repair(&path, it.fixes, Some(it.message.description)));
        let fixes = own.into_iter().chain(suggested).collect();
        let Words { id, description, help } = self.message;
        let text = if help.is_empty() { description } else { format!("{description}\n{help}") };
        let url = self.rule.as_ref().map(|it| format!("https://typescript-eslint.io/rules/{it}"));
        let severity = if self.rule.is_some() { Severity::Warning } else { Severity::Error };
        let code = Some(self.rule.unwrap_or(id));
        Message {
            code,
            url,
            notes,
            fixes,
            severity,
            ..Message::new(path, self.range.map(Range::extent), text)
        }
    }
}

impl Range {
    fn extent(self) -> Extent {
        Extent::Offsets { start: self.pos, end: self.end, columns: Columns::Utf8 }
    }
}

/// A suggestion has words for what it does, and may change what the program does.
fn repair(path: &str, changes: Vec<Change>, text: Option<String>) -> Repair {
    let applicability = if text.is_some() { Applicability::Unsafe } else { Applicability::Safe };
    let edit = |it: Change| Replacement { path: path.to_owned(), extent: it.range.extent(), text: it.text };
    Repair { text, applicability, edits: changes.into_iter().map(edit).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "2026/11/30 19:19:01.3 Got tsconfig for file /w/a.ts: /w/tsconfig.json\n\
                       2026/11/30 19:19:01.3 Got tsconfig for file /w/b.ts: <none>\n\
                       2026/11/30 19:19:01.3 Got tsconfig for file /w/p/c.ts: /w/p/tsconfig.json\n\
                       2026/11/30 19:19:01.3 Got tsconfig for file /w/d: x/d.ts: /w/d: x/tsconfig.json\n\
                       2026/11/30 19:19:01.3 Got tsconfig for file /w/e\n/e.ts: /w/e\n/tsconfig.json\n\
                       2026/11/30 19:19:01.3 [1/4] Running linter on program: /w/p/tsconfig.json\n\
                       2026/11/30 19:19:01.3 [2/4] Running linter on program: /w/d: x/tsconfig.json\n\
                       2026/11/30 19:19:01.3 Program created with 66 source files\n\
                       2026/11/30 19:19:01.3 [3/4] Running linter on program: /w/e\n/tsconfig.json\n\
                       2026/11/30 19:19:01.3 Program created with 66 source files\n\
                       2026/11/30 19:19:01.3 [4/4] Running linter on program: /w/tsconfig.json\n\
                       2026/11/30 19:19:01.3 Program created with 66 source files\n";

    fn asked() -> BTreeSet<String> {
        let paths = ["/w/a.ts", "/w/b.ts", "/w/p/c.ts", "/w/d: x/d.ts", "/w/e\n/e.ts", "/w/f.ts"];
        paths.map(str::to_owned).into()
    }

    fn frame(kind: u8, body: &str) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap().to_le_bytes();
        length.into_iter().chain([kind]).chain(body.bytes()).collect()
    }

    fn finding(path: &str) -> Vec<u8> {
        let message = r#"{"id": "TS2322", "description": "wrong"}"#;
        frame(
            FINDING,
            &format!(r#"{{"file_path": "{path}", "range": {{"pos": 1, "end": 2}}, "message": {message}}}"#),
        )
    }

    #[test]
    fn findings_of_files_in_projects() {
        let refused = r#"{"kind": 1, "file_path": "/w/base.json", "message": {"id": "tsconfig-error", "description": "", "help": "no"}}"#;
        let timing = frame(2, "{}");
        let of_files = ["/w/a.ts", "/w/b.ts", "/w/d: x/d.ts", "/w/e\\n/e.ts"].map(finding);
        let printed = [of_files.concat(), frame(FINDING, refused), timing].concat();
        let read = read(&printed, LOG, &asked()).unwrap();
        let all: Vec<_> = read.messages.iter().map(|it| (&*it.path, it.code.as_deref())).collect();
        assert_eq!(all, ["/w/a.ts", "/w/d: x/d.ts", "/w/e\n/e.ts"].map(|it| (it, Some("TS2322"))));
        assert_eq!(read.listed.unwrap(), ["/w/a.ts", "/w/d: x/d.ts", "/w/e\n/e.ts", "/w/p/c.ts"]);
        assert_eq!(read.unanswered, ["/w/f.ts"]);
        let why = "TypeScript 7 refuses `base.json`: no".to_owned();
        assert_eq!(read.refused, [("/w/p/c.ts".to_owned(), why)]);
    }

    #[test]
    fn output_that_is_not_whole() {
        let whole = finding("/w/a.ts");
        for end in 1..whole.len() {
            assert!(read(&whole[..end], LOG, &asked()).unwrap_err().contains("it ends within a message"));
        }
        assert!(read(b"panic: something", "", &asked()).unwrap_err().contains("`panic: something`"));
        assert!(read(&frame(FINDING, "{}"), LOG, &asked()).unwrap_err().contains("missing field"));
        let broke = frame(ERROR, r#"{"error": "it broke"}"#);
        assert_eq!(read(&broke, LOG, &asked()).unwrap_err(), "it broke");
    }
}
