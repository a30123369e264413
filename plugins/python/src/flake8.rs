//! Exclusions of a project's flake8 configuration: files, rules, and rules of some files. They apply where ruff is not configured
//! and no rules are selected.
//!
//! Leaves out `filename`, `disable-noqa`, and `select`, but for codes that it takes out of `ignore`: it is about flake8's
//! plugins as well, and what is reported here is what is broken. Configurations that cannot be read are flake8's to report.

use std::path::{Path, PathBuf};

use broker_plugin_sdk::config::text_of;
use configparser::ini::Ini;
use globset::Glob;
use ruff_linter::settings::types::{FilePattern, GlobPath};

use crate::convert::SYNTAX_ERROR;
use crate::per_file;

/// Files in which flake8 looks for its section, in its order.
const FILES: [&str; 3] = ["setup.cfg", "tox.ini", ".flake8"];

const SECTION: &str = "flake8";

/// Excluded where `exclude` is not given.
const EXCLUDED: &str = ".svn,CVS,.bzr,.hg,.git,__pycache__,.tox,.nox,.eggs,*.egg";

/// flake8's code of what does not parse.
const UNPARSED: &str = "E999";

/// A configuration file of flake8. Its codes are prefixes of codes.
#[derive(Debug)]
pub(crate) struct Flake8 {
    file: PathBuf,
    excluded: Vec<String>,
    ignored: Vec<String>,
    selected: Vec<String>,
    /// Ignored codes by glob.
    per_file: Vec<(String, Vec<String>)>,
}

impl Flake8 {
    /// The configuration in a folder.
    pub(crate) fn read(dir: &Path) -> Option<Self> {
        FILES.iter().find_map(|name| Self::load(dir.join(name)))
    }

    fn load(file: PathBuf) -> Option<Self> {
        let ini = ini(text_of(&file).ok()?)?;
        let option =
            |name: &str| ini.get(SECTION, name).or_else(|| ini.get(SECTION, &name.replace('-', "_")));
        let both = |name: &str| {
            let more = option(&format!("extend-{name}")).unwrap_or_default();
            words(&option(name).unwrap_or_default()).chain(words(&more)).map(str::to_owned).collect()
        };
        let exclude = option("exclude").unwrap_or_else(|| EXCLUDED.to_owned());
        let extend_exclude = option("extend-exclude").unwrap_or_default();
        Some(Self {
            file,
            excluded: words(&exclude).chain(words(&extend_exclude)).map(glob).collect(),
            ignored: both("ignore"),
            selected: both("select"),
            per_file: per_file(&option("per-file-ignores").unwrap_or_default()),
        })
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Patterns of the files and folders that it excludes. Ruff matches its own as flake8 does.
    pub(crate) fn excluded(&self) -> impl Iterator<Item = FilePattern> {
        let pattern = |it: &String| (it.clone(), GlobPath::normalize(it, self.folder()));
        let patterns = self.excluded.iter().map(pattern);
        // A pattern that is no glob would make ruff's configuration invalid.
        let globs = patterns
            .filter(|(name, path)| Glob::new(name).is_ok() && Glob::new(&path.to_string_lossy()).is_ok());
        globs.map(|(name, path)| FilePattern::User(name, path))
    }

    /// Returns a predicate for the codes that are ignored for a file.
    pub(crate) fn ignoring(&self, file: &Path) -> impl Fn(&str) -> bool {
        let of_file = self.ignored_in(file);
        move |code| {
            let code = if code == SYNTAX_ERROR { UNPARSED } else { code };
            let ignored = longest(&self.ignored, code).max(longest(of_file, code));
            // If a code is both selected and ignored, the longer prefix counts.
            ignored.is_some() && ignored >= longest(&self.selected, code)
        }
    }

    /// Returns the codes of the longest matching pattern of `per-file-ignores`.
    fn ignored_in(&self, file: &Path) -> &[String] {
        let fitting = self.per_file.iter().rev().filter(|it| per_file::fits(&it.0, self.folder(), file));
        fitting.max_by_key(|it| it.0.len()).map_or(&[], |it| &it.1)
    }

    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }
}

