//! Reasons to refuse a reading of a definition that has others of its name: overloads, and decorators above it.

use super::{
    super::{definition::Kind, outcome::Reason},
    alignment::Op,
    definitions::Defined,
    judge::Judge,
};

impl Judge<'_, '_> {
    /// A function takes the place of one of several of its name, whose parameters are others.
    pub(super) fn takes_an_overload(&self, ops: &[Op]) -> Option<Reason> {
        if !self.parser.has_overloads() {
            return None;
        }
        let definitions = &self.all.definitions;
        let goes = |line: usize| {
            ops.iter().any(|it| matches!(it, Op::Delete { from, upto } if (*from..*upto).contains(&line)))
        };
        let takes = |own: &Defined| {
            ops.iter().any(|it| match *it {
                Op::Substitution { substitution } => {
                    let (of, there) = self.all.substitutions[substitution].of;
                    definitions.sketch[of].it == own.it
                        && definitions.file[there].parameters != own.it.parameters
                }
                Op::Match { row, line } if row == own.it.head => {
                    definitions.head_of_file(line).is_some_and(|it| it.parameters != own.it.parameters)
                }
                Op::Insert { row, .. } if row == own.it.head => {
                    own.same.iter().any(|it| goes(definitions.file[*it].head))
                }
                _ => false,
            })
        };
        let is_one = |it: &&Defined| it.it.kind == Kind::Function && it.same.len() > 1;
        let own = definitions.sketch.iter().filter(is_one).find(|it| takes(it))?;
        Some(self.several(&[own.it.head]))
    }

    /// A decorator or an attribute is added to a definition that has another one of its name, which the edit does not show.
    pub(super) fn doubles_an_attribute(&self, ops: &[Op]) -> Option<Reason> {
        let definitions = &self.all.definitions;
        let is_touched = |line: usize| {
            ops.iter().any(|it| match it {
                Op::Match { line: it, .. } => *it == line,
                Op::Delete { from, upto } => (*from..*upto).contains(&line),
                _ => false,
            })
        };
        for op in ops {
            let Op::Match { row: head, line } = *op else { continue };
            let Some((own, there)) = definitions.head_of_sketch(head).zip(definitions.head_of_file(line))
            else {
                continue;
            };
            let kept = (there.lead..there.head).filter(|it| !is_touched(*it));
            let kept: Vec<_> = kept.filter_map(|it| attribute(self.all.file.bare[it])).collect();
            let is_twice = |it: &Op| match it {
                Op::Insert { row, .. } if (own.it.lead..head).contains(row) => {
                    attribute(self.sketch.rows[*row].text.trim()).is_some_and(|it| kept.contains(&it))
                }
                _ => false,
            };
            if ops.iter().any(is_twice) {
                return Some(self.several(&[own.it.lead, head]));
            }
        }
        None
    }
}

/// The name of a decorator or an attribute.
fn attribute(line: &str) -> Option<&str> {
    let name = line.strip_prefix('@').or_else(|| line.strip_prefix("#["))?;
    let end = name.find(|it: char| !(it.is_alphanumeric() || "_.:".contains(it))).unwrap_or(name.len());
    (end > 0).then(|| &name[..end])
}
