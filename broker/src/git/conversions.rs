//! Which files git stores otherwise than a working copy has them: with other line endings, in another encoding, or as a program
//! made them.

use std::collections::{BTreeMap, BTreeSet};

use overlay::WorkspacePath;

use super::{Git, failed};
use crate::CliError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Conversion {
    /// Line endings: a text without carriage returns is stored as it is.
    LineEndings,
    /// Encodings and keywords, which git converts itself.
    Text,
    /// A program makes what is stored, and a working copy gets that as it is.
    Clean,
    /// Programs make what is stored, and what a working copy has.
    Smudge,
}

/// Attributes that say how a file is converted.
const ATTRIBUTES: [&str; 6] = ["text", "crlf", "eol", "ident", "working-tree-encoding", "filter"];

/// Keys of a filter's program for working copies. One program may do both.
const SMUDGE: [&str; 2] = ["smudge", "process"];

impl Git {
    /// The files among `paths` that git converts.
    pub(crate) fn conversions<'p>(
        &self,
        paths: impl Iterator<Item = &'p WorkspacePath>,
    ) -> Result<BTreeMap<WorkspacePath, Conversion>, CliError> {
        let list: String = paths.map(|it| format!("{it}\0")).collect();
        if list.is_empty() {
            return Ok(BTreeMap::new());
        }
        let arguments = [&["check-attr", "-z", "--stdin"][..], &ATTRIBUTES].concat();
        let told = self.feed(&arguments, list.as_bytes())?;
        if !told.status.success() {
            return Err(failed(&arguments, &told.stderr));
        }
        let converts_all = self.converts_line_endings()?;
        let fields: Vec<_> = told.stdout.split(|it| *it == 0).map(String::from_utf8_lossy).collect();
        let of_file = |facts: &[std::borrow::Cow<'_, str>]| {
            let value = |name: &str| facts.chunks_exact(3).find(|it| it[1] == name).map_or("", |it| &it[2]);
            let conversion = self.conversion(value, converts_all)?;
            Some((WorkspacePath::new(&facts[0]).ok()?, conversion))
        };
        Ok(fields.chunks_exact(3 * ATTRIBUTES.len()).filter_map(of_file).collect())
    }

    fn conversion<'v>(&self, value: impl Fn(&str) -> &'v str, converts_all: bool) -> Option<Conversion> {
        let is_set = |name| !["", "unspecified", "unset"].contains(&value(name));
        if is_set("filter") {
            let smudges = self.smudging.contains(value("filter"));
            return Some(if smudges { Conversion::Smudge } else { Conversion::Clean });
        }
        if is_set("ident") || is_set("working-tree-encoding") {
            return Some(Conversion::Text);
        }
        // `crlf` is the older name of `text`.
        let is_binary = [value("text"), value("crlf")].contains(&"unset");
        let is_text = ["text", "crlf", "eol"].iter().any(|it| is_set(it));
        (is_text || (converts_all && !is_binary)).then_some(Conversion::LineEndings)
    }

    /// Whether line endings of files without attributes are converted.
    fn converts_line_endings(&self) -> Result<bool, CliError> {
        let set = self.output(&["config", "--get", "core.autocrlf"])?;
        let set = String::from_utf8_lossy(&set.stdout).trim().to_lowercase();
        Ok(["true", "yes", "on", "1", "input"].contains(&&*set))
    }

    /// The text that a working copy would have of a blob, as far as git makes it itself.
    pub(super) fn checked_out(&self, path: &WorkspacePath, blob: &str) -> Result<Vec<u8>, CliError> {
        let path = format!("--path={}{path}", self.prefix()?);
        self.run(&["cat-file", "--filters", &path, blob])
    }

    /// Path of the folder in the working copy: empty, or with a slash at its end.
    pub(super) fn prefix(&self) -> Result<String, CliError> {
        let prefix = self.run(&["rev-parse", "--show-prefix"])?;
        Ok(String::from_utf8_lossy(prefix.trim_ascii_end()).into_owned())
    }
}

/// The filters with a program that makes what a working copy has, by what `git config --null` prints: a key, a newline and a value.
pub(super) fn smudging(settings: &[u8]) -> BTreeSet<String> {
    let settings = settings.split(|it| *it == 0).filter_map(|it| str::from_utf8(it).ok());
    let smudges = |setting: &str| {
        let (key, program) = setting.split_once('\n')?;
        let (name, key) = key.strip_prefix("filter.")?.rsplit_once('.')?;
        let is_program = SMUDGE.contains(&key) && !["", "cat"].contains(&program.trim());
        is_program.then(|| name.to_owned())
    };
    settings.filter_map(smudges).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own repository")]

    use std::{fs, process::Command};

    use super::*;

    #[test]
    fn files_that_git_converts_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let run = Command::new("git").arg("-C").arg(folder.path()).args(arguments).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        };
        git(&["init", "--quiet"]);
        git(&["config", "core.autocrlf", "false"]);
        git(&["config", "filter.strip.clean", "grep -v SECRET"]);
        git(&["config", "filter.strip.smudge", "cat"]);
        git(&["config", "filter.crypt.smudge", "decrypt"]);
        git(&["config", "filter.lfs.process", "git-lfs filter-process"]);
        let attributes = "*.sh text eol=crlf\n*.auto text=auto\n*.bin -text\n*.id ident\n*.json text working-tree-encoding=UTF-16\n\
            *.py filter=strip\n*.key filter=crypt\n*.png filter=lfs -text\n*.new filter=unknown\n";
        fs::write(folder.path().join(".gitattributes"), attributes).unwrap();
        let paths = ["a.sh", "a.auto", "a.bin", "a.id", "a.json", "a.py", "a.key", "a.png", "a.new", "a.txt"];
        let paths = paths.map(|it| WorkspacePath::new(it).unwrap());
        let known = |git: Git| {
            let known = git.conversions(paths.iter()).unwrap();
            known.iter().map(|(path, it)| format!("{path} {it:?}")).collect::<Vec<_>>().join(", ")
        };
        let attributed = "a.auto LineEndings, a.id Text, a.json Text, a.key Smudge, a.new Clean, a.png Smudge, a.py Clean, a.sh LineEndings";
        assert_eq!(known(Git::of(folder.path()).unwrap()), attributed);
        git(&["config", "core.autocrlf", "input"]);
        assert_eq!(known(Git::of(folder.path()).unwrap()), format!("{attributed}, a.txt LineEndings"));
    }
}
