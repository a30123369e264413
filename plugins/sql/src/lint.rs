//! Runs sqruff over one file's text, as `sqruff lint` does over a file on disk. Knows nothing of other files.

use std::cell::OnceCell;
use std::rc::Rc;
use std::str::FromStr;

use broker_plugin_sdk::offsets::{not_utf8, without_mark};
use broker_plugin_sdk::{Diagnostic, Report, Severity};
use sqruff_lib_core::dialects::init::DialectKind;
use sqruff_lib_core::parser::segments::Tables;

use crate::apart::Apart;
use crate::client::Masked;
use crate::config::Config;
use crate::convert::Place;
use crate::engine::{Engine, Parsed};
use crate::misspelled;
use crate::rules::{self, Selection, UNLEXABLE, UNPARSABLE};
use crate::{defaults, false_positives, inline};

/// Linters for the dialects that a file may be in, each made when it is first needed.
#[derive(Clone)]
pub(crate) struct Linter {
    config: Rc<Config>,
    /// None: as configured.
    rules: Option<Rc<[&'static str]>>,
    dialects: Rc<[Dialect]>,
    /// Nothing is configured or chosen.
    is_plain: bool,
}

struct Dialect {
    /// None: as configured.
    kind: Option<DialectKind>,
    engine: OnceCell<Result<Rc<Engine>, Rc<str>>>,
}

impl Linter {
    pub(crate) fn new(config: Config, selection: &Selection) -> Self {
        let mut rules = match &selection.select {
            Some(codes) => Some(codes.clone()),
            None => (!config.is_configured()).then(rules::default_codes),
        };
        // `UNLEXABLE` and `UNPARSABLE` are no rules of sqruff's.
        let is_theirs = |it: &&str| !matches!(*it, UNLEXABLE | UNPARSABLE);
        if selection.more.iter().any(is_theirs) {
            let mut all = rules.unwrap_or_else(|| configured_codes(&config));
            all.extend(&selection.more);
            rules = Some(all);
        }
        let rules = rules.map(|it| it.into_iter().filter(is_theirs).collect());
        let known = config.dialect().is_some();
        let is_chosen = selection.is_chosen() || !selection.more.is_empty();
        let is_plain = !known && !config.is_configured() && !is_chosen;
        let kinds = if known { vec![None] } else { defaults::DIALECTS.map(Some).to_vec() };
        let dialects = kinds.into_iter().map(|kind| Dialect { kind, engine: OnceCell::new() }).collect();
        Self { config: Rc::new(config), rules, dialects, is_plain }
    }

    fn engine(&self, dialect: &Dialect) -> Result<Rc<Engine>, String> {
        let make = || Engine::new(self.config.to_sqruff(self.rules.as_deref(), dialect.kind));
        dialect.engine.get_or_init(make).clone().map_err(|it| it.to_string())
    }

    /// The codes of the rules that are on.
    pub(crate) fn codes(&self, selection: &Selection) -> Result<Vec<&'static str>, String> {
        let dialect = self.dialects.first().ok_or("no dialect")?;
        let engine = self.engine(dialect)?;
        let rules = engine.rules().iter().map(|it| it.code());
        let rules = rules.filter(|_| !self.config.ignores("linting"));
        let own = [UNLEXABLE, UNPARSABLE].into_iter().filter(|it| {
            let is_on = if dialect.kind.is_none() {
                !self.config.ignores(rules::name_of(it))
            } else {
                *it == UNPARSABLE
            };
            selection.selects(*it) || !selection.is_chosen() && is_on
        });
        Ok(rules.chain(own).filter(|it| !selection.ignores(*it)).collect())
    }

    /// Whether a file is read statement by statement, so that its length does not matter.
    pub(crate) fn reads_apart(&self) -> bool {
        self.is_plain
    }

    /// `None` if no dialect is named, and none of those that are tried can read it.
    pub(crate) fn run(
        &self,
        path: &str,
        text: &str,
        selection: &Selection,
    ) -> Result<Option<Report>, String> {
        let (mark, text) = without_mark(text);
        let named = inline::dialect(text).or(self.config.dialect());
        let masked = Masked::new(text, named.map(|it| DialectKind::from_str(it).unwrap_or_default()));
        let place = Place { text, offset: 0 };
        let report = if self.is_plain && !inline::has_any(text) {
            Apart::new(self, selection).run(&place, &masked.text, path)?
        } else {
            self.run_masked(&place, &masked.text, selection)?
        };
        Ok(report.map(|it| masked.spare(it).shifted(mark)))
    }

