//! Conversion of a linter's byte offsets to lines and columns, while the text is at hand.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use bytes::Bytes;
use lint::{Diagnostic, LineTable, Outcome, Span, Tag};
use overlay::{ContentHash, View, WorkspacePath};

use super::finding::{CheckedFile, Edit, Finding, FindingCell, Fix, Range, Related, RuleRef};

/// The file's content is not the one that the linter answered for.
#[derive(Debug)]
pub struct Changed;

/// Gives findings their lines and columns, and shares what is alike among them.
#[derive(Default)]
pub(super) struct Placer {
    rules: HashSet<Arc<RuleRef>>,
    messages: HashSet<Arc<str>>,
    no_fixes: Arc<[Fix]>,
    no_related: Arc<[Related]>,
}

impl Placer {
    /// The findings of one outcome. Reads the file once more, and only if there are any.
    pub(super) fn place(
        &mut self,
        view: &dyn View,
        linter: &Arc<str>,
        path: &WorkspacePath,
        outcome: &mut Outcome,
    ) -> Result<Vec<Finding>, Changed> {
        let diagnostics = std::mem::take(&mut outcome.diagnostics);
        if diagnostics.is_empty() {
            return Ok(Vec::new());
        }
        let text = read(view, path, outcome.content)?;
        let place = FilePositions {
            file: Arc::new(CheckedFile { path: path.clone(), content: outcome.content }),
            others: in_others(view, path, &diagnostics),
            table: LineTable::new(&text),
            cells: outcome.cells.iter().map(|it| (it, LineTable::new(it.as_bytes()))).collect(),
        };
        // Collected in place, they would keep the room of the larger diagnostics.
        let mut placed = Vec::with_capacity(diagnostics.len());
        let findings = diagnostics.into_iter().map(|it| self.finding(&place, linter, it));
        let mut told = HashSet::new();
        // Findings of a linter with the same place and the same message are one finding.
        let is_new = |it: &Finding| {
            let cell = it.cell.as_ref().map(|it| it.index);
            told.insert((Arc::clone(&it.rule), cell, it.span, Arc::clone(&it.message)))
        };
        placed.extend(findings.filter(is_new));
        Ok(placed)
    }

    fn finding(&mut self, place: &FilePositions<'_>, linter: &Arc<str>, it: Diagnostic) -> Finding {
        let cell = it.cell.and_then(|index| Some((index, place.cells.get(index as usize)?)));
        let table = cell.map_or(&place.table, |(_, (_, table))| table);
        Finding {
            file: Arc::clone(&place.file),
            message: self.message(it.message),
            severity: it.severity,
            cell: cell.map(|(index, (text, _))| FindingCell { index, text: Arc::clone(text) }),
            span: it.span,
            range: range(table, it.span),
            fixes: match it.fixes.is_empty() {
                true => Arc::clone(&self.no_fixes),
                false => it.fixes.into_iter().map(|fix| placed_fix(table, fix)).collect(),
            },
            related: match it.related.is_empty() {
                true => Arc::clone(&self.no_related),
                false => it.related.into_iter().map(|it| place.related(table, it)).collect(),
            },
            rule: self.rule(RuleRef {
                linter: Arc::clone(linter),
                code: it.code,
                name: it.name,
                url: it.url,
                is_syntax_error: it.tags.contains(&Tag::SyntaxError),
                fixes_first: it.tags.contains(&Tag::FixFirst),
                is_unnecessary: it.tags.contains(&Tag::Unnecessary),
                is_deprecated: it.tags.contains(&Tag::Deprecated),
                shared_name: it.shared_name,
            }),
        }
    }

    fn message(&mut self, message: String) -> Arc<str> {
        if let Some(known) = self.messages.get(message.as_str()) {
            return Arc::clone(known);
        }
        let message: Arc<str> = message.into();
        self.messages.insert(Arc::clone(&message));
        message
    }

    fn rule(&mut self, rule: RuleRef) -> Arc<RuleRef> {
        if let Some(known) = self.rules.get(&rule) {
            return Arc::clone(known);
        }
        let rule = Arc::new(rule);
        self.rules.insert(Arc::clone(&rule));
        rule
    }
}

/// A file and the tables of its lines.
struct FilePositions<'a> {
    file: Arc<CheckedFile>,
    /// Ranges of related spans in other files.
    others: HashMap<(WorkspacePath, Span), Range>,
    table: LineTable<'a>,
    cells: Vec<(&'a Arc<str>, LineTable<'a>)>,
}

impl FilePositions<'_> {
    fn related(&self, table: &LineTable<'_>, it: lint::Related) -> Related {
        let own = it.path.as_ref().is_none_or(|path| *path == self.file.path);
        let path = it.path.filter(|_| !own);
        let range = match &path {
            None => Some(range(table, it.span)),
            Some(path) => self.others.get(&(path.clone(), it.span)).copied(),
        };
        Related { path, range, span: it.span, message: it.message.into() }
    }
}

/// The places of all related spans in other files than `own`. Each of the files is read once, and let go before the next.
fn in_others(
    view: &dyn View,
    own: &WorkspacePath,
    diagnostics: &[Diagnostic],
) -> HashMap<(WorkspacePath, Span), Range> {
    let mut wanted: BTreeMap<&WorkspacePath, HashSet<Span>> = BTreeMap::new();
    for related in diagnostics.iter().flat_map(|it| &it.related) {
        if let Some(path) = related.path.as_ref().filter(|it| *it != own) {
            wanted.entry(path).or_default().insert(related.span);
        }
    }
    let mut places = HashMap::new();
    for (path, spans) in wanted {
        let Ok(text) = view.open(path) else { continue };
        let table = LineTable::new(&text);
        places.extend(spans.into_iter().map(|it| ((path.clone(), it), range(&table, it))));
    }
    places
}

/// The text that `content` is the hash of.
pub fn read(view: &dyn View, path: &WorkspacePath, content: Option<ContentHash>) -> Result<Bytes, Changed> {
    let text = view.open(path).map_err(|_| Changed)?;
    if content.is_some_and(|it| it != ContentHash::of(&text)) {
        return Err(Changed);
    }
    Ok(text)
}

pub(super) fn range(table: &LineTable<'_>, span: Span) -> Range {
    Range { start: table.scalar(span.start), end: table.scalar(span.end) }
}

pub(super) fn placed_fix(table: &LineTable<'_>, fix: lint::Fix) -> Fix {
    let edit = |it: lint::Edit| Edit {
        span: it.span,
        range: range(table, it.span),
        replacement: it.replacement.into_boxed_str(),
    };
    Fix {
        message: fix.message.map(String::into_boxed_str),
        applicability: fix.applicability,
        edits: fix.edits.into_iter().map(edit).collect(),
    }
}
