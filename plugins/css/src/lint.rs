//! Linting of one stylesheet: its syntax errors ([`broken`]), or else the findings of the rules.

use std::cell::LazyCell;
use std::path::Path;

use broker_plugin_sdk::{Diagnostic, Report, Selection, template, vendored};
use raffia::Syntax;
use raffia::token::Comment;

use crate::config::Config;
use crate::mask::Mask;
use crate::names::Names;
use crate::rules::{self, DUPLICATE_SELECTORS, MISSING_GENERIC, SYNTAX, UNKNOWN_VALUE};
use crate::source::{Parsed, parse, syntax_of};
use crate::suppress::Suppressed;
use crate::values::UnknownValue;
use crate::walk::Sheet;
use crate::{broken, built, dialect, gaps};

/// No stylesheet that was tried has more values that raffia lacks.
const MAX_VALUES: usize = 50;

/// `text` as raffia can read it, as far as [`gaps`] knows how.
fn filled(text: &str, mask: &Mask, syntax: Syntax) -> String {
    let mut filled = gaps::without_gaps(text, mask, syntax).unwrap_or_else(|| text.to_owned());
    if syntax == Syntax::Css || mask.is_template() {
        return filled;
    }
    for _ in 0..MAX_VALUES {
        let Parsed::Error(error) = parse(&filled, syntax) else { break };
        if broken::verdict(text, &error, mask, syntax).is_ok() {
            break; // the file's fault
        }
        let Some(next) = gaps::without_value(&filled, mask, error.span.start) else { break };
        filled = next;
    }
    filled
}

const IS_OUTPUT: &str = "it is output for a terminal, with colours, and no stylesheet";

fn left_out(path: &Path, why: &str) -> Report {
    Report::left_out(&path.display().to_string(), why)
}

/// State that is the same for all files of a folder.
pub(crate) struct Lint<'a> {
    /// The workspace's folder.
    pub(crate) root: &'a Path,
    pub(crate) names: &'a Names,
    pub(crate) config: &'a Config,
    pub(crate) wanted: &'a Selection,
}