/// Length of the longest prefix of a code.
fn longest(prefixes: &[String], code: &str) -> Option<usize> {
    prefixes.iter().filter(|it| code.starts_with(it.as_str())).map(String::len).max()
}

/// The text as Python's `configparser` reads it; none without a section of flake8's.
fn ini(text: String) -> Option<Ini> {
    let mut ini = Ini::new();
    ini.set_multiline(true);
    ini.set_inline_comment_symbols(Some(&[]));
    ini.read(text).ok()?;
    ini.sections().iter().any(|it| it == SECTION).then_some(ini)
}

/// Values are separated by commas and white space.
fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split(|it: char| it == ',' || it.is_whitespace()).filter(|it| !it.is_empty())
}

/// A pattern of Python's `fnmatch` as a glob: it knows neither `**` nor alternatives.
fn glob(pattern: &str) -> String {
    let mut glob = String::with_capacity(pattern.len());
    for it in pattern.chars() {
        match it {
            '*' if glob.ends_with('*') => {}
            '{' | '}' => glob.extend(['[', it, ']']),
            _ => glob.push(it),
        }
    }
    glob
}

/// `files:codes`, more than once.
fn per_file(value: &str) -> Vec<(String, Vec<String>)> {
    let (mut found, mut files, mut codes) = (Vec::new(), Vec::new(), None);
    let value = value.replace(':', " : ");
    for word in words(&value) {
        match &mut codes {
            None if word == ":" => codes = Some(Vec::new()),
            Some(codes) if is_code(word) => codes.push(word.to_owned()),
            None => files.push(glob(word)),
            Some(_) => {
                found.extend(pairs(&mut files, &mut codes));
                files.push(glob(word));
            }
        }
    }
    found.extend(pairs(&mut files, &mut codes));
    found
}

/// Pairs each file with the codes, which are taken.
fn pairs(files: &mut Vec<String>, codes: &mut Option<Vec<String>>) -> Vec<(String, Vec<String>)> {
    let codes = codes.take().unwrap_or_default();
    files.drain(..).map(|it| (it, codes.clone())).collect()
}

fn is_code(word: &str) -> bool {
    let digits = word.trim_start_matches(|it: char| it.is_ascii_uppercase());
    digits.len() < word.len() && digits.bytes().all(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_files() {
        let told = |value: &str| {
            per_file(value).iter().map(|it| format!("{}={}", it.0, it.1.join("+"))).collect::<Vec<_>>()
        };
        assert_eq!(told("a.py:F401"), ["a.py=F401"]);
        assert_eq!(
            told("\n  a.py b/*: F401, E9\n  **/c.py : F,ABC123\n"),
            ["a.py=F401+E9", "b/*=F401+E9", "*/c.py=F+ABC123"]
        );
        assert_eq!(told("a.py: F401 B/c.py: E9 d{e}.py:"), ["a.py=F401", "B/c.py=E9", "d[{]e[}].py="]);
        assert_eq!(told(""), [""; 0]);
    }

    #[test]
    fn sections() {
        let get = |text: &str, key: &str| ini(text.to_owned()).and_then(|it| it.get(SECTION, key));
        let text = "[tox]\nexclude = x\n[flake8]\n# why\nexclude =\n    a,\n    # not b\n\n    c\nignore: E9 # F\n[x]\nignore = y\n";
        let words =
            |it: Option<String>| words(&it.unwrap_or_default()).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(get(text, "exclude")), ["a", "c"]);
        assert_eq!(words(get(text, "ignore")), ["E9", "#", "F"], "there are no comments beside values");
        assert!(ini("[pycodestyle]\nignore = F\n".to_owned()).is_none());
    }
}
