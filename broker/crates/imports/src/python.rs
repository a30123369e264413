//! `import a.b`, `from a.b import c`, `from ..a import b`, wherever in a line, and `import_module("a.b")`. Where
//! packages start is not known: a module is each file whose path ends like its name. To import a module runs the
//! packages around it.
//!
//! Left out are `fromlist` of `__import__`, and `..` that a call resolves in another package.

use std::{collections::BTreeSet, ops::Range};

use overlay::WorkspacePath;

use super::{
    Files, beside,
    text::{is_of_name, string_end, word_end},
};

/// Token that ends a statement in the scan.
const END: &str = "\n";

/// Returns the imported names, each as `module`, or as `module:name,name`.
pub(super) fn names(text: &str) -> BTreeSet<String> {
    let tokens: Vec<_> = tokens(text).collect();
    let mut found = BTreeSet::new();
    let mut rest = &tokens[..];
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        match *token {
            "import" => {
                let (modules, after) = after.split_at(statement_end(after));
                found.extend(modules.split(|it| *it == ",").map(|it| dotted(it).0));
                rest = after;
            }
            "from" => {
                let (module, after) = dotted(after);
                if let Some((&"import", after)) = after.split_first() {
                    found.insert(format!("{module}:{}", listed(after).join(",")));
                    rest = after;
                }
            }
            "import_module" | "__import__" | "importorskip" => found.extend(called(after)),
            _ => {}
        }
    }
    found.retain(|it| !it.is_empty());
    found
}

/// Names that the import statement around this part of a text imports there, each as [`names`] has it; none if it is in
/// no import statement.
pub(super) fn imported_at(text: &str, part: Range<usize>) -> Vec<String> {
    let word = &text[part.clone()];
    let Some(start) = statement_start(&text[..part.start]) else { return Vec::new() };
    let end = text[part.end..].find('\n').map_or(text.len(), |it| part.end + it);
    // Brackets may be closed later.
    let statement = format!("{})", &text[start..end]);
    let narrow = |name: String| {
        let (module, listed) = name.split_once(':').unwrap_or((&name, ""));
        if module.trim_start_matches('.') == word.trim_start_matches('.') {
            return Some(module.to_owned());
        }
        listed.split(',').any(|it| it == word).then(|| format!("{module}:{word}"))
    };
    names(&statement).into_iter().filter_map(narrow).collect()
}

/// Start of the import statement that goes on after this text.
fn statement_start(before: &str) -> Option<usize> {
    let starts = before.match_indices('\n').map(|it| it.0 + 1).chain([0]);
    let begins = |at: &usize| {
        let line = before[*at..].trim_start();
        ["import ", "from ", "import\t", "from\t"].iter().any(|it| line.starts_with(it))
    };
    let start = starts.filter(begins).max()?;
    let statement = &before[start..];
    let is_open = statement.matches('(').count() > statement.matches(')').count();
    let is_joined = || statement.lines().rev().skip(1).all(|it| it.ends_with('\\'));
    (is_open || is_joined()).then_some(start)
}

fn statement_end(tokens: &[&str]) -> usize {
    tokens.iter().position(|it| *it == END).unwrap_or(tokens.len())
}

/// A name with dots, and what is after it.
fn dotted<'a, 't>(tokens: &'a [&'t str]) -> (String, &'a [&'t str]) {
    let is_part =
        |it: &str| it == "." || it.starts_with(is_of_name) && !matches!(it, "import" | "from" | "as");
    let end = tokens.iter().position(|it| !is_part(it)).unwrap_or(tokens.len());
    (tokens[..end].concat(), &tokens[end..])
}

/// The names in a list, in brackets or up to the end of the line.
fn listed<'t>(tokens: &[&'t str]) -> Vec<&'t str> {
    let end = if tokens.first() == Some(&"(") { ")" } else { END };
    let is_in = |it: &&&str| **it != end && !matches!(**it, "import" | "from");
    let all: Vec<_> = tokens.iter().take_while(is_in).copied().collect();
    let name = |part: &[&'t str]| part.iter().copied().find(|it| it.starts_with(is_of_name));
    all.split(|it| *it == ",").filter_map(name).collect()
}

/// Module named by the string arguments of a call; a relative one also within the package in the argument after it.
fn called(tokens: &[&str]) -> Vec<String> {
    let near = tokens.iter().take_while(|it| **it != ")").filter(|it| **it != END).take(6);
    let texts: Vec<_> =
        near.filter(|it| it.starts_with(['"', '\''])).map(|it| it.trim_matches(['"', '\''])).collect();
    match texts[..] {
        [module, package] if module.starts_with('.') => vec![module.to_owned(), [package, module].concat()],
        _ => texts.first().filter(|it| !it.contains('\n')).map(|it| (*it).to_owned()).into_iter().collect(),
    }
}

/// Names, strings with their quotes, and single characters. Lines that are joined have no end between them.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = skip_blank(rest);
        let first = rest.chars().next()?;
        let end = match first {
            '"' | '\'' => {
                let quote = ["\"\"\"", "'''"].into_iter().find(|it| rest.starts_with(it));
                string_end(rest, quote.unwrap_or(&rest[..1]), quote.is_none())
            }
            _ => word_end(rest),
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(if matches!(first, '\r' | ';') { END } else { token })
    })
}

fn skip_blank(text: &str) -> &str {
    let mut rest = text;
    loop {
        let start = rest.trim_start_matches([' ', '\t', '\u{c}', '\u{feff}']);
        rest = match start.as_bytes() {
            [b'#', ..] => &start[start.find(['\n', '\r']).unwrap_or(start.len())..],
            [b'\\', b'\r', b'\n', ..] => &start[3..],
            [b'\\', b'\n' | b'\r', ..] => &start[2..],
            _ => return start,
        };
    }
}

/// A module, and what may be modules in it.
pub(super) fn targets(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    let (name, within) = name.split_once(':').unwrap_or((name, ""));
    let plain = name.trim_start_matches('.');
    let up = name.len() - plain.len();
    let parts: Vec<_> = plain.split('.').filter(|it| !it.is_empty()).collect();
    let first = usize::from(up == 0);
    let around = (first..=parts.len()).map(|it| parts[..it].to_vec());
    let within = within.split(',').filter(|it| !it.is_empty()).map(|it| [&parts[..], &[it]].concat());
    around.chain(within).flat_map(|it| module(path, up, &it, files)).collect()
}

/// Files that a module may be, as seen from a file if the name begins with `up` dots.
fn module(path: &WorkspacePath, up: usize, parts: &[&str], files: &Files) -> Vec<WorkspacePath> {
    let module = parts.join("/");
    let package = if module.is_empty() { String::new() } else { format!("{module}/") };
    let mut ends = vec![format!("{package}__init__.py"), format!("{package}__init__.pyi")];
    if let Some((first, rest)) = package.split_once('/') {
        ends.extend([format!("{module}.py"), format!("{module}.pyi")]);
        // Stubs may lie in a package of their own.
        let stub =
            if rest.is_empty() { String::new() } else { format!("{}.pyi", rest.trim_end_matches('/')) };
        ends.extend([format!("{first}-stubs/{rest}__init__.pyi"), format!("{first}-stubs/{stub}")]);
    } else if up == 0 {
        return Vec::new();
    }
    let parents = "../".repeat(up.saturating_sub(1));
    let found = |end: &String| match up {
        0 => files.ending_with(end).collect(),
        _ => Vec::from_iter(files.get(beside(path, &format!("{parents}{end}")))),
    };
    ends.iter().flat_map(found).collect()
}

#[cfg(test)]
mod tests;
