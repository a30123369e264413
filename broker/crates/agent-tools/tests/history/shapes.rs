//! Sketches of a change: with three lines of context, and in the shapes that models write.

mod patches;

use similar::{DiffOp, TextDiff};

use crate::{commits::Commit, languages};

/// An edit, and the text that it must lead to if it is applied.
pub(crate) struct Case {
    pub(crate) shape: &'static str,
    pub(crate) language: &'static str,
    pub(crate) path: String,
    pub(crate) commit: String,
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) edit: String,
    /// Whether the context of some piece is in the file more than once.
    pub(crate) is_ambiguous: bool,
}

/// Numbers that are the same in each run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// A changed span with its context: lines of the file before, and lines of the file after.
#[derive(Clone, Debug)]
struct Span {
    old: (usize, usize),
    new: (usize, usize),
}

const WORDINGS: [&str; 8] = [
    "... existing code ...",
    "...",
    "\u{2026}",
    "... rest of the code remains unchanged ...",
    "existing code...",
    "... (unchanged)",
    "rest of the file stays the same",
    "... same as before ...",
];

pub(crate) fn all(change: &Commit, random: &mut Random) -> Vec<Case> {
    let maker = Maker::new(change);
    let mut cases = vec![maker.sketch("three lines of context", 3, 0)];
    let wording = random.below(WORDINGS.len());
    cases.push(maker.sketch("other words", 3, wording));
    cases.push(match random.below(14) {
        0 => maker.sketch("one line of context", 1, wording),
        1 => maker.sketch("two lines of context", 2, wording),
        2 => maker.without_markers_at_the_ends(),
        3 => maker.moved_left("indented further to the left", |it| it),
        4 => maker.moved_left("first line at the margin", |_| 0),
        5 => maker.with_spaces(),
        6 => maker.trimmed(),
        7 => maker.without_context_above(),
        8 => maker.without_context_below(),
        9 => maker.fenced(),
        10 => maker.foreign(),
        11 => maker.whole(),
        12 => maker.part(),
        _ => maker.with_commas(),
    });
    cases.push(match random.below(4) {
        0 => maker.diff("unified diff, wrong numbers", "@@ -7,3 +7,4 @@"),
        1 => maker.diff("unified diff without numbers", "@@"),
        2 => maker.codex(),
        _ => maker.blocks(),
    });
    cases.extend(maker.renamed_head(random, wording));
    cases.into_iter().filter(|it| !it.edit.is_empty()).collect()
}

struct Maker<'a> {
    change: &'a Commit,
    before: Vec<&'a str>,
    after: Vec<&'a str>,
    ops: Vec<DiffOp>,
    comment: (&'static str, &'static str),
    language: &'static str,
}

impl<'a> Maker<'a> {
    fn new(change: &'a Commit) -> Self {
        let language = languages::of(&change.path).unwrap();
        let lines =
            |text: &'a str| text.split_inclusive('\n').map(|it| it.trim_end_matches(['\n', '\r'])).collect();
        let ops = TextDiff::from_lines(change.before.as_str(), change.after.as_str()).ops().to_vec();
        Self {
            change,
            before: lines(&change.before),
            after: lines(&change.after),
            ops,
            comment: language.comment,
            language: language.name,
        }
    }

    fn case(&self, shape: &'static str, edit: String) -> Case {
        Case {
            shape,
            language: self.language,
            path: self.change.path.clone(),
            commit: self.change.id.clone(),
            before: self.change.before.clone(),
            after: self.change.after.clone(),
            edit,
            is_ambiguous: self.is_ambiguous(),
        }
    }

