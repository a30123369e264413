//! Findings of a run, in the places of the view that it ran on.

mod included;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use bytes::Bytes;
use lint::{Diagnostic, Edit, Fix, LineTable, Related, Severity, Span, Tag};
use overlay::{FileKind, View, WorkspacePath};

use crate::{
    checker::Checker,
    output::{Extent, Message, Note, Packages, Printed, Repair},
    place::Places,
};

/// Findings of a run for the files of its project.
#[derive(Debug, Default)]
pub(crate) struct RunFindings {
    pub(crate) files: BTreeMap<WorkspacePath, Vec<Diagnostic>>,
    /// Whether the run reports anything, be it for files that are left out here.
    pub(crate) says_something: bool,
    /// Whether a file of the workspace has an error.
    pub(crate) has_errors: bool,
    /// Packages that were built, where that is known.
    pub(crate) packages: Option<Packages<WorkspacePath>>,
    /// Files that were looked at, where that is known.
    pub(crate) listed: Option<BTreeSet<WorkspacePath>>,
    /// Files that were not looked at since a package does not compile, with its folder.
    pub(crate) blocked: BTreeMap<WorkspacePath, WorkspacePath>,
    /// Other files that were not looked at, with reasons.
    pub(crate) refused: BTreeMap<WorkspacePath, String>,
    /// Files that it was asked about, and says nothing of, not even that they are in no project.
    pub(crate) unanswered: BTreeSet<WorkspacePath>,
    /// Whether the run rests on sources outside of the workspace, of which nothing is known.
    pub(crate) rests_outside: bool,
    /// Reason for which there may be more to report.
    pub(crate) partial: Option<String>,
}

/// Place where a command ran.
pub(crate) struct Ground<'g> {
    pub(crate) checker: &'g Checker,
    pub(crate) view: &'g dyn View,
    /// The workspace's folder on the disk.
    pub(crate) root: &'g Path,
    /// The project's, in which the command ran.
    pub(crate) project: &'g WorkspacePath,
    /// Files that the command was asked about.
    pub(crate) asked: &'g [WorkspacePath],
    /// Whether the checker looks at a file: not in a cache or among dependencies.
    pub(crate) is_known: &'g dyn Fn(&WorkspacePath) -> bool,
}

/// Ground with the texts that were looked at.
struct Placer<'g> {
    ground: &'g Ground<'g>,
    texts: HashMap<WorkspacePath, Option<Bytes>>,
}

/// Puts what was printed into its places. What lies outside of the workspace, or in folders that are not looked at, is
/// left out.
pub(crate) fn found(printed: Printed, ground: &Ground<'_>) -> RunFindings {
    let mut placer = Placer { ground, texts: HashMap::new() };
    let mut found = RunFindings {
        says_something: !printed.messages.is_empty(),
        partial: printed.partial,
        ..RunFindings::default()
    };
    let is_outside = |it: &String| ground.path_of(it).is_none();
    found.rests_outside = printed.packages.iter().any(|it| it.reached.iter().any(is_outside));
    let folders = |all: Vec<String>| all.iter().filter_map(|it| ground.path_of(it)).collect();
    found.packages = printed.packages.map(|it| Packages {
        reached: folders(it.reached),
        failed: folders(it.failed),
        dep_info: folders(it.dep_info),
    });
    found.listed = printed.listed.map(|all| ground.files_of(&all));
    let refused = printed.refused.into_iter();
    found.refused = refused.filter_map(|(path, why)| Some((ground.file_of(&path)?, why))).collect();
    found.unanswered = ground.files_of(&printed.unanswered);
    for message in printed.messages {
        let Some((path, finding)) = placer.finding(message) else { continue };
        found.has_errors |= finding.severity == Severity::Error;
        let of_file = found.files.entry(path).or_default();
        // Several targets of one package have the same files.
        if !of_file.contains(&finding) {
            of_file.push(finding);
        }
    }
    found.files.values_mut().for_each(|it| it.sort_by_key(|it| it.span));
    found
}

impl RunFindings {
    /// Tells findings in files that are not asked about, such as headers, in the file `of` that the command was given, where it
    /// includes them.
    pub(crate) fn tell_of_included(&mut self, of: &WorkspacePath, ground: &Ground<'_>) {
        let covers = ground.checker.covers();
        let Ok(text) = ground.view.open(of) else { return };
        let included: Vec<_> = self.files.keys().filter(|it| *it != of && !covers(it)).cloned().collect();
        for path in included {
            let Some(findings) = self.files.remove(&path) else { continue };
            let Ok(there) = ground.view.open(&path) else { continue };
            let (span, lines) = (included::span(&text, &path), LineTable::new(&there));
            let told = findings.into_iter().map(|it| included::told(it, &path, &lines, span, of));
            self.files.entry(of.clone()).or_default().extend(told);
        }
        self.files.values_mut().for_each(|it| it.sort_by_key(|it| it.span));
    }

    /// Files of the workspace with errors.
    pub(crate) fn with_errors(&self) -> BTreeSet<&WorkspacePath> {
        let is_error = |it: &Diagnostic| it.severity == Severity::Error;
        self.files.iter().filter(|(_, all)| all.iter().any(is_error)).map(|(path, _)| path).collect()
    }

