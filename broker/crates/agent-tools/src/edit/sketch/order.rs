//! The placements of all pieces at once: in order, without overlaps.

use super::place::{Context, Placement};

/// All placements of each piece, and the best choice of them.
pub(super) struct Arrangement {
    pub(super) places: Vec<Vec<Placement>>,
    /// The number of each piece with that of its placement.
    pub(super) best: Vec<(usize, usize)>,
    before: Vec<Vec<Link>>,
    after: Vec<Vec<Link>>,
}

/// The best score of all pieces up to a placement, with the placement of the next piece in that direction.
#[derive(Debug, Clone, Copy)]
struct Link {
    score: i64,
    next: Option<usize>,
}

/// Another placement that keeps this share of what the best one keeps is as good, wherever it is. In percent.
const AS_GOOD: i64 = 60;

/// The best arrangement; the number of the first piece that fits nowhere after those before it.
pub(super) fn arrange(places: Vec<Vec<Placement>>) -> Result<Arrangement, usize> {
    let before = linked(&places, places.len(), |it| it, |before, it| before.end <= it.start)?;
    let count = places.len();
    if count == 0 {
        return Ok(Arrangement { places, best: Vec::new(), before, after: Vec::new() });
    }
    let after = linked(&places, count, |it| count - 1 - it, |after, it| after.start >= it.end)?;
    let after: Vec<_> = after.into_iter().rev().collect();
    let last = count - 1;
    let start = (0..places[last].len()).filter(|it| before[last][*it].score >= 0);
    let mut at = start.max_by_key(|it| before[last][*it].score).ok_or(last)?;
    let mut best = vec![(last, at)];
    while let Some(next) = before[best[best.len() - 1].0][at].next {
        at = next;
        best.push((best[best.len() - 1].0 - 1, at));
    }
    best.reverse();
    Ok(Arrangement { places, best, before, after })
}

/// The best way to each placement from one end, by pieces in the order of `piece`.
fn linked(
    places: &[Vec<Placement>],
    count: usize,
    piece: impl Fn(usize) -> usize,
    follows: impl Fn(&Placement, &Placement) -> bool,
) -> Result<Vec<Vec<Link>>, usize> {
    let mut all: Vec<Vec<Link>> = Vec::new();
    for step in 0..count {
        let link = |it: &Placement| {
            let Some(known) = all.last() else { return Link { score: it.score.into(), next: None } };
            let earlier = &places[piece(step - 1)];
            let fitting = (0..earlier.len()).filter(|at| known[*at].score >= 0 && follows(&earlier[*at], it));
            match fitting.max_by_key(|at| known[*at].score) {
                Some(next) => {
                    Link { score: known[next].score + i64::from(it.score.max(0)), next: Some(next) }
                }
                None => Link { score: -1, next: None },
            }
        };
        let links: Vec<_> = places[piece(step)].iter().map(link).collect();
        if links.iter().all(|it| it.score < 0) {
            return Err(piece(step));
        }
        all.push(links);
    }
    Ok(all)
}

impl Arrangement {
    /// Arrangements in which a piece is somewhere else and as well placed, each with the number of that piece. The others
    /// are where they are as well placed, too.
    pub(super) fn alternatives(&self) -> impl Iterator<Item = (usize, Vec<&Placement>)> {
        let good = self.good();
        let (earliest, latest) = self.bounds(&good);
        let pieces = 0..self.places.len();
        let all = pieces.flat_map(move |piece| {
            let (from, upto) = (earliest[piece], latest[piece]);
            let chosen = self.best[piece].1;
            let fits = move |it: &Placement| it.start >= from && it.end <= upto;
            let others = good[piece].clone().into_iter();
            others
                .filter(move |it| *it != chosen && fits(&self.places[piece][*it]))
                .map(move |it| (piece, it))
        });
        all.map(|(piece, at)| (piece, self.through(piece, at)))
    }

