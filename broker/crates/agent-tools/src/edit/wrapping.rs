//! Text around a patch: the mail that it came in, the head of `git show`, the sentences of a model.
//!
//! The readers of diffs and codex patches find what they can read anywhere in an edit, and leave the rest. Here that rest
//! decides whether the edit is the patch, or the text of a file which has a patch in it.

pub(super) use patch::Outside;
use patch::{is_fence, is_signature, is_vcs_head};

use super::names::Named;

/// A patch that was found in an edit.
pub(super) struct Found<'a> {
    /// First line of the patch, from 0.
    pub(super) first: usize,
    /// The files that it names, as far as it could be read.
    pub(super) named: Vec<Named>,
    pub(super) outside: Vec<Outside<'a>>,
}

/// Lines around a patch that a model may say of it.
pub(super) const MAX_SAID: usize = 8;

impl Found<'_> {
    /// Whether there is text around the patch, apart from what tools write there.
    pub(super) fn leaves_out(&self) -> bool {
        !Around::of(&self.outside).said.is_empty()
    }
}

/// The lines around a patch, without what tools write there.
pub(super) struct Around<'a> {
    pub(super) said: Vec<Outside<'a>>,
    /// Whether a fence of Markdown is next to the patch, and whether there are others.
    pub(super) is_fenced: bool,
    pub(super) has_fences: bool,
    /// Whether the patch stands in a literal of a programming language.
    pub(super) is_quoted: bool,
}

impl<'a> Around<'a> {
    pub(super) fn of(outside: &[Outside<'a>]) -> Self {
        let mut around = Self { said: Vec::new(), is_fenced: false, has_fences: false, is_quoted: false };
        let last = outside.last().map_or(0, |it| it.parts);
        for run in outside.chunk_by(|a, b| a.parts == b.parts) {
            let is_above = run[0].parts == 0 || run[0].parts < last;
            around.add(run, is_above, run[0].parts > 0);
        }
        around
    }

    /// Adds a run of lines, which parts of the patch stand below or above.
    fn add(&mut self, run: &[Outside<'a>], is_above: bool, is_below: bool) {
        let texts: Vec<_> = run.iter().map(|it| it.text).collect();
        let tools = (0..run.len())
            .find(|at| is_signature(&texts, *at) || is_vcs_head(texts[*at]) || is_headers(&texts[*at..]));
        let (run, texts) = (&run[..tools.unwrap_or(run.len())], &texts[..tools.unwrap_or(run.len())]);
        for (at, line) in run.iter().enumerate() {
            let is_next = (is_below && at == 0) || (is_above && at + 1 == run.len());
            match line.text {
                text if is_fence(text) => {
                    self.is_fenced |= is_next;
                    self.has_fences |= !is_next;
                }
                text if is_stat(text) || is_call(text) || is_tag(text) => {}
                text if is_next && is_short_commit(text) => {}
                _ => self.said.push(*line),
            }
        }
        self.is_quoted |= is_above && texts.last().is_some_and(|it| opens(it));
        self.is_quoted |= is_below && texts.first().is_some_and(|it| closes(it));
    }

    pub(super) fn is_chat(&self) -> bool {
        !self.has_fences && self.said.len() <= MAX_SAID && self.said.iter().all(|it| is_sentence(it.text))
    }
}

/// Whether a line is prose, judged by its ends.
pub(super) fn is_sentence(line: &str) -> bool {
    let text = line.trim_end();
    let is_code = text.ends_with(['{', '}', ';', '(', '[', '=', '\\'])
        || ["#", "|", "//", "/*", "<", "    ", "\t", "{", "}", ")", "]", "@"]
            .iter()
            .any(|it| text.starts_with(it))
        || (text.contains(" = ") && !text.contains('`'));
    !is_code && text.contains(char::is_alphabetic)
}

/// Whether a literal begins at the end of a line.
fn opens(line: &str) -> bool {
    let line = line.trim_end().trim_end_matches('\\');
    let is_odd = |sign: &str| line.ends_with(sign) && line.matches(sign).count() % 2 == 1;
    !is_fence(line)
        && (["\"\"\"", "'''", "\"", "`"].into_iter().any(is_odd)
            || (line.contains("<<") && !is_call(line))
            || [">", "/*", "{verbatim}"].iter().any(|it| line.ends_with(it) && !is_tag(line)))
}

fn closes(line: &str) -> bool {
    let is_odd = |sign: &str| line.starts_with(sign) && line.matches(sign).count() % 2 == 1;
    !is_fence(line)
        && (["\"\"\"", "'''", "\"", "`"].into_iter().any(is_odd)
            || ["</", "*/", "\\end"].iter().any(|it| line.starts_with(it) && !is_tag(line)))
}

/// Fields of mails, of logs, and of the patches that distributions keep.
const FIELDS: [&str; 20] = [
    "from",
    "to",
    "cc",
    "date",
    "subject",
    "message-id",
    "mime-version",
    "content-type",
    "in-reply-to",
    "references",
    "author",
    "authordate",
    "commit",
    "commitdate",
    "user",
    "summary",
    "description",
    "origin",
    "forwarded",
    "last-update",
];

/// Whether the first two lines have fields of `FIELDS`.
fn is_headers(lines: &[&str]) -> bool {
    let is_field =
        |it: &&str| it.split_once(": ").is_some_and(|it| FIELDS.contains(&it.0.to_lowercase().as_str()));
    lines.len() > 1 && lines[..2].iter().all(is_field)
}

/// A line of what `git diff --stat` prints, or what separates it from a message.
fn is_stat(line: &str) -> bool {
    let is_count =
        |it: &str| it.trim_start().starts_with(|it: char| it.is_ascii_digit()) || it.contains("Bin ");
    let is_summary = ["create mode ", "delete mode ", "mode change ", "rename ", "copy "]
        .iter()
        .any(|it| line.trim_start().starts_with(it));
    let is_total = line.contains(" changed, ") && (line.contains("(+)") || line.contains("(-)"));
    line.trim_end() == "---"
        || (line.starts_with(' ') && (is_summary || line.rsplit_once(" | ").is_some_and(|it| is_count(it.1))))
        || (line.starts_with(' ') && is_total)
}

/// `1a2b3c4 subject`, as `git show --oneline` writes it.
fn is_short_commit(line: &str) -> bool {
    let hash = line.split(' ').next().unwrap_or_default();
    (7..=40).contains(&hash.len())
        && hash.bytes().all(|it| it.is_ascii_hexdigit())
        && hash.bytes().any(|it| it.is_ascii_digit())
}

/// A command that is given a patch, and the end of what it is given.
fn is_call(line: &str) -> bool {
    let is_command = ["apply_patch", "git apply", "git am", "patch"].iter().any(|it| line.starts_with(it));
    line.starts_with("<<")
        || (is_command && line.contains("<<"))
        || matches!(line.trim(), "EOF" | "PATCH" | "EOS")
}

fn is_tag(line: &str) -> bool {
    let name = line.trim().trim_start_matches(['<', '/']).trim_end_matches('>');
    line.trim().starts_with('<') && ["patch", "diff", "apply_patch", "code_edit"].contains(&name)
}
