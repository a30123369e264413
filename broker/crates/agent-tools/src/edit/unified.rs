//! Unified diffs as git writes them, and as models do: with wrong line numbers, without numbers, without names.
//!
//! A hunk is found by its lines. Its number only decides between places that fit alike, and only if the head of the hunk
//! counts its lines right.

use overlay::WorkspacePath;

use super::{
    block::{Block, Closeness, Sign, in_order},
    outcome::{Changed, Reason, Refused},
    text::{Replacement, Text, lines_of},
};

/// What a diff says of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FileDiff<'a> {
    /// `None` for `/dev/null`, and in a diff without names.
    pub(super) old: Option<&'a str>,
    pub(super) new: Option<&'a str>,
    pub(super) is_new: bool,
    pub(super) is_deleted: bool,
    pub(super) hunks: Vec<Hunk<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hunk<'a> {
    pub(super) block: Block<'a>,
    /// The first line that is there before, from 0, if the head can be believed.
    stated: Option<usize>,
    /// Whether the text ends with a line ending afterwards, if the hunk says so.
    ends: Option<bool>,
}

pub(super) fn is_diff(edit: &str) -> bool {
    let mut lines = edit.lines().skip_while(|it| it.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    let has_hunk = edit.lines().any(|it| it.starts_with("@@"));
    let has_names = edit.lines().any(|it| it.starts_with("+++ "));
    first.starts_with("diff --git ")
        || (has_hunk && first.starts_with("@@"))
        || (has_hunk
            && has_names
            && ["--- ", "Index: ", "diff ", "index "].iter().any(|it| first.starts_with(it)))
}

/// The files of a diff.
pub(super) fn read(edit: &str) -> Result<Vec<FileDiff<'_>>, Refused> {
    let lines = lines_of(edit);
    let mut files: Vec<FileDiff<'_>> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        if line.starts_with("diff ") {
            files.push(FileDiff::default());
        } else if is_head_of_file(&lines, at - 1) {
            // Without a line of git's before it, it begins a file itself.
            if files.last().is_none_or(|it| it.old.is_some() || it.new.is_some() || !it.hunks.is_empty()) {
                files.push(FileDiff::default());
            }
            let Some(file) = files.last_mut() else { continue };
            (file.old, file.new) = (name(&line[4..], "a/"), name(&lines[at][4..], "b/"));
            (file.is_new, file.is_deleted) = (file.old.is_none(), file.new.is_none());
            at += 1;
        } else if line.starts_with("@@") {
            if files.is_empty() {
                files.push(FileDiff::default());
            }
            let Some(file) = files.last_mut() else { continue };
            let hunk = hunk(&lines, &mut at, file.hunks.len() + 1)?;
            file.hunks.push(hunk);
        } else if let Some(file) = files.last_mut() {
            extended(file, line, at)?;
        }
    }
    Ok(files)
}

fn is_head_of_file(lines: &[&str], at: usize) -> bool {
    lines[at].starts_with("--- ") && lines.get(at + 1).is_some_and(|it| it.starts_with("+++ "))
}

/// Lines between the names and the hunks.
fn extended<'a>(file: &mut FileDiff<'a>, line: &'a str, number: usize) -> Result<(), Refused> {
    if let Some(name) = line.strip_prefix("rename from ") {
        file.old = Some(name);
    } else if let Some(name) = line.strip_prefix("rename to ") {
        file.new = Some(name);
    } else if !line.trim().is_empty() && !KNOWN.iter().any(|it| line.starts_with(it)) {
        let message = format!("`{line}` is no line of a diff");
        return Err(Reason::Malformed { line: number, message }.into());
    }
    Ok(())
}

const KNOWN: [&str; 8] = [
    "index ",
    "new file mode ",
    "deleted file mode ",
    "old mode ",
    "new mode ",
    "similarity ",
    "Index: ",
    "===",
];

/// The name in a line, without git's prefix and what follows a tab.
fn name<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let name = text.split('\t').next().unwrap_or_default().trim();
    let name = name.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(name);
    (name != "/dev/null").then(|| name.strip_prefix(prefix).unwrap_or(name))
}

