//! The answers of language servers as messages: one kind of item for all that can be found.

use broker_proto::{v1 as pb, v1::query_edit::Step};
use language_servers::{
    Access, Action, Completion, EditStep, Edits, File, FoundSymbol, Hint, HintKind, Link, Linked, Location,
    MarkupText, QueryResult, Renamable, Signature, Signatures, Symbol, SymbolKind, TextRange, Token,
};
use overlay::TextEdit;

use super::to_proto::{self, span};

/// All that the answer itself says.
pub(super) fn response(answer: &QueryResult) -> pb::QueryResponse {
    let items = match answer {
        QueryResult::Edits(edits) => return changes(edits),
        QueryResult::Links(all) => all.iter().map(link).collect(),
        QueryResult::References(all) => all.iter().map(at).collect(),
        QueryResult::Highlights(all) => {
            all.iter().map(|it| pb::QueryItem { tags: tag(access(it.access)), ..here(it.range) }).collect()
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
        QueryResult::Folds(all) => {
            let fold = |it: &language_servers::Fold| pb::QueryItem {
                kind: it.kind.clone().unwrap_or_default(),
                ..here(it.range)
            };
            all.iter().map(fold).collect()
        }
        // It has an answer of its own.
        QueryResult::Raw { .. } => Vec::new(),
    };
    pb::QueryResponse { items, ..pb::QueryResponse::default() }
}

fn link(it: &Link) -> pb::QueryItem {
    pb::QueryItem { whole: it.whole.map(range), ..at(&it.target) }
}

fn at(it: &Location) -> pb::QueryItem {
    pb::QueryItem { location: Some(location(it)), ..pb::QueryItem::default() }
}

/// In the file that was asked about.
fn here(it: TextRange) -> pb::QueryItem {
    let location = pb::Location { path: String::new(), range: Some(range(it)), span: Some(span(it.span)) };
    pb::QueryItem { location: Some(location), ..pb::QueryItem::default() }
}

fn said(text: &MarkupText, range: Option<TextRange>) -> pb::QueryItem {
    pb::QueryItem { documentation: text.text.clone(), ..range.map(here).unwrap_or_default() }
}

fn completion(it: &Completion) -> pb::QueryItem {
    let tags = [(it.is_deprecated, "deprecated"), (it.is_preferred, "preferred")];
    pb::QueryItem {
        label: it.label.clone(),
        kind: it.kind.and_then(|it| it.as_str()).unwrap_or_default().to_owned(),
        detail: it.detail.clone().unwrap_or_default(),
        documentation: words(it.documentation.as_ref()),
        insert_text: it.insert.clone(),
        tags: tags_of(tags),
        ..it.replace.map(here).unwrap_or_default()
    }
}

fn signatures(all: &Signatures) -> Vec<pb::QueryItem> {
    let one = |(index, it): (usize, &Signature)| {
        let parameter = |(at, parameter): (usize, &language_servers::Parameter)| pb::QueryItem {
            label: parameter.label.clone(),
            documentation: words(parameter.documentation.as_ref()),
            tags: tags_of([(it.active == Some(at), "active")]),
            ..pb::QueryItem::default()
        };
        pb::QueryItem {
            label: it.label.clone(),
            documentation: words(it.documentation.as_ref()),
            tags: tags_of([(index == all.active, "active")]),
            children: it.parameters.iter().enumerate().map(parameter).collect(),
            ..pb::QueryItem::default()
        }
    };
    all.all.iter().enumerate().map(one).collect()
}

fn symbol(it: &Symbol) -> pb::QueryItem {
    pb::QueryItem {
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

fn found_symbol(it: &FoundSymbol) -> pb::QueryItem {
    pb::QueryItem {
        label: it.name.clone(),
        kind: kind(it.kind),
        container: it.container.clone().unwrap_or_default(),
        tags: tags_of([(it.is_deprecated, "deprecated")]),
        ..at(&it.location)
    }
}

fn renamable(it: &Renamable) -> pb::QueryItem {
    pb::QueryItem {
        label: it.placeholder.clone().unwrap_or_default(),
        ..it.range.map(here).unwrap_or_default()
    }
}

fn action(it: &Action) -> pb::QueryItem {
    pb::QueryItem {
        label: it.title.clone(),
        kind: it.kind.clone().unwrap_or_default(),
        detail: it.disabled.clone().or_else(|| it.command.clone()).unwrap_or_default(),
        tags: tags_of([(it.is_preferred, "preferred"), (it.disabled.is_some(), "disabled")]),
        ..pb::QueryItem::default()
    }
}

fn linked(it: &Linked) -> pb::QueryItem {
    pb::QueryItem {
        label: it.item.name.clone(),
        kind: kind(it.item.kind),
        detail: it.item.detail.clone().unwrap_or_default(),
        whole: it.item.whole.map(range),
        calls: it.calls.iter().map(location).collect(),
        ..at(&it.item.location)
    }
}

fn token(it: &Token) -> pb::QueryItem {
    pb::QueryItem { kind: it.kind.clone(), tags: it.modifiers.clone(), ..here(it.range) }
}

fn hint(it: &Hint) -> pb::QueryItem {
    let kind = match it.kind {
        HintKind::Type => "type",
        HintKind::Parameter => "parameter",
        HintKind::Other => "",
    };
    let place = pb::Location {
        path: String::new(),
        range: Some(to_proto::range(checker::Range { start: it.at, end: it.at })),
        span: Some(span(lint::Span { start: it.offset, end: it.offset })),
    };
    pb::QueryItem {
        label: it.label.clone(),
        kind: kind.to_owned(),
        documentation: words(it.tooltip.as_ref()),
        location: Some(place),
        ..pb::QueryItem::default()
    }
}

fn changes(edits: &Edits) -> pb::QueryResponse {
    pb::QueryResponse {
        edits: edits.steps.iter().map(|it| pb::QueryEdit { step: Some(step(it)) }).collect(),
        notes: edits.notes.clone(),
        ..pb::QueryResponse::default()
    }
}

fn step(it: &EditStep) -> Step {
    match it {
        EditStep::Text { path, edits, .. } => Step::Text(pb::QueryTextEdits {
            path: path.to_string(),
            edits: edits.iter().map(text_edit).collect(),
        }),
        EditStep::Create { path } => Step::CreatePath(path.to_string()),
        EditStep::Rename { from, to } => {
            Step::Rename(pb::QueryRename { from_path: from.to_string(), to_path: to.to_string() })
        }
        EditStep::Remove { path } => Step::RemovePath(path.to_string()),
    }
}

fn text_edit(it: &TextEdit) -> pb::TextEdit {
    let span = span(lint::Span { start: it.start, end: it.end });
    pb::TextEdit { span: Some(span), replacement: it.replacement.clone() }
}

fn location(it: &Location) -> pb::Location {
    let path = match &it.file {
        File::Workspace(path) => path.to_string(),
        File::Outside(path) => path.display().to_string(),
        File::Other(uri) => uri.clone(),
    };
    pb::Location { path, range: it.range.map(range), span: it.range.map(|it| span(it.span)) }
}

fn range(it: TextRange) -> pb::Range {
    to_proto::range(checker::Range { start: it.start, end: it.end })
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
