//! Where one piece may be in the file: each start and end whose lines are those of the piece.

use super::lines::{FileLines, PieceLines, TELLING};

/// Lines of a file that a piece may take the place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placement {
    pub(super) start: usize,
    /// Behind the last line.
    pub(super) end: usize,
    pub(super) score: i32,
    /// How many lines fit without a gap from the start on, and from the end back.
    pub(super) lead: Context,
    pub(super) trail: Context,
    /// Whether the file reads like the piece already.
    pub(super) is_same: bool,
}

/// Lines at an edge of a piece that fit without a gap: at most [`Context::FULL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) lines: usize,
    /// Whether the first of them is more than a bracket or a blank line.
    pub(super) is_telling: bool,
}

impl Context {
    /// Lines from which on further ones add no certainty, and those that are given at the ends of a file and by brackets that match.
    pub(super) const FULL: usize = 3;

    const CERTAIN: Self = Self { lines: Self::FULL, is_telling: true };

    pub(super) fn is_certain(self) -> bool {
        self == Self::CERTAIN
    }

    /// Whether it is as much as another one. Beyond `enough` lines, more say no more; one telling line is as much as two.
    pub(super) fn is_as_much_as(self, other: Self, enough: usize) -> bool {
        let worth = |it: Self| if it.lines == 1 && it.is_telling { 2 } else { it.lines.min(enough) };
        worth(self) >= worth(other).min(enough)
    }
}

/// Starts that are looked at. A line that is there more often does not say where a piece is.
const MOST_STARTS: usize = 48;

/// Pairs of lines that are compared for one piece. A piece of so many lines in so large a file counts as one of many places.
const MOST_COMPARED: usize = 1 << 27;

/// What it is worth that a line follows in the file as in the piece.
const FOLLOWS: i32 = 16;

/// What a line costs that goes.
const GONE: i32 = 1;

const NEVER: i32 = i32::MIN / 2;

/// All placements; `None` if there are too many. The ends of the file count as context where no marker stands there.
pub(super) fn placements(
    piece: &PieceLines,
    file: &FileLines,
    (starts_open, ends_open): (bool, bool),
    (is_at_top, is_at_bottom): (bool, bool),
) -> Option<Vec<Placement>> {
    let (first, last) = (*piece.keys.first()?, *piece.keys.last()?);
    let context = |lines: usize, key: u32| Context { lines, is_telling: file.weight(key) >= TELLING };
    let lead = |start: usize| match start {
        0 if !starts_open => Context::CERTAIN,
        _ => context(lead(piece, file, start), first),
    };
    let trail = |end: usize| match end {
        _ if end == file.keys.len() && !ends_open => Context::CERTAIN,
        _ => context(trail(piece, file, end), last),
    };
    let starts = if is_at_top { &[0][..] } else { file.places(first) };
    let starts = narrowed(starts.iter().map(|it| (*it, lead(*it))).collect())?;
    if starts.len().saturating_mul(piece.keys.len()).saturating_mul(file.keys.len()) > MOST_COMPARED {
        return None;
    }
    let all_ends = [file.keys.len() - 1];
    let ends = if is_at_bottom { &all_ends[..] } else { file.places(last) };
    let ends = ends.iter().map(|it| (it + 1, trail(it + 1), opener(piece, file, *it))).collect::<Vec<_>>();
    let mut found = Vec::new();
    for (start, lead) in starts {
        let scores = scores(piece, file, start);
        let fits = ends.iter().filter(|it| it.0 > start && scores[it.0 - 1 - start] > NEVER / 2);
        let placement = |&(end, trail, opener): &(usize, Context, Option<usize>)| Placement {
            start,
            end,
            score: scores[end - 1 - start],
            lead,
            // A bracket that closes what the piece opens is where it must be.
            trail: if opener.is_some_and(|it| it >= start) { Context::CERTAIN } else { trail },
            is_same: file.keys[start..end] == piece.keys,
        };
        found.extend(fits.map(placement));
    }
    Some(found)
}

/// The line that a bracket at a line of the file closes, if it is the one that the last line of the piece closes.
fn opener(piece: &PieceLines, file: &FileLines, line: usize) -> Option<usize> {
    let wanted = piece.opener().filter(|it| file.weight(*it) >= TELLING)?;
    file.opener(line).filter(|it| file.keys[*it] == wanted)
}

/// The starts with the most context, where there are many.
fn narrowed(starts: Vec<(usize, Context)>) -> Option<Vec<(usize, Context)>> {
    if starts.len() <= MOST_STARTS {
        return Some(starts);
    }
    let most = starts.iter().map(|it| it.1.lines).max()?;
    let best: Vec<_> = starts.into_iter().filter(|it| it.1.lines == most).collect();
    (best.len() <= MOST_STARTS).then_some(best)
}

fn lead(piece: &PieceLines, file: &FileLines, start: usize) -> usize {
    let blank = piece.blank.0.min(file.blank_above(start));
    blank + piece.keys.iter().zip(&file.keys[start..]).take(Context::FULL).take_while(|(a, b)| a == b).count()
}

fn trail(piece: &PieceLines, file: &FileLines, end: usize) -> usize {
    let blank = piece.blank.1.min(file.blank_from(end));
    blank
        + piece
            .keys
            .iter()
            .rev()
            .zip(file.keys[..end].iter().rev())
            .take(Context::FULL)
            .take_while(|(a, b)| a == b)
            .count()
}

