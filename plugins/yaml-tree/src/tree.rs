//! A document as nodes with places. Built without recursion; aliases stay aliases.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use granit_parser::{Event, ScalarStyle};

/// The number of a node in its document.
pub type Id = usize;

/// One document of a stream.
#[derive(Debug, Default)]
pub struct Document<'t> {
    nodes: Vec<Node<'t>>,
    /// Nodes with an anchor, by the parser's number of the anchor.
    anchors: BTreeMap<usize, Id>,
}

#[derive(Debug)]
pub struct Node<'t> {
    pub kind: Kind<'t>,
    /// Bytes.
    pub range: Range<usize>,
    /// Whether a tag that is not one of YAML's own determines its type.
    pub is_custom: bool,
}

#[derive(Debug)]
pub enum Kind<'t> {
    Scalar {
        text: Cow<'t, str>,
        style: ScalarStyle,
        tag: Option<String>,
    },
    List(Vec<Id>),
    Map(Vec<(Id, Id)>),
    Alias(Id),
    /// An alias to nothing, which is a finding already.
    Unknown,
}

impl<'t> Document<'t> {
    /// The node that everything is in; nothing in an empty document.
    pub fn root(&self) -> Option<Id> {
        (!self.nodes.is_empty()).then_some(0)
    }

    pub fn node(&self, id: Id) -> &Node<'t> {
        &self.nodes[id]
    }

    pub fn nodes(&self) -> &[Node<'t>] {
        &self.nodes
    }

    /// The node that is meant by `id`.
    pub fn resolved(&self, id: Id) -> Id {
        match self.nodes[id].kind {
            Kind::Alias(target) => target,
            _ => id,
        }
    }

    /// The text of a scalar.
    pub fn text(&self, id: Id) -> Option<&str> {
        match &self.nodes[self.resolved(id)].kind {
            Kind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    pub fn items(&self, id: Id) -> &[Id] {
        match &self.nodes[self.resolved(id)].kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    pub fn entries(&self, id: Id) -> &[(Id, Id)] {
        match &self.nodes[self.resolved(id)].kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The value of a key; of several, the last.
    pub fn get(&self, map: Id, key: &str) -> Option<Id> {
        let found = self.entries(map).iter().rev().find(|it| self.text(it.0) == Some(key));
        found.map(|it| it.1)
    }
}

/// Puts a document together from events.
#[derive(Default)]
pub struct Builder<'t> {
    document: Document<'t>,
    open: Vec<Open>,
}

/// A list or map that is not closed yet, and a key that waits for its value.
struct Open {
    id: Id,
    key: Option<Id>,
}

impl<'t> Builder<'t> {
    /// Takes the next event; gives the document that it ends.
    pub fn event(&mut self, event: Event<'t>, range: Range<usize>) -> Option<Document<'t>> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_custom = tag.as_ref().is_some_and(|it| !it.is_yaml_core_schema());
                let tag = tag.and_then(|it| it.core_suffix().map(str::to_owned));
                self.add(Kind::Scalar { text, style, tag }, range, anchor, is_custom);
            }
            Event::SequenceStart(_, anchor, tag) => {
                let is_custom = tag.is_some_and(|it| !it.is_yaml_core_schema());
                self.open(Kind::List(Vec::new()), range, anchor, is_custom);
            }
            Event::MappingStart(_, anchor, tag) => {
                let is_custom = tag.is_some_and(|it| !it.is_yaml_core_schema());
                self.open(Kind::Map(Vec::new()), range, anchor, is_custom);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(&range),
            Event::Alias(anchor) => {
                let kind = self.document.anchors.get(&anchor).map_or(Kind::Unknown, |it| Kind::Alias(*it));
                self.add(kind, range, 0, false);
            }
            Event::DocumentEnd => return Some(std::mem::take(self).document),
            _ => {}
        }
        None
    }

    /// Takes an alias to nothing.
    pub fn unresolved(&mut self, range: Range<usize>) {
        self.add(Kind::Unknown, range, 0, false);
    }

    fn open(&mut self, kind: Kind<'t>, range: Range<usize>, anchor: usize, is_custom: bool) {
        let id = self.add(kind, range, anchor, is_custom);
        self.open.push(Open { id, key: None });
    }

    /// The end of a block is where its last part ends, not where the next thing begins.
    fn close(&mut self, range: &Range<usize>) {
        let Some(open) = self.open.pop() else { return };
        let last = match &self.document.nodes[open.id].kind {
            Kind::List(items) => items.last().copied(),
            Kind::Map(entries) => entries.last().map(|it| it.1),
            _ => None,
        };
        let end = match last {
            Some(last) if range.is_empty() => self.document.nodes[last].range.end,
            _ => range.end,
        };
        let node = &mut self.document.nodes[open.id].range;
        node.end = end.max(node.end);
    }

    fn add(&mut self, kind: Kind<'t>, range: Range<usize>, anchor: usize, is_custom: bool) -> Id {
        let id = self.document.nodes.len();
        self.document.nodes.push(Node { kind, range, is_custom });
        if anchor != 0 {
            self.document.anchors.insert(anchor, id);
        }
        let Some(open) = self.open.last_mut() else { return id };
        match (&mut self.document.nodes[open.id].kind, open.key.take()) {
            (Kind::List(items), _) => items.push(id),
            (Kind::Map(entries), Some(key)) => entries.push((key, id)),
            (Kind::Map(_), None) => open.key = Some(id),
            _ => {}
        }
        id
    }
}
