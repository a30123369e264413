//! One stylesheet: what cannot be read, or else what the rules say.

use std::ops::Range;
use std::path::Path;

use broker_plugin_sdk::{Completeness, Diagnostic, Report, Selection, Severity};
use raffia::Syntax;
use raffia::error::Error;
use raffia::token::Comment;

use crate::config::Config;
use crate::names::Names;
use crate::rules::{self, DOUBLE_SLASH, SYNTAX};
use crate::source::{Parsed, parse, syntax_of, without_hacks};
use crate::suppress::Suppressed;
use crate::walk::Sheet;

/// What stays the same from file to file of a folder.
pub(crate) struct Lint<'a> {
    pub(crate) names: &'a Names,
    pub(crate) config: &'a Config,
    pub(crate) wanted: &'a Selection,
    pub(crate) is_selected: bool,
}

impl Lint<'_> {
    pub(crate) fn report(&self, text: &str, path: &Path) -> Report {
        let syntax = syntax_of(&path.to_string_lossy());
        let filled;
        let mut read = text;
        let mut parsed = parse(text, syntax);
        if let Parsed::Error(_) = parsed
            && let Some(other) = without_hacks(text)
        {
            filled = other;
            read = &filled;
            parsed = parse(read, syntax);
        }
        match parsed {
            Parsed::TooDeep => {
                let why = "brackets are nested too deep to look into them".to_owned();
                Report { completeness: Completeness::Partial(why), ..Report::new(Vec::new()) }
            }
            Parsed::Error(error) => self.broken(text, &error, syntax, path),
            Parsed::Tree(tree, comments) => {
                let mut sheet = Sheet::new(read, syntax, self.names);
                sheet.sheet(&tree);
                self.comments(text, &comments, &mut sheet);
                let suppressed = Suppressed::of(text, &comments);
                self.judge(sheet.found, text, path, &suppressed)
            }
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

    /// Only what cannot be read is told; templates are left alone.
    fn broken(&self, text: &str, error: &Error, syntax: Syntax, path: &Path) -> Report {
        let at = text.floor_char_boundary(error.span.start.min(text.len()));
        let end = text.ceil_char_boundary(error.span.end.clamp(at, text.len()));
        let line = line_of(text, at);
        if ["{{", "{%", "<%", "<?"].iter().any(|it| text[line.clone()].contains(it)) {
            return Report::excluded();
        }
        let slashes = slashes(text, at).filter(|_| syntax == Syntax::Css);
        let end = text[at..end].find('\n').map_or(end, |it| at + it);
        let found = match slashes {
            Some(range) => {
                Diagnostic::new(DOUBLE_SLASH, "`//` begins no comment in CSS: use `/* … */`", range)
            }
            None => Diagnostic::new(SYNTAX, message(error), at..end),
        };
        let (found, severity) = match open(text, syntax) {
            Open::Nothing => (found, Severity::Warning),
            // The end of the file, where the parser notices, is no help.
            Open::Bracket(open) if found.code == SYNTAX && text[at..].trim().is_empty() => {
                let message = format!("`{}` is never closed", &text[open..=open]);
                (Diagnostic::new(SYNTAX, message, open..open + 1), Severity::Error)
            }
            Open::Bracket(_) | Open::Other => (found, Severity::Error),
        };
        let none = Suppressed::default();
        self.judge(vec![Diagnostic { severity, ..found }], text, path, &none)
    }

    /// What is left of the findings, with the severity that they have here.
    fn judge(&self, found: Vec<Diagnostic>, text: &str, path: &Path, suppressed: &Suppressed) -> Report {
        let mut kept = Vec::new();
        for mut it in found {
            let setting = self.config.setting_of(&it.code, path);
            let about = text.get(it.span.start as usize..it.span.end as usize).unwrap_or_default();
            let name = about.trim_start_matches([':', '@', '.']);
            let is_error = it.code == SYNTAX;
            let is_on = is_error || self.is_selected || (setting.is_on && !setting.ignores(name));
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

/// The parser's words in those of people.
fn message(error: &Error) -> String {
    let told = error.kind.to_string();
    let told = told.trim_end_matches('.').replace("<eof>", "the end of the file");
    told.replace(['<', '>'], "`").replace("``", "`")
}

/// Where `//` begins the line of an error, or the one before.
fn slashes(text: &str, at: usize) -> Option<Range<usize>> {
    let here = line_of(text, at);
    let before = line_of(text, here.start.saturating_sub(1));
    [here, before].into_iter().find_map(|line| {
        let lead = text[line.clone()].len() - text[line.clone()].trim_start().len();
        let start = line.start + lead;
        text[start..].starts_with("//").then(|| start..line.start + text[line].trim_end().len())
    })
}

fn line_of(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let end = text[at..].find('\n').map_or(text.len(), |it| at + it);
    start..end
}

/// What is not closed.
enum Open {
    Nothing,
    /// The bracket there, and nothing else is wrong with brackets, strings and comments.
    Bracket(usize),
    Other,
}

/// Whether all brackets, strings and comments are closed: then a browser reads on after what it does not know.
fn open(text: &str, syntax: Syntax) -> Open {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(it) = rest.chars().next() {
        let mut length = it.len_utf8();
        match it {
            '/' if rest.starts_with("/*") => match rest.find("*/") {
                Some(end) => length = end + 2,
                None => return Open::Other,
            },
            '/' if syntax != Syntax::Css && rest.starts_with("//") => {
                length = rest.find('\n').unwrap_or(rest.len())
            }
            '\\' => length += rest[length..].chars().next().map_or(0, char::len_utf8),
            '"' | '\'' => match string_end(rest, it) {
                Some(end) => length = end,
                None => return Open::Other,
            },
            '{' | '(' | '[' => open.push((it, text.len() - rest.len())),
            '}' | ')' | ']' => {
                let partner = match it {
                    '}' => '{',
                    ')' => '(',
                    _ => '[',
                };
                if open.pop().is_none_or(|it| it.0 != partner) {
                    return Open::Other;
                }
            }
            _ => {}
        }
        rest = &rest[length..];
    }
    open.last().map_or(Open::Nothing, |it| Open::Bracket(it.1))
}

fn string_end(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, it) in text.char_indices().skip(1) {
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return None,
            it if it == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}
