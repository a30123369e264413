//! Blocks of `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`, each applied to what the ones before it made.

use super::{
    block::{Block, Closeness, Sign},
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

/// One line may be searched for as a part of a line.
fn within_line(block: &Block<'_>, pair: &Pair<'_>, changed: &mut Changed) -> Result<(), Refused> {
    let ([search], [replace]) = (&pair.search[..], &pair.replace[..]) else { return Err(block.not_found()) };
    let count = if search.trim().is_empty() { 0 } else { changed.text.matches(search).count() };
    if count != 1 {
        return Err(match count {
            0 => block.not_found(),
            _ => {
                let line = |at: usize| changed.text[..at].matches('\n').count() + 1;
                let lines = changed.text.match_indices(search).map(|it| line(it.0)).collect();
                Reason::FoundOften { part: block.part, count, lines }.into()
            }
        });
    }
    changed.text = changed.text.replacen(search, replace, 1);
    changed.notes.push(format!("part {} was found within a line", block.part));
    Ok(())
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
