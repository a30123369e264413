//! The definitions of a sketch, and which of the file's each may be.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{
    super::{
        definition::{Definition, Kind},
        definitions,
        parser::Parser,
    },
    rows::Sketch,
};

/// Definitions of the file and of the sketch, whose lines are numbers of rows.
pub(super) struct Definitions {
    pub(super) file: Vec<Definition>,
    pub(super) sketch: Vec<Defined>,
    /// For each row the lines of the file that are in the block which the rows above name; all where they name none.
    pub(super) scopes: Vec<Scope>,
    /// Scopes by heads that stand alone in a piece, which are certain.
    pub(super) named: Vec<Scope>,
    /// Numbers of definitions by the lines and rows of their heads.
    by_line: HashMap<usize, usize>,
    by_row: HashMap<usize, usize>,
}

/// Lines of the file; none where all are meant.
pub(super) type Scope = Option<Vec<Range<usize>>>;

/// A definition of the sketch.
pub(super) struct Defined {
    pub(super) it: Definition,
    /// Whether the definition is there as a whole: no marker in it, no error, and its end.
    pub(super) is_whole: bool,
    /// Definitions of the file that have its name in the scope that the sketch names.
    pub(super) same: Vec<usize>,
}

impl Defined {
    /// Whether the file has nothing of this name where the sketch puts it.
    pub(super) fn is_new(&self) -> bool {
        let lines = self.it.end - self.it.head;
        let is_clear = match self.it.kind {
            Kind::Value => lines > 3 || self.it.level == 0,
            Kind::Entry => lines > 1,
            Kind::Docstring => false,
            Kind::Function | Kind::Type | Kind::Implementation | Kind::Test => true,
        };
        self.is_whole && self.same.is_empty() && is_clear
    }
}

impl Definitions {
    pub(super) fn new(sketch: &Sketch<'_>, file: &[&str], parser: &Parser<'_>) -> Self {
        let of_file = definitions::of_lines(file, parser);
        let of_sketch = of_sketch(sketch, &of_file, parser);
        let lone = lone_heads(sketch, parser);
        let is_alone = |it: &&Definition| file.get(it.head).is_some_and(|it| lone.contains(it.trim()));
        let named: Vec<_> = of_file.iter().filter(is_alone).cloned().collect();
        let named = scopes(sketch, file, &named, &of_sketch, parser);
        let scopes = scopes(sketch, file, &of_file, &of_sketch, parser);
        let defined = of_sketch.into_iter().map(|it| {
            let is_in = |at: usize| scopes[it.head].as_ref().is_none_or(|all| is_within(all, at));
            let is_same = |(_, there): &(usize, &Definition)| {
                there.name == it.name
                    && is_like(there.kind, it.kind, parser)
                    && there.level == it.level
                    && is_in(there.head)
            };
            let same: Vec<_> = of_file.iter().enumerate().filter(is_same).map(|it| it.0).collect();
            let same = by_parameters(&it, same, (sketch, file), &of_file, parser);
            // A definition that the grammar does not see, as in a macro, may be there all the same.
            let head = sketch.rows[it.head].text.trim_end();
            let is_head = |line: usize| of_file.iter().any(|it| it.head == line);
            let is_unseen = same.is_empty()
                && file.iter().enumerate().any(|(at, text)| text.trim_end() == head && !is_head(at));
            Defined { is_whole: is_whole(&it, sketch, parser) && !is_unseen, same, it }
        });
        let defined: Vec<_> = defined.collect();
        let first =
            |heads: Vec<usize>| heads.into_iter().enumerate().rev().map(|(at, it)| (it, at)).collect();
        Self {
            by_line: first(of_file.iter().map(|it| it.head).collect()),
            by_row: first(defined.iter().map(|it| it.it.head).collect()),
            file: of_file,
            sketch: defined,
            scopes,
            named,
        }
    }

    /// Whether a line of the file may be the one that a row is, by what the rows above it name.
    pub(super) fn is_in_scope(&self, row: usize, line: usize) -> bool {
        self.scopes[row].as_ref().is_none_or(|it| is_within(it, line))
    }

    /// Whether a line of the file is outside of the block that the rows above a row name.
    pub(super) fn is_outside(&self, row: usize, line: usize) -> bool {
        self.named[row].as_ref().is_some_and(|it| !is_within(it, line))
    }