fn hunk<'a>(lines: &[&'a str], at: &mut usize, part: usize) -> Result<Hunk<'a>, Refused> {
    let head = Head::read(lines[*at - 1]);
    let (mut body, mut last, mut is_open) = (Vec::new(), None, (false, false));
    let mut left = head.map_or((0, 0), |it| (it.old, it.new));
    while let Some(line) = lines.get(*at) {
        let is_due = left != (0, 0);
        if line.starts_with("@@") || line.starts_with("diff ") || (!is_due && is_head_of_file(lines, *at)) {
            break;
        }
        let (sign, text) = match line.chars().next() {
            Some('+') => (Sign::New, &line[1..]),
            Some('-') => (Sign::Old, &line[1..]),
            Some(' ') => (Sign::Keep, &line[1..]),
            None => (Sign::Keep, ""),
            Some('\\') => {
                let (old, new) = (last != Some(Sign::New), last != Some(Sign::Old));
                is_open = (is_open.0 || old, is_open.1 || new);
                *at += 1;
                continue;
            }
            Some(_) => {
                let message = "a line of a hunk begins with a space, `+` or `-`".to_owned();
                return Err(Reason::Malformed { line: *at + 1, message }.into());
            }
        };
        left = (
            left.0.saturating_sub((sign != Sign::New).into()),
            left.1.saturating_sub((sign != Sign::Old).into()),
        );
        last = Some(sign);
        body.push((sign, text, line.is_empty()));
        *at += 1;
    }
    // Empty lines at the end separate the hunk from what follows, unless they are counted.
    let counts = |body: &[(Sign, &str, bool)]| {
        let count = |not| body.iter().filter(|it| it.0 != not).count();
        (count(Sign::New), count(Sign::Old))
    };
    while body.last().is_some_and(|it| it.2) && head.is_none_or(|it| counts(&body) != (it.old, it.new)) {
        body.pop();
    }
    let is_believed = |it: &Head| counts(&body) == (it.old, it.new);
    let stated =
        head.filter(is_believed).map(|it| if it.old == 0 { it.start } else { it.start.saturating_sub(1) });
    let block = Block { part, lines: body.into_iter().map(|it| (it.0, it.1)).collect() };
    Ok(Hunk { block, stated, ends: (is_open != (false, false)).then_some(!is_open.1) })
}

/// `@@ -START,OLD +START,NEW @@`.
#[derive(Clone, Copy)]
struct Head {
    start: usize,
    old: usize,
    new: usize,
}

impl Head {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("@@ ")?.split(' ');
        let side = |word: &str, sign| {
            let (start, count) = word.strip_prefix(sign)?.split_once(',').unwrap_or((&word[1..], "1"));
            Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
        };
        let ((start, old), (_, new)) = (side(words.next()?, '-')?, side(words.next()?, '+')?);
        Some(Self { start, old, new })
    }
}

/// A diff of this one file.
pub(super) fn apply_to(path: &WorkspacePath, file: &Text<'_>, edit: &str) -> Result<Changed, Refused> {
    let edit = super::form::unfenced(path, edit);
    let files = read(&edit)?;
    let [diff] = &files[..] else { return Err(Reason::SeveralFiles.into()) };
    if let Some(named) = [diff.old, diff.new].into_iter().flatten().find(|it| !is_of(it, path)) {
        return Err(Reason::OtherFile { named: named.to_owned() }.into());
    }
    if diff.is_deleted {
        return Err(Reason::SeveralFiles.into());
    }
    change(file, &diff.hunks)
}

/// Whether a name in a patch is of a file, though it may be given from a folder above or below.
pub(super) fn is_of(named: &str, path: &WorkspacePath) -> bool {
    let (named, path) = (format!("/{}", named.trim_start_matches("./")), format!("/{}", path.as_str()));
    named.ends_with(&path) || path.ends_with(&named)
}

/// A text with the hunks applied.
pub(super) fn change(file: &Text<'_>, hunks: &[Hunk<'_>]) -> Result<Changed, Refused> {
    let before = file.replaced(&[], None);
    let mut places = Vec::new();
    let mut notes = Vec::new();
    for hunk in hunks {
        let (closeness, found) = found(file, &before, hunk)?;
        if closeness != Closeness::Exact {
            notes.push(format!("hunk {} was found but for whitespace", hunk.block.part));
        }
        let length = hunk.block.old().len();
        places.push(found.into_iter().map(|it| (it, it + length)).collect::<Vec<_>>());
    }
    let chosen = in_order(&places).map_err(|it| several(file, &before, &hunks[it], &places[it]))?;
    let replacements: Option<Vec<_>> =
        hunks.iter().zip(chosen).map(|(hunk, place)| hunk.block.at(place, file.lines())).collect();
    let replacements = replacements.ok_or_else(|| hunks[0].block.not_found())?;
    let ends = hunks.iter().find_map(|it| it.ends);
    Ok(Changed { text: file.replaced(&replacements, ends), notes })
}

