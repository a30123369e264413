//! What a run found, in the places of the view that it ran on.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use bytes::Bytes;
use lint::{Diagnostic, Edit, Fix, Related, Severity, Span, Tag};
use overlay::{FileKind, View, WorkspacePath};

use crate::{
    checker::Checker,
    output::{Extent, Message, Note, Printed, Repair},
    place::Places,
};

/// What a run says of the files of its project.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: BTreeMap<WorkspacePath, Vec<Diagnostic>>,
    /// Whether it says anything, be it of files that are not told of.
    pub(crate) says_something: bool,
    /// Whether a file of the workspace has an error.
    pub(crate) has_errors: bool,
    /// Folders of packages that were looked at, where that is known.
    pub(crate) packages: Option<Vec<WorkspacePath>>,
    /// Why there may be more to say.
    pub(crate) partial: Option<String>,
}

/// Where a command ran.
pub(crate) struct Ground<'g> {
    pub(crate) checker: &'g Checker,
    pub(crate) view: &'g dyn View,
    /// The workspace's folder on the disk.
    pub(crate) root: &'g Path,
    /// The project's, in which the command ran.
    pub(crate) project: &'g WorkspacePath,
    /// Whether a file is one that the checker looks at: not in a cache or among dependencies.
    pub(crate) is_known: &'g dyn Fn(&WorkspacePath) -> bool,
}

/// Ground with the texts that were looked at.
struct Placer<'g> {
    ground: &'g Ground<'g>,
    texts: HashMap<WorkspacePath, Option<Bytes>>,
}

/// Puts what was printed into its places. What lies outside of the workspace, or in folders that are not looked at, is
/// left out.
pub(crate) fn found(printed: Printed, ground: &Ground<'_>) -> Found {
    let mut placer = Placer { ground, texts: HashMap::new() };
    let mut found =
        Found { says_something: !printed.messages.is_empty(), partial: printed.partial, ..Found::default() };
    let folder = |it: String| ground.path_of(&it);
    found.packages = printed.packages.map(|all| all.into_iter().filter_map(folder).collect());
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

impl Ground<'_> {
    /// A path as it is printed: absolute, or from the project's folder, or else from the workspace's.
    fn path_of(&self, printed: &str) -> Option<WorkspacePath> {
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
        let code = code.unwrap_or_else(|| "error".to_owned());
        let related = message.notes.into_iter().filter_map(|it| self.related(&path, it)).collect();
        let fixes = message.fixes.into_iter().filter_map(|it| self.fix(&path, it)).collect();
        let shared_name = checker.same_as.shared_name(&code, message.url.as_deref());
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
