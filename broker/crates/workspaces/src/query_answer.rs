//! Answers of language servers as clients see them: one shape of item for everything that can be found.

use check_engine::Range;
use language_servers::{
    Access, Action, Completion, EditStep, File, Fold, FoundSymbol, Hint, HintKind, Link, Linked, Location,
    MarkupText, QueryResult, Renamable, Signature, Signatures, Symbol, SymbolKind, TextRange, Token,
};
use lint::Span;
use overlay::{ContentHash, Revision, TextEdit, WorkspacePath};

use super::query::QueryReply;

/// Answer of a language server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryAnswer {
    pub server: String,
    pub revision: Revision,
    /// Hash of the text that the question was about.
    pub content: Option<ContentHash>,
    /// Reason why there may be more to say, or something else.
    pub partial: Option<String>,
    pub items: Vec<QueryItem>,
    pub edits: Vec<QueryEdit>,
    pub notes: Vec<String>,
    /// The revision that has the edits, if they were to be applied.
    pub applied: Option<Revision>,
}

/// Item of an answer. Its fields depend on the question; the others are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryItem {
    pub label: String,
    pub kind: String,
    pub detail: String,
    pub documentation: String,
    pub location: Option<QueryLocation>,
    /// Range of a definition with its body, where `location` is its name.
    pub whole: Option<Range>,
    pub insert_text: String,
    pub container: String,
    pub tags: Vec<String>,
    pub calls: Vec<QueryLocation>,
    pub children: Vec<Self>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryLocation {
    /// Empty for the file that the question is about; an absolute path or a URI outside of the workspace.
    pub path: String,
    pub range: Option<Range>,
    pub span: Option<Span>,
}

/// One step of the changes that an answer proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryEdit {
    Text { path: WorkspacePath, edits: Vec<TextEdit> },
    Create { path: WorkspacePath },
    Rename { from: WorkspacePath, to: WorkspacePath },
    Remove { path: WorkspacePath },
}

impl From<QueryReply> for QueryAnswer {
    fn from(it: QueryReply) -> Self {
        let QueryReply { server, revision, content, result, partial, applied } = it;
        let (mut edits, mut notes) = (Vec::new(), Vec::new());
        if let QueryResult::Edits(found) = &result {
            edits = found.steps.iter().map(step).collect();
            notes.clone_from(&found.notes);
        }
        Self { server, revision, content, partial, items: items(&result), edits, notes, applied }
    }
}

fn items(result: &QueryResult) -> Vec<QueryItem> {
    match result {
        QueryResult::Links(all) => all.iter().map(link).collect(),
        QueryResult::References(all) => all.iter().map(at).collect(),
        QueryResult::Highlights(all) => {
            all.iter().map(|it| QueryItem { tags: tag(access(it.access)), ..here(it.range) }).collect()
        }
        QueryResult::Hover(hover) => hover.iter().map(|it| said(&it.text, it.range)).collect(),
        QueryResult::Completions(all) => all.items.iter().map(completion).collect(),
        QueryResult::Completion(one) => vec![completion(one)],
        QueryResult::Signatures(all) => all.iter().flat_map(signatures).collect(),
        QueryResult::Symbols(all) => all.iter().map(symbol).collect(),
        QueryResult::FoundSymbols(all) => all.iter().map(found_symbol).collect(),
        QueryResult::Renamable(it) => it.iter().map(renamable).collect(),
        QueryResult::Actions(all) => all.iter().map(action).collect(),
        QueryResult::Hierarchy(all) => all.iter().map(linked).collect(),
        QueryResult::Tokens(all) => all.iter().map(token).collect(),
        QueryResult::Hints(all) => all.iter().map(hint).collect(),
        QueryResult::Folds(all) => all.iter().map(fold).collect(),
        // Edits are no items, and the result of a method has an answer of its own.
        QueryResult::Edits(_) | QueryResult::Raw { .. } => Vec::new(),
    }
}

fn fold(it: &Fold) -> QueryItem {
    QueryItem { kind: it.kind.clone().unwrap_or_default(), ..here(it.range) }
}

fn link(it: &Link) -> QueryItem {
    QueryItem { whole: it.whole.map(range), ..at(&it.target) }
}

fn at(it: &Location) -> QueryItem {
    QueryItem { location: Some(location(it)), ..QueryItem::default() }
}

/// In the file that was asked about.
fn here(it: TextRange) -> QueryItem {
    let location = QueryLocation { path: String::new(), range: Some(range(it)), span: Some(it.span) };
    QueryItem { location: Some(location), ..QueryItem::default() }
}

fn said(text: &MarkupText, range: Option<TextRange>) -> QueryItem {
    QueryItem { documentation: text.text.clone(), ..range.map(here).unwrap_or_default() }
}

fn completion(it: &Completion) -> QueryItem {
    let tags = [(it.is_deprecated, "deprecated"), (it.is_preferred, "preferred")];
    QueryItem {
        label: it.label.clone(),
        kind: it.kind.and_then(|it| it.as_str()).unwrap_or_default().to_owned(),
        detail: it.detail.clone().unwrap_or_default(),
        documentation: words(it.documentation.as_ref()),
        insert_text: it.insert.clone(),
        tags: tags_of(tags),
        ..it.replace.map(here).unwrap_or_default()
    }
}