    /// The placements of each piece that are as good as the chosen one.
    fn good(&self) -> Vec<Vec<usize>> {
        let of = |&(piece, chosen): &(usize, usize)| {
            let best = &self.places[piece][chosen];
            let all = self.places[piece].iter().enumerate();
            let mut good: Vec<_> = all.filter(|(at, it)| *at == chosen || is_as_good(it, best)).collect();
            good.sort_by_key(|(_, it)| -it.score);
            good.into_iter().map(|it| it.0).collect()
        };
        self.best.iter().map(of).collect()
    }

    /// Where the pieces before one end at the earliest, and where those after it start at the latest.
    fn bounds(&self, good: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
        let count = self.places.len();
        let (mut earliest, mut latest) = (vec![0; count], vec![usize::MAX; count]);
        for piece in 1..count {
            let before = good[piece - 1].iter().map(|it| &self.places[piece - 1][*it]);
            let fitting = before.filter(|it| it.start >= earliest[piece - 1]);
            earliest[piece] = fitting.map(|it| it.end).min().unwrap_or_default();
        }
        for piece in (0..count.saturating_sub(1)).rev() {
            let after = good[piece + 1].iter().map(|it| &self.places[piece + 1][*it]);
            let fitting = after.filter(|it| it.end <= latest[piece + 1]);
            latest[piece] = fitting.map(|it| it.start).max().unwrap_or(usize::MAX);
        }
        (earliest, latest)
    }

    /// The best arrangement with a piece at this placement.
    fn through(&self, piece: usize, at: usize) -> Vec<&Placement> {
        let mut before = Vec::new();
        let (mut here, mut to) = (piece, at);
        while let Some(next) = self.before[here][to].next {
            (here, to) = (here - 1, next);
            before.push(&self.places[here][to]);
        }
        before.reverse();
        before.push(&self.places[piece][at]);
        (here, to) = (piece, at);
        while let Some(next) = self.after[here][to].next {
            (here, to) = (here + 1, next);
            before.push(&self.places[here][to]);
        }
        before
    }
}

/// Whether a reader could take one placement as well as the other: it has as much context on both sides, or keeps most
/// of the lines elsewhere. Where a piece would change nothing, any other placement may be the one that is meant.
fn is_as_good(it: &Placement, best: &Placement) -> bool {
    // The more lines would go, the more context must say so.
    let more = (it.end - it.start).saturating_sub(best.end - best.start);
    let enough = if more > MANY { Context::FULL } else { ENOUGH };
    let has_context = it.lead.is_as_much_as(best.lead, enough) && it.trail.is_as_much_as(best.trail, enough);
    let is_elsewhere = it.end <= best.start || it.start >= best.end;
    best.is_same
        || has_context
        || (is_elsewhere && i64::from(it.score) * 100 >= i64::from(best.score) * AS_GOOD)
}

/// Lines of context that say as much as more of them, if no more than so many lines go than with the best placement.
const ENOUGH: usize = 2;
const MANY: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: usize, end: usize, score: i32) -> Placement {
        let context = Context { lines: 1, is_telling: true };
        Placement { start, end, score, lead: context, trail: context, is_same: false }
    }

    #[test]
    fn pieces_are_placed_together() {
        let places = vec![vec![at(0, 2, 50), at(6, 8, 60)], vec![at(4, 5, 80)]];
        let arrangement = arrange(places).unwrap();
        assert_eq!(arrangement.best, [(0, 0), (1, 0)], "the better one would be behind the second piece");
        assert_eq!(arrangement.alternatives().count(), 0);
    }

    #[test]
    fn what_is_as_good_is_an_alternative() {
        let places = vec![vec![at(0, 2, 50), at(2, 4, 40)], vec![at(4, 5, 80)]];
        let arrangement = arrange(places).unwrap();
        let alternatives: Vec<_> = arrangement.alternatives().collect();
        assert_eq!(alternatives, [(0, vec![&at(2, 4, 40), &at(4, 5, 80)])]);
    }

    #[test]
    fn pieces_out_of_order_fit_nowhere() {
        assert_eq!(arrange(vec![vec![at(4, 5, 1)], vec![at(0, 2, 1)]]).err(), Some(1));
    }
}
