//! Descriptions and completion for rules in suppression comments, and for rules, keys and values in `broker.toml`.

use std::{ops::Range as Bytes, rc::Rc};

use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, CompletionList, Documentation, Position,
    TextEdit,
};
use lint::Span;
use workspaces::LinterRule;

use super::{
    config_schema,
    document::Document,
    failure::Failure,
    hover::Part,
    rule_list::{Rules, full_name, markdown},
    server::Server,
    text::Text,
    words::{Word, WordKind},
};

/// Limit on proposals in one answer. The client asks again as the user types.
const MAX_PROPOSALS: usize = 1000;

/// The word at the cursor, found when the request comes: the document may change while it is answered.
pub(super) struct CursorWord {
    text: Text,
    /// Byte offset of its line.
    start: u32,
    /// Offset of the cursor in the line, in bytes.
    column: usize,
    word: Word,
}

impl CursorWord {
    /// `None` where a rule or key can neither stand nor be typed.
    pub(super) fn at(document: &Document, position: Position) -> Option<Self> {
        let text = document.state().text;
        let path = document.path()?.file_name().unwrap_or_default().to_owned();
        let table = lint::LineTable::new(text.as_str().as_bytes());
        let span = table.line_span(position.line.checked_add(1)?)?;
        let offset = text.index().offset(position);
        let column = offset.checked_sub(span.start)? as usize;
        let line = |span: Span| text.as_str().get(span.start as usize..span.end as usize);
        let word = if config::FILE_NAMES.contains(&path.as_str()) {
            let lines: Vec<_> = (1..=position.line + 1).filter_map(|it| line(table.line_span(it)?)).collect();
            Word::in_config(&lines, column)
        } else {
            let line = line(span)?;
            Word::in_suppression(line, column).or_else(|| Word::in_other_comment(line, column))
        };
        let word = word?;
        Some(Self { start: span.start, column, word, text })
    }

    fn word(&self, range: Bytes<usize>) -> &str {
        let start = self.start as usize;
        self.text.as_str().get(start + range.start..start + range.end).unwrap_or_default()
    }

    fn range(&self) -> gen_lsp_types::Range {
        let at = |column: usize| self.start + u32::try_from(column).unwrap_or(u32::MAX);
        self.text.index().range(Span::new(at(self.word.range.start), at(self.word.range.end)))
    }

    /// The part of the word before the cursor.
    fn typed(&self) -> &str {
        self.word(self.word.range.start..self.column.max(self.word.range.start))
    }
}

/// Description of the rule or key.
pub(super) async fn describe(
    server: &Server,
    document: &Rc<Document>,
    cursor: &CursorWord,
) -> Result<Option<Part>, Failure> {
    let whole = cursor.word(cursor.word.range.clone());
    let text = match &cursor.word.kind {
        WordKind::Key { table } => {
            let path: Vec<_> = table.iter().cloned().chain([whole.to_owned()]).collect();
            Some(config_schema::meaning(&path)).filter(|it| !it.is_empty())
        }
        WordKind::Table => {
            let path: Vec<_> = whole.split('.').map(str::to_owned).collect();
            Some(config_schema::meaning(&path)).filter(|it| !it.is_empty())
        }
        WordKind::Suppressed | WordKind::Mentioned | WordKind::Value { .. } => None,
    };
    let text = match text {
        Some(text) => Some(text),
        None => rules(server, document).await?.and_then(|it| it.find(whole).map(markdown)),
    };
    Ok(text.map(|text| Part { text, range: Some(cursor.range()) }))
}

/// Proposals for the word.
pub(super) async fn complete(
    server: &Server,
    document: &Rc<Document>,
    cursor: &CursorWord,
) -> Result<CompletionList, Failure> {
    let mut items = Vec::new();
    let mut is_incomplete = false;
    let named =
        |names: Vec<config_schema::Key>| names.into_iter().map(|it| item(cursor, it.name, &it.description));
    let are_rules = match &cursor.word.kind {
        WordKind::Suppressed => true,
        WordKind::Mentioned => false,
        WordKind::Value { path } => {
            items.extend(config_schema::values(path).into_iter().map(|it| item(cursor, it, "")));
            config_schema::names_rules(path)
        }
        WordKind::Key { table } => {
            items.extend(named(config_schema::keys(table)));
            table.last().is_some_and(|it| it == "severity")
        }
        WordKind::Table => {
            items.extend(named(config_schema::keys(&[])));
            false
        }
    };
    if are_rules {
        let (proposals, is_cut) = rule_proposals(server, document, cursor).await?;
        items.extend(proposals);
        is_incomplete = is_cut;
    }
    Ok(CompletionList { is_incomplete, items, ..CompletionList::default() })
}

/// Rules that the word may name, and whether there are more than [`MAX_PROPOSALS`].
async fn rule_proposals(
    server: &Server,
    document: &Rc<Document>,
    cursor: &CursorWord,
) -> Result<(Vec<CompletionItem>, bool), Failure> {
    let Some(rules) = rules(server, document).await? else { return Ok((Vec::new(), false)) };
    // Rules with findings in the document come first: those are what a user suppresses.
    let checked = document.results().borrow().clone();
    let found = checked.map(|it| it.found.clone()).unwrap_or_default();
    let is_found = |it: &LinterRule| {
        found.findings.iter().any(|one| *one.0.rule.linter == *it.linter && one.0.rule.code == it.rule.code)
    };
    let is_asked = |it: &LinterRule| found.linters.contains(&it.linter);
    let mut proposed: Vec<_> = rules.beginning(cursor.typed()).collect();
    proposed.sort_by_key(|it| (!is_found(it), !is_asked(it), !it.rule.default));
    let items = proposed.iter().take(MAX_PROPOSALS).map(|it| proposal(cursor, it)).collect();
    Ok((items, proposed.len() > MAX_PROPOSALS))
}

async fn rules(server: &Server, document: &Rc<Document>) -> Result<Option<Rc<Rules>>, Failure> {
    let Some(folder) = document.folder() else { return Ok(None) };
    Ok(Some(server.rules.of(folder).await?))
}

fn proposal(cursor: &CursorWord, rule: &LinterRule) -> CompletionItem {
    let mut item = item(cursor, full_name(rule), &rule.rule.summary);
    item.detail = Some(rule.rule.name.clone()).filter(|it| !it.is_empty());
    item.kind = Some(CompletionItemKind::Constant);
    // The client filters by what was typed, which may be the code or the name alone.
    let typed = cursor.typed().to_lowercase();
    let names = [&item.label, &rule.rule.code, &rule.rule.name];
    let meant = names.into_iter().find(|it| it.to_lowercase().starts_with(&typed));
    item.filter_text = meant.cloned();
    item
}

fn item(cursor: &CursorWord, label: String, documentation: &str) -> CompletionItem {
    let edit = TextEdit { range: cursor.range(), new_text: label.clone() };
    CompletionItem {
        label,
        kind: Some(CompletionItemKind::Property),
        documentation: Some(documentation)
            .filter(|it| !it.is_empty())
            .map(|it| Documentation::String(it.to_owned())),
        text_edit: Some(CompletionItemTextEdit::TextEdit(edit)),
        ..CompletionItem::default()
    }
}
