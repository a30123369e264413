//! Blocks of `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`, each applied to what the ones before it made.

use bumpalo::Bump;
use overlay::WorkspacePath;

use super::{
    file_kind::FileKind,
    names::is_of,
    outcome::{Changed, Reason, Refused},
    text::{Replacement, Text, lines_of},
    toolkit::Toolkit,
    wrapping::{MAX_SAID, is_sentence},
};

mod cut;
mod pair;

/// Kind of a line of signs: 5 to 9 of them, and a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fence {
    Search,
    Middle,
    Replace,
}

fn fence(line: &str) -> Option<Fence> {
    let line = line.trim_end();
    let sign = line.chars().next().filter(|it| "<=>-+".contains(*it))?;
    let rest = line.trim_start_matches(sign);
    let word = rest.trim();
    match (sign, line.len() - rest.len(), word) {
        (_, ..5, _) | (_, 10.., _) => None,
        ('<' | '-', _, "SEARCH" | "ORIGINAL") => Some(Fence::Search),
        ('=', _, "") => Some(Fence::Middle),
        ('>' | '+', _, "REPLACE" | "UPDATED") => Some(Fence::Replace),
        _ => None,
    }
}

/// Whether an edit has a block, which may have been cut off.
pub(super) fn is_one(edit: &str) -> bool {
    let mut after = edit.lines().skip_while(|it| !is_start(it)).skip(1);
    after.any(|it| fence(it).is_some())
}

pub(super) fn is_start(line: &str) -> bool {
    fence(line) == Some(Fence::Search)
}

/// A block as it is written.
struct Block<'a> {
    /// The number of the line that begins it, from 1.
    line: usize,
    body: Vec<&'a str>,
    /// Lines of the body that may be the middle.
    middles: Vec<usize>,
}

/// Lines outside of the blocks with their numbers.
type OutsideLines<'a> = Vec<(usize, &'a str)>;

