//! Order in which branches can land.

use std::collections::BTreeSet;

/// A branch among those of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    pub branch: String,
    /// Branches that can land before it and conflict with it, or may, as nothing is known of the pair: it is brought onto them first.
    /// None: it can land now.
    pub after: Vec<String>,
}

/// Returns first the branches that can land as they are: a large set without a conflict within it, of which those with the fewest
/// conflicts come first. The rest follows, each after those before it with which it conflicts.
pub(super) fn landings(branches: &[String], conflicts: &BTreeSet<(usize, usize)>) -> Vec<Landing> {
    let mut others: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); branches.len()];
    for (a, b) in conflicts {
        others[*a].insert(*b);
        others[*b].insert(*a);
    }
    let mut waiting: Vec<usize> = (0..branches.len()).collect();
    waiting.sort_by_key(|it| (others[*it].len(), *it));
    let (mut now, mut rest) = (BTreeSet::new(), Vec::new());
    for branch in waiting {
        if others[branch].is_disjoint(&now) {
            now.insert(branch);
        } else {
            rest.push(branch);
        }
    }
    let name = |it: &usize| branches[*it].clone();
    let first = now.iter().map(|it| Landing { branch: name(it), after: Vec::new() });
    let mut landed = now.clone();
    let mut order: Vec<_> = first.collect();
    for branch in rest {
        let after = others[branch].intersection(&landed).map(name).collect();
        order.push(Landing { branch: name(&branch), after });
        landed.insert(branch);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_conflicts_with_most_comes_last() {
        let branches = ["a", "b", "c", "d"].map(str::to_owned);
        let order = landings(&branches, &[(0, 1), (0, 2), (2, 3)].into());
        let order: Vec<_> = order.iter().map(|it| (&*it.branch, it.after.join(" "))).collect();
        assert_eq!(order, [("b", ""), ("d", ""), ("a", "b"), ("c", "a d")].map(|(a, b)| (a, b.to_owned())));
        assert!(landings(&branches, &BTreeSet::new()).iter().all(|it| it.after.is_empty()));
    }
}
