//! Ranges of a definition: what belongs to it above it and around it, and its body.

use tree_sitter::Node;

use super::Found;

impl Found<'_> {
    /// The widest node that belongs to the definition.
    pub(super) fn outer<'t>(&self, node: Node<'t>) -> Node<'t> {
        let mut outer = node;
        if self.around.is_empty() {
            return outer;
        }
        while let Some(parent) = outer.parent().filter(|it| self.around.contains(&it.id())) {
            outer = parent;
        }
        outer
    }

    /// Start of the first comment, attribute or decorator in the lines right above a node.
    pub(super) fn lead(&self, node: Node<'_>) -> usize {
        let mut first = node;
        while let Some(above) = self.above(first).filter(|it| self.is_aside(*it)) {
            let is_adjacent = self.lines_above(first.start_byte()) <= 1;
            if !is_adjacent || !self.begins_line(above.start_byte()) {
                break;
            }
            first = above;
        }
        first.start_byte()
    }

    /// Start of a node without the comments, attributes and decorators in it.
    pub(super) fn head(&self, outer: Node<'_>) -> usize {
        let mut cursor = outer.walk();
        let own = outer.children(&mut cursor).find(|it| !self.is_aside(*it));
        own.unwrap_or(outer).start_byte()
    }

    fn is_aside(&self, node: Node<'_>) -> bool {
        let kind = node.kind();
        kind.contains("comment")
            || matches!(kind, "decorator" | "attribute_item")
            || self.asides.contains(&node.id())
    }

    /// The sibling before a node, or before those that begin with it; or the comment that ends it and stands in the node's
    /// column, as it does where a grammar has blocks by indentation.
    fn above<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        let mut first = node;
        let before = loop {
            match first.prev_sibling() {
                Some(it) => break it,
                None => first = first.parent().filter(|it| it.start_byte() == node.start_byte())?,
            }
        };
        let last = |it: &Node<'t>| it.child(it.child_count().checked_sub(1)?);
        let column = node.start_position().column;
        let mut ends = std::iter::successors(last(&before), last);
        Some(ends.find(|it| self.is_aside(*it) && it.start_position().column == column).unwrap_or(before))
    }

    /// Ends of lines in the blanks before `at`.
    fn lines_above(&self, at: usize) -> usize {
        let blank = self.text[..at].iter().rev().take_while(|it| it.is_ascii_whitespace());
        blank.filter(|it| **it == b'\n').count()
    }

    fn begins_line(&self, at: usize) -> bool {
        let mut before = self.text[..at].iter().rev().take_while(|it| **it != b'\n');
        before.all(u8::is_ascii_whitespace)
    }
}

/// Values in each other that are looked into for a body.
const DEPTH: usize = 4;

/// The body of what a node defines: its own, that of its value, or that of the last argument of a call.
pub(super) fn body(node: Node<'_>) -> Option<Node<'_>> {
    body_within(node, DEPTH)
}

/// The parameters of a function, which stand before its body.
pub(super) fn parameters<'t>(node: Node<'t>, body: Option<Node<'t>>) -> Option<Node<'t>> {
    if let Some(it) = node.child_by_field_name("parameters") {
        return Some(it);
    }
    let end = body.map_or(node.end_byte(), |it| it.start_byte());
    let mut waiting = vec![(node, 0)];
    while let Some((node, depth)) = waiting.pop() {
        let kind = node.kind();
        if depth > 0 && kind.contains("parameter") && !kind.starts_with("type_") {
            return Some(node);
        }
        if depth < DEPTH {
            let mut cursor = node.walk();
            let before = node.named_children(&mut cursor).filter(|it| it.start_byte() < end);
            let inner: Vec<_> = before.map(|it| (it, depth + 1)).collect();
            waiting.extend(inner.into_iter().rev());
        }
    }
    None
}

fn body_within(node: Node<'_>, depth: usize) -> Option<Node<'_>> {
    if let Some(it) = node.child_by_field_name("body") {
        return Some(it);
    }
    let deeper = depth.checked_sub(1)?;
    let part = |field: &&str| body_within(node.child_by_field_name(field)?, deeper);
    if let Some(it) = ["value", "right", "type"].iter().find_map(part) {
        return Some(it);
    }
    if let Some(arguments) = node.child_by_field_name("arguments") {
        let mut cursor = arguments.walk();
        let functions = arguments.named_children(&mut cursor).filter_map(|it| body_within(it, deeper));
        return functions.last();
    }
    let is_block =
        |it: &Node<'_>| ["body", "block", "declaration_list"].iter().any(|end| it.kind().ends_with(end));
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(is_block).last()
}