    /// Merges the findings of two runs.
    pub(crate) fn with(mut self, other: Self) -> Self {
        for (path, findings) in other.files {
            let all = self.files.entry(path).or_default();
            let new = findings.into_iter().filter(|it| !all.contains(it)).collect::<Vec<_>>();
            all.extend(new);
        }
        self.has_errors |= other.has_errors;
        self.says_something |= other.says_something;
        self.rests_outside |= other.rests_outside;
        self.packages = other.packages.or(self.packages);
        self.listed = self.listed.zip(other.listed).map(|(mut all, more)| {
            all.extend(more);
            all
        });
        self.partial = self.partial.or(other.partial);
        self
    }
}

impl Ground<'_> {
    /// The files that the command was asked about, as it is told of them, if it gets texts.
    pub(crate) fn told(&self) -> BTreeSet<String> {
        let asked = self.asked.iter().filter(|_| self.checker.gets_texts());
        asked.map(|it| self.root.join(it.as_str()).to_string_lossy().into_owned()).collect()
    }

    /// A path as it is printed: absolute, or from the project's folder, or else from the workspace's.
    pub(crate) fn path_of(&self, printed: &str) -> Option<WorkspacePath> {
        let printed = printed.strip_prefix("file://").unwrap_or(printed);
        let path = Path::new(printed);
        if path.is_absolute() {
            let inside = path.strip_prefix(self.root).ok()?.to_str()?;
            return WorkspacePath::root().join(inside).ok();
        }
        let candidates = [self.project.join(printed).ok(), WorkspacePath::new(printed).ok()];
        let mut candidates: Vec<_> = candidates.into_iter().flatten().collect();
        candidates.dedup();
        let there = candidates.iter().find(|it| self.view.metadata(it).is_ok());
        there.or(candidates.first()).cloned()
    }

    /// Returns the printed paths that are files which findings can be in.
    pub(crate) fn files_of(&self, printed: &[String]) -> BTreeSet<WorkspacePath> {
        printed.iter().filter_map(|it| self.file_of(it)).collect()
    }

    /// The path of a file that findings can be in.
    fn file_of(&self, printed: &str) -> Option<WorkspacePath> {
        let path = self.path_of(printed)?;
        let path = self.view.resolve(&path).unwrap_or(path);
        let is_file = self.view.metadata(&path).is_ok_and(|it| it.kind == FileKind::File);
        (is_file && (self.is_known)(&path)).then_some(path)
    }
}

impl Placer<'_> {
    fn finding(&mut self, message: Message) -> Option<(WorkspacePath, Diagnostic)> {
        let checker = self.ground.checker;
        let path = self.ground.file_of(&message.path)?;
        let span = self.span(&path, message.extent)?;
        let code = message.code.filter(|it| !it.is_empty()).or_else(|| checker.code.clone());
        let code = code.unwrap_or_else(|| message.severity.name().to_owned());
        let related = message.notes.into_iter().filter_map(|it| self.related(&path, it)).collect();
        let fixes = message.fixes.into_iter().filter_map(|it| self.fix(&path, it)).collect();
        let shared_name = checker.tool.same_as.shared_name(&code, message.url.as_deref());
        let finding = Diagnostic {
            tags: tags(&code),
            code,
            name: message.name,
            message: message.text.trim().to_owned(),
            severity: message.severity,
            cell: None,
            span,
            url: message.url,
            shared_name,
            fixes,
            related,
        };
        Some((path, finding))
    }

    fn related(&mut self, of: &WorkspacePath, note: Note) -> Option<Related> {
        let path = self.ground.file_of(&note.path)?;
        let span = self.span(&path, note.extent)?;
        Some(Related { path: (path != *of).then_some(path), span, message: note.text })
    }

    /// `None` if it changes another file, too, or its edits overlap.
    fn fix(&mut self, path: &WorkspacePath, repair: Repair) -> Option<Fix> {
        let mut edits = Vec::new();
        for edit in repair.edits {
            if self.ground.file_of(&edit.path)? != *path {
                return None;
            }
            edits.push(Edit { span: self.span(path, Some(edit.extent))?, replacement: edit.text });
        }
        edits.sort_by_key(|it| it.span);
        let overlaps = edits.windows(2).any(|it| it[0].span.end > it[1].span.start);
        (!overlaps && !edits.is_empty()).then_some(Fix {
            message: repair.text,
            applicability: repair.applicability,
            edits,
        })
    }

    fn span(&mut self, path: &WorkspacePath, extent: Option<Extent>) -> Option<Span> {
        let view = self.ground.view;
        let text = self.texts.entry(path.clone()).or_insert_with(|| view.open(path).ok());
        let places = Places::new(text.as_ref()?);
        Some(extent.map_or_else(|| places.whole(), |it| places.span(it)))
    }
}

/// Codes that mean the same for several tools.
fn tags(code: &str) -> Vec<Tag> {
    const UNUSED: [&str; 5] =
        ["dead_code", "unused_variables", "unused_imports", "unused_mut", "no-unused-vars"];
    match code {
        "deprecated" => vec![Tag::Deprecated],
        "syntax" => vec![Tag::SyntaxError],
        _ if UNUSED.contains(&code) => vec![Tag::Unnecessary],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
