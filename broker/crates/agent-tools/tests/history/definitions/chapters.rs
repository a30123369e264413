//! The chapters of a Markdown file, for which there is no grammar.

use super::{Definition, Kind};
use crate::file::is_blank;

pub(super) fn of(text: &str) -> Vec<Definition> {
    let lines: Vec<_> = text.lines().collect();
    let mut is_code = false;
    let mut heads = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        is_code ^= line.trim().starts_with("```");
        let level = line.bytes().take_while(|it| *it == b'#').count();
        if !is_code && level > 0 && line[level..].starts_with(' ') {
            heads.push((at, level));
        }
    }
    let mut found: Vec<Definition> = Vec::new();
    for (number, (start, level)) in heads.iter().enumerate() {
        let next = heads[number + 1..].iter().find(|it| it.1 <= *level).map_or(lines.len(), |it| it.0);
        let end = next - lines[..next].iter().rev().take_while(|it| is_blank(it)).count();
        let parent = (0..number).rev().find(|it| heads[*it].1 < *level);
        let (name, kind) = (lines[*start].to_owned(), Kind::Section);
        let (lead, start, body) = (*start, *start, start + 1);
        found.push(Definition { name, kind, parent, lead, start, body, end, is_apart: true });
    }
    found
}
