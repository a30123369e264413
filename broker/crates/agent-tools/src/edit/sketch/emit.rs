//! A piece as the lines that the file then has, with the file's indentation.

use super::{
    super::{
        indents::Indents,
        text::{Replacement, indentation, is_blank, squeezed},
    },
    lines::{FileLines, PieceLines},
    place::{Placement, kept},
};

/// What takes the place of lines of the file.
#[derive(Debug, Clone)]
pub(super) struct Emitted {
    pub(super) replacement: Replacement,
    /// Whether the lines at the edges were found as they are, and nothing was indented otherwise.
    pub(super) is_exact: bool,
    pub(super) is_indented: bool,
    /// The lines without the whitespace at the ends of lines that the file has and the sketch has not, if nothing says
    /// which of both is meant.
    pub(super) trimmed: Option<Vec<String>>,
}

impl Emitted {
    pub(super) fn exactly(replacement: Replacement) -> Self {
        Self { replacement, is_exact: true, is_indented: false, trimmed: None }
    }
}

/// The lines of a piece at a placement, of which some stand above and below it. `None` if its indentation has no rule.
pub(super) fn emit(
    lines: &[&str],
    (top, bottom): (usize, usize),
    piece: &PieceLines,
    file: &[&str],
    file_lines: &FileLines,
    place: &Placement,
) -> Option<Emitted> {
    let kept = kept(piece, file_lines, place);
    let pairs: Vec<_> =
        kept.iter().map(|(a, b)| (lines[a + top], file[*b])).filter(|it| !is_blank(it.0)).collect();
    let indents = rule(&pairs)?;
    if indents == Indents::Same && has_other_units(lines, file) {
        return None;
    }
    let mut out: Vec<String> = lines.iter().map(|it| indents.apply(it)).collect::<Option<_>>()?;
    let mut is_exact = indents == Indents::Same;
    // The lines at the edges are the file's, whatever whitespace the agent gave them.
    let trimmed = keep_trailing(lines, top, &kept, file, &mut out);
    let edges = [(top, place.start), (lines.len() - 1 - bottom, place.end - 1)];
    for (at, there) in edges {
        if squeezed(lines[at]) != squeezed(file[there]) {
            is_exact = false;
            continue;
        }
        is_exact &= out[at] == file[there];
        // A line that differs within itself may be what the edit changes.
        let is_cut = at == top && indentation(lines[at]).is_empty() && out[at].trim() == file[there].trim();
        if out[at].trim_end() != file[there].trim_end() && !is_cut
            || has_trailing_of_its_own(&out[at], file[there])
        {
            return None;
        }
        out[at] = file[there].to_owned();
    }
    let is_indented = indents != Indents::Same;
    let trimmed = trimmed.map(|mut it| {
        edges.iter().for_each(|(at, _)| it[*at].clone_from(&out[*at]));
        it
    });
    let trimmed = trimmed.filter(|it| *it != out);
    let replacement = Replacement { range: place.start..place.end, lines: out };
    Some(Emitted { replacement, is_exact, is_indented, trimmed })
}

fn has_trailing_of_its_own(new: &str, old: &str) -> bool {
    new.len() > new.trim_end().len() && new != old
}

/// Gives lines of the file their whitespace at the end back, if the agent has cut it from all of them. The lines as they
/// were, if that cannot be known.
fn keep_trailing(
    lines: &[&str],
    top: usize,
    kept: &[(usize, usize)],
    file: &[&str],
    out: &mut [String],
) -> Option<Vec<String>> {
    let has_trailing = |it: &str| it.trim_end() != it;
    let pairs = kept.iter().map(|(a, b)| (a + top, *b)).filter(|(_, b)| has_trailing(file[*b]));
    let pairs: Vec<_> = pairs.collect();
    let is_cut =
        |&(a, b): &(usize, usize)| !has_trailing(lines[a]) && out[a].trim_end() == file[b].trim_end();
    let cut: Vec<_> = pairs.iter().copied().filter(is_cut).collect();
    if cut.is_empty() || pairs.iter().any(|(a, _)| has_trailing(lines[*a])) {
        return None;
    }
    let before = out.to_vec();
    for (a, b) in &cut {
        out[*a] = file[*b].to_owned();
    }
    let ends = [kept.first(), kept.last()];
    // An edge is a line that the agent means to leave alone.
    let is_edge = |it: &(usize, usize)| ends.iter().flatten().any(|(a, b)| (a + top, *b) == *it);
    (!cut.iter().any(is_edge)).then_some(before)
}

/// How the lines of a piece become the file's, by the lines that both have.
fn rule(pairs: &[(&str, &str)]) -> Option<Indents> {
    let pairs: Vec<_> = pairs.iter().map(|(a, b)| (indentation(a), indentation(b))).collect();
    let (first, rest) = pairs.split_first()?;
    let last = pairs.last()?;
    match Indents::of(&pairs) {
        // Other units in the middle alone may be what the edit changes.
        Some(Indents::Units { more, .. }) if more != 0 || first.0.is_empty() || last.0.is_empty() => {
            return None;
        }
        Some(rule) => return Some(rule),
        None => {}
    }
    // Agents begin a piece at its first word.
    let is_cut = first.0.is_empty() && !rest.is_empty() && Indents::of(rest) == Some(Indents::Same);
    // Lines at the edges that are as in the file say that the others are meant to change.
    let ends_same = first.0 == first.1 && last.0 == last.1;
    (is_cut || ends_same).then_some(Indents::Same)
}

/// Lines that begin with a tab, or with spaces, in a file of the other kind, where no line of both says how they
/// translate.
fn has_other_units(lines: &[&str], file: &[&str]) -> bool {
    let count =
        |lines: &[&str], with: &str| lines.iter().filter(|it| it.starts_with(with) && !is_blank(it)).count();
    let (tabs, spaces) = (count(file, "\t"), count(file, "  "));
    let is_other = |most: usize, least: usize| most >= CLEARLY && least == 0;
    (is_other(tabs, spaces) && count(lines, "\t") == 0 && count(lines, "  ") > 0)
        || (is_other(spaces, tabs) && count(lines, "  ") == 0 && count(lines, "\t") > 0)
}

/// Lines after which it is clear what a file is indented by.
const CLEARLY: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_comes_from_the_lines_of_both() {
        assert_eq!(rule(&[("a", "    a"), ("  b", "      b")]), Some(Indents::Add("    ".into())));
        assert_eq!(
            rule(&[("a", "    a"), ("    b", "    b")]),
            Some(Indents::Same),
            "only the first word was cut"
        );
        let wrapped = [("a", "a"), ("        b", "    b"), ("c", "c")];
        assert_eq!(rule(&wrapped), Some(Indents::Same), "the edit indents what is between");
        assert_eq!(rule(&[("  a", "    a"), ("b", "      b"), (" c", "c")]), None);
    }
}