impl Lint<'_> {
    /// Whether a rule is on for a file.
    pub(crate) fn turns_on(&self, rule: &str, path: &Path) -> bool {
        let is_on = rule == SYNTAX || self.wanted.asks_for(rule) || self.config.setting_of(rule, path).is_on;
        is_on && self.wanted.includes(rule)
    }

    pub(crate) fn report(&self, text: &str, path: &Path) -> Report {
        let syntax = syntax_of(&path.to_string_lossy());
        if text.trim().is_empty() && template::is_include(path) {
            return left_out(path, template::IS_PART);
        }
        if dialect::has_terminal_colors(text, syntax) {
            return left_out(path, IS_OUTPUT);
        }
        match parse(text, syntax) {
            Parsed::Error(_) => {
                let filled = filled(text, &Mask::of(text, syntax), syntax);
                self.parsed(text, parse(&filled, syntax), syntax, path)
            }
            other => self.parsed(text, other, syntax, path),
        }
    }

    /// `text` is what was written, and the tree perhaps of what was filled in for it.
    fn parsed(&self, text: &str, parsed: Parsed<'_>, syntax: Syntax, path: &Path) -> Report {
        let (tree, comments) = match parsed {
            Parsed::TooDeep => {
                let why = "brackets are nested too deep to look into them".to_owned();
                return Report::partial(why);
            }
            Parsed::Error(error) => {
                let verdict = broken::verdict(text, &error, &Mask::of(text, syntax), syntax);
                return self.unread(verdict, text, path);
            }
            Parsed::Tree(tree, comments) => (tree, comments),
        };
        if let Some(found) = broken::overlooked(text, &comments, &Mask::of(text, syntax)) {
            return self.unread(Ok(found), text, path);
        }
        let mut sheet = Sheet::new(text, syntax, self.names);
        sheet.may_have_hooks = self.config.is_unconfigured;
        sheet.has_own_names = self.is_of_toolkit(text, path, syntax);
        sheet.sheet(&tree);
        self.comments(text, &comments, &mut sheet);
        let suppressed = Suppressed::of(text, &comments);
        let values = sheet.unknown_values.into_iter().filter(|it| !self.allows_value(it, path));
        sheet.found.extend(values.map(|it| it.found));
        self.judge(sheet.found, text, path, &suppressed)
    }

    fn is_of_toolkit(&self, text: &str, path: &Path, syntax: Syntax) -> bool {
        dialect::is_of_toolkit(path.strip_prefix(self.root).unwrap_or(path), text, syntax)
    }

    /// Whether the configuration allows a word as a value of a property.
    fn allows_value(&self, it: &UnknownValue, path: &Path) -> bool {
        !self.wanted.asks_for(UNKNOWN_VALUE) && self.config.allows_value(&it.property, &it.word, path)
    }

    /// Report with the syntax error alone; or the file is left out if the error cannot be fixed in it.
    fn unread(&self, verdict: Result<Diagnostic, String>, text: &str, path: &Path) -> Report {
        match verdict {
            Ok(_) if template::is_include(path) => left_out(path, template::IS_PART),
            Ok(found) => self.judge(vec![found], text, path, &Suppressed::default()),
            Err(why) => left_out(path, &why),
        }
    }

    fn comments(&self, text: &str, comments: &[Comment<'_>], sheet: &mut Sheet<'_>) {
        for it in comments.iter().filter(|it| it.kind.is_block() && it.content.trim().is_empty()) {
            sheet.tell("comment-no-empty", "the comment is empty", it.span.start..it.span.end);
        }
        if text.trim().is_empty() {
            sheet.tell("no-empty-source", "there is nothing in the file", 0..0);
        }
    }

    /// Whether a file is from another project, or was generated from another file.
    fn is_foreign(&self, text: &str, path: &Path) -> bool {
        let relative = path.strip_prefix(self.root).unwrap_or(path);
        vendored::is_vendored(relative, text) || built::has_source(path, self.root)
    }

    /// Report with the findings that are kept, each with its configured severity.
    fn judge(&self, found: Vec<Diagnostic>, text: &str, path: &Path, suppressed: &Suppressed) -> Report {
        let mut kept = Vec::new();
        let is_foreign = LazyCell::new(|| self.is_foreign(text, path));
        for mut it in found {
            let setting = self.config.setting_of(&it.code, path);
            let about = text.get(it.span.start as usize..it.span.end as usize).unwrap_or_default();
            let is_ignored = subjects(&it.code, about).any(|it| setting.ignores(it));
            let is_error = it.code == SYNTAX;
            let is_leftover = self.config.is_unconfigured && rules::is_of_leftovers(&it.code) && *is_foreign;
            let is_on = setting.is_on && !is_ignored && !is_leftover;
            let is_on = is_error || self.wanted.asks_for(&it.code) || is_on;
            if !is_on || !self.wanted.includes(&it.code) || suppressed.drop(&it.code, it.span.start as usize)
            {
                continue;
            }
            it.severity = setting.severity.filter(|_| !is_error).unwrap_or(it.severity);
            it.url = rules::url(&it.code);
            kept.push(it);
        }
        kept.sort_by(|a, b| (a.span.start, a.span.end, &a.code).cmp(&(b.span.start, b.span.end, &b.code)));
        Report::new(kept)
    }
}

/// Names that options of a rule may name: what a finding is about, with the signs before it and without, or each part of it.
fn subjects<'t>(code: &str, about: &'t str) -> impl Iterator<Item = &'t str> {
    let is_list = matches!(code, DUPLICATE_SELECTORS | MISSING_GENERIC);
    let parts = about.split(move |it| is_list && it == ',').map(str::trim);
    parts.flat_map(|it| [it, it.trim_start_matches([':', '@', '.']), it.trim_matches(['"', '\''])])
}
