//! SARIF 2.1.0: results with their places, related places and fixes.

use lint::Applicability;
use serde::Deserialize;
use serde_json::Value;

use super::{Extent, Message, Note, Position, Printed, Repair, Replacement, unreadable};
use crate::checker::{Checker, Columns};

#[derive(Deserialize)]
struct Log {
    runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    #[serde(default)]
    results: Option<Vec<SarifResult>>,
    column_kind: Option<String>,
    #[serde(default)]
    invocations: Vec<Invocation>,
}

#[derive(Deserialize)]
struct Tool {
    driver: Driver,
}

#[derive(Deserialize)]
struct Driver {
    #[serde(default)]
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    name: Option<String>,
    help_uri: Option<String>,
    default_configuration: Option<Configuration>,
}

#[derive(Deserialize)]
struct Configuration {
    level: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: Option<String>,
    rule_index: Option<usize>,
    rule: Option<RuleReference>,
    level: Option<String>,
    kind: Option<String>,
    message: Text,
    #[serde(default)]
    locations: Vec<Location>,
    #[serde(default)]
    related_locations: Vec<Location>,
    #[serde(default)]
    fixes: Vec<Fix>,
    #[serde(default)]
    suppressions: Vec<Value>,
}

#[derive(Deserialize)]
struct RuleReference {
    id: Option<String>,
    index: Option<usize>,
}

#[derive(Deserialize)]
struct Text {
    text: Option<String>,
    markdown: Option<String>,
}

impl Text {
    fn plain(&self) -> Option<String> {
        self.text.clone().or_else(|| self.markdown.clone())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Option<Physical>,
    message: Option<Text>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Option<Artifact>,
    region: Option<Region>,
}

#[derive(Deserialize)]
struct Artifact {
    uri: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: Option<u32>,
    start_column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
    char_offset: Option<u32>,
    char_length: Option<u32>,
    byte_offset: Option<u32>,
    byte_length: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fix {
    description: Option<Text>,
    artifact_changes: Vec<ArtifactChange>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: Artifact,
    replacements: Vec<SarifReplacement>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifReplacement {
    deleted_region: Region,
    inserted_content: Option<Text>,
}

pub(super) fn read(text: &str, checker: &Checker) -> Result<Printed, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let log: Log = serde_json::from_str(text).map_err(|error| unreadable(text, &error))?;
    let failed =
        log.runs.iter().flat_map(|it| &it.invocations).any(|it| it.execution_successful == Some(false));
    let messages = log.runs.iter().flat_map(|run| {
        let columns = run.columns(checker);
        let results = run.results.iter().flatten().filter(|it| it.is_told());
        results.filter_map(move |it| it.message(run, columns, checker))
    });
    let partial = failed.then(|| format!("{} says that it did not run to the end", checker.tool.name));
    Ok(Printed { messages: messages.collect(), partial, ..Printed::default() })
}

impl Run {
    fn columns(&self, checker: &Checker) -> Columns {
        match self.column_kind.as_deref() {
            Some("unicodeCodePoints") => Columns::CodePoints,
            Some(_) => Columns::Utf16,
            None => checker.columns.unwrap_or(Columns::Utf16),
        }
    }
}

impl SarifResult {
    fn is_told(&self) -> bool {
        self.suppressions.is_empty() && self.kind.as_deref().is_none_or(|it| it == "fail")
    }

    /// `None` for what is in no file.
    fn message(&self, run: &Run, columns: Columns, checker: &Checker) -> Option<Message> {
        let reference = self.rule.as_ref();
        let index = self.rule_index.or_else(|| reference?.index);
        let id = self.rule_id.clone().or_else(|| reference?.id.clone());
        let rules = &run.tool.driver.rules;
        let named = || id.as_ref().and_then(|id| rules.iter().find(|it| it.id == *id));
        let rule = index.and_then(|it| rules.get(it)).or_else(named);
        let note = self.locations.iter().find_map(|it| it.note(columns))?;
        let mut message = Message::new(note.path, note.extent, self.message.plain().unwrap_or_default());
        message.code = id.or_else(|| Some(rule?.id.clone()));
        message.name = rule.and_then(|it| it.name.clone()).filter(|it| Some(it) != message.code.as_ref());
        message.url = rule.and_then(|it| it.help_uri.clone());
        let default = || rule?.default_configuration.as_ref()?.level.clone();
        let level = self.level.clone().or_else(default).unwrap_or_else(|| "warning".to_owned());
        message.severity = checker.severity_of(Some(&level));
        message.notes = self.related_locations.iter().filter_map(|it| it.note(columns)).collect();
        message.fixes = self.fixes.iter().filter_map(|it| it.repair(columns)).collect();
        Some(message)
    }
}

impl Location {
    fn note(&self, columns: Columns) -> Option<Note> {
        let place = self.physical_location.as_ref()?;
        let path = path(place.artifact_location.as_ref()?)?;
        let text = self.message.as_ref().and_then(Text::plain).unwrap_or_default();
        Some(Note { path, extent: place.region.as_ref().and_then(|it| it.extent(columns)), text })
    }
}

impl Fix {
    fn repair(&self, columns: Columns) -> Option<Repair> {
        let edits = self.artifact_changes.iter().flat_map(|change| {
            change.replacements.iter().map(|it| {
                let text = it.inserted_content.as_ref().and_then(|it| it.text.clone()).unwrap_or_default();
                let extent = it.deleted_region.extent(columns)?;
                Some(Replacement { path: path(&change.artifact_location)?, extent, text })
            })
        });
        let edits: Vec<_> = edits.collect::<Option<_>>()?;
        let text = self.description.as_ref().and_then(Text::plain);
        (!edits.is_empty()).then_some(Repair { text, applicability: Applicability::Unsafe, edits })
    }
}

impl Region {
    /// Lines go before offsets. An end column without a line is of the first line.
    fn extent(&self, columns: Columns) -> Option<Extent> {
        if let Some(line) = self.start_line {
            let start = Position { line, column: self.start_column };
            let end = (self.end_line.is_some() || self.end_column.is_some())
                .then(|| Position { line: self.end_line.unwrap_or(line), column: self.end_column });
            return Some(Extent::Lines { start, end, columns });
        }
        let (start, length, columns) = match (self.char_offset, self.byte_offset) {
            (Some(start), _) => (start, self.char_length, columns),
            (None, Some(start)) => (start, self.byte_length, Columns::Utf8),
            (None, None) => return None,
        };
        Some(Extent::Offsets { start, end: start.saturating_add(length.unwrap_or(0)), columns })
    }
}

/// The path of a URI: without its scheme, and with what is escaped in it.
fn path(artifact: &Artifact) -> Option<String> {
    let uri = artifact.uri.as_deref()?;
    let uri = uri.strip_prefix("file://").map_or(uri, |it| &it[it.find('/').unwrap_or(0)..]);
    let mut bytes = Vec::new();
    let mut rest = uri.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).filter(|_| *first == b'%').and_then(|it| std::str::from_utf8(it).ok());
        match escaped.and_then(|it| u8::from_str_radix(it, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}
