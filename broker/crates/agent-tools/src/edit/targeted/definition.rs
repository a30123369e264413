//! An edit of a definition by its name: of all of it, of its body, or of what stands before or after it.

use std::ops::Range;

use overlay::WorkspacePath;
use syntax::Definition;

use super::{
    super::{
        file_kind::FileKind,
        outcome::{Changed, Reason, Refused},
        parser::Parser,
        sketch,
        text::{with_endings_of, with_lf},
    },
    NoTarget,
    lead::{self, Kept},
    line_of,
};

/// An edit of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionEdit {
    /// Name, with those around it where need be: `Class.method`.
    pub name: String,
    pub place: DefinitionPlace,
    pub code: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionPlace {
    /// All of it. Comments, attributes and decorators above stay, unless the code has its own.
    Whole,
    Body,
    Before,
    After,
}

impl DefinitionEdit {
    pub(super) fn apply(
        &self,
        path: &WorkspacePath,
        text: &str,
        parser: &Parser<'_>,
    ) -> Result<Changed, Refused> {
        let marker = self.code.lines().position(|it| sketch::has_marker(it, FileKind::of(path)));
        if let Some(line) = marker {
            return Err(Reason::Marked { line: line + 1 }.into());
        }
        let tree = parser.tree(text).filter(|it| syntax::has_definitions(it.language()));
        let tree = tree.ok_or_else(|| NoTarget::NoGrammar(path.to_string()))?;
        let all = syntax::definitions(&tree);
        let it = &all[find(&all, &self.name, text)?];
        let site = Site { text, all: &all, it, parser };
        let code = with_lf(&self.code);
        let mut notes = Vec::new();
        let (range, code) = match self.place {
            DefinitionPlace::Whole => {
                let (range, code, kept) = site.whole(&code);
                let note = || format!("lines above `{}` that the code does not have stay: {kept}", self.name);
                notes.extend((kept > 0).then(note));
                (range, code)
            }
            DefinitionPlace::Body => site.body(&code).ok_or_else(|| NoTarget::NoBody(self.name.clone()))?,
            DefinitionPlace::Before => site.before(&code),
            DefinitionPlace::After => site.after(&code),
        };
        let after = [&text[..range.start], &code, &text[range.end..]].concat();
        let after = if text.contains("\r\n") { with_endings_of(text, &with_lf(&after)) } else { after };
        Ok(Changed { text: after, notes })
    }
}

/// Numbers of the definitions with a name.
pub(crate) fn named(all: &[Definition], name: &str) -> Vec<usize> {
    let bare = bare(name);
    let parts: Vec<_> = bare.split(['.', ':', '/', '#']).filter(|it| !it.is_empty()).collect();
    let is_it = |at: &usize| all[*at].full_name() == bare || is_named(all, *at, &parts);
    (0..all.len()).filter(is_it).collect()
}

fn bare(name: &str) -> &str {
    name.trim().trim_end_matches("()")
}

/// The number of the one definition with a name.
fn find(all: &[Definition], name: &str, text: &str) -> Result<usize, NoTarget> {
    let bare = bare(name);
    let found = named(all, name);
    match found.as_slice() {
        [it] => Ok(*it),
        [] => {
            let names = all.iter().filter(|it| !it.kind.is_part()).map(Definition::full_name).collect();
            Err(NoTarget::NoDefinition { name: bare.to_owned(), names })
        }
        all_of_it => {
            let lines = all_of_it.iter().map(|it| line_of(text, all[*it].name_range.start)).collect();
            Err(NoTarget::SeveralDefinitions { name: bare.to_owned(), lines })
        }
    }
}

/// Whether the last part is the name, and the parts before it name what is around, from the inside out.
fn is_named(all: &[Definition], at: usize, parts: &[&str]) -> bool {
    let Some((own, around)) = parts.split_last() else { return false };
    if all[at].name != *own {
        return false;
    }
    let mut outer = all[at].parent;
    let mut around = around.iter().rev().peekable();
    if let (Some(part), Some(receiver)) = (around.peek(), &all[at].receiver)
        && has_word(receiver, part)
    {
        around.next();
    }
    around.all(|part| {
        while let Some(parent) = outer {
            outer = all[parent].parent;
            if has_word(&all[parent].name, part) {
                return true;
            }
        }
        false
    })
}