    pub(super) fn head_of_sketch(&self, row: usize) -> Option<&Defined> {
        self.by_row.get(&row).map(|it| &self.sketch[*it])
    }

    pub(super) fn head_of_file(&self, line: usize) -> Option<&Definition> {
        self.by_line.get(&line).map(|it| &self.file[*it])
    }

    /// Whether the sketch has a definition with the name of one of the file, and with its parameters where several
    /// functions may have one name.
    pub(super) fn names(&self, it: &Definition, parser: &Parser<'_>) -> bool {
        let is_it = |own: &Definition| {
            own.name == it.name && (!parser.has_overloads() || own.parameters == it.parameters)
        };
        self.sketch.iter().any(|own| is_it(&own.it) || own.same.iter().eq([&self.number(it)]))
    }

    fn number(&self, it: &Definition) -> usize {
        self.by_line.get(&it.head).copied().unwrap_or(usize::MAX)
    }

    /// Functions of a type of the file that the sketch does not have in its own.
    pub(super) fn lost_members<'d>(
        &'d self,
        it: &'d Defined,
        there: usize,
    ) -> impl Iterator<Item = &'d Definition> + 'd {
        let of_type = it.it.kind.has_members();
        let there = &self.file[there];
        let own = |name: &str| {
            self.sketch.iter().any(|own| own.it.name == name && it.it.body().contains(&own.it.head))
        };
        let is_member = move |member: &&Definition| {
            of_type
                && there.body().contains(&member.head)
                && member.head > there.head
                && member.kind == Kind::Function
        };
        self.file.iter().filter(is_member).filter(move |it| !own(&it.name))
    }

    /// Blank lines that the file has most often between definitions that stand so deep.
    pub(super) fn blank_between(&self, level: usize, file: &[&str]) -> Option<usize> {
        let mut counts = [0_usize; 6];
        for it in self.file.iter().filter(|it| it.level == level && it.lead > 0 && !it.kind.is_value()) {
            let blank = file[..it.lead].iter().rev().take_while(|it| it.trim().is_empty()).count();
            let above = (it.lead - blank).checked_sub(1);
            let is_first =
                above.is_some_and(|above| self.file.iter().any(|it| it.head == above && it.end > above + 1));
            if above.is_some() && !is_first {
                counts[blank.min(5)] += 1;
            }
        }
        let most = counts.iter().max().filter(|it| **it > 0)?;
        counts.iter().rposition(|it| it == most)
    }
}

/// Lines of the sketch that are the last ones of pieces of nothing but heads, each within the one above.
fn lone_heads<'s>(sketch: &'s Sketch<'_>, parser: &Parser<'_>) -> HashSet<&'s str> {
    let level = |row: usize| parser.kind.level(&sketch.rows[row].text);
    let is_chain = |piece: &Range<usize>| piece.clone().filter_map(level).is_sorted_by(|a, b| a < b);
    let pieces = sketch.pieces().into_iter().filter(is_chain);
    pieces.map(|it| sketch.rows[it.end - 1].text.trim()).collect()
}

