//! From text to instructions, by the rules of BuildKit's own parser: lines that continue, comments between them,
//! directives, here-documents. What an instruction's arguments must be is `syntax`'s business.
//!
//! Why no crate: `parse-dockerfile` 0.1.9 knows a here-document only where `RUN` begins with it, and takes the lines of
//! `RUN python3 <<EOF` for instructions; `dockerfile-parser` 0.9 and `dockerfile-parser-rs` 3.4 know no here-documents or no
//! places, and the parser of `dockerfile-roast` 1.7 comes with the whole of its command line.

use std::ops::Range;

use crate::logical::Logical;
use crate::words::{plain_words, unquote, words};

/// Contents of a Dockerfile.
#[derive(Debug)]
pub(crate) struct Dockerfile {
    pub(crate) escape: char,
    pub(crate) directives: Vec<Directive>,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) flaws: Vec<Flaw>,
}

/// `# name=value` before everything else.
#[derive(Debug)]
pub(crate) struct Directive {
    /// In small letters.
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) place: Range<usize>,
}

/// A comment on a line of its own.
#[derive(Debug)]
pub(crate) struct Comment {
    pub(crate) text: String,
    /// The number of its line.
    pub(crate) row: usize,
}

/// Syntax error.
#[derive(Debug)]
pub(crate) struct Flaw {
    pub(crate) message: String,
    pub(crate) place: Range<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Instruction {
    /// Keyword as it is written; of `ONBUILD RUN`, `RUN`.
    pub(crate) keyword: String,
    /// In capitals.
    pub(crate) kind: String,
    /// Range of the keyword in the file; of `ONBUILD RUN`, that of `ONBUILD`.
    pub(crate) place: Range<usize>,
    /// Keyword `ONBUILD` as it is written, if the instruction is for another build.
    pub(crate) onbuild: Option<String>,
    pub(crate) line: Logical,
    /// The number of its first line.
    pub(crate) row: usize,
    /// Offset of the arguments in `line`.
    pub(crate) arguments: usize,
    pub(crate) flags: Vec<Flag>,
    pub(crate) has_heredoc: bool,
    /// All of it, with its here-documents.
    pub(crate) span: Range<usize>,
    /// The first line of it that has nothing on it.
    pub(crate) empty_line: Option<usize>,
    /// The comments right before it.
    pub(crate) described: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Flag {
    /// Without the hyphens.
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    /// In the instruction's line.
    pub(crate) range: Range<usize>,
}

const DIRECTIVES: [&str; 3] = ["syntax", "escape", "check"];

impl Instruction {
    pub(crate) fn argument_text(&self) -> &str {
        &self.line.text[self.arguments..]
    }

    /// The arguments' words, in the instruction's line. For most instructions quotes do not keep white space together.
    pub(crate) fn words(&self, escape: char) -> Vec<Range<usize>> {
        let text = self.argument_text();
        let words = match &*self.kind {
            "ADD" | "COPY" | "EXPOSE" | "FROM" | "VOLUME" => plain_words(text),
            _ => words(text, escape),
        };
        words.into_iter().map(|it| it.start + self.arguments..it.end + self.arguments).collect()
    }

    /// Arguments as an array of strings, if that is what they are.
    pub(crate) fn json(&self) -> Option<Vec<String>> {
        let text = self.argument_text().trim();
        text.starts_with('[').then(|| serde_json::from_str(text).ok()).flatten()
    }

    pub(crate) fn flag(&self, name: &str) -> Option<&Flag> {
        self.flags.iter().find(|it| it.name == name)
    }

    /// Whether a `USER` is root. One that is a variable need not be.
    pub(crate) fn is_root(&self, escape: char) -> bool {
        let user = unquote(self.argument_text().trim(), escape);
        matches!(user.split(':').next(), Some("root" | "0"))
    }

    /// Whether the instruction is of this kind, and of this build.
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.onbuild.is_none() && self.kind == kind
    }
}

pub(crate) fn parse(text: &str) -> Dockerfile {
    let mut reader = Reader {
        text,
        at: 0,
        row: 0,
        found: empty(),
        described: Vec::new(),
        may_direct: true,
        has_shebang: text.starts_with("#!"),
    };
    while let Some((start, line)) = reader.line() {
        reader.begin(start, line);
    }
    reader.found
}

fn empty() -> Dockerfile {
    Dockerfile {
        escape: '\\',
        directives: Vec::new(),
        instructions: Vec::new(),
        comments: Vec::new(),
        flaws: Vec::new(),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The number of the line read last.
    row: usize,
    found: Dockerfile,
    described: Vec<String>,
    may_direct: bool,
    /// `#!` is passed over when `check` and `syntax` are looked for. For `escape` it is a comment, after which there is none.
    has_shebang: bool,
}

impl<'t> Reader<'t> {
    /// The next line without what ends it, and where it begins.
    fn line(&mut self) -> Option<(usize, &'t str)> {
        let rest = self.text.get(self.at..).filter(|it| !it.is_empty())?;
        let start = self.at;
        let line = rest.split_inclusive('\n').next().unwrap_or_default();
        self.at += line.len();
        self.row += 1;
        Some((start, line.trim_end_matches(['\n', '\r'])))
    }

    /// A line that continues no other.
    fn begin(&mut self, start: usize, line: &'t str) {
        let trimmed = line.trim_start();
        let at = start + line.len() - trimmed.len();
        if let Some(comment) = trimmed.strip_prefix('#') {
            return self.comment(comment, start..start + line.len());
        }
        self.may_direct = false;
        if trimmed.is_empty() {
            return self.described.clear();
        }
        self.instruction(at, trimmed);
    }

    fn comment(&mut self, comment: &str, place: Range<usize>) {
        let is_shebang = self.has_shebang && self.row == 1;
        if self.may_direct && !is_shebang && !self.directive(comment, place) {
            self.may_direct = false;
        }
        let text = comment.trim().to_owned();
        if text.is_empty() {
            self.described.clear();
        } else {
            self.described.push(text.clone());
        }
        self.found.comments.push(Comment { text, row: self.row });
    }

    fn directive(&mut self, comment: &str, place: Range<usize>) -> bool {
        let Some((name, value)) = directive(comment) else { return false };
        let message = match (&*name, &*value) {
            _ if self.has_shebang => None,
            _ if self.found.directives.iter().any(|it| it.name == name) => {
                Some(format!("the directive `{name}` may be there only once"))
            }
            ("escape", "`" | "\\") | ("syntax" | "check", _) => None,
            _ => Some(format!("`{value}` cannot be the escape sign: only \\ and ` can")),
        };
        match message {
            Some(message) => self.found.flaws.push(Flaw { message, place: place.clone() }),
            None if name == "escape" && !self.has_shebang => {
                self.found.escape = value.chars().next().unwrap_or('\\')
            }
            None => {}
        }
        self.found.directives.push(Directive { name, value, place });
        true
    }

    fn instruction(&mut self, start: usize, first: &str) {
        let mut line = Logical::default();
        let mut empty_line = None;
        let row = self.row;
        let (piece, mut goes_on) = continued(first, self.found.escape);
        line.push(piece, start);
        let mut end = start + first.len();
        while goes_on {
            let Some((at, next)) = self.line() else { break };
            if next.trim_start().starts_with('#') {
                continue;
            }
            if next.trim().is_empty() {
                empty_line.get_or_insert(at);
                continue;
            }
            let (piece, more) = continued(next, self.found.escape);
            line.push(piece, at);
            (goes_on, end) = (more, at + next.len());
        }
        let described = std::mem::take(&mut self.described);
        let Some(mut made) = made(line, start..end, row, self.found.escape) else { return };
        (made.empty_line, made.described) = (empty_line, described);
        if matches!(&*made.kind, "RUN" | "COPY" | "ADD") && made.json().is_none() {
            self.heredocs(&mut made);
        }
        self.found.instructions.push(made);
    }

    /// Takes the lines that belong to the instruction's here-documents.
    fn heredocs(&mut self, made: &mut Instruction) {
        let escape = self.found.escape;
        for word in words(made.argument_text(), escape) {
            let word = made.arguments + word.start..made.arguments + word.end;
            let Some((name, has_tabs)) = heredoc(&made.line.text[word.clone()], escape) else { continue };
            loop {
                let Some((_, line)) = self.line() else {
                    let message = format!("the here-document is never closed: no line is just `{name}`");
                    let place = made.line.place(word.clone());
                    self.found.flaws.push(Flaw { message, place });
                    break;
                };
                let line = if has_tabs { line.trim_start_matches('\t') } else { line };
                if line == name {
                    break;
                }
            }
            made.has_heredoc = true;
            made.span.end = self.text[..self.at].trim_end_matches(['\n', '\r']).len();
        }
    }
}

/// A line without the sign at its end that continues it, and whether that was there.
fn continued(line: &str, escape: char) -> (&str, bool) {
    let Some(before) = line.trim_end_matches([' ', '\t']).strip_suffix(escape) else {
        return (line, false);
    };
    if before.ends_with(escape) { (line, false) } else { (before, true) }
}

/// Name and value, if a comment is a directive. Of `check` and `syntax` the value ends where white space begins.
pub(crate) fn directive(comment: &str) -> Option<(String, String)> {
    let (name, value) = comment.split_once('=')?;
    let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
    let end = if name == "escape" { value.len() } else { value.find(' ').unwrap_or(value.len()) };
    (DIRECTIVES.contains(&&*name) && !value.is_empty()).then(|| (name, value[..end].to_owned()))
}

/// The name of the here-document that a word opens, and whether tabs before its lines do not count.
pub(crate) fn heredoc(word: &str, escape: char) -> Option<(String, bool)> {
    let rest = word.trim_start_matches(|it: char| it.is_ascii_digit()).strip_prefix("<<")?;
    let (has_tabs, rest) = rest.strip_prefix('-').map_or((false, rest), |it| (true, it));
    let name = unquote(rest, escape);
    (!name.is_empty() && !rest.contains('<')).then_some((name, has_tabs))
}

/// An instruction of its line. `None`: nothing is on it.
fn made(line: Logical, span: Range<usize>, row: usize, escape: char) -> Option<Instruction> {
    let (keyword, rest) = keyword(&line.text, 0)?;
    let written = line.text[keyword.clone()].to_owned();
    let place = line.place(keyword.clone());
    let is_onbuild = written.eq_ignore_ascii_case("ONBUILD");
    let inner = if is_onbuild { self::keyword(&line.text, rest) } else { None };
    let (keyword, rest, onbuild) = match inner {
        Some((inner, rest)) => (line.text[inner].to_owned(), rest, Some(written)),
        None => (written, rest, None),
    };
    let (flags, arguments) = flags(&line.text, rest, escape);
    let kind = keyword.to_ascii_uppercase();
    Some(Instruction {
        keyword,
        kind,
        place,
        onbuild,
        line,
        row,
        arguments,
        flags,
        has_heredoc: false,
        span,
        empty_line: None,
        described: Vec::new(),
    })
}

/// The first word from a place on, and where what follows it begins.
fn keyword(text: &str, from: usize) -> Option<(Range<usize>, usize)> {
    let start = from + text[from..].find(|it: char| !it.is_whitespace())?;
    let end = text[start..].find(char::is_whitespace).map_or(text.len(), |it| start + it);
    let rest = text[end..].find(|it: char| !it.is_whitespace()).map_or(text.len(), |it| end + it);
    Some((start..end, rest))
}

/// The words that begin with `--`, and where the arguments begin after them.
fn flags(text: &str, from: usize, escape: char) -> (Vec<Flag>, usize) {
    let mut found = Vec::new();
    for word in words(&text[from..], escape) {
        let range = from + word.start..from + word.end;
        let Some(flag) = text[range.clone()].strip_prefix("--") else { return (found, range.start) };
        if flag.is_empty() {
            let rest = text[range.end..].find(|it: char| !it.is_whitespace());
            return (found, rest.map_or(text.len(), |it| range.end + it));
        }
        let (name, value) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        let value = value.map(str::to_owned);
        found.push(Flag { name: name.to_owned(), value, range });
    }
    (found, text.len())
}
