//! Trees by content, for all branches.

use std::sync::Arc;

use bytes::Bytes;
use overlay::ContentHash;
use quick_cache::{
    DefaultHashBuilder, OptionsBuilder, Weighter,
    sync::{Cache, DefaultLifecycle},
};

use crate::{Language, Query, QueryError, Tree, Unparsed};

/// The trees and queries that were made lately. Clones share them.
#[derive(Clone)]
pub struct Trees(Arc<Shared>);

struct Shared {
    by_content: Cache<(Language, ContentHash), Arc<Tree>, ByMemory>,
    queries: Cache<(Language, Box<str>), Arc<Query>, ByText>,
}

#[derive(Clone)]
struct ByMemory;

#[derive(Clone)]
struct ByText;

impl Weighter<(Language, Box<str>), Arc<Query>> for ByText {
    fn weight(&self, (_, text): &(Language, Box<str>), _: &Arc<Query>) -> u64 {
        (text.len() + USUAL_QUERY) as u64
    }
}

/// Bytes of a node, about, with the hidden ones that it stands for; measured on trees of several languages.
const NODE: usize = 112;

impl<K> Weighter<K, Arc<Tree>> for ByMemory {
    fn weight(&self, _: &K, tree: &Arc<Tree>) -> u64 {
        (tree.text().len() + tree.count() * NODE) as u64
    }
}

/// Bytes of the queries' texts; what is made of one takes many times as much.
const QUERIES: usize = 1 << 20;
const USUAL_QUERY: usize = 256;
/// Bytes of a tree, to know beforehand how many fit.
const TYPICAL_TREE_BYTES: u64 = 256 << 10;

impl Trees {
    /// Keeps trees of about so many bytes.
    pub fn new(memory: u64) -> Self {
        Self(Arc::new(Shared {
            by_content: cache(memory),
            queries: Cache::with_weighter(QUERIES / USUAL_QUERY / 2, QUERIES as u64, ByText),
        }))
    }

    /// The tree of a text. Two who want the same tree at the same time may both make it.
    pub fn tree(
        &self,
        language: Language,
        text: Bytes,
        content: ContentHash,
        give_up: &dyn Fn() -> bool,
    ) -> Result<Arc<Tree>, Unparsed> {
        let key = (language, content);
        if let Some(known) = self.0.by_content.get(&key) {
            return Ok(known);
        }
        let tree = Arc::new(Tree::parse(language, text, give_up)?);
        self.0.by_content.insert(key, Arc::clone(&tree));
        Ok(tree)
    }

    pub fn query(&self, language: Language, text: &str) -> Result<Arc<Query>, QueryError> {
        let key = (language, text.into());
        self.0.queries.get_or_insert_with(&key, || Query::new(language, text).map(Arc::new))
    }

    /// Bytes, about.
    pub fn memory(&self) -> u64 {
        self.0.by_content.weight()
    }
}

fn cache<K: Eq + std::hash::Hash>(memory: u64) -> Cache<K, Arc<Tree>, ByMemory> {
    let items = usize::try_from(memory / TYPICAL_TREE_BYTES).unwrap_or(usize::MAX).max(16);
    // In one part, so that a tree may be as large as all of it.
    let options = OptionsBuilder::new()
        .shards(1)
        .estimated_items_capacity(items)
        .weight_capacity(memory)
        .build()
        .expect("all that is needed is given");
    Cache::with_options(options, ByMemory, DefaultHashBuilder::default(), DefaultLifecycle::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(trees: &Trees, text: &str) -> Arc<Tree> {
        let json = Language::named("json").unwrap();
        let text = Bytes::copy_from_slice(text.as_bytes());
        trees.tree(json, text.clone(), ContentHash::of(&text), &|| false).unwrap()
    }

    #[test]
    fn one_text_has_one_tree() {
        let trees = Trees::new(1 << 20);
        let first = tree(&trees, "[1]");
        assert!(Arc::ptr_eq(&first, &tree(&trees, "[1]")));
        assert!(!Arc::ptr_eq(&first, &tree(&trees, "[2]")));
        assert!(trees.memory() > 0);
    }

    #[test]
    fn queries_are_bounded_by_their_size() {
        let trees = Trees::new(1 << 20);
        let json = Language::named("json").unwrap();
        for it in 0..100 {
            trees.query(json, &format!("(number) @a{it} ; {}", "x".repeat(60_000))).unwrap();
        }
        assert!(trees.0.queries.weight() <= QUERIES as u64, "{}", trees.0.queries.weight());
    }

    #[test]
    fn memory_is_bounded() {
        let trees = Trees::new(64 << 10);
        for it in 0..200 {
            tree(&trees, &format!("[{}{it}]", "1, ".repeat(100)));
        }
        assert!(trees.memory() <= 64 << 10, "{}", trees.memory());
    }
}
