//! The file that a baseline is kept in: JSON, sorted, an entry per line, so that merges are easy.

use std::fmt::{self, Write as _};

use lint::{Fingerprint, LineColumn};
use overlay::{View, WorkspacePath, io_reason};
use serde::Deserialize;

use super::{Baseline, Mark};

const VERSION: u32 = 1;

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Everything {
    #[serde(rename = "version")]
    _version: u32,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: String,
    rule: String,
    fingerprint: String,
    count: u32,
}

/// A baseline that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineError {
    pub file: WorkspacePath,
    /// Position at which the file is damaged.
    pub at: Option<LineColumn>,
    pub message: String,
}

impl Baseline {
    /// Reads the baseline in `file`. That there is none is an error: someone has named it.
    pub fn load(view: &dyn View, file: &WorkspacePath) -> Result<Self, BaselineError> {
        match view.open(file) {
            Ok(bytes) => Self::parse(file, &bytes),
            Err(error) => Err(BaselineError { file: file.clone(), at: None, message: io_reason(&error) }),
        }
    }

    /// Parses `text`, the content of `file`.
    pub fn parse(file: &WorkspacePath, text: &[u8]) -> Result<Self, BaselineError> {
        let error = |message| BaselineError { file: file.clone(), at: None, message };
        let of_json = |it: serde_json::Error| BaselineError { at: place(&it), ..error(without_place(&it)) };
        let Versioned { version } = serde_json::from_slice(text).map_err(of_json)?;
        if version != VERSION {
            return Err(error(format!("it has the version {version}; this broker reads version {VERSION}")));
        }
        let everything: Everything = serde_json::from_slice(text).map_err(of_json)?;
        let mut baseline = Self::default();
        for (index, entry) in everything.entries.into_iter().enumerate() {
            let nth = |what: String| error(format!("entry {}: {what}", index + 1));
            let (mark, count) = entry.check().map_err(nth)?;
            // Two branches that both knew a finding were merged.
            let known = baseline.entries.entry(mark).or_default();
            *known = count.max(*known);
        }
        Ok(baseline)
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        let mut text = format!("{{\n  \"version\": {VERSION},\n  \"entries\": [");
        let mut separator = "\n";
        for (mark, count) in &self.entries {
            let entry = Entry {
                path: mark.path.as_str().to_owned(),
                rule: mark.rule.clone(),
                fingerprint: mark.fingerprint.to_string(),
                count: *count,
            };
            let _writes_to_a_string = write!(text, "{separator}    {}", entry.to_json());
            separator = ",\n";
        }
        text.push_str(if self.entries.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        text
    }
}

impl Entry {
    fn check(self) -> Result<(Mark, u32), String> {
        let path = WorkspacePath::new(&self.path).map_err(|it| it.to_string())?;
        let fingerprint = Fingerprint::from_hex(&self.fingerprint)
            .ok_or_else(|| format!("`{}` is no fingerprint", self.fingerprint))?;
        if self.count == 0 {
            return Err("its count is 0".to_owned());
        }
        Ok((Mark { path, rule: self.rule, fingerprint }, self.count))
    }

    fn to_json(&self) -> String {
        let text = |it: &str| serde_json::Value::from(it).to_string();
        format!(
            "{{\"path\": {}, \"rule\": {}, \"fingerprint\": {}, \"count\": {}}}",
            text(&self.path),
            text(&self.rule),
            text(&self.fingerprint),
            self.count
        )
    }
}

fn place(error: &serde_json::Error) -> Option<LineColumn> {
    let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    (error.line() > 0).then(|| LineColumn { line: number(error.line()), column: number(error.column()) })
}

/// serde_json ends its sentences with the place.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned())
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if let Some(at) = self.at {
            write!(f, "{}:{}:", at.line, at.column)?;
        }
        write!(f, " cannot be used as a baseline: {}", self.message)
    }
}

impl std::error::Error for BaselineError {}
