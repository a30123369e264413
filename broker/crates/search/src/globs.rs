//! Selection of the paths that a request is about.
//!
//! Globs as in an ignore file: `*.rs` anywhere, `/src` at the workspace's root, `src/` and all below it, `{a,b}`. They
//! choose among the files that are searched anyway: none brings back what is ignored or hidden, as ripgrep's `-g` does.

use ignore::{
    gitignore::{Gitignore, GitignoreBuilder},
    types::{Types, TypesBuilder},
};
use overlay::WorkspacePath;
use thiserror::Error;

/// A pattern that is no glob.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the glob `{glob}` cannot be used: {reason}")]
pub struct GlobError {
    pub glob: String,
    pub reason: String,
}

/// Patterns of what is wanted and what is not.
pub(crate) struct Globs {
    /// `None` if everything is wanted.
    include: Option<Gitignore>,
    exclude: Gitignore,
    /// `None` if files of all types are wanted.
    types: Option<Types>,
}

impl Globs {
    /// An included pattern that begins with `!` excludes.
    pub(crate) fn new(include: &[String], exclude: &[String]) -> Result<Self, GlobError> {
        let (negated, include): (Vec<_>, Vec<_>) = include
            .iter()
            .map(String::as_str)
            .filter(|it| !it.trim().is_empty())
            .partition(|it| it.starts_with('!'));
        let exclude = exclude.iter().map(String::as_str).filter(|it| !it.trim().is_empty());
        let exclude = exclude.chain(negated.iter().map(|it| &it[1..]));
        let has_include = !include.is_empty();
        let include = has_include.then(|| matcher(include)).transpose()?;
        Ok(Self { include, exclude: matcher(exclude)?, types: None })
    }

    /// Restricts them to files of one type, as ripgrep has types.
    pub(crate) fn of_type(self, name: Option<&str>) -> Result<Self, GlobError> {
        let Some(name) = name else { return Ok(self) };
        let types = TypesBuilder::new().add_defaults().select(name).build();
        let error = |it: ignore::Error| GlobError { glob: name.to_owned(), reason: it.to_string() };
        Ok(Self { types: Some(types.map_err(error)?), ..self })
    }

    pub(crate) fn want(&self, path: &WorkspacePath) -> bool {
        let is_included = self.include.as_ref().is_none_or(|it| names(it, path));
        let is_of_type = self.types.as_ref().is_none_or(|it| it.matched(path.as_str(), false).is_whitelist());
        is_included && is_of_type && !names(&self.exclude, path)
    }
}

fn matcher<'a>(globs: impl IntoIterator<Item = &'a str>) -> Result<Gitignore, GlobError> {
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    for glob in globs {
        let error = |it: ignore::Error| GlobError { glob: glob.to_owned(), reason: it.to_string() };
        // A leading `#` or `!` would begin a comment or a negation in an ignore file; here it is part of a name.
        let is_special = glob.starts_with(['#', '!']);
        let line = if is_special { format!("\\{glob}") } else { glob.trim_start_matches("./").to_owned() };
        builder.add_line(None, &line).map_err(error)?;
    }
    builder.build().map_err(|it| GlobError { glob: String::new(), reason: it.to_string() })
}

/// Whether a pattern names the file or a directory above it.
fn names(matcher: &Gitignore, path: &WorkspacePath) -> bool {
    !matcher.is_empty() && matcher.matched_path_or_any_parents(path.as_str(), false).is_ignore()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(include: &[&str], exclude: &[&str]) -> Vec<&'static str> {
        let all = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let globs = Globs::new(&all(include), &all(exclude)).unwrap();
        let paths = ["a.rs", "src/a.rs", "src/b.ts", "src/deep/c.tsx", "tests/#d.md"];
        paths.into_iter().filter(|it| globs.want(&WorkspacePath::new(it).unwrap())).collect()
    }

    #[test]
    fn globs_choose_as_in_an_ignore_file() {
        assert_eq!(wanted(&[], &[]).len(), 5);
        assert_eq!(wanted(&["*.rs"], &[]), ["a.rs", "src/a.rs"]);
        assert_eq!(wanted(&["/*.rs"], &[]), ["a.rs"]);
        assert_eq!(wanted(&["./src/*.rs", "#d.md"], &[]), ["src/a.rs", "tests/#d.md"]);
        assert_eq!(wanted(&["**/*.{ts,tsx}"], &["deep"]), ["src/b.ts"]);
        assert_eq!(wanted(&["src/", "!*.ts"], &["", "a.rs"]), ["src/deep/c.tsx"]);
    }

    #[test]
    fn types_are_those_of_ripgrep() {
        let globs = |name| Globs::new(&[], &[]).unwrap().of_type(Some(name));
        let path = |it| WorkspacePath::new(it).unwrap();
        let rust = globs("rust").unwrap();
        assert!(rust.want(&path("src/a.rs")) && !rust.want(&path("a.py")));
        assert_eq!(globs("no-such").err().unwrap().glob, "no-such");
    }

    #[test]
    fn what_is_no_glob_is_refused_by_name() {
        let error = Globs::new(&["a{b".into()], &[]).err().unwrap();
        assert_eq!(error.glob, "a{b");
        assert!(error.to_string().starts_with("the glob `a{b` cannot be used: "), "{error}");
    }
}
