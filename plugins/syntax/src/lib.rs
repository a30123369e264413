//! Syntax errors in languages that have a grammar in the host and no plugin of their own.
//!
//! A file that is right costs one query, which finds nothing. Only of one that is wrong the tree is asked for, and from
//! the tree the places that a person would look at: [`places`] and [`brackets`] find them, [`message`] tells them.
//! [`languages`] says which grammars are trusted how far, [`gaps`] what they do not know, [`php`] which comments they do not see, [`rust`] what is right all the
//! same, and [`template`] which files are in another language than their name says.
//!
//! Left out: what a grammar does not see, such as a `break` outside of loops, and fixes: a text that cannot be read
//! does not tell what was meant.

mod brackets;
mod gaps;
mod go;
mod languages;
mod lexer;
mod message;
mod php;
mod places;
mod rules;
mod rust;
mod semicolon;
mod template;
#[cfg(test)]
mod tests;
mod xml;

use std::borrow::Cow;

use broker_plugin_sdk::{
    Diagnostic, Plugin, Report, Rule, RulesOn, Selection, Settings, SettingsError, Severity, SourceFile,
    syntax::{self, Problem, Source, Tree},
};

use crate::{
    languages::{Language, Trust},
    places::{Place, What},
};

/// All that does not fit, wherever it is.
const WRONG: &str = "(ERROR) @wrong (MISSING) @wrong";

/// Limit on a text that is parsed, in bytes. The host counts 256 bytes of memory for each byte of a text that it parses,
/// and what it would refuse depends on what else a guest holds: below this limit the answer rests on the text alone.
const LARGEST: usize = 7 << 20;

/// Limit on a text that is read once more to find words for what is wrong in it, in bytes.
const SMALL: usize = 512 << 10;

/// The plugin: which rules are wanted.
pub struct Syntax {
    wanted: Selection,
}

impl Plugin for Syntax {
    fn new() -> Self {
        Self { wanted: Selection::default() }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        (self.wanted, _) = Selection::new(settings, &self.rules());
        Ok(())
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let name = syntax::language_of(&file.path).unwrap_or_default();
        let Some(language) = Language::named(&name) else {
            return Ok(Report::excluded());
        };
        if !self.wants(language) {
            return Ok(Report::new(Vec::new()));
        }
        if is_left_out(&file.content) {
            return Ok(Report::excluded());
        }
        match self.report(file, language) {
            Ok(report) => Ok(report),
            Err(Problem::Unparsed(why) | Problem::Unreadable(why)) => Ok(Report::partial(why)),
            Err(problem @ (Problem::BadQuery(_) | Problem::UnknownLanguage(_))) => Err(problem.message()),
        }
    }

    /// Returns the rules of the file's language.
    fn rules_on(&mut self, path: &str) -> Result<RulesOn, String> {
        let language = syntax::language_of(path).and_then(|it| Language::named(&it));
        Ok(RulesOn::new(language.into_iter().flat_map(rules::of).map(|it| it.code), None))
    }
}

broker_plugin_sdk::plugin!(Syntax, "../broker-plugin.toml");

impl Syntax {
    fn wants(&self, language: &Language) -> bool {
        self.wanted.includes(language.name) || self.wanted.includes(language.brackets)
    }

    fn report(&self, file: &SourceFile, language: &Language) -> Result<Report, Problem> {
        let mut source = Source::File(file.path.clone());
        let is_right = |source: &Source| Ok(syntax::query(source, Some(language.name), WRONG)?.is_empty());
        if is_right(&source)? {
            return Ok(Report::new(Vec::new()));
        }
        // Bytes that are no UTF-8 stand in comments and strings, where letters do as well.
        let text = file.text();
        if let Cow::Owned(text) = &text {
            source = Source::Text(text.clone());
            if is_right(&source)? {
                return Ok(Report::new(Vec::new()));
            }
        }
        let is_quick = !self.wanted.includes(language.name);
        if let Some(tokens) = lexer::tokens_of(language.name, text.as_bytes()).filter(|_| is_quick) {
            let bracket = places::of_brackets(&tokens, text.as_bytes());
            return Ok(self.report_of(&file.path, language, text.as_bytes(), bracket, Vec::new));
        }
        if let Some(report) = self.unclosed_comment(&file.path, language, text.as_bytes()) {
            return Ok(report);
        }
        let tree = self.tree(&source, language, &text)?;
        let again = |text: Vec<u8>| {
            let text = String::from_utf8(text).ok().filter(|it| it.len() < SMALL)?;
            Tree::new(&Source::Text(text), language.name).ok()
        };
        Ok(self.findings(&file.path, language, text.as_bytes(), &tree, &again))
    }

