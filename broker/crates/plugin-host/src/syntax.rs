//! Syntax trees for a guest: of files, which it thereby reads, and of texts.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;
use overlay::{ContentHash, View as _, WorkspacePath};
use syntax::{Language, Tree};

use crate::{
    bindings::syntax::{Captures, Host, Kind, Problem, Source},
    instance::unreadable,
    state::State,
};

/// Bytes. To make a query takes more time than to read it, and nothing interrupts that.
const LONGEST_QUERY: usize = 64 << 10;

/// Bytes of memory that the tree of one byte may take: what was measured of a text that is all empty statements.
const TREE: u64 = 256;

impl Host for State {
    fn languages(&mut self) -> Vec<String> {
        Language::all().map(|it| it.name().to_owned()).collect()
    }

    fn language_of(&mut self, path: String) -> Option<String> {
        let path = WorkspacePath::new(&path).ok()?;
        Language::of(&path).map(|it| it.name().to_owned())
    }

    fn kinds(&mut self, language: String) -> Result<Vec<Kind>, Problem> {
        self.load_grammars();
        let kinds = named(&language)?.kinds().map_err(Problem::Unparsed)?;
        Ok(kinds.into_iter().map(|(name, named)| Kind { name, named }).collect())
    }

    fn fields(&mut self, language: String) -> Result<Vec<String>, Problem> {
        self.load_grammars();
        named(&language)?.fields().map_err(Problem::Unparsed)
    }

    fn tree(&mut self, source: Source, language: Option<String>) -> Result<Vec<u32>, Problem> {
        Ok(self.parsed(source, language.as_deref())?.table())
    }

    fn query(
        &mut self,
        source: Source,
        language: Option<String>,
        query: String,
    ) -> Result<Captures, Problem> {
        if query.len() > LONGEST_QUERY {
            let told = format!("it has {} bytes, where {LONGEST_QUERY} are allowed", query.len());
            return Err(Problem::BadQuery(told));
        }
        let tree = self.parsed(source, language.as_deref())?;
        let query = self.trees.query(tree.language(), &query);
        let query = query.map_err(|error| Problem::BadQuery(error.to_string()))?;
        let found = query.run(&tree, &|| self.is_over());
        let syntax::Captures { table, is_cut } = found.map_err(|it| Problem::Unparsed(it.to_string()))?;
        Ok(Captures { names: query.names(), table, cut: is_cut })
    }
}

impl State {
    /// The first time takes some tenths of a second, which are not the guest's.
    fn load_grammars(&mut self) {
        let start = Instant::now();
        syntax::load_grammars();
        self.budget.waited += start.elapsed();
    }

    fn parsed(&mut self, source: Source, language: Option<&str>) -> Result<Arc<Tree>, Problem> {
        let (path, text) = match source {
            Source::Text(text) => (None, Bytes::from(text)),
            Source::File(path) => {
                self.files.count_look(&path).map_err(|it| Problem::Unreadable(it.to_string()))?;
                let path =
                    WorkspacePath::new(&path).map_err(|error| Problem::Unreadable(error.to_string()))?;
                // The guest has this text already. As a read, all answers that the instance gives later would rest on it.
                let text = self.checked_text(&path).map_or_else(|| self.view.open(&path), Ok);
                let text = text.map_err(|error| Problem::Unreadable(unreadable(&error)))?;
                (Some(path), text)
            }
        };
        let language = match (language, &path) {
            (Some(name), _) => named(name)?,
            (None, Some(path)) => Language::of(path).ok_or_else(|| unknown(path.as_str()))?,
            (None, None) => return Err(unknown("a text")),
        };
        let bytes = text.len();
        let Some(_counted) = self.budget.count((), bytes as u64 * TREE) else {
            let why = format!("its tree may take more memory than is left, since the text has {bytes} bytes");
            return Err(Problem::Unparsed(why));
        };
        self.load_grammars();
        let content = ContentHash::of(&text);
        let tree = self.trees.tree(language, text, content, &|| self.is_over());
        tree.map_err(|error| Problem::Unparsed(error.to_string()))
    }
}

fn named(language: &str) -> Result<Language, Problem> {
    Language::named(language).ok_or_else(|| unknown(language))
}

fn unknown(what: &str) -> Problem {
    Problem::UnknownLanguage(what.to_owned())
}