/// The blocks, and what stands outside of them.
fn read(edit: &str) -> Result<(Vec<Block<'_>>, OutsideLines<'_>), Refused> {
    let (mut blocks, mut open, mut outside) = (Vec::new(), None::<Block<'_>>, Vec::new());
    let malformed = |line: usize, message: &str| -> Refused {
        Reason::Malformed { line: line + 1, message: message.to_owned() }.into()
    };
    let lines = lines_of(edit);
    for (at, line) in lines.iter().enumerate() {
        match (fence(line), &mut open) {
            (Some(Fence::Search), None) => {
                open = Some(Block { line: at + 1, body: Vec::new(), middles: Vec::new() });
            }
            (Some(Fence::Search), Some(_)) => {
                return Err(malformed(at, "SEARCH within a block that is open"));
            }
            (Some(Fence::Replace), Some(block)) if !block.middles.is_empty() => blocks.extend(open.take()),
            (Some(Fence::Replace), _) => {
                return Err(malformed(at, "REPLACE without a SEARCH and `=======` before it"));
            }
            (found, Some(block)) => {
                block.middles.extend((found == Some(Fence::Middle)).then_some(block.body.len()));
                block.body.push(line);
            }
            (_, None) => outside.push((at + 1, *line)),
        }
    }
    if open.is_some() {
        return Err(malformed(lines.len().saturating_sub(1), "the last block has no end"));
    }
    Ok((blocks, outside))
}

pub(super) fn apply(
    path: &WorkspacePath,
    before: &str,
    edit: &str,
    tools: Toolkit<'_>,
) -> Result<Changed, Refused> {
    let (blocks, outside) = read(edit).map_err(|it| or_whole(it, before, edit))?;
    let changed = all(path, before, &blocks, tools);
    let unexpected: Vec<_> =
        outside.iter().filter_map(|it| Some((it.1, unexpected(path, it.0, it.1)?))).collect();
    let is_text = FileKind::of(path) == FileKind::Prose;
    let is_said = |it: &(&str, Reason)| !matches!(it.1, Reason::OtherFile { .. }) && is_sentence(it.0);
    let is_chat = !is_text && unexpected.len() <= MAX_SAID && unexpected.iter().all(is_said);
    let changed = match changed {
        Ok(mut changed) if is_chat && !unexpected.is_empty() => {
            changed.notes.insert(0, "the text around the blocks is left out".to_owned());
            return Ok(changed);
        }
        changed => changed,
    };
    let Some((_, reason)) = unexpected.into_iter().next() else { return changed };
    let blocks =
        changed.map(|it| ("the blocks are applied, without the text around them".to_owned(), it.text));
    let refused = Refused::with_readings(reason, before, blocks.into_iter().collect());
    Err(or_whole(refused, before, edit))
}

fn all(
    path: &WorkspacePath,
    before: &str,
    blocks: &[Block<'_>],
    tools: Toolkit<'_>,
) -> Result<Changed, Refused> {
    let new = Bump::new();
    let (mut file, mut notes) = (Text::new(before), Vec::new());
    for (at, block) in blocks.iter().enumerate() {
        tools.go_on()?;
        let placed = cut::find(path, at + 1, block, &file)?;
        file.change(placed.change, &new);
        notes.extend(placed.notes);
    }
    Ok(Changed { text: file.replaced(&[], None), notes })
}

/// A new file may be a text about blocks, as may one that has some.
fn or_whole(refused: Refused, before: &str, edit: &str) -> Refused {
    if !before.trim().is_empty() && !is_one(before) {
        return refused;
    }
    let (file, lines) = (Text::new(before), lines_of(edit).into_iter().map(str::to_owned).collect());
    let whole = file.replaced(&[Replacement { range: 0..file.lines().len(), lines }], None);
    refused.and_reading(before, "the edit is the whole file", whole)
}

/// Returns the reason to refuse a line outside of the blocks; `None` for the name of the file or a fence.
fn unexpected(path: &WorkspacePath, line: usize, text: &str) -> Option<Reason> {
    let name = text.trim().trim_start_matches(['`', '~']);
    let is_fence = text.trim().len() - name.len() >= 3;
    let name = name.trim_matches(['`', '*', ':', ' ']);
    let is_word = !name.contains(char::is_whitespace);
    let is_path = is_word && name.trim_end_matches('.').contains(['.', '/']);
    match name {
        "" => None,
        name if is_of(name, path) || (is_fence && is_word && !is_path) => None,
        name if is_path => Some(Reason::OtherFile { named: name.to_owned() }),
        _ => {
            let message = format!("`{}` is neither in a block nor the name of the file", text.trim());
            Some(Reason::Malformed { line, message })
        }
    }
}

#[cfg(test)]
mod tests {
    use syntax::Trees;

    use super::*;

    fn path() -> WorkspacePath {
        WorkspacePath::new("src/a.py").unwrap()
    }

    fn change(path: &WorkspacePath, before: &str, edit: &str) -> Result<Changed, Refused> {
        apply(path, before, edit, Toolkit::new(&Trees::new(1 << 10)))
    }

    fn applied(before: &str, edit: &str) -> Result<String, Reason> {
        change(&path(), before, edit).map(|it| it.text).map_err(|it| it.reason)
    }

    #[test]
    fn each_block_goes_on_from_the_one_before() {
        let edit = "a.py\n<<<<<<< SEARCH\na\n=======\nb\nc\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nc\n=======\n>>>>>>> REPLACE\n";
        assert_eq!(applied("x\na\ny\n", edit).unwrap(), "x\nb\ny\n");
    }

    #[test]
    fn what_is_there_twice_is_refused_with_both_readings() {
        let edit = "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n";
        let refused = change(&path(), "a\nx\na\n", edit).unwrap_err();
        assert_eq!(refused.reason, Reason::FoundOften { part: 1, count: 2, lines: vec![1, 3] });
        assert_eq!(refused.readings.len(), 2);
    }

    #[test]
    fn indentation_is_carried_over() {
        let edit = "<<<<<<< SEARCH\nif a:\n    b\n=======\nif a:\n    b\n    c\n>>>>>>> REPLACE\n";
        assert_eq!(applied("x\n\tif a:\n\t\tb\n", edit).unwrap(), "x\n\tif a:\n\t\tb\n\t\tc\n");
    }

    #[test]
    fn a_part_of_a_line_must_be_there_once() {
        let edit = "<<<<<<< SEARCH\nfoo(1)\n=======\nfoo(2)\n>>>>>>> REPLACE\n";
        assert_eq!(applied("x = foo(1);\n", edit).unwrap(), "x = foo(2);\n");
        assert!(
            matches!(applied("foo(1) + foo(1);\n", edit), Err(Reason::FoundOften { count: 2, lines, .. }) if lines == [1, 1])
        );
    }

    #[test]
    fn only_names_and_fences_stand_around_blocks() {
        let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
        for around in
            ["a.py\n", "**src/a.py:**\n\n", "```python\n", "`a.py`\n```\n", "``` src/a.py\n", "~~~\n"]
        {
            assert_eq!(applied("a\n", &format!("{around}{block}```\n")).as_deref(), Ok("b\n"), "{around}");
        }
        for named in ["b.py", "lib/a.py", "```b.py"] {
            let refused = applied("a\n", &format!("a.py\n{block}{named}\n{block}"));
            assert!(matches!(refused, Err(Reason::OtherFile { .. })), "{named}");
        }
        assert_eq!(applied("a\n", &format!("Here it is.\n{block}")).unwrap(), "b\n");
        let refused = change(&path(), "a\n", &format!("x = 1\n{block}")).unwrap_err();
        assert!(matches!(refused.reason, Reason::Malformed { line: 1, .. }));
        assert_eq!(refused.readings.len(), 1, "the blocks");
    }

    #[test]
    fn a_text_about_blocks_may_be_the_whole_file() {
        let edit = "# Blocks\n\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\nThat is all.\n";
        let path = WorkspacePath::new("doc.md").unwrap();
        for before in ["", edit] {
            let edit = edit.replace("all", "it");
            let refused = change(&path, before, &edit).unwrap_err();
            assert!(matches!(refused.reason, Reason::Malformed { line: 1, .. }));
            let shown = refused.readings.last().map(|it| it.what.as_str());
            assert_eq!(shown, Some("the edit is the whole file"));
        }
    }

    #[test]
    fn a_part_of_a_line_is_in_whole_words() {
        let edit = |search| format!("<<<<<<< SEARCH\n{search}\n=======\nx\n>>>>>>> REPLACE\n");
        for (text, search) in [
            ("DEFAULT_POOLSIZE = 10\n", "POOLSIZE = 1"),
            ("DEFAULT_POOLSIZE = 1;\n", "POOLSIZE = 1"),
            ("size = 10\n", "size = 1"),
            ("size = 1.5;\n", "size = 1"),
            ("$size = 1;\n", "size = 1"),
            ("{ background-color: red; }\n", "color: red"),
            ("{ color: red-ish; }\n", "color: red"),
            ("naïve();\n", "ve()"),
        ] {
            assert!(matches!(applied(text, &edit(search)), Err(Reason::NotFound { .. })), "{text}");
        }
        for (text, search, after) in [
            ("a.size = 1;\n", "size = 1", "a.x;\n"),
            ("mysize(1); size(1);\n", "size(1)", "mysize(1); x;\n"),
            ("a - size;\n", "size", "a - x;\n"),
            ("p->size;\n", "size", "p->x;\n"),
        ] {
            assert_eq!(applied(text, &edit(search)).as_deref(), Ok(after));
        }
        // The places overlap.
        assert!(matches!(
            applied("f(0, 1, 1, 1)\n", &edit(", 1, 1")),
            Err(Reason::FoundOften { count: 2, .. })
        ));
    }

    #[test]
    fn what_is_no_block_is_refused() {
        for edit in ["<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "<<<<<<< SEARCH\na\n=======\nb\n"] {
            assert!(matches!(applied("a\n", edit), Err(Reason::Malformed { .. })), "{edit}");
        }
    }

    #[test]
    fn a_block_is_cut_where_what_is_searched_for_is_in_the_file() {
        let cut = |name: &str, before: &str, body: &str| {
            let edit = format!("<<<<<<< SEARCH\n{body}>>>>>>> REPLACE\n");
            change(&WorkspacePath::new(name).unwrap(), before, &edit)
        };
        let text = |name: &str, before: &str, body: &str| cut(name, before, body).map(|it| it.text);
        let conflict = "<<<<<<< ours\na = 1\n=======\na = 2\n>>>>>>> theirs\n";
        let resolved = format!("{conflict}=======\na = 3\n");
        assert_eq!(text("a.py", &format!("{conflict}b = 1\n"), &resolved).unwrap(), "a = 3\nb = 1\n");
        let escaped = resolved.replace("<<<<<<<", "\\<<<<<<<").replace(">>>>>>> t", "\\>>>>>>> t");
        let escaped = escaped.replacen("=======", "\\=======", 1);
        assert_eq!(text("a.py", conflict, &escaped).unwrap(), "a = 3\n");
        let heading = "One\n=======\n\ntext\n";
        let both = "One\n=======\n\ntext\n=======\nTwo\n=======\n\ntext\n";
        assert_eq!(text("a.md", heading, both).unwrap(), heading.replace("One", "Two"));
        let more = "text\n=======\ntext\n\nTwo\n=======\nmore\n";
        assert_eq!(text("a.md", heading, more).unwrap(), format!("{heading}\nTwo\n=======\nmore\n"));

        // Nothing says whether the row is meant.
        for (name, body) in
            [("a.md", "One\n=======\n=======\nTwo\n"), ("a.py", "text\n=======\nb\n=======\nc\n")]
        {
            let before = if name == "a.py" { "text\n" } else { heading };
            let refused = cut(name, before, body).unwrap_err();
            assert!(matches!(refused.reason, Reason::Uncut { part: 1, is_found: true, .. }), "{body}");
            assert!(!refused.readings.is_empty(), "{body}");
        }
        let refused = cut("a.md", "other\n", both).unwrap_err();
        assert!(matches!(refused.reason, Reason::Uncut { line: 1, is_found: false, .. }));
        assert!(refused.advice().contains("unified diff"));
        // Each block is cut by what the one before it made.
        let two = format!("{both}>>>>>>> REPLACE\n<<<<<<< SEARCH\nTwo\n=======\n\ntext\n=======\nend\n");
        assert_eq!(text("a.md", heading, &two).unwrap(), "end\n");
    }
}
