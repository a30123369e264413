//! Blocks of `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`, each applied to what the ones before it made.

use super::{
    block::{Block, Closeness, SHOWN, Sign},
    haystack::Haystack,
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

/// The blocks. What stands between them, such as names of files and fences, is passed over.
fn read(edit: &str) -> Result<Vec<Pair<'_>>, Refused> {
    let (mut pairs, mut open) = (Vec::new(), None::<(Fence, Pair<'_>)>);
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
            (_, None) => {}
        }
    }
    if open.is_some() {
        return Err(malformed(lines.len().saturating_sub(1), "the last block has no end"));
    }
    Ok(pairs)
}

pub(super) fn apply(before: &str, edit: &str) -> Result<Changed, Refused> {
    let mut changed = Changed::from(before.to_owned());
    for (at, pair) in read(edit)?.into_iter().enumerate() {
        one(at + 1, &pair, &mut changed)?;
    }
    Ok(changed)
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

    fn applied(before: &str, edit: &str) -> Result<String, Reason> {
        apply(before, edit).map(|it| it.text).map_err(|it| it.reason)
    }

    #[test]
    fn each_block_goes_on_from_the_one_before() {
        let edit = "a.py\n<<<<<<< SEARCH\na\n=======\nb\nc\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\nc\n=======\n>>>>>>> REPLACE\n";
        assert_eq!(applied("x\na\ny\n", edit).unwrap(), "x\nb\ny\n");
    }

    #[test]
    fn what_is_there_twice_is_refused_with_both_readings() {
        let edit = "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n";
        let refused = apply("a\nx\na\n", edit).unwrap_err();
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
        assert!(matches!(applied("f(0, 1, 1, 1)\n", &edit(", 1, 1")), Err(Reason::FoundOften { count: 2, .. })));
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