/// Overloads of the same parameters; if there are none, those that have a line of its body, of which it may be another one.
fn by_parameters(
    it: &Definition,
    same: Vec<usize>,
    (sketch, lines): (&Sketch<'_>, &[&str]),
    file: &[Definition],
    parser: &Parser<'_>,
) -> Vec<usize> {
    if same.len() < 2 || !parser.has_overloads() {
        return same;
    }
    // A signature that is only declared is another thing than the function.
    let alike: Vec<_> = same.iter().copied().filter(|at| file[*at].has_body == it.has_body).collect();
    let same = if alike.is_empty() { same } else { alike };
    let exact: Vec<_> = same.iter().copied().filter(|at| file[*at].parameters == it.parameters).collect();
    if !exact.is_empty() {
        return exact;
    }
    let rows = sketch.rows[it.head + 1..it.end].iter();
    let own: HashSet<&str> = rows.map(|it| it.text.trim()).filter(|it| says(it)).collect();
    let shares =
        |at: &usize| lines[file[*at].head + 1..file[*at].end].iter().any(|it| own.contains(it.trim()));
    // Functions of several types are no overloads.
    let are_overloads = same.iter().all(|at| file[*at].parent == file[same[0]].parent);
    let is_new = are_overloads && it.has_body && is_whole(it, sketch, parser) && !same.iter().any(shares);
    if is_new { Vec::new() } else { same }
}

/// Whether a line has enough words to tell one function from another.
fn says(line: &str) -> bool {
    line.chars().filter(|it| it.is_alphanumeric()).count() >= 8
}

fn is_within(ranges: &[Range<usize>], line: usize) -> bool {
    ranges.iter().any(|it| it.contains(&line))
}

/// Texts that make a text of the language of what stands in a class, and of what stands alone.
fn frames(parser: &Parser<'_>) -> Vec<(&'static str, &'static str)> {
    let is = |name: &str| parser.language.is_some_and(|it| it.name() == name);
    match (is("php"), parser.wraps_members()) {
        (true, _) => vec![("<?php", ""), ("<?php class A {", "}")],
        (false, true) => vec![("", ""), ("class A {", "};")],
        (false, false) => vec![("", "")],
    }
}

/// Words that begin statements which look like members.
const STATEMENTS: [&str; 16] = [
    "if", "for", "while", "switch", "catch", "else", "do", "try", "with", "match", "return", "function",
    "foreach", "using", "lock", "when",
];

/// All definitions that a sketch has as a whole, in one of its pieces alone, or where a piece stands in a class. A definition is
/// taken where it has no error, and first where more stands around it.
fn of_sketch(sketch: &Sketch<'_>, of_file: &[Definition], parser: &Parser<'_>) -> Vec<Definition> {
    let frames = frames(parser);
    let all = 0..sketch.rows.len();
    let pieces = sketch.pieces();
    let mut found = in_frame(sketch, &all, frames[0], parser);
    for piece in &pieces {
        for (at, frame) in frames.iter().enumerate() {
            let is_known = |it: &Definition| {
                found.iter().any(|known| known.head == it.head && (!known.is_broken || it.is_broken))
            };
            // A single line in a class may be a call as well, if the file defines nothing of its name there.
            let is_known_there = |it: &Definition| {
                of_file
                    .iter()
                    .any(|there| there.name == it.name && there.level == it.level && there.kind == it.kind)
            };
            let is_clear = |it: &Definition| {
                at == 0
                    || it.lead < it.head
                    || (!it.is_broken && (it.end > it.head + 1 || is_known_there(it)))
            };
            let more: Vec<_> = in_frame(sketch, piece, *frame, parser)
                .into_iter()
                .filter(|it| !is_known(it) && is_clear(it) && !STATEMENTS.contains(&&*it.name))
                .collect();
            found.retain(|it| !more.iter().any(|more| more.head == it.head));
            found.extend(more);
        }
    }
    found.sort_by_key(|it| (it.head, std::cmp::Reverse(it.end)));
    found.dedup_by_key(|it| it.head);
    found
}

/// The definitions of some rows within a frame. Without indentation that all of them have.
fn in_frame(
    sketch: &Sketch<'_>,
    rows: &Range<usize>,
    (open, close): (&str, &str),
    parser: &Parser<'_>,
) -> Vec<Definition> {
    let texts: Vec<&str> =
        sketch.rows[rows.clone()].iter().map(|it| if it.is_marker { "" } else { &*it.text }).collect();
    let indents = texts.iter().filter(|it| !it.trim().is_empty()).map(|it| it.len() - it.trim_start().len());
    let least = indents.min().unwrap_or_default();
    let mut lines = vec![open];
    lines.extend(texts.iter().map(|it| it.get(least..).unwrap_or_default()));
    lines.push(close);
    let found = definitions::of_lines(&lines, parser).into_iter();
    let moved = found.filter(|it| it.head > 0 && it.end <= rows.len() + 1).filter_map(|it| {
        let place = |line: usize| rows.start + line.max(1) - 1;
        let (lead, head, end) = (place(it.lead), place(it.head), place(it.end));
        let level = parser.kind.level(&sketch.rows[head].text)?;
        Some(Definition { lead, head, end, level, parent: None, ..it })
    });
    moved.collect()
}

fn is_whole(it: &Definition, sketch: &Sketch<'_>, parser: &Parser<'_>) -> bool {
    let rows = &sketch.rows[it.lines()];
    if it.is_broken || rows.iter().any(|it| it.is_marker) {
        return false;
    }
    let last = sketch.rows[it.end - 1].text.trim_end();
    if last.ends_with([',', '(', '[', '{', '\\']) {
        return false;
    }
    if !parser.ends_by_indentation() {
        return true;
    }
    // A marker that stands deeper than the head is in its block.
    let level = |row: usize| sketch.rows.get(row).and_then(|it| parser.kind.level(&it.text));
    let goes_on = sketch.rows.get(it.end).is_some_and(|it| it.is_marker) && level(it.end) > level(it.head);
    !goes_on && !last.ends_with(':')
}

/// Whether a line continues a head above it that stands as deep.
fn continues_head(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with(['{', ')', ']', '>'])
        || ["where", "throws", "->", "then", "do"]
            .contains(&text.split_whitespace().next().unwrap_or_default())
}

/// Whether a definition may become the other by an edit: in some languages a constant that holds a function is one.
fn is_like(a: Kind, b: Kind, parser: &Parser<'_>) -> bool {
    a == b || (a.is_like(b) && parser.holds_functions())
}

/// Definitions of the file by the lines of their heads, and by their names.
struct Heads<'d> {
    all: &'d [Definition],
    parser: &'d Parser<'d>,
    by_text: HashMap<&'d str, Vec<usize>>,
    by_name: HashMap<&'d str, Vec<usize>>,
}

