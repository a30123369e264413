//! Types that are written out without some of their members, which may be meant to stay or to go.

use super::{
    super::outcome::{Reason, Refused},
    alignment::Op,
    candidate::Substitution,
    judge::Judge,
    placed,
    rows::{Row, Sketch},
};

impl Judge<'_, '_> {
    /// A type that takes the place of one with members which the sketch does not have: those may be meant to stay.
    pub(super) fn loses_members(&self, ops: &[Op]) -> Option<&Substitution> {
        let definitions = &self.all.definitions;
        let mut substitutions = ops.iter().filter_map(|it| match it {
            Op::Substitution { substitution } => Some(&self.all.substitutions[*substitution]),
            _ => None,
        });
        let loses = |(own, there): (usize, usize)| {
            definitions.lost_members(&definitions.sketch[own], there).next().is_some()
        };
        substitutions.find(|it| loses(it.of))
    }

    /// A type that is written out without some of its members: the others may stay.
    pub(super) fn refused_members(&self, substitution: &Substitution, without: &str) -> Refused {
        let mut shown = Vec::new();
        // A text that loses others still is no better.
        let kept = match self.is_retry {
            true => None,
            false => placed(self.file, self.with_markers(substitution), self.parser, true).ok(),
        };
        if let Some(kept) = kept {
            shown.push(("members that the edit does not have stay".to_owned(), kept.changed.text));
        }
        shown.push(("members that the edit does not have go".to_owned(), without.to_owned()));
        let definitions = &self.all.definitions;
        let own = &definitions.sketch[substitution.of.0];
        let members = definitions.lost_members(own, substitution.of.1).map(|it| it.name.clone()).collect();
        let reason = Reason::Members { name: own.it.name.clone(), members };
        Refused::with_readings(reason, &self.file.replaced(&[], None), shown)
    }

    /// The sketch with markers above and below the members of a type.
    fn with_markers(&self, substitution: &Substitution) -> Sketch<'_> {
        let mut rows = self.sketch.rows.clone();
        let members = self.all.definitions.sketch.iter().map(|it| &it.it);
        let inside: Vec<_> = members
            .filter(|it| it.head > substitution.rows.start && substitution.rows.contains(&it.head))
            .collect();
        let first = inside.iter().map(|it| it.lead).min().unwrap_or(substitution.rows.end - 1);
        let last = inside.iter().map(|it| it.end).max().unwrap_or(first);
        let marker = |at: usize| {
            let at = at.min(rows.len() - 1);
            Row { text: "".into(), is_marker: true, blank_above: 0, blank_below: 0, ..rows[at].clone() }
        };
        let (above, below) = (marker(first), marker(last));
        rows.insert(last, below);
        rows.insert(first, above);
        Sketch { rows }
    }
}
