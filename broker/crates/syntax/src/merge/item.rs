//! A list as items, and as what stands before, between and after them.

use std::collections::HashMap;

use tree_sitter::Node;

use super::{
    Part,
    kinds::{self, ListKind},
};

/// A list of one version.
pub(super) struct Split<'t> {
    /// Text before the first item; all of it where there is no item.
    pub(super) head: &'t str,
    pub(super) items: Vec<Item<'t>>,
    pub(super) tail: &'t str,
}

/// An item with the comments above it and the one behind it.
pub(super) struct Item<'t> {
    /// Text between the item before and this one; `None` of the first.
    pub(super) gap: Option<&'t str>,
    start: usize,
    end: usize,
    /// `None` for comments alone.
    pub(super) part: Option<Part<'t>>,
    text: &'t str,
    /// Name, which other items may have.
    pub(super) name: Option<String>,
    pub(super) key: String,
}

impl<'t> Item<'t> {
    pub(super) fn text(&self) -> &'t str {
        &self.text[self.start..self.end]
    }

    /// The text before the node itself, and after it.
    pub(super) fn around(&self) -> Option<[&'t str; 2]> {
        let part = self.part?;
        Some([&self.text[self.start..part.start], &self.text[part.end..self.end]])
    }

    /// The blanks before the item on its line.
    pub(super) fn indentation(&self) -> &'t str {
        let line = self.text[..self.start].rfind('\n').map_or(0, |it| it + 1);
        &self.text[line..self.start]
    }

    /// Whether nothing else is on the lines of the item.
    fn is_on_own_lines(&self) -> bool {
        let rest = self.text[self.end..].lines().next().unwrap_or_default();
        let is_last = self.text[..self.end].ends_with('\n') || rest.trim().is_empty();
        self.indentation().trim().is_empty() && is_last
    }

    /// Whether JavaScript may read an item and the next one, of the two sides, as one statement: the first does not end with
    /// a semicolon.
    pub(super) fn joins(&self, next: &Self) -> bool {
        let (Some(part), Some(after)) = (self.part, next.part) else { return false };
        let is_open = kinds::may_lack_semicolon(part.node) && !self.text().trim_end().ends_with(';');
        let is_prefix = ["get", "set", "static", "async", "accessor"].contains(&part.text().trim());
        is_open && (is_prefix || after.text().starts_with(['(', '[', '`', '*', '/', '+', '-', ',', '.']))
    }

    pub(super) fn is_import(&self) -> bool {
        self.part.is_some_and(|it| kinds::is_import(it.node))
    }

    pub(super) fn is_definition(&self) -> bool {
        self.part.is_some_and(|it| kinds::is_definition(it.node, self.text))
    }
}

/// Nodes that belong to the item after them.
const LEADING: [&str; 3] = ["attribute_item", "decorator", "annotation"];

/// Splits a list into items; `None` where something else is between them.
pub(super) fn split(list: Part<'_>, kind: ListKind) -> Option<Split<'_>> {
    let mut found: Vec<ItemSpan<'_>> = Vec::new();
    let mut leading: Option<ItemSpan<'_>> = None;
    for child in list.children() {
        let last = found.last_mut();
        if child.node.is_extra() || LEADING.contains(&child.node.kind()) {
            match last.filter(|it| child.node.is_extra() && it.is_on_line_of(child)) {
                // Behind a comma, the comment belongs to what is before it.
                Some(_) if kind == ListKind::Commas => return None,
                Some(last) if leading.is_none() => last.end = child.end,
                _ => {
                    let start = leading.map_or(child.start, |it| it.start);
                    leading = Some(ItemSpan { start, end: child.end, part: None, last: child });
                }
            }
        } else if is_item(list.node, child.node) {
            // Comments that a blank line separates are not about the item.
            found.extend(leading.take_if(|it| kind == ListKind::Lines && it.is_apart_from(child)));
            let start = leading.take().map_or(child.start, |it| it.start);
            found.push(ItemSpan { start, end: child.end, part: Some(child), last: child });
        } else if let Some(last) = last.filter(|_| kind == ListKind::Lines && child.node.kind() == ";") {
            last.end = child.end;
        }
    }
    match leading {
        // An attribute of nothing.
        Some(it) if !it.last.node.is_extra() => return None,
        leading => found.extend(leading),
    }
    Some(Split::new(list, found)).filter(|it| it.is_clean(kind))
}

fn is_item(list: Node<'_>, child: Node<'_>) -> bool {
    match list.kind() {
        "import_from_statement" => child.is_named() && Some(child) != list.child_by_field_name("module_name"),
        _ => child.is_named(),
    }
}

struct ItemSpan<'t> {
    start: usize,
    end: usize,
    part: Option<Part<'t>>,
    /// The item's last node, without comments behind it.
    last: Part<'t>,
}

impl ItemSpan<'_> {
    /// Whether comments have a blank line behind them.
    fn is_apart_from(&self, next: Part<'_>) -> bool {
        let behind = next.text[self.start..self.end].trim_end().len();
        let is_comment = self.last.node.is_extra();
        is_comment && next.text[self.start + behind..next.start].matches('\n').count() > 1
    }

    fn is_on_line_of(&self, next: Part<'_>) -> bool {
        !next.text[self.end..next.start].contains('\n')
    }
}

impl<'t> Split<'t> {
    fn new(list: Part<'t>, found: Vec<ItemSpan<'t>>) -> Self {
        let text = list.text;
        let first = found.first().map_or(list.end, |it| it.start);
        let mut end = None;
        let mut items: Vec<Item<'t>> = Vec::new();
        for ItemSpan { start, end: next, part, .. } in found {
            let gap = end.map(|it| &text[it..start]);
            let own = &text[start..next];
            let name = part.and_then(|it| kinds::name(it.node, text));
            let key = name.as_ref().map_or_else(|| format!("text {own}"), |it| format!("name {it}"));
            items.push(Item { gap, start, end: next, part, text, name, key });
            end = Some(next);
        }
        let mut split =
            Self { head: &text[list.start..first], items, tail: &text[end.unwrap_or(list.end)..list.end] };
        split.make_unique();
        split
    }

    /// Tells items of one name apart by their texts, and those by their order.
    fn make_unique(&mut self) {
        let mut number = HashMap::<String, usize>::new();
        self.items.iter().for_each(|it| *number.entry(it.key.clone()).or_default() += 1);
        let mut before = HashMap::<&str, usize>::new();
        for item in self.items.iter_mut().filter(|it| number[&it.key] > 1) {
            let own = &item.text[item.start..item.end];
            let seen = before.entry(own).or_default();
            item.key = format!("{} {seen} {own}", item.key);
            *seen += 1;
        }
    }

    fn is_clean(&self, kind: ListKind) -> bool {
        if self.items.iter().any(|it| it.part.is_some_and(|it| kinds::is_spread(it.node))) {
            return false;
        }
        if kind == ListKind::Lines && !self.items.iter().all(Item::is_on_own_lines) {
            return false;
        }
        let may_be = |it: char| it.is_whitespace() || (kind == ListKind::Commas && it == ',');
        self.items.iter().filter_map(|it| it.gap).all(|it| it.chars().all(may_be))
    }
}