/// The best alignment of the whole piece with the lines from `start` to each line, whose first and last lines fit.
fn scores(piece: &PieceLines, file: &FileLines, start: usize) -> Vec<i32> {
    let lines = &file.keys[start..];
    // The best that ends with a pair of lines here, and the best at or before this line.
    let mut pair = vec![NEVER; lines.len()];
    pair[0] = piece.weights[0];
    let mut upto: Vec<i32> = (0..lines.len()).map(|it| piece.weights[0] - lossy(it)).collect();
    for (key, weight) in piece.keys.iter().zip(&piece.weights).skip(1) {
        // Those of the line of the piece before, at the line of the file before.
        let (mut pair_before, mut upto_before) = (pair[0], upto[0]);
        pair[0] = NEVER;
        for at in 1..lines.len() {
            let best =
                if lines[at] == *key { (pair_before + FOLLOWS).max(upto_before) + weight } else { NEVER };
            (pair_before, upto_before) = (pair[at], upto[at]);
            pair[at] = best;
            upto[at] = upto[at].max(best).max(upto[at - 1] - GONE);
        }
    }
    pair
}

fn lossy(lines: usize) -> i32 {
    GONE.saturating_mul(i32::try_from(lines).unwrap_or(i32::MAX))
}

/// The lines of the piece that are lines of the file at this placement: of the best alignment, ascending.
pub(super) fn kept(piece: &PieceLines, file: &FileLines, place: &Placement) -> Vec<(usize, usize)> {
    let (keys, lines) = (&piece.keys, &file.keys[place.start..place.end]);
    // What is alike at both ends needs no table.
    let head = keys.iter().zip(lines).take_while(|(a, b)| a == b).count();
    let left = keys.len().min(lines.len()) - head;
    let tail = keys.iter().rev().zip(lines.iter().rev()).take(left).take_while(|(a, b)| a == b).count();
    let mut pairs: Vec<_> = (0..head).map(|it| (it, it)).collect();
    let (inner, around) = (&keys[head..keys.len() - tail], &lines[head..lines.len() - tail]);
    pairs
        .extend(common(inner, around, &piece.weights[head..]).into_iter().map(|(a, b)| (a + head, b + head)));
    pairs.extend((0..tail).rev().map(|it| (keys.len() - 1 - it, lines.len() - 1 - it)));
    pairs.into_iter().map(|(a, b)| (a, b + place.start)).collect()
}

/// Cells of the table beyond which changed lines are not looked into.
const MOST_CELLS: usize = 4 << 20;

/// The heaviest common subsequence.
fn common(piece: &[u32], lines: &[u32], weights: &[i32]) -> Vec<(usize, usize)> {
    let width = lines.len() + 1;
    if piece.is_empty() || lines.is_empty() || piece.len().saturating_mul(width) > MOST_CELLS {
        return Vec::new();
    }
    let mut best = vec![0; (piece.len() + 1) * width];
    for a in (0..piece.len()).rev() {
        for b in (0..lines.len()).rev() {
            let paired = if piece[a] == lines[b] { best[(a + 1) * width + b + 1] + weights[a] } else { 0 };
            best[a * width + b] = paired.max(best[(a + 1) * width + b]).max(best[a * width + b + 1]);
        }
    }
    let (mut pairs, mut a, mut b) = (Vec::new(), 0, 0);
    while a < piece.len() && b < lines.len() {
        let here = best[a * width + b];
        if piece[a] == lines[b] && here == best[(a + 1) * width + b + 1] + weights[a] {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if here == best[(a + 1) * width + b] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(file: &str, piece: &str) -> Vec<(usize, usize)> {
        let file_lines: Vec<_> = file.split(' ').collect();
        let mut file = FileLines::new(&file_lines);
        let piece = file.piece(&piece.split(' ').collect::<Vec<_>>(), (0, 0));
        let found = placements(&piece, &file, (true, true), (false, false)).unwrap();
        let best = found.iter().map(|it| it.score).max();
        found.iter().filter(|it| Some(it.score) == best).map(|it| (it.start, it.end)).collect()
    }

    #[test]
    fn the_best_placement_keeps_most_lines() {
        assert_eq!(all("head one two three tail", "one new three"), [(1, 4)]);
        assert_eq!(all("one two three four one two three", "one two three"), [(0, 3), (4, 7)]);
        assert_eq!(all("one xxx three one two three", "one two new three"), [(3, 6)]);
        assert_eq!(all("aaa bbb", "bbb aaa"), []);
        assert_eq!(all("aaa bbb", "bbb"), [(1, 2)]);
    }

    #[test]
    fn kept_lines_are_those_in_common() {
        let mut file = FileLines::new(&["aaa", "bbb", "ccc", "ddd", "eee"]);
        let piece = file.piece(&["bbb", "new", "ddd", "eee"], (0, 0));
        let context = Context { lines: 1, is_telling: true };
        let place = Placement { start: 1, end: 5, score: 0, lead: context, trail: context, is_same: false };
        assert_eq!(kept(&piece, &file, &place), [(0, 1), (2, 3), (3, 4)]);
    }
}