fn signatures(all: &Signatures) -> Vec<QueryItem> {
    let one = |(index, it): (usize, &Signature)| {
        let parameter = |(at, parameter): (usize, &language_servers::Parameter)| QueryItem {
            label: parameter.label.clone(),
            documentation: words(parameter.documentation.as_ref()),
            tags: tags_of([(it.active == Some(at), "active")]),
            ..QueryItem::default()
        };
        QueryItem {
            label: it.label.clone(),
            documentation: words(it.documentation.as_ref()),
            tags: tags_of([(index == all.active, "active")]),
            children: it.parameters.iter().enumerate().map(parameter).collect(),
            ..QueryItem::default()
        }
    };
    all.all.iter().enumerate().map(one).collect()
}

fn symbol(it: &Symbol) -> QueryItem {
    QueryItem {
        label: it.name.clone(),
        kind: kind(it.kind),
        detail: it.detail.clone().unwrap_or_default(),
        whole: Some(range(it.whole)),
        container: it.container.clone().unwrap_or_default(),
        tags: tags_of([(it.is_deprecated, "deprecated")]),
        children: it.children.iter().map(symbol).collect(),
        ..here(it.name_range)
    }
}

fn found_symbol(it: &FoundSymbol) -> QueryItem {
    QueryItem {
        label: it.name.clone(),
        kind: kind(it.kind),
        container: it.container.clone().unwrap_or_default(),
        tags: tags_of([(it.is_deprecated, "deprecated")]),
        ..at(&it.location)
    }
}

fn renamable(it: &Renamable) -> QueryItem {
    QueryItem { label: it.placeholder.clone().unwrap_or_default(), ..it.range.map(here).unwrap_or_default() }
}

fn action(it: &Action) -> QueryItem {
    QueryItem {
        label: it.title.clone(),
        kind: it.kind.clone().unwrap_or_default(),
        detail: it.disabled.clone().or_else(|| it.command.clone()).unwrap_or_default(),
        tags: tags_of([(it.is_preferred, "preferred"), (it.disabled.is_some(), "disabled")]),
        ..QueryItem::default()
    }
}

fn linked(it: &Linked) -> QueryItem {
    QueryItem {
        label: it.item.name.clone(),
        kind: kind(it.item.kind),
        detail: it.item.detail.clone().unwrap_or_default(),
        whole: it.item.whole.map(range),
        calls: it.calls.iter().map(location).collect(),
        ..at(&it.item.location)
    }
}

fn token(it: &Token) -> QueryItem {
    QueryItem { kind: it.kind.clone(), tags: it.modifiers.clone(), ..here(it.range) }
}

fn hint(it: &Hint) -> QueryItem {
    let kind = match it.kind {
        HintKind::Type => "type",
        HintKind::Parameter => "parameter",
        HintKind::Other => "",
    };
    let place = QueryLocation {
        path: String::new(),
        range: Some(Range { start: it.at, end: it.at }),
        span: Some(Span::new(it.offset, it.offset)),
    };
    QueryItem {
        label: it.label.clone(),
        kind: kind.to_owned(),
        documentation: words(it.tooltip.as_ref()),
        location: Some(place),
        ..QueryItem::default()
    }
}

fn step(it: &EditStep) -> QueryEdit {
    match it {
        EditStep::Text { path, edits, .. } => QueryEdit::Text { path: path.clone(), edits: edits.clone() },
        EditStep::Create { path } => QueryEdit::Create { path: path.clone() },
        EditStep::Rename { from, to } => QueryEdit::Rename { from: from.clone(), to: to.clone() },
        EditStep::Remove { path } => QueryEdit::Remove { path: path.clone() },
    }
}

fn location(it: &Location) -> QueryLocation {
    let path = match &it.file {
        File::Workspace(path) => path.to_string(),
        File::Outside(path) => path.display().to_string(),
        File::Other(uri) => uri.clone(),
    };
    QueryLocation { path, range: it.range.map(range), span: it.range.map(|it| it.span) }
}

fn range(it: TextRange) -> Range {
    Range { start: it.start, end: it.end }
}

fn kind(it: SymbolKind) -> String {
    it.as_str().unwrap_or_default().to_owned()
}

fn access(it: Access) -> &'static str {
    match it {
        Access::Any => "",
        Access::Read => "read",
        Access::Write => "write",
    }
}

fn words(text: Option<&MarkupText>) -> String {
    text.map(|it| it.text.clone()).unwrap_or_default()
}

fn tag(name: &str) -> Vec<String> {
    if name.is_empty() { Vec::new() } else { vec![name.to_owned()] }
}

fn tags_of<const N: usize>(tags: [(bool, &str); N]) -> Vec<String> {
    tags.into_iter().filter(|(is_so, _)| *is_so).map(|(_, tag)| tag.to_owned()).collect()
}
