//! A tree as a flat list of numbers.

use tree_sitter::{Node, TreeCursor};

use crate::Tree;

/// Count of numbers for a node: its kind with its field in the upper half, its [`Flags`], the bytes where it starts and
/// ends, and the place of the first node that is no part of it.
pub const WORDS: usize = 5;

/// Properties of a node, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags;

impl Flags {
    /// Named node: its kind has a name in the grammar, unlike a mere sign.
    pub const NAMED: u32 = 1;
    /// Node of text that does not fit the grammar.
    pub const ERROR: u32 = 1 << 1;
    /// Node that the grammar wants and the text lacks.
    pub const MISSING: u32 = 1 << 2;
    /// Node that may stand anywhere, as comments may.
    pub const EXTRA: u32 = 1 << 3;
    /// Node of which a part is an error or missing.
    pub const HAS_ERROR: u32 = 1 << 4;
}

impl Tree {
    /// [`WORDS`] numbers for each node, those of a node before those of its parts.
    pub fn table(&self) -> Vec<u32> {
        let mut table = Vec::with_capacity(self.count() * WORDS);
        let mut cursor = self.inner.walk();
        let mut open = Vec::new();
        loop {
            open.push(table.len());
            push(&cursor, &mut table);
            if cursor.goto_first_child() {
                continue;
            }
            loop {
                close(open.pop(), &mut table);
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return table;
                }
            }
        }
    }
}

fn push(cursor: &TreeCursor<'_>, table: &mut Vec<u32>) {
    let node = cursor.node();
    let field = cursor.field_id().map_or(0, |it| it.get());
    let kind = u32::from(node.kind_id()) | u32::from(field) << 16;
    let place = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    table.extend([kind, flags(node), place(node.start_byte()), place(node.end_byte()), 0]);
}

/// All parts of the node at `at` are there.
fn close(at: Option<usize>, table: &mut [u32]) {
    let after = u32::try_from(table.len() / WORDS).unwrap_or(u32::MAX);
    if let Some(at) = at {
        table[at + WORDS - 1] = after;
    }
}

fn flags(node: Node<'_>) -> u32 {
    let all = [
        (node.is_named(), Flags::NAMED),
        (node.is_error(), Flags::ERROR),
        (node.is_missing(), Flags::MISSING),
        (node.is_extra(), Flags::EXTRA),
        (node.has_error(), Flags::HAS_ERROR),
    ];
    all.iter().filter(|(is, _)| *is).map(|(_, flag)| flag).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    #[test]
    fn a_node_stands_before_its_parts() {
        let json = Language::named("json").unwrap();
        let tree = Tree::parse(json, "[1, x]".into(), &|| false).unwrap();
        let (kinds, table) = (json.kinds().unwrap(), tree.table());
        let lines: Vec<_> = table
            .chunks(WORDS)
            .map(|it| {
                let kind = kinds.get((it[0] & 0xffff) as usize).map_or("ERROR", |(name, _)| name);
                format!("{kind} {}..{} to {} flags {:05b}", it[2], it[3], it[4], it[1])
            })
            .collect();
        let want = [
            "document 0..6 to 8 flags 10001",
            "array 0..6 to 8 flags 10001",
            "[ 0..1 to 3 flags 00000",
            "number 1..2 to 4 flags 00001",
            "ERROR 2..5 to 7 flags 11011",
            ", 2..3 to 6 flags 00000",
            "ERROR 4..5 to 7 flags 00011",
            "] 5..6 to 8 flags 00000",
        ];
        assert_eq!(lines, want);
        assert_eq!(lines.len(), tree.count());
    }
}