    /// The changed spans with so many lines around, those that touch each other as one.
    fn spans(&self, above: usize, below: usize) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for op in self.ops.iter().filter(|it| !matches!(it, DiffOp::Equal { .. })) {
            let (old, new) = (op.old_range(), op.new_range());
            let (up, down) = (above.min(old.start), below.min(self.before.len() - old.end));
            let span = Span { old: (old.start - up, old.end + down), new: (new.start - up, new.end + down) };
            match spans.last_mut().filter(|it| span.old.0 <= it.old.1) {
                Some(last) => (last.old.1, last.new.1) = (span.old.1, span.new.1),
                None => spans.push(span),
            }
        }
        spans
    }

    fn is_ambiguous(&self) -> bool {
        let count =
            |lines: &[&str]| self.before.windows(lines.len().max(1)).filter(|it| *it == lines).count();
        self.spans(3, 3).iter().any(|it| {
            let (from, to) = it.old;
            let size = (to - from).min(3);
            count(&self.before[from..from + size]) > 1 || count(&self.before[to - size..to]) > 1
        })
    }

    fn marker(&self, wording: usize, next: Option<&str>) -> String {
        let indent = next.map_or("", |it| &it[..it.len() - it.trim_start().len()]);
        format!("{indent}{}{}{}", self.comment.0, WORDINGS[wording], self.comment.1)
    }

    /// The lines of each span, with markers where lines are left out.
    fn lines(
        &self,
        spans: &[Span],
        wording: usize,
        mut shape: impl FnMut(Vec<String>) -> Vec<String>,
    ) -> String {
        let mut lines = Vec::new();
        let mut at = 0;
        for span in spans {
            let text: Vec<_> = self.after[span.new.0..span.new.1].iter().map(|it| (*it).to_owned()).collect();
            if span.old.0 > at {
                lines.push(self.marker(wording, text.first().map(String::as_str)));
            }
            lines.extend(shape(text));
            at = span.old.1;
        }
        if at < self.before.len() {
            lines.push(self.marker(wording, None));
        }
        lines.join("\n") + "\n"
    }

    fn sketch(&self, shape: &'static str, context: usize, wording: usize) -> Case {
        self.case(shape, self.lines(&self.spans(context, context), wording, |it| it))
    }

    fn without_markers_at_the_ends(&self) -> Case {
        let text = self.lines(&self.spans(3, 3), 0, |it| it);
        let markers = |it: &&str| it.contains(WORDINGS[0]);
        let lines: Vec<_> = text.lines().collect();
        let first = usize::from(lines.first().is_some_and(markers));
        let last = lines.len() - usize::from(lines.last().is_some_and(markers));
        self.case("no marker at the ends", lines[first..last].join("\n"))
    }

    /// Each piece moved to the left, the first line to what `first` makes of that.
    fn moved_left(&self, shape: &'static str, first: fn(usize) -> usize) -> Case {
        let text = self.lines(&self.spans(3, 3), 0, |lines| {
            let indents = lines.iter().filter(|it| !it.trim().is_empty());
            let least = indents.map(|it| it.len() - it.trim_start().len()).min().unwrap_or_default();
            let is_first_only = first(1) == 0;
            let cut = |(at, it): (usize, &String)| match (at, is_first_only) {
                (0, true) => it.trim_start().to_owned(),
                (_, true) => it.clone(),
                (_, false) => it.get(least..).unwrap_or_default().to_owned(),
            };
            lines.iter().enumerate().map(cut).collect()
        });
        self.case(shape, text)
    }

    /// Tabs at the start of lines as four spaces.
    fn with_spaces(&self) -> Case {
        let spaced = |it: &String| {
            let rest = it.trim_start_matches('\t');
            "    ".repeat(it.len() - rest.len()) + rest
        };
        // What a level is made of cannot be known where the file has none.
        let has_levels = self.before.iter().any(|it| it.starts_with('\t'));
        if !has_levels {
            return self.case("spaces for tabs", String::new());
        }
        self.case("spaces for tabs", self.lines(&self.spans(3, 3), 0, |it| it.iter().map(spaced).collect()))
    }

    fn trimmed(&self) -> Case {
        let is_new = |it: &&DiffOp| !matches!(it, DiffOp::Equal { .. });
        let added = self.ops.iter().filter(is_new).flat_map(|it| &self.after[it.new_range()]);
        // What is cut from new lines cannot be known.
        if added.into_iter().any(|it| it.trim_end() != *it) {
            return self.case("no whitespace at the ends of lines", String::new());
        }
        let trim = |it: &String| it.trim_end().to_owned();
        self.case(
            "no whitespace at the ends of lines",
            self.lines(&self.spans(3, 3), 0, |it| it.iter().map(trim).collect()),
        )
    }

    /// Whether lines only go somewhere, which an edit without context does not show.
    fn has_removal(&self) -> bool {
        self.ops.iter().any(|it| it.old_range().len() > it.new_range().len())
    }

    /// Whether new lines are the same as those next to them, for which they are taken without context.
    fn has_repetition(&self) -> bool {
        self.ops.iter().any(|it| {
            let (new, old) = (&self.after[it.new_range()], it.old_range());
            let is_next = self.before[old.end..].starts_with(new) || self.before[..old.start].ends_with(new);
            !matches!(it, DiffOp::Equal { .. }) && !new.is_empty() && is_next
        })
    }

    fn without_context_above(&self) -> Case {
        if self.has_removal() {
            return self.case("no context above", String::new());
        }
        self.case("no context above", self.lines(&self.spans(0, 3), 0, |it| it))
    }

    fn without_context_below(&self) -> Case {
        if self.has_removal() || self.has_repetition() {
            return self.case("no context below", String::new());
        }
        self.case("no context below", self.lines(&self.spans(3, 0), 0, |it| it))
    }

    fn fenced(&self) -> Case {
        let text = self.lines(&self.spans(3, 3), 0, |it| it);
        self.case("in a fence", format!("```{}\n{text}```", self.language))
    }

    /// The hunks of another file go on behind those of this one. Nothing is right but a refusal.
    fn foreign(&self) -> Case {
        let text = self.lines(&self.spans(3, 3), 0, |it| it);
        let other = "fn elsewhere(argument_of_another_file: u8) {\n    call_that_is_nowhere();\n}\n";
        let marker = self.marker(0, None);
        let mut case = self.case("hunks of another file", format!("{text}\n{marker}\n{other}\n{marker}\n"));
        case.after = "nothing is right".to_owned();
        case
    }

    fn whole(&self) -> Case {
        let edit = if self.after.len() <= 200 { self.change.after.clone() } else { String::new() };
        self.case("whole file", edit)
    }

    fn part(&self) -> Case {
        let spans = self.spans(3, 3);
        let edit = match &spans[..] {
            [span] => self.after[span.new.0..span.new.1].join("\n"),
            _ => String::new(),
        };
        self.case("part without markers", edit)
    }

    /// The last line of each piece with a comma that the file has not.
    fn with_commas(&self) -> Case {
        let is_list = matches!(self.language, "javascript" | "typescript" | "rust" | "go" | "php");
        let Some(line) = (0..self.before.len()).find(|it| self.is_last_item(*it)).filter(|_| is_list) else {
            return self.case("a comma more", String::new());
        };
        let mut after: Vec<String> = self.before.iter().map(|it| (*it).to_owned()).collect();
        after[line].push(',');
        let indent = &self.before[line][..self.before[line].len() - self.before[line].trim_start().len()];
        after.insert(line + 1, format!("{indent}a_new_item_of_the_list: 1,"));
        let marker = self.marker(0, None);
        let from = line.saturating_sub(2);
        let to = (line + 4).min(after.len());
        let edit = format!("{marker}\n{}\n{marker}\n", after[from..to].join("\n"));
        let mut case = self.case("a comma more", edit);
        case.after = self.text(&after);
        case
    }

    fn is_last_item(&self, line: usize) -> bool {
        let (it, next) = (self.before[line].trim(), self.before.get(line + 1).map_or("", |it| it.trim()));
        it.len() > 8
            && it.contains(':')
            && it.ends_with(|it: char| it.is_alphanumeric())
            && next.starts_with('}')
    }

    fn text(&self, lines: &[String]) -> String {
        let ending = if self.change.before.contains("\r\n") { "\r\n" } else { "\n" };
        let last = if self.change.before.ends_with('\n') { ending } else { "" };
        lines.join(ending) + last
    }

    /// The head of a definition with another parameter, alone between two markers or with the line below it.
    fn renamed_head(&self, random: &mut Random, wording: usize) -> Option<Case> {
        let starts = ["def ", "fn ", "pub fn ", "func ", "function ", "public "];
        let is_head = |it: &&usize| {
            let line = self.before[**it].trim();
            starts.iter().any(|start| line.starts_with(start)) && line.contains(')') && line.contains('(')
        };
        let all: Vec<_> = (0..self.before.len()).collect();
        let heads: Vec<_> = all.iter().filter(is_head).collect();
        let at = *heads.get(random.below(heads.len().max(1)))?;
        let mut after: Vec<String> = self.before.iter().map(|it| (*it).to_owned()).collect();
        let renames = random.below(2) == 0;
        after[*at] = if renames {
            self.before[*at].replacen('(', "_renamed(", 1)
        } else {
            self.before[*at].replacen('(', "(a_new_parameter, ", 1)
        };
        let end = (at + 1 + random.below(3)).min(after.len());
        let (above, below) = (self.marker(wording, None), self.marker(wording, Some("    ")));
        let edit = format!("{above}\n{}\n{below}\n", after[*at..end].join("\n"));
        let shape = if renames { "head of another name" } else { "head with another parameter" };
        let mut case = self.case(shape, edit);
        case.after = self.text(&after);
        Some(case)
    }
}
