//! The most that rows can earn, by which columns are left out that no arrangement worth a look comes through.
//!
//! Branch and bound: what is left out cannot be part of an arrangement that earns as much as is asked for, so that the best one
//! is found all the same. The rows of a rival are thus looked at near where they stand, and not in the whole file.

use std::collections::HashMap;

use super::{
    candidate::{Candidate, Candidates, Substitution},
    file_lines::Score,
};

pub(super) struct Bounds {
    /// By row and column: the most that all rows from it on can earn where they stand at or behind the column, if lines of the
    /// file can be left out for nothing. There is one row more than the sketch has.
    pub(super) below: Vec<Vec<Score>>,
    /// The most that each row can earn by itself.
    pub(super) alone: Vec<Score>,
}

impl Bounds {
    pub(super) fn new(all: &Candidates<'_>) -> Self {
        let mut starts: HashMap<usize, Vec<&Substitution>> = HashMap::new();
        for it in &all.substitutions {
            starts.entry(it.rows.start).or_default().push(it);
        }
        let mut below = vec![Vec::new(); all.rows.len()];
        below.push(vec![0; all.columns.len()]);
        for (row, it) in all.rows.iter().enumerate().rev() {
            let mut most = inserted(it, &below[row + 1]);
            for pair in &it.pairs {
                most[pair.column] = most[pair.column].max(pair.score + below[row + 1][pair.column + 1]);
            }
            for it in starts.get(&row).into_iter().flatten() {
                let (from, to) = it.columns;
                most[from] = most[from].max(it.score + below[it.rows.end][to]);
            }
            for at in (1..most.len()).rev() {
                most[at - 1] = most[at - 1].max(most[at]);
            }
            below[row] = most;
        }
        Self { below, alone: all.rows.iter().map(alone).collect() }
    }
}

fn inserted(row: &Candidate, below: &[Score]) -> Vec<Score> {
    let mut most: Vec<_> = below.iter().map(|it| it - row.insert).collect();
    row.inserts.iter().for_each(|(column, more)| most[*column] -= more.min(&0));
    most
}

fn alone(row: &Candidate) -> Score {
    let pairs = row.pairs.iter().map(|it| it.score).max();
    let less: Score = row.inserts.iter().map(|it| it.1.min(0)).sum();
    pairs.unwrap_or_default().max(-row.insert - less)
}

#[cfg(test)]
mod tests {
    use overlay::WorkspacePath;
    use proptest::{collection::vec, prelude::*};
    use syntax::Trees;

    use super::{
        super::{
            super::{parser::Parser, text::Text, toolkit::Toolkit},
            alignment::{Arrangement, Constraints, Op, POSSIBLE, align},
            candidate::Candidates,
            file_lines::FileLines,
            rows::read,
        },
        Bounds,
    };

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => (0..30_u32).prop_map(|it| format!("    call_number_{it}();")),
            2 => (0..6_u32).prop_map(|it| format!("function name_{it}() {{")),
            2 => Just("}".to_owned()),
            1 => Just(String::new()),
            2 => Just("// ... existing code ...".to_owned()),
        ]
    }

    fn pairs(it: &Arrangement) -> impl Iterator<Item = (usize, usize)> {
        it.ops.iter().filter_map(|it| match it {
            Op::Match { row, line } => Some((*row, *line)),
            _ => None,
        })
    }

    proptest! {
        #[test]
        fn nothing_is_left_out_that_earns_enough(file in vec(line(), 1..40), sketch in vec(line(), 1..16), less in 0..4000) {
            let (file, sketch) = (file.join("\n"), sketch.join("\n"));
            let (trees, path) = (Trees::new(1 << 16), WorkspacePath::new("a.js").unwrap());
            let text = Text::new(&file);
            let parser = Parser::of(&path, &file, Toolkit::new(&trees));
            let Ok(sketch) = read(text.lines(), &sketch, parser.kind) else { return Ok(()) };
            let all = Candidates::new(&sketch, FileLines::new(text.lines()), &parser);
            let bounds = Bounds::new(&all);
            let far = |it: &Vec<_>| it.iter().map(|_| 1_000_000).collect();
            let loose = Bounds { below: bounds.below.iter().map(far).collect(), alone: bounds.alone.clone() };
            let none = Constraints::default();
            let Some(best) = align(&all, &none, &loose, POSSIBLE) else { return Ok(()) };
            prop_assert!(best.score <= bounds.below[0][0]);
            let others = pairs(&best).map(|it| Constraints { pairs: [it].into(), ..Constraints::default() });
            for constraints in [none].into_iter().chain(others) {
                let least = best.score - less;
                let wanted = align(&all, &constraints, &loose, POSSIBLE).filter(|it| it.score >= least);
                prop_assert_eq!(align(&all, &constraints, &bounds, least), wanted);
            }
        }
    }
}