    /// `text` is what sqruff reads.
    fn run_masked(&self, place: &Place, text: &str, selection: &Selection) -> Result<Option<Report>, String> {
        let tables = Tables::default();
        if inline::has_any(text) {
            return self.run_inline(place, text, &tables, selection).map(Some);
        }
        let mut first = None;
        for dialect in self.dialects.iter() {
            let engine = self.engine(dialect)?;
            let parsed = engine.parse(&tables, text)?;
            if dialect.kind.is_none() || parsed.is_sound() {
                let knows_dialect = dialect.kind.is_none();
                return Ok(Some(self.report(&engine, &tables, &parsed, place, selection, knows_dialect)));
            }
            first.get_or_insert((engine, parsed));
        }
        match first {
            Some((engine, parsed)) if selection.is_chosen() => {
                Ok(Some(self.report(&engine, &tables, &parsed, place, selection, false)))
            }
            _ => Ok(misspelled::report(text, selection)),
        }
    }

    /// Report on a text in one of the dialects that are tried, if it can be parsed in that.
    pub(crate) fn report_as(
        &self,
        number: usize,
        tables: &Tables,
        place: &Place,
        text: &str,
        selection: &Selection,
    ) -> Result<Option<Report>, String> {
        let engine = self.engine(&self.dialects[number])?;
        let parsed = engine.parse(tables, text)?;
        Ok(parsed.is_sound().then(|| self.report(&engine, tables, &parsed, place, selection, false)))
    }

    pub(crate) fn n_dialects(&self) -> usize {
        self.dialects.len()
    }

    /// Comments in the file configure sqruff.
    fn run_inline(
        &self,
        place: &Place,
        text: &str,
        tables: &Tables,
        selection: &Selection,
    ) -> Result<Report, String> {
        let dialect = self.dialects.first().ok_or("no dialect")?;
        let mut config = self.engine(dialect)?.config().clone();
        if let Err((at, why)) = inline::apply(text, &mut config) {
            return Ok(Report::new(vec![Diagnostic::error(UNPARSABLE, why, at)]));
        }
        let engine = Engine::new(config).map_err(|it| it.to_string())?;
        let parsed = engine.parse(tables, text)?;
        let knows_dialect = dialect.kind.is_none() || inline::dialect(text).is_some();
        Ok(self.report(&engine, tables, &parsed, place, selection, knows_dialect))
    }

    fn report(
        &self,
        engine: &Engine,
        tables: &Tables,
        parsed: &Parsed,
        place: &Place,
        selection: &Selection,
        knows_dialect: bool,
    ) -> Report {
        let mut found = Vec::new();
        let (mask, malformed) = engine.mask(parsed);
        let is_told = |code: &str| {
            !selection.ignores(code)
                && !self.config.ignores(rules::name_of(code))
                && (selection.selects(code) || knows_dialect)
        };
        for violation in parsed.violations.iter().chain(&malformed) {
            let code = if violation.rule_code() == UNLEXABLE { UNLEXABLE } else { UNPARSABLE };
            if is_told(code) && mask.as_ref().is_none_or(|it| !it.is_masked(violation, None, true)) {
                let dialect = engine.config().dialect_kind();
                found.push(place.syntax_error(violation, code, dialect.as_ref(), parsed));
            }
        }
        if !self.config.ignores("linting") {
            let is_quiet = !self.config.is_configured() && !selection.is_chosen();
            let dialect = engine.dialect();
            for rule in engine.rules().iter().filter(|it| !selection.ignores(it.code())) {
                let mut add = |it| {
                    let is_told = parsed.tree.as_ref().is_none_or(|tree| {
                        !false_positives::refutes(rule.code(), &it, tree)
                            && (!is_quiet || false_positives::is_certain(rule.code(), &it, tree, dialect))
                    });
                    found.extend(is_told.then(|| place.finding(it, rule, parsed)).flatten());
                };
                engine.check(tables, parsed, rule, mask.as_ref(), &mut add);
            }
        }
        sorted(found, &engine.warnings())
    }

    /// Work done ahead of time, so that no instance has to do it: a grammar, regular expressions and tables that sqruff
    /// builds on first use. Reads no files.
    pub(crate) fn warm_up(&self) {
        drop(self.run("", include_str!("warm_up.sql"), &Selection::default()));
        let all = rules::everything();
        drop(Self::new(Config::default(), &all).run("", include_str!("warm_up.sql"), &all));
    }
}

/// Rules that a configuration turns on.
fn configured_codes(config: &Config) -> Vec<&'static str> {
    match Engine::new(config.to_sqruff(None, None)) {
        Ok(engine) => engine.rules().iter().map(|it| it.code()).collect(),
        // A check reports it.
        Err(_) => rules::default_codes(),
    }
}

/// In the order of the text.
fn sorted(mut found: Vec<Diagnostic>, warnings: &[String]) -> Report {
    for it in &mut found {
        let is_it = |name: &String| *name == it.code || it.name.as_ref() == Some(name);
        if warnings.iter().any(is_it) {
            it.severity = Severity::Info;
        }
    }
    Report::sorted(found)
}

/// Report on a file that is not UTF-8.
pub(crate) fn not_text(error: std::str::Utf8Error, selection: &Selection) -> Report {
    if selection.ignores(UNLEXABLE) {
        return Report::new(Vec::new());
    }
    let message = "stream did not contain valid UTF-8";
    Report::new(vec![Diagnostic::error(UNLEXABLE, message, not_utf8(&error))])
}