impl<'d> Heads<'d> {
    fn new(all: &'d [Definition], file: &[&'d str], parser: &'d Parser<'d>) -> Self {
        let mut heads = Self { all, parser, by_text: HashMap::new(), by_name: HashMap::new() };
        for (at, it) in all.iter().enumerate() {
            if let Some(text) = file.get(it.head) {
                heads.by_text.entry(text.trim()).or_default().push(at);
            }
            heads.by_name.entry(&it.name).or_default().push(at);
        }
        heads
    }

    /// Returns the definitions with a head that reads like a line, or with the name and kind of the line's definition.
    fn like(&self, text: &str, own: Option<&Definition>) -> Vec<&'d Definition> {
        let mut found: Vec<_> = self.by_text.get(text).cloned().unwrap_or_default();
        if let Some(own) = own {
            let same = self.by_name.get(&*own.name).into_iter().flatten();
            found.extend(same.filter(|it| is_like(own.kind, self.all[**it].kind, self.parser)));
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|it| &self.all[it]).collect()
    }
}

/// Returns the scope of each row by the rows above it: it is within the blocks whose heads they are, by indentation.
fn scopes(
    sketch: &Sketch<'_>,
    file: &[&str],
    of_file: &[Definition],
    of_sketch: &[Definition],
    parser: &Parser<'_>,
) -> Vec<Scope> {
    let heads = Heads::new(of_file, file, parser);
    // Levels of the rows around, with what each allows.
    let mut around: Vec<(usize, Scope)> = Vec::new();
    let mut scopes = Vec::with_capacity(sketch.rows.len());
    for (at, row) in sketch.rows.iter().enumerate() {
        let level = parser.kind.level(&row.text).filter(|_| !row.is_marker);
        let is_head = |it: &(usize, Scope)| Some(it.0) == level;
        let continues = around.iter().any(is_head) && continues_head(&row.text);
        if let Some(level) = level.filter(|_| !parser.kind.is_aside(&row.text)) {
            while around.last().is_some_and(|it| it.0 > level || (it.0 == level && !continues)) {
                around.pop();
            }
        }
        let inside = |it: &(usize, Scope)| level.is_none_or(|level| it.0 < level);
        let scope = around.iter().rev().find(|it| inside(it)).and_then(|it| it.1.clone());
        scopes.push(scope.clone());
        let Some(level) = level.filter(|_| !parser.kind.is_aside(&row.text) && !continues) else { continue };
        let own = of_sketch.iter().find(|it| it.head == at);
        let is_in = |it: &&Definition| scope.as_ref().is_none_or(|all| is_within(all, it.head));
        let blocks = heads.like(row.text.trim(), own).into_iter().filter(is_in).map(|it| it.head + 1..it.end);
        let blocks: Vec<_> = blocks.filter(|it| !it.is_empty()).collect();
        around.push((level, if blocks.is_empty() { scope } else { Some(blocks) }));
    }
    scopes
}