/// Whether a name, such as `Shape for A`, has a word.
fn has_word(name: &str, word: &str) -> bool {
    name == word || name.split(|it: char| !it.is_alphanumeric() && it != '_').any(|it| it == word)
}

/// A definition in its text.
struct Site<'a> {
    text: &'a str,
    all: &'a [Definition],
    it: &'a Definition,
    parser: &'a Parser<'a>,
}

impl Site<'_> {
    /// The range that code takes the place of, the code as it goes there, and the number of lines that stay above it though it has
    /// others there.
    fn whole(&self, code: &str) -> (Range<usize>, String, usize) {
        let (first, end) = (self.it.whole.start, self.it.whole.end);
        let (old, rest) = self.lead();
        let code = indented(code, self.indent(first)).trim().to_owned();
        let new = lead::parts(&code, self.parser);
        let Kept { above, below } = lead::kept(&old, &new, &code);
        let start = first + old.get(above).map_or(rest, |it| it.start);
        let stays = old[..above].iter().map(|it| it.text).chain(below.iter().copied());
        let kept = if new.is_empty() { 0 } else { stays.map(|it| it.lines().count()).sum() };
        let lead = new.last().map_or(0, lead::Part::end);
        (start..end, self.with_end(self.with_lead(&code, lead, &below)), kept)
    }

    /// The parts above the definition, and the place behind them, from the start of the first.
    fn lead(&self) -> (Vec<lead::Part<'_>>, usize) {
        let (first, own) = (self.it.whole.start, self.it.head - self.it.whole.start);
        let text = &self.text[first..self.it.whole.end];
        // Annotations of Java are in the definition, but stand on lines of their own.
        let ends_line = |at: usize| text[at..].trim_start_matches(' ').starts_with(['\r', '\n']);
        let is_above = |it: &lead::Part<'_>| it.start < own || ends_line(it.end());
        let mut all: Vec<_> = lead::parts(text, self.parser).into_iter().take_while(is_above).collect();
        let end = all.last().map_or(0, lead::Part::end);
        all.extend(text.get(end..own).and_then(|it| lead::Part::other(it, end)));
        let end = all.last().map_or(0, lead::Part::end);
        let blanks = text[end..].len() - text[end..].trim_start().len();
        (all, end + blanks)
    }

    /// The code with what stays below its own lead, which ends at `at`.
    fn with_lead(&self, code: &str, at: usize, below: &[&str]) -> String {
        if below.is_empty() {
            return code.to_owned();
        }
        let line = format!("\n{}", self.indent(self.it.whole.start));
        let own = (at > 0).then_some(&code[..at]);
        let below: Vec<_> = below.iter().map(|it| with_lf(it)).collect();
        let all = own.into_iter().chain(below.iter().map(String::as_str)).chain([code[at..].trim_start()]);
        all.collect::<Vec<_>>().join(&line)
    }

    /// The code without the sign that stands behind the definition already.
    fn with_end(&self, mut code: String) -> String {
        let next = self.text[self.it.whole.end..].chars().next().filter(|it| ";,".contains(*it));
        if next.is_some_and(|it| code.ends_with(it)) {
            code.pop();
        }
        code
    }

    fn body(&self, code: &str) -> Option<(Range<usize>, String)> {
        let body = self.it.body.clone()?;
        let old = &self.text[body.clone()];
        let outer = self.indent(self.it.head);
        let new = code.trim();
        if is_braced(old) && !is_braced(new) {
            let inner = self.indent_within(old).unwrap_or_else(|| format!("{outer}{}", self.unit()));
            return Some((body, format!("{{\n{}\n{outer}}}", indented(code, &inner))));
        }
        if is_braced(old) {
            return Some((body, indented(code, outer).trim().to_owned()));
        }
        let line = self.line_start(body.start);
        if self.text[line..body.start].trim().is_empty() {
            let inner = self.indent(body.start);
            return Some((body, indented(code, inner).trim().to_owned()));
        }
        if self.parser.ends_by_indentation() {
            let start = self.text[..body.start].trim_end().len();
            return Some((
                start..body.end,
                format!("\n{}", indented(code, &format!("{outer}{}", self.unit()))),
            ));
        }
        Some((body, new.to_owned()))
    }

    fn before(&self, code: &str) -> (Range<usize>, String) {
        let start = self.line_start(self.it.whole.start);
        let code = indented(code, self.indent(self.it.whole.start));
        (start..start, format!("{code}\n{}", "\n".repeat(self.blank_lines(code.contains('\n')))))
    }

    fn after(&self, code: &str) -> (Range<usize>, String) {
        let rest = &self.text[self.it.whole.end..];
        let line = rest.split(['\r', '\n']).next().unwrap_or_default();
        let at = self.it.whole.end + line.len();
        let code = indented(code, self.indent(self.it.whole.start));
        (at..at, format!("\n{}{code}", "\n".repeat(self.blank_lines(code.contains('\n')))))
    }

    /// Blank lines between definitions here: as between this one and its neighbours.
    fn blank_lines(&self, is_long: bool) -> usize {
        let siblings: Vec<_> = self.all.iter().filter(|it| it.parent == self.it.parent).collect();
        let at = siblings.iter().position(|it| std::ptr::eq(*it, self.it)).unwrap_or_default();
        let gap = |above: &Definition, below: &Definition| {
            let between = self.text.get(above.whole.end..below.whole.start)?;
            let is_blank = between.chars().all(|it| it.is_whitespace() || ";,".contains(it));
            is_blank.then(|| between.matches('\n').count().saturating_sub(1))
        };
        let below = siblings.get(at + 1).and_then(|it| gap(self.it, it));
        let above = || gap(siblings[at.checked_sub(1)?], self.it);
        let usual = if self.parser.ends_by_indentation() && self.it.parent.is_none() { 2 } else { 1 };
        let is_small = self.it.kind.is_part() || self.it.kind == syntax::DefinitionKind::Constant;
        below.or_else(above).unwrap_or(if is_small && !is_long { 0 } else { usual })
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |it| it + 1)
    }

    /// Blanks with which the line begins.
    fn indent(&self, at: usize) -> &str {
        let line = &self.text[self.line_start(at)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Indentation of the first line within braces.
    fn indent_within(&self, braced: &str) -> Option<String> {
        let mut lines = braced.lines().skip(1).filter(|it| !it.trim().is_empty());
        let first = lines.next().filter(|it| it.trim() != "}")?;
        Some(first[..first.len() - first.trim_start().len()].to_owned())
    }

    /// One step of indentation in this file.
    fn unit(&self) -> String {
        let blanks = |it: &str| it.len() - it.trim_start_matches(' ').len();
        match self.text.lines().any(|it| it.starts_with('\t')) {
            true => "\t".to_owned(),
            false => {
                " ".repeat(self.text.lines().map(blanks).filter(|it| (2..=8).contains(it)).min().unwrap_or(4))
            }
        }
    }
}

fn is_braced(text: &str) -> bool {
    text.starts_with('{') && text.ends_with('}')
}

/// Lines with the indentation `indent` in place of the one that all of them have, without blank lines around.
fn indented(code: &str, indent: &str) -> String {
    let lines: Vec<_> = code.lines().skip_while(|it| it.trim().is_empty()).collect();
    let is_blank = |it: &&str| it.trim().is_empty();
    let blanks = |it: &&str| it.len() - it.trim_start_matches([' ', '\t']).len();
    let own = lines.iter().filter(|it| !is_blank(it)).map(blanks).min().unwrap_or_default();
    let line = |it: &&str| if is_blank(it) { String::new() } else { format!("{indent}{}", &it[own..]) };
    let text = lines.iter().map(line).collect::<Vec<_>>().join("\n");
    text.trim_end().to_owned()
}
