//! Contents of a script's arrays, as far as they matter for word splitting, and whether the script sets how words are split.

use std::collections::HashSet;

use shuck_ast::{
    Assignment, AssignmentValue, Command, DeclOperand, File, SimpleCommand, Stmt, Word, WordPart,
};

use crate::tree::{Node, range, walk};

/// The arrays of a script.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    /// Variables with an element that splitting may take apart.
    splittable: HashSet<String>,
    /// Arrays that are given elements, and not only one text, which is split on purpose.
    lists: HashSet<String>,
    /// Arrays with an element that names files: `*.txt`.
    globbed: HashSet<String>,
    /// Patterns name no files: `set -f`.
    is_glob_off: bool,
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
            Some((name, _)) => {
                self.lists.contains(name) && self.splittable.contains(name)
                    || !self.is_glob_off && self.globbed.contains(name)
            }
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
                self.command(it, text);
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

    fn command(&mut self, it: &SimpleCommand, text: &str) {
        match it.name.try_static_text(text).as_deref() {
            Some("mapfile" | "readarray") => self.read(it.args.last().map(|it| it.render(text))),
            Some("read") if keeps_blanks(it, text) => self.read(read_array(&it.args, text)),
            Some("set") => self.is_glob_off |= it.args.iter().any(|it| is_glob_off(it, text)),
            _ => {}
        }
    }

    /// Notes an array that lines, or what is between signs, are read into.
    fn read(&mut self, name: Option<String>) {
        self.lists.extend(name.clone());
        self.splittable.extend(name);
    }

    fn assignment(&mut self, it: &Assignment, is_for_one: bool, text: &str) {
        let name = it.target.name.as_str();
        self.sets_ifs |= name == "IFS" && !is_for_one;
        if let AssignmentValue::Compound(it) = &it.value
            && it.elements.iter().any(|it| names_files(&it.value().word, text))
        {
            self.globbed.insert(name.to_owned());
        }
        let may_hold_blank = match &it.value {
            AssignmentValue::Compound(it) => {
                it.elements.iter().any(|it| may_hold_blank(&it.value().word, text))
            }
            // `a[1]=$x` is not split.
            AssignmentValue::Scalar(it) => it.try_static_text(text).is_none_or(|it| is_splittable(&it)),
        };
        let is_list = match &it.value {
            AssignmentValue::Compound(it) => !it.elements.is_empty(),
            AssignmentValue::Scalar(_) => it.target.subscript.is_some(),
        };
        if is_list {
            self.lists.insert(name.to_owned());
        }
        if may_hold_blank {
            self.splittable.insert(name.to_owned());
        }
    }
}

/// Whether the element that a word becomes may be split again: text without quotes was split when it was put there.
fn may_hold_blank(word: &Word, text: &str) -> bool {
    let is_escaped = || literals(word, text).any(|it| it.contains("\\ "));
    word.try_static_text(text).map_or_else(
        || word.parts.iter().any(|it| matches!(it.kind, WordPart::DoubleQuoted { .. })),
        |it| word.has_quoted_parts() && is_splittable(&it) || is_escaped(),
    )
}

/// Whether a word becomes the names of files, which may have blanks. Options and addresses only look like it.
fn names_files(word: &Word, text: &str) -> bool {
    let written = &text[range(word.span)];
    !written.starts_with('-') && !written.contains("://") && literals(word, text).any(is_glob)
}

/// The parts of a word that are not in quotes, as they are written.
fn literals<'a>(word: &'a Word, text: &'a str) -> impl Iterator<Item = &'a str> {
    let literals = word.parts.iter().filter(|it| matches!(it.kind, WordPart::Literal(_)));
    literals.map(|it| &text[range(it.span)])
}

/// Whether there is a pattern in a text without quotes: `*`, `?`, `[a-z]` or `!(a|b)`.
pub(crate) fn is_glob(literal: &str) -> bool {
    let (mut before, mut is_escaped, mut is_open) = (' ', false, false);
    literal.chars().any(|it| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        is_escaped = it == '\\';
        is_open |= it == '[';
        let is_group = it == '(' && matches!(before, '!' | '+' | '@');
        before = it;
        matches!(it, '*' | '?') || it == ']' && is_open || is_group
    })
}

/// Whether a command splits at signs of its own, and not at blanks: `IFS=, read`.
fn keeps_blanks(it: &SimpleCommand, text: &str) -> bool {
    let own = it.assignments.iter().rfind(|it| it.target.name.as_str() == "IFS");
    let value = own.and_then(|it| match &it.value {
        AssignmentValue::Scalar(it) => it.try_static_text(text),
        AssignmentValue::Compound(_) => None,
    });
    value.is_some_and(|it| !it.contains(' '))
}

/// The array that `read -a` reads into, which ksh writes as `-A`.
fn read_array(args: &[Word], text: &str) -> Option<String> {
    let mut all = args.iter();
    while let Some(word) = all.next() {
        let option = word.try_static_text(text)?;
        let letters = option.strip_prefix('-').filter(|it| !it.is_empty())?;
        // The first letter with a value takes the rest of the word, or the next word.
        let Some(at) = letters.find(['a', 'A', 'd', 'i', 'n', 'N', 'p', 't', 'u']) else { continue };
        let rest = &letters[at + 1..];
        let next = if rest.is_empty() { all.next() } else { None };
        if letters[at..].starts_with(['a', 'A']) {
            return next.map_or_else(|| Some(rest.to_owned()), |it| Some(it.render(text)));
        }
    }
    None
}

/// Whether an argument of `set` has it expand no patterns: `-f`, `-euf`, `noglob` after `-o`.
fn is_glob_off(word: &Word, text: &str) -> bool {
    let is_off =
        |it: &str| it == "noglob" || it.starts_with('-') && !it.starts_with("--") && it.contains('f');
    word.try_static_text(text).is_some_and(|it| is_off(&it))
}

fn is_splittable(text: &str) -> bool {
    text.is_empty() || text.contains(|it: char| it.is_whitespace() || "*?[".contains(it))
}
