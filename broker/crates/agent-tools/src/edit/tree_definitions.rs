//! The definitions of a syntax tree, by lines.

use syntax::{DefinitionKind, Tree};

use super::{
    definition::{Definition, Kind},
    parser::Parser,
    text::collapsed,
};

/// Words behind the name of a test that say how it is run.
const MODIFIERS: [&str; 5] = [".only", ".skip", ".todo", ".concurrent", ".failing"];

/// The definitions of a text with a tree, without variables of functions.
pub(super) fn definitions(tree: &Tree, lines: &[&str], parser: &Parser<'_>) -> Vec<Definition> {
    let text = String::from_utf8_lossy(tree.text());
    let starts: Vec<_> = std::iter::once(0).chain(text.match_indices('\n').map(|it| it.0 + 1)).collect();
    let file = File { text: &text, starts, lines, parser };
    let all = syntax::all_definitions(tree);
    // Numbers of those that are taken, by their numbers in `all`.
    let mut taken: Vec<Option<usize>> = vec![None; all.len()];
    let mut found = Vec::new();
    for (at, it) in all.iter().enumerate() {
        let around = || std::iter::successors(it.parent, |at| all[*at].parent);
        let Some(kind) = kind_of(it, parser) else { continue };
        if kind == Kind::Value && around().any(|it| all[it].form.is_function()) {
            continue;
        }
        let parent = around().find_map(|it| taken[it]);
        if let Some(it) = file.definition(it, kind) {
            taken[at] = Some(found.len());
            found.push(Definition { parent, ..it });
        }
    }
    found
}

/// The kind that a definition has for an edit; `None` for parts of a line, and for what is defined elsewhere.
fn kind_of(it: &syntax::Definition, parser: &Parser<'_>) -> Option<Kind> {
    use DefinitionKind as From;
    Some(match it.form {
        // In a class of C++, a call reads as a function that is declared.
        From::Function | From::Method if it.body.is_none() && parser.is(&["c", "cpp"]) => return None,
        From::Type if it.body.is_none() && parser.is(&["cpp"]) => return None,
        // In one of JavaScript, as a field.
        From::Field if parser.is(&["javascript", "typescript", "typescriptreact"]) => return None,
        From::Function | From::Method | From::Macro | From::Block => Kind::Function,
        From::Class | From::Struct | From::Interface | From::Type | From::Enum | From::Module => Kind::Type,
        From::Implementation => Kind::Implementation,
        From::Test | From::Call => Kind::Test,
        From::Constant | From::Field | From::Value => Kind::Value,
        From::Entry => Kind::Entry,
        From::Docstring => Kind::Docstring,
        From::Variant | From::ReExport => return None,
    })
}

struct File<'a> {
    text: &'a str,
    /// Starts of lines.
    starts: Vec<usize>,
    lines: &'a [&'a str],
    parser: &'a Parser<'a>,
}

impl File<'_> {
    fn definition(&self, it: &syntax::Definition, kind: Kind) -> Option<Definition> {
        let head = self.line(match kind {
            Kind::Implementation | Kind::Test => it.head,
            _ => it.name_range.start,
        });
        let parameters = it.parameters.clone().and_then(|it| self.text.get(it));
        let last = self.text.get(it.whole.clone())?.trim_end().len().saturating_sub(1);
        Some(Definition {
            name: self.name(it, kind),
            kind,
            parameters: parameters.map(collapsed).unwrap_or_default(),
            has_body: it.body.is_some(),
            lead: self.line(it.whole.start),
            head,
            end: self.line(it.whole.start + last) + 1,
            level: self.parser.kind.level(self.lines.get(head)?)?,
            parent: None,
            is_broken: it.has_error,
        })
    }

    fn name(&self, it: &syntax::Definition, kind: Kind) -> String {
        match kind {
            // With type parameters and conditions, of which there may be several.
            Kind::Implementation => {
                let end = it.body.as_ref().map_or(it.whole.end, |it| it.start);
                collapsed(self.text.get(it.head..end).unwrap_or_default())
            }
            Kind::Test => {
                let name = it.full_name();
                let (called, given) = name.split_once(' ').unwrap_or((&name, ""));
                let called = MODIFIERS.iter().fold(called, |it, end| it.trim_end_matches(end));
                format!("{called} {given}")
            }
            // A macro of C++ with the names of the test as parameters, which an edit may change.
            Kind::Function if it.kind == DefinitionKind::Test => {
                it.name.split('(').next().unwrap_or_default().to_owned()
            }
            Kind::Docstring => "docstring".to_owned(),
            _ => it.full_name(),
        }
    }

    fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|it| *it <= byte) - 1
    }
}