    /// The only finding of a file of PHP whose rest is a comment.
    fn unclosed_comment(&self, path: &str, language: &Language, text: &[u8]) -> Option<Report> {
        let open = php::unclosed_comment(text).filter(|_| language.name == "php")?;
        let place = Place { range: open.clone(), what: What::Unclosed(open) };
        Some(self.report_of(path, language, text, None, || vec![place]))
    }

    /// The tree of a text, or that of the text without what the grammar does not know, if that is better.
    fn tree(&self, source: &Source, language: &Language, text: &str) -> Result<Tree, Problem> {
        let tree = Tree::new(source, language.name)?;
        let filled = gaps::filled(language.name, text.as_bytes()).and_then(|it| String::from_utf8(it).ok());
        let other = filled.map(|it| Tree::new(&Source::Text(it), language.name)).transpose()?;
        Ok(better(tree, other))
    }

    /// Returns the findings in a tree; `again` parses another text.
    fn findings(
        &self,
        path: &str,
        language: &Language,
        text: &[u8],
        tree: &Tree,
        again: &dyn Fn(Vec<u8>) -> Option<Tree>,
    ) -> Report {
        if wrong(tree) == 0 || is_readable(language, text) {
            return Report::new(Vec::new());
        }
        let tokens = brackets::tokens(tree, text, language.name);
        let bracket = places::of_brackets(&tokens, text);
        self.report_of(path, language, text, bracket.clone(), || {
            let mut found = places::find(tree, text, bracket);
            let is_better = |text| again(text).is_some_and(|it| wrong(&it) < wrong(tree));
            semicolon::look(language.name, text, &mut found, is_better);
            found
        })
    }

    /// Reports on a file. If the grammar is not trusted, brackets that do not match take precedence over its errors.
    fn report_of(
        &self,
        path: &str,
        language: &Language,
        text: &[u8],
        bracket: Option<Place>,
        by_grammar: impl FnOnce() -> Vec<Place>,
    ) -> Report {
        let told =
            bracket.filter(|_| language.trust == Trust::Brackets && self.wanted.includes(language.brackets));
        let (code, severity) = match told {
            Some(_) => (language.brackets, Severity::Error),
            None => (language.name, rules::severity(language.trust)),
        };
        let found = match told {
            Some(it) => vec![it],
            None if self.wanted.includes(code) => by_grammar(),
            None => Vec::new(),
        };
        if let Some(why) =
            template::objection(path, language.name, text, found.iter().map(|it| it.range.start))
        {
            return Report::left_out(path, why);
        }
        let finding = |it: &Place| Diagnostic { severity, ..message::diagnostic(it, text, code) };
        found.iter().map(finding).collect()
    }
}

fn better(tree: Tree, other: Option<Tree>) -> Tree {
    other.filter(|it| wrong(it) < wrong(&tree)).unwrap_or(tree)
}

/// Whether another parser can read a text in which the grammar finds errors.
fn is_readable(language: &Language, text: &[u8]) -> bool {
    let is_rust = language.name == "rust";
    let filled = gaps::filled(language.name, text).filter(|_| is_rust);
    is_rust && str::from_utf8(filled.as_deref().unwrap_or(text)).is_ok_and(rust::is_readable)
}

/// Number of nodes that do not match the grammar.
fn wrong(tree: &Tree) -> usize {
    tree.nodes().filter(|it| it.is_error() || it.is_missing()).count()
}

/// Whether a text is not parsed: because it is binary, or too large.
fn is_left_out(content: &[u8]) -> bool {
    content.len() > LARGEST || memchr::memchr(0, content).is_some()
}
