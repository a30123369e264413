//! `cargo --message-format=json`: one message in each line, those of rustc and clippy among them.
//!
//! Lines and columns are used, not offsets, which do not count what rustc leaves out: byte order marks, carriage returns.

use std::{collections::BTreeSet, path::Path};

use lint::{Applicability, Severity};
use serde::Deserialize;

use super::{Extent, Message, Note, Packages, Position, Printed, Repair, Replacement, unreadable};
use crate::checker::Columns;

#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line {
    CompilerMessage {
        manifest_path: String,
        package_id: String,
        message: Diagnostic,
        target: Target,
    },
    CompilerArtifact {
        manifest_path: String,
        package_id: String,
        #[serde(default)]
        filenames: Vec<String>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Target {
    src_path: String,
}

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    code: Option<Code>,
    level: String,
    spans: Vec<Span>,
    children: Vec<Diagnostic>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u32,
    line_end: u32,
    column_start: u32,
    column_end: u32,
    is_primary: bool,
    label: Option<String>,
    suggested_replacement: Option<String>,
    suggestion_applicability: Option<String>,
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
struct Expansion {
    span: Span,
}

pub(super) fn read(text: &str) -> Result<Printed, String> {
    let mut messages = Vec::new();
    let [mut reached, mut failed, mut dep_info] = [const { BTreeSet::new() }; 3];
    // The output of build scripts is among it.
    for line in text.lines().filter(|it| it.starts_with('{')) {
        let line = serde_json::from_str(line).map_err(|error| unreadable(line, &error))?;
        match line {
            Line::CompilerMessage { package_id, manifest_path, message, target } => {
                let message = message.into_message(&target.src_path);
                let folder = folder_of(&manifest_path).filter(|_| is_local(&package_id));
                let is_error = message.as_ref().is_some_and(|it| it.severity == Severity::Error);
                failed.extend(folder.clone().filter(|_| is_error));
                reached.extend(folder);
                messages.extend(message);
            }
            Line::CompilerArtifact { package_id, manifest_path, filenames } if is_local(&package_id) => {
                reached.extend(folder_of(&manifest_path));
                dep_info.extend(filenames.iter().filter_map(|it| dep_info_of(Path::new(it))));
            }
            Line::CompilerArtifact { .. } | Line::Other => {}
        }
    }
    let [reached, failed, dep_info] = [reached, failed, dep_info].map(|it| it.into_iter().collect());
    Ok(Printed { messages, packages: Some(Packages { reached, failed, dep_info }), ..Printed::default() })
}

/// Whether a package is a local one, not downloaded.
fn is_local(package_id: &str) -> bool {
    package_id.contains("path+file:")
}

fn folder_of(manifest: &str) -> Option<String> {
    Some(Path::new(manifest).parent()?.to_string_lossy().into_owned())
}

/// Returns the place of rustc's dep-info for a built file: beside a library of the name `lib…`, or in the folder of a build
/// script.
fn dep_info_of(built: &Path) -> Option<String> {
    let (folder, name) = (built.parent()?, built.file_stem()?.to_str()?);
    let found = match name.strip_prefix("lib") {
        Some(name) if built.extension().is_some() => Some(folder.join(format!("{name}.d"))),
        _ => name.starts_with("build-script").then(|| folder.to_owned()),
    };
    found.map(|it| it.to_string_lossy().into_owned())
}

/// The files that rustc read, from its dep-info: each has a rule without anything after the colon.
pub(crate) fn read_dep_info(text: &str) -> Vec<String> {
    let rules = text.lines().filter(|it| !it.starts_with('#')).filter_map(|it| it.strip_suffix(':'));
    rules.map(|it| it.replace("\\ ", " ")).collect()
}

impl Diagnostic {
    /// `None` for what only sums up. What has no place is of the file that the compiler was given.
    fn into_message(self, source: &str) -> Option<Message> {
        let severity = match self.level.as_str() {
            "error" | "error: internal compiler error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => return None,
        };
        let primary = self.spans.iter().find(|it| it.is_primary).or(self.spans.first()).map(Span::written);
        let sums_up = self.message.starts_with("aborting due to") || self.message.ends_with(" emitted");
        if primary.is_none() && sums_up {
            return None;
        }
        let place = primary.map_or((source.to_owned(), None), |it| (it.file_name.clone(), Some(it.extent())));
        let mut message = Message::new(place.0, place.1, self.message.clone());
        message.severity = severity;
        message.code = self.code.map(|it| it.code);
        message.url = message.code.as_deref().and_then(page);
        let labelled = self.spans.iter().filter_map(|it| Some((it, it.label.as_deref()?)));
        for (span, label) in labelled {
            match primary.is_some_and(|it| std::ptr::eq(it, span)) {
                // rustc says the half of it there.
                true if !message.text.contains(label) => message.text = format!("{}: {label}", message.text),
                true => {}
                false => message.notes.push(span.note(label)),
            }
        }
        for child in &self.children {
            message.add(child);
        }
        Some(message)
    }

    /// Edits that belong together, if it suggests any.
    fn repair(&self) -> Option<Repair> {
        let edits = self.spans.iter().filter_map(|it| Some((it, it.suggested_replacement.clone()?)));
        let edits: Vec<_> = edits.collect();
        let applicability = edits.iter().map(|(it, _)| it.applicability()).min()?;
        let replacement = |(span, text): (&Span, String)| Replacement {
            path: span.file_name.clone(),
            extent: span.extent(),
            text,
        };
        let edits = edits.into_iter().map(replacement).collect();
        Some(Repair { text: Some(self.message.clone()), applicability, edits })
    }
}

impl Message {
    fn add(&mut self, child: &Diagnostic) {
        if let Some(repair) = child.repair() {
            self.fixes.push(repair);
            return;
        }
        let labelled = child.spans.iter().map(Span::written).map(|it| it.note(&child.message));
        self.notes.extend(labelled);
        // The reason why a lint is on is the same for all.
        let is_said =
            child.message.contains(" on by default") || child.message.starts_with("for further information");
        if child.spans.is_empty() && !is_said {
            self.text = format!("{}\n{}: {}", self.text, child.level, child.message);
        }
    }
}

impl Span {
    /// Returns the span in a source of the workspace: not in a macro of another crate.
    fn written(&self) -> &Self {
        let is_elsewhere = Path::new(&self.file_name).is_absolute() || self.file_name.starts_with('<');
        match &self.expansion {
            Some(expansion) if is_elsewhere => expansion.span.written(),
            _ => self,
        }
    }

    fn extent(&self) -> Extent {
        let at = |line, column| Position { line, column: Some(column) };
        let (start, end) = (at(self.line_start, self.column_start), at(self.line_end, self.column_end));
        Extent::Lines { start, end: Some(end), columns: Columns::CodePoints }
    }

    fn note(&self, text: &str) -> Note {
        let span = self.written();
        Note { path: span.file_name.clone(), extent: Some(span.extent()), text: text.to_owned() }
    }

    fn applicability(&self) -> Applicability {
        match self.suggestion_applicability.as_deref() {
            Some("MachineApplicable") => Applicability::Safe,
            Some("MaybeIncorrect") => Applicability::Unsafe,
            _ => Applicability::DisplayOnly,
        }
    }
}

/// Returns the address of the page that explains a code.
fn page(code: &str) -> Option<String> {
    if let Some(lint) = code.strip_prefix("clippy::") {
        return Some(format!("https://rust-lang.github.io/rust-clippy/stable/index.html#{lint}"));
    }
    let is_error =
        code.strip_prefix('E').is_some_and(|it| it.len() == 4 && it.bytes().all(|it| it.is_ascii_digit()));
    is_error.then(|| format!("https://doc.rust-lang.org/error_codes/{code}.html"))
}
