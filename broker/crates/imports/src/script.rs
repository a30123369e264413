//! `import … from 'x'`, `export … from 'x'`, `require('x')`, `import('x')`, and each relative path in quotes, whatever
//! is done with it; dots alone are a path only where something is imported. What is not relative may be an alias or a
//! package of the workspace, and means each file that ends like it and what the package of that name has.
//!
//! No state is kept from one quote to the next: what is a regular expression or the text of an element is not known.
//! Left out are patterns and folders that a bundler expands, `rootDirs`, and suffixes of platforms.

use std::collections::BTreeSet;

use overlay::WorkspacePath;

use super::{Files, beside, text::is_of_name};

const EXTENSIONS: [&str; 12] =
    [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.mts", ".d.cts", ".json"];

/// Words that may stand before a name that is not relative.
const BEFORE: [&str; 3] = ["from", "import", "module"];
const ATTRIBUTES: [&str; 2] = ["path", "types"];
const CALLS: [&str; 16] = [
    "import",
    "require",
    "resolve",
    "mock",
    "unmock",
    "doMock",
    "doUnmock",
    "importActual",
    "importMock",
    "requireActual",
    "requireMock",
    "importScripts",
    "module",
    "proxyquire",
    "rewire",
    "esmock",
];

/// Maximum number of bytes that are searched backwards, and of bytes in a name.
const NEAR: usize = 400;

pub(super) fn names(text: &str) -> BTreeSet<String> {
    let names = text.match_indices(['"', '\'', '`']).filter_map(|(at, quote)| {
        let after = &text[at + 1..];
        let is_name = is_relative(after) || is_import(near(&text[..at]));
        let name = after.split(|it| it == '\n' || quote.starts_with(it)).next().filter(|_| is_name)?;
        (!name.is_empty() && name.len() < NEAR).then(|| name.to_owned())
    });
    names.collect()
}

fn is_relative(text: &str) -> bool {
    let rest = text.strip_prefix("..").or_else(|| text.strip_prefix('.'));
    rest.is_some_and(|it| it.starts_with(['/', '?']))
}

/// The end of a text.
fn near(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(NEAR))..]
}

fn is_import(before: &str) -> bool {
    let before = without_blank(before);
    let (before, known) = match before.as_bytes().last() {
        Some(b'(') => (&before[..before.len() - 1], &CALLS[..]),
        Some(b'=') => (&before[..before.len() - 1], &ATTRIBUTES[..]),
        _ => (before, &BEFORE[..]),
    };
    let word = without_blank(before).rsplit(|it| !is_of_name(it)).next();
    word.is_some_and(|it| known.contains(&it))
}

/// Returns the text without blanks and comments at its end.
fn without_blank(text: &str) -> &str {
    let mut rest = text;
    loop {
        let end = rest.trim_end();
        let line = &end[end.rfind('\n').map_or(0, |it| it + 1)..];
        rest = if let Some(start) = end.strip_suffix("*/").and_then(|it| it.rfind("/*")) {
            &end[..start]
        } else if let Some(start) = line.find("//").filter(|_| rest[end.len()..].contains('\n')) {
            &end[..end.len() - line.len() + start]
        } else {
            return end;
        };
    }
}

pub(super) fn targets(path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
    // Between a loader and what it is asked for.
    let name = name.rsplit('!').next().and_then(|it| it.split('?').next()).unwrap_or_default();
    if name.starts_with('.') {
        return ends(name).filter_map(|it| files.get(beside(path, &it))).collect();
    }
    // `@/a/b`, `~/a/b`, `#a/b`, `@scope/package`, `package/a`.
    let plain = name.trim_start_matches(['@', '~', '#', '/']);
    let below = if name.starts_with('@') { plain.split_once('/').map_or(plain, |it| it.1) } else { plain };
    let (package, inner) = below.split_once('/').unwrap_or((below, ""));
    let of_package = ["src", "lib"].map(|it| format!("{package}/{it}/{inner}"));
    let all = [plain, below].into_iter().chain(of_package.iter().map(String::as_str));
    let like_it = all.flat_map(ends).flat_map(|it| files.ending_with(&it).collect::<Vec<_>>());
    like_it.chain(of_packages(name, files)).collect()
}

/// Files that the name may mean in the packages whose names it begins with.
fn of_packages(name: &str, files: &Files) -> Vec<WorkspacePath> {
    let starts = name.match_indices('/').map(|it| it.0).chain([name.len()]);
    let named = starts.filter_map(|at| Some((files.manifests.packages.get(&name[..at])?, &name[at..])));
    let places = named.flat_map(|(packages, inner)| {
        packages.iter().flat_map(move |(directory, mains)| {
            let usual = ["", "src", "lib"].map(|it| format!("{it}{inner}"));
            let mains = mains.iter().filter(move |_| inner.is_empty()).cloned();
            usual.into_iter().chain(mains).map(move |it| (directory, it))
        })
    });
    let files_of = |(directory, place): (&WorkspacePath, String)| {
        ends(place.trim_start_matches('/'))
            .filter_map(|it| files.get(directory.join(it.trim_start_matches('/')).ok()))
            .collect::<Vec<_>>()
    };
    places.flat_map(files_of).collect()
}

/// Name of the package in a `package.json`, and its entry files.
pub(super) fn package(text: &[u8]) -> Option<(String, Vec<String>)> {
    let said: serde_json::Value = serde_json::from_slice(text).ok()?;
    let mains = ["source", "types", "module", "main"].iter().filter_map(|it| said.get(it)?.as_str());
    Some((said.get("name")?.as_str()?.to_owned(), mains.map(str::to_owned).collect()))
}

/// The files that a name may stand for: also what `.js` was made from, and what declares a file of another kind.
fn ends(name: &str) -> impl Iterator<Item = String> {
    let name = name.trim_end_matches('/');
    let made = [".js", ".jsx", ".mjs", ".cjs"].iter().find_map(|it| name.strip_suffix(it));
    let stems = [name].into_iter().chain(made);
    let all: Vec<_> = stems
        .flat_map(|it| {
            EXTENSIONS.iter().flat_map(move |end| [format!("{it}{end}"), format!("{it}/index{end}")])
        })
        .collect();
    let declared = name.rsplit_once('.').map(|(stem, end)| format!("{stem}.d.{end}.ts"));
    [name.to_owned()].into_iter().chain(all).chain(declared)
}

#[cfg(test)]
mod tests;
