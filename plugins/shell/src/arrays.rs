//! What the elements of a script's arrays may hold, and whether the script says how words are split.

use std::collections::HashSet;

use shuck_ast::{Assignment, AssignmentValue, Command, DeclOperand, File, Stmt, Word, WordPart};

use crate::tree::{Node, command_name, walk};

/// The arrays of a script.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    /// Those with an element that splitting may take apart.
    splittable: HashSet<String>,
    /// `IFS` is set, and not for one command alone.
    pub(crate) sets_ifs: bool,
}

impl Arrays {
    pub(crate) fn of(file: &File, text: &str) -> Self {
        let mut arrays = Self::default();
        walk(&file.body, &mut |it| {
            if let Node::Statement(it) = it {
                arrays.statement(it, text);
            }
        });
        arrays
    }

    /// Whether an expansion may come apart: `$@`, or `${name[@]}` of such an array.
    pub(crate) fn may_come_apart(&self, expansion: &str) -> bool {
        let inner = expansion.trim_start_matches("${");
        match inner.split_once('[') {
            Some((name, _)) => self.splittable.contains(name),
            // `${@PREFIX@x}` is filled in before the script is run.
            None => inner
                .trim_start_matches('$')
                .strip_prefix('@')
                .is_some_and(|it| !it.starts_with(|it: char| it.is_alphanumeric() || it == '_')),
        }
    }

    fn statement(&mut self, statement: &Stmt, text: &str) {
        match &statement.command {
            Command::Simple(it) => {
                let is_for_one = !it.name.render_syntax(text).is_empty();
                it.assignments.iter().for_each(|it| self.assignment(it, is_for_one, text));
                if command_name(statement, text).is_some_and(|it| matches!(&*it, "mapfile" | "readarray")) {
                    self.splittable.extend(it.args.last().map(|it| it.render(text)));
                }
            }
            Command::Decl(it) => {
                for operand in &it.operands {
                    if let DeclOperand::Assignment(it) = operand {
                        self.assignment(it, false, text);
                    }
                }
            }
            _ => {}
        }
    }

    fn assignment(&mut self, it: &Assignment, is_for_one: bool, text: &str) {
        let name = it.target.name.as_str();
        self.sets_ifs |= name == "IFS" && !is_for_one;
        let may_hold_blank = match &it.value {
            AssignmentValue::Compound(it) => {
                it.elements.iter().any(|it| may_hold_blank(&it.value().word, text))
            }
            // `a[1]=$x` is not split.
            AssignmentValue::Scalar(it) => it.try_static_text(text).is_none_or(|it| is_splittable(&it)),
        };
        if may_hold_blank {
            self.splittable.insert(name.to_owned());
        }
    }
}

/// Whether the element that a word becomes may be split again: what is not in quotes was split when it was put there.
fn may_hold_blank(word: &Word, text: &str) -> bool {
    word.try_static_text(text).map_or_else(
        || word.parts.iter().any(|it| matches!(it.kind, WordPart::DoubleQuoted { .. })),
        |it| word.has_quoted_parts() && is_splittable(&it),
    )
}

fn is_splittable(text: &str) -> bool {
    text.is_empty() || text.contains(|it: char| it.is_whitespace() || "*?[".contains(it))
}
