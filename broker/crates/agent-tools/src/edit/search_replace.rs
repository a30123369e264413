//! Blocks of `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`, each applied to what the ones before it made.

use overlay::WorkspacePath;

use super::{
    block::{Block, Closeness, SHOWN, Sign},
    haystack::Haystack,
    names::is_of,
    outcome::{Changed, Reason, Refused},
    text::{Replacement, Text, lines_of},
};

/// What a line of signs says, if it is one: 5 to 9 of them, and a word.
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

pub(super) fn is_one(edit: &str) -> bool {
    let found = |what| edit.lines().any(|it| fence(it) == Some(what));
    found(Fence::Search) && found(Fence::Replace)
}

struct Pair<'a> {
    search: Vec<&'a str>,
    replace: Vec<&'a str>,
}

/// Lines outside of the blocks with their numbers.
type Outside<'a> = Vec<(usize, &'a str)>;

/// The blocks, and what stands outside of them.
fn read(edit: &str) -> Result<(Vec<Pair<'_>>, Outside<'_>), Refused> {
    let (mut pairs, mut open, mut outside) = (Vec::new(), None::<(Fence, Pair<'_>)>, Vec::new());
    let malformed = |line: usize, message: &str| -> Refused {
        Reason::Malformed { line: line + 1, message: message.to_owned() }.into()
    };
    let lines = lines_of(edit);
    for (at, line) in lines.iter().enumerate() {
        match (fence(line), &mut open) {
            (Some(Fence::Search), None) => {
                open = Some((Fence::Search, Pair { search: Vec::new(), replace: Vec::new() }));
            }
            (Some(Fence::Search), Some(_)) => {
                return Err(malformed(at, "SEARCH within a block that is open"));
            }
            (Some(Fence::Middle), Some((side @ Fence::Search, _))) => *side = Fence::Middle,
            (Some(Fence::Replace), Some((Fence::Middle, _))) => pairs.extend(open.take().map(|it| it.1)),
            (Some(Fence::Replace), _) => {
                return Err(malformed(at, "REPLACE without a SEARCH and `=======` before it"));
            }
            (_, Some((Fence::Search, pair))) => pair.search.push(line),
            // A second row of `=` belongs to the text or not, which cannot be known.
            (Some(Fence::Middle), Some(_)) => return Err(malformed(at, "a second `=======` in one block")),
            (_, Some((_, pair))) => pair.replace.push(line),
            (_, None) => outside.push((at + 1, *line)),
        }
    }
    if open.is_some() {
        return Err(malformed(lines.len().saturating_sub(1), "the last block has no end"));
    }
    Ok((pairs, outside))
}

pub(super) fn apply(path: &WorkspacePath, before: &str, edit: &str) -> Result<Changed, Refused> {
    let (pairs, outside) = read(edit).map_err(|it| or_whole(it, before, edit))?;
    let changed = all(before, &pairs);
    let Some(reason) = outside.into_iter().find_map(|(line, text)| unexpected(path, line, text)) else {
        return changed;
    };
    let blocks =
        changed.map(|it| ("the blocks are applied, without the text around them".to_owned(), it.text));
    let refused = Refused::with_readings(reason, before, blocks.into_iter().collect());
    Err(or_whole(refused, before, edit))
}

fn all(before: &str, pairs: &[Pair<'_>]) -> Result<Changed, Refused> {
    let mut changed = Changed::from(before.to_owned());
    for (at, pair) in pairs.iter().enumerate() {
        one(at + 1, pair, &mut changed)?;
    }
    Ok(changed)
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

/// Why a line outside of the blocks is neither the name of the file nor a fence.
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

fn one(part: usize, pair: &Pair<'_>, changed: &mut Changed) -> Result<(), Refused> {
    let before = changed.text.clone();
    let file = Text::new(&before);
    if pair.search.is_empty() {
        if !file.is_empty() {
            return Err(Reason::NotFound { part, text: String::new() }.into());
        }
        let lines = pair.replace.iter().map(|it| (*it).to_owned()).collect();
        changed.text = file.replaced(&[Replacement { range: 0..0, lines }], None);
        return Ok(());
    }
    let old = pair.search.iter().map(|it| (Sign::Old, *it));
    let lines = old.chain(pair.replace.iter().map(|it| (Sign::New, *it))).collect();
    let block = Block { part, lines };
    let (closeness, places) = Haystack::new(file.lines()).places(&block.old());
    match places[..] {
        [place] => {
            let replacement = block.at(place, file.lines()).ok_or_else(|| block.not_found())?;
            changed.text = file.replaced(&[replacement], None);
            if closeness != Closeness::Exact {
                changed.notes.push(format!("part {part} was found at line {} but for whitespace", place + 1));
            }
            Ok(())
        }
        [] => within_line(&block, pair, changed),
        _ => Err(block.found_often(&file, &before, &places)),
    }
}

/// One line may be searched for as a part of a line, in whole words.
fn within_line(block: &Block<'_>, pair: &Pair<'_>, changed: &mut Changed) -> Result<(), Refused> {
    let ([search], [replace]) = (&pair.search[..], &pair.replace[..]) else { return Err(block.not_found()) };
    let starts = whole_words(&changed.text, search);
    let [start] = starts[..] else {
        let line = |at: &usize| changed.text[..*at].matches('\n').count() + 1;
        return Err(match starts.len() {
            0 => block.not_found(),
            count => {
                let lines = starts.iter().take(SHOWN).map(line).collect();
                Reason::FoundOften { part: block.part, count, lines }.into()
            }
        });
    };
    changed.text.replace_range(start..start + search.len(), replace);
    changed.notes.push(format!("part {} was found within a line", block.part));
    Ok(())
}

/// Where a text is found such that no word or number goes on at its ends. The places may overlap.
fn whole_words(text: &str, search: &str) -> Vec<usize> {
    let Some(first) = search.chars().next().filter(|_| !search.trim().is_empty()) else { return Vec::new() };
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = text[from..].find(search).map(|it| from + it) {
        found.extend([at].into_iter().filter(|it| !is_in_word(text, *it)));
        from = at + first.len_utf8();
    }
    found.retain(|it| !is_in_word(text, it + search.len()));
    found
}

/// Whether a word or a number stands on both sides of a place: `a|b`, `$|a`, `back|-ground`, `back-|ground`, `1|.5`, `1.|5`.
fn is_in_word(text: &str, at: usize) -> bool {
    let (mut left, mut right) = (text[..at].chars().rev(), text[at..].chars());
    let (before, after) = ((left.next(), left.next()), (right.next(), right.next()));
    let is_word = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || "_$".contains(it));
    let is_digit = |it: Option<char>| it.is_some_and(|it| it.is_ascii_digit());
    match (before, after) {
        ((Some('-'), a), (b, _)) | ((a, _), (Some('-'), b)) => is_word(a) && is_word(b),
        ((Some('.'), a), (b, _)) | ((a, _), (Some('.'), b)) => is_digit(a) && is_digit(b),
        ((a, _), (b, _)) => is_word(a) && is_word(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> WorkspacePath {
        WorkspacePath::new("src/a.py").unwrap()
    }

    fn applied(before: &str, edit: &str) -> Result<String, Reason> {
        apply(&path(), before, edit).map(|it| it.text).map_err(|it| it.reason)
    }

    #[test]
    fn each_block_goes_on_from_the_one_before() {
        let edit = "a.py\n<<<<<<< SEARCH\na\n=======\nb\nc\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nc\n=======\n>>>>>>> REPLACE\n";
        assert_eq!(applied("x\na\ny\n", edit).unwrap(), "x\nb\ny\n");
    }

    #[test]
    fn what_is_there_twice_is_refused_with_both_readings() {
        let edit = "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n";
        let refused = apply(&path(), "a\nx\na\n", edit).unwrap_err();
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
        let refused = apply(&path(), "a\n", &format!("Here it is.\n{block}")).unwrap_err();
        assert!(matches!(refused.reason, Reason::Malformed { line: 1, .. }));
        assert_eq!(refused.readings.len(), 1, "the blocks");
    }

    #[test]
    fn a_text_about_blocks_may_be_the_whole_file() {
        let edit = "# Blocks\n\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\nThat is all.\n";
        let path = WorkspacePath::new("doc.md").unwrap();
        for before in ["", edit] {
            let edit = edit.replace("all", "it");
            let refused = apply(&path, before, &edit).unwrap_err();
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
        for edit in [
            "<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n",
            "<<<<<<< SEARCH\na\n=======\nb\n",
            "<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n",
        ] {
            assert!(matches!(applied("a\n", edit), Err(Reason::Malformed { .. })), "{edit}");
        }
    }
}