fn several(file: &Text<'_>, before: &str, hunk: &Hunk<'_>, places: &[(usize, usize)]) -> Refused {
    match places {
        [_] => hunk.block.not_found(),
        _ => hunk.block.found_often(file, before, &places.iter().map(|it| it.0).collect::<Vec<_>>()),
    }
}

fn found(file: &Text<'_>, before: &str, hunk: &Hunk<'_>) -> Result<(Closeness, Vec<usize>), Refused> {
    if hunk.block.old().is_empty() {
        return inserted(file, before, hunk);
    }
    let (closeness, places) = hunk.block.places(file.lines());
    if places.is_empty() {
        return Err(hunk.block.not_found());
    }
    match hunk.stated.filter(|it| closeness == Closeness::Exact && places.contains(it)) {
        Some(stated) => Ok((closeness, vec![stated])),
        None => Ok((closeness, places)),
    }
}

/// A hunk without context has its number only, which is believed of an empty file.
fn inserted(file: &Text<'_>, before: &str, hunk: &Hunk<'_>) -> Result<(Closeness, Vec<usize>), Refused> {
    if file.is_empty() {
        return Ok((Closeness::Exact, vec![0]));
    }
    let line = hunk.stated.filter(|it| *it <= file.lines().len());
    let reading = line.map(|it| {
        let lines = hunk.block.lines.iter().map(|it| it.1.to_owned()).collect();
        let text = file.replaced(&[Replacement { range: it..it, lines }], hunk.ends);
        (format!("part {} is inserted after line {it}", hunk.block.part), text)
    });
    let reason = Reason::NotFound { part: hunk.block.part, text: "(no line)".to_owned() };
    Err(Refused::with_readings(reason, before, reading.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(before: &str, edit: &str) -> Result<String, Reason> {
        let path = WorkspacePath::new("src/a.py").unwrap();
        apply_to(&path, &Text::new(before), edit).map(|it| it.text).map_err(|it| it.reason)
    }

    #[test]
    fn hunks_are_found_by_their_lines() {
        let edit = "--- a/src/a.py\n+++ b/src/a.py\n@@ -90,2 +90,2 @@ def f():\n a\n-b\n+c\n@@\n d\n+e\n\n";
        assert_eq!(applied("x\na\nb\nd\n", edit).unwrap(), "x\na\nc\nd\ne\n");
    }

    #[test]
    fn a_number_decides_only_if_the_head_counts_right() {
        let edit = |head: &str| format!("--- a/src/a.py\n+++ b/src/a.py\n{head}\n-a\n+b\n");
        assert_eq!(applied("a\na\n", &edit("@@ -2 +2 @@")).unwrap(), "a\nb\n");
        assert!(matches!(applied("a\na\n", &edit("@@ -2,7 +2,7 @@")), Err(Reason::FoundOften { .. })));
        assert!(matches!(applied("a\na\n", &edit("@@ -9 +9 @@")), Err(Reason::FoundOften { .. })));
    }

    #[test]
    fn lines_that_look_like_names_are_text_where_they_are_counted() {
        let edit = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n z\n";
        assert_eq!(applied("-- x\nz\n", edit).unwrap(), "++ y\nz\n");
    }

    #[test]
    fn the_end_of_the_file_changes_only_if_the_diff_says_so() {
        let edit = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n";
        assert_eq!(applied("a", edit).unwrap(), "b\n");
        assert_eq!(applied("a", "@@ -1 +1 @@\n-a\n+b\n").unwrap(), "b");
    }

    #[test]
    fn another_file_is_refused() {
        let edit = "--- a/src/b.py\n+++ b/src/b.py\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(applied("a\n", edit), Err(Reason::OtherFile { named: "src/b.py".into() }));
        assert_eq!(applied("a\n", &(edit.to_owned() + edit)), Err(Reason::SeveralFiles));
    }
}
