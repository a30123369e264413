//! sqruff in one dialect: from text to a tree, and from a tree to what the rules say.
//!
//! Does what sqruff's own `Linter` does around its parser and its rules, and keeps two things that are lost there: the
//! fixes of each violation, and the time to copy a whole dialect for each file.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use sqruff_lib::core::config::{FluffConfig, Value};
use sqruff_lib::core::linter::common::NewlineMap;
use sqruff_lib::core::linter::core::Linter;
use sqruff_lib::core::rules::noqa::IgnoreMask;
use sqruff_lib::core::rules::{ErasedRule, LintResult, crawl};
use sqruff_lib_core::dialects::Dialect;
use sqruff_lib_core::dialects::syntax::{SyntaxKind, SyntaxSet};
use sqruff_lib_core::errors::{SQLBaseError, SQLParseError};
use sqruff_lib_core::parser::Parser;
use sqruff_lib_core::parser::segments::{ErasedSegment, Tables};
use sqruff_lib_core::templaters::TemplatedFile;

use crate::complete::completed;

/// sqruff with a configuration.
pub(crate) struct Engine {
    linter: Linter,
    /// In place of the configuration's, which lacks what its grammar refers to.
    dialect: Option<Dialect>,
    /// Names that suppression comments may have, and the rules that each stands for.
    known: HashMap<&'static str, HashSet<&'static str>>,
}

/// A file as sqruff sees it.
pub(crate) struct Parsed {
    pub(crate) tree: Option<ErasedSegment>,
    /// Errors of the lexer and the parser.
    pub(crate) violations: Vec<SQLBaseError>,
    pub(crate) templated: TemplatedFile,
    pub(crate) newlines: NewlineMap,
    /// Offsets, in the original text, at which comments end that go to the end of their line.
    pub(crate) line_comments: Vec<usize>,
}

impl Parsed {
    /// Whether sqruff parsed all of the file.
    pub(crate) fn is_sound(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether templating replaced nothing.
    pub(crate) fn is_plain(&self) -> bool {
        self.templated.templated_str.as_deref() == Some(self.templated.source_str.as_str())
    }
}

impl Engine {
    pub(crate) fn new(config: FluffConfig) -> Result<Rc<Self>, Rc<str>> {
        let told = |it: String| Rc::from(format!("the configuration of sqruff: {it}"));
        let linter = Linter::new(config, None, None, true).map_err(told)?;
        linter.rules().map_err(|it| told(it.value))?;
        let pack = linter.get_rulepack().map_err(|it| told(it.value))?;
        let except =
            linter.config().get("disable_noqa_except", "core").as_string().filter(|it| !it.is_empty());
        let known = Linter::allowed_rule_ref_map(pack.reference_map(), except);
        let dialect = completed(linter.config().get_dialect());
        Ok(Rc::new(Self { linter, dialect, known }))
    }

    pub(crate) fn config(&self) -> &FluffConfig {
        self.linter.config()
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        self.dialect.as_ref().unwrap_or_else(|| self.config().get_dialect())
    }

    pub(crate) fn rules(&self) -> &[ErasedRule] {
        self.linter.rules().unwrap_or_default()
    }

    pub(crate) fn parse(&self, tables: &Tables, text: &str) -> Result<Parsed, String> {
        let config = self.config();
        let rendered =
            self.linter.render_string(text, "<file>".to_owned(), config).map_err(|it| words(&it.value))?;
        let templated = rendered.templated_file;
        let newlines = rendered.newline_map;
        let mut parsed =
            Parsed { tree: None, violations: Vec::new(), templated, newlines, line_comments: Vec::new() };
        if !parsed.templated.is_templated() {
            return Ok(parsed);
        }
        let (tokens, errors) = Linter::lex_templated_file(tables, parsed.templated.clone(), self.dialect());
        parsed.violations.extend(errors.into_iter().map(SQLBaseError::from));
        let tokens = tokens.unwrap_or_default();
        let comments = tokens.iter().filter(|it| it.is_type(SyntaxKind::InlineComment));
        let ends = comments.filter_map(|it| Some(it.get_position_marker()?.source_slice.end));
        parsed.line_comments = ends.map(|it| parsed.newlines.to_original_range(it..it).end).collect();
        match self.parser().parse(tables, &tokens) {
            Ok(tree) => {
                parsed.violations.extend(tree.iter().flat_map(unparsable).map(SQLBaseError::from));
                parsed.tree = tree;
            }
            Err(mut error) => {
                error.segment = error.segment.or_else(|| tokens.iter().find(|it| it.is_code()).cloned());
                parsed.violations.push(error.into());
            }
        }
        Ok(parsed)
    }

    /// sqruff's own but for the dialect.
    fn parser(&self) -> Parser<'_> {
        let of = Parser::from(self.config());
        let (depth, nodes) = (of.max_parse_depth(), of.max_parse_nodes());
        Parser::new_with_limits(self.dialect(), of.indentation_config(), depth, nodes)
    }

    /// Reads the comments `-- noqa`, and returns their errors as well.
    pub(crate) fn mask(&self, parsed: &Parsed) -> (Option<IgnoreMask>, Vec<SQLBaseError>) {
        let core = |key| self.config().get(key, "core");
        let is_off = core("disable_noqa").as_bool().unwrap_or(false);
        let has_exceptions = core("disable_noqa_except").as_string().is_some_and(|it| !it.is_empty());
        match &parsed.tree {
            Some(tree) if !is_off || has_exceptions => {
                let (mask, malformed) = IgnoreMask::from_tree(tree, &self.known);
                (Some(mask), malformed)
            }
            _ => (None, Vec::new()),
        }
    }

    /// Results of one rule, without those that comments or templates hide.
    pub(crate) fn check(
        &self,
        tables: &Tables,
        parsed: &Parsed,
        rule: &ErasedRule,
        mask: Option<&IgnoreMask>,
        found: &mut dyn FnMut(LintResult),
    ) {
        let Some(tree) = &parsed.tree else { return };
        let config = self.config();
        let hides_templated = config.get("ignore_templated_areas", "core").as_bool().unwrap_or(true);
        let mut on_violation = |result: LintResult| {
            let is_templated = hides_templated
                && !rule.targets_templated()
                && result.anchor_in_templated_section()
                && !result.anchor_in_semantically_literal_templated_section();
            if !is_templated && mask.is_none_or(|it| !it.is_masked(&result, rule.into(), true)) {
                found(result);
            }
        };
        let (dialect, tree) = (self.dialect(), tree.clone());
        // A rule that panics ends the whole instance here, and the host tells of that.
        drop(crawl(rule, tables, dialect, &parsed.templated, tree, config, &mut on_violation));
    }

    /// The rules that are only warnings.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let all = self.config().get("warnings", "core").as_array().unwrap_or_default();
        all.iter().filter_map(Value::as_string).map(|it| it.trim().to_owned()).collect()
    }
}

/// The reason alone, of `Failed to template file <file> with error SQLFluffUserError { value: "…" }`.
fn words(told: &str) -> String {
    let reason = told.split_once("value: \"").map_or(told, |it| it.1);
    format!("cannot use the templater: {}", reason.trim_end_matches(" }").trim_end_matches('"'))
}

fn unparsable(tree: &ErasedSegment) -> Vec<SQLParseError> {
    let kind = SyntaxSet::single(SyntaxKind::Unparsable);
    let found = tree.recursive_crawl(&kind, true, &SyntaxSet::EMPTY, true);
    let error = |it| SQLParseError { description: crate::convert::UNPARSABLE.to_owned(), segment: Some(it) };
    found.into_iter().map(error).collect()
}
