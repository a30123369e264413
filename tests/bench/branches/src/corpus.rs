//! Trees of files to measure on: made once from the texts of this machine's Python, the same each time.

#![allow(clippy::disallowed_methods, reason = "what is read and made here is no workspace of a daemon")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};

/// To be raised when what is made changes.
const VERSION: u32 = 2;

/// Lines of the files that are edited and checked alone.
pub(crate) const LARGE: usize = 500;

/// One of so many files is [`LARGE`].
const LARGE_EVERY: usize = 50;

/// Number of files that share a folder.
const PER_FOLDER: usize = 25;

/// The rules by default, without those that the cut of the texts breaks: a repository in use has few findings.
const PROJECT: &str = r#"[project]
name = "corpus"
version = "1"

[tool.ruff]
line-length = 120

[tool.ruff.lint]
ignore = ["F401", "F821", "F822", "I001", "RUF022", "UP031"]
"#;

/// A tree on the disk.
pub(crate) struct Corpus {
    pub(crate) root: PathBuf,
    /// Python files of just [`LARGE`] lines, with their texts.
    pub(crate) large: Vec<(String, String)>,
}

/// The tree `name` of `files` files, made if it is not there.
pub(crate) fn corpus(cache: &Path, name: &str, files: usize) -> Result<Corpus> {
    let root = cache.join(format!("{name}-{VERSION}"));
    if !root.exists() {
        let part = cache.join(format!("{name}-{VERSION}.part"));
        let _left_over = fs::remove_dir_all(&part);
        make(&part, files)?;
        fs::rename(&part, &root)?;
    }
    let large = (0..files).filter(|it| is_large(*it)).map(path_of);
    let read =
        |path: String| Ok((fs::read_to_string(root.join(&path))?, path)).map(|(text, path)| (path, text));
    let large = large.map(read).collect::<std::io::Result<_>>()?;
    Ok(Corpus { root, large })
}

fn is_large(index: usize) -> bool {
    index % LARGE_EVERY == 7
}

fn make(root: &Path, files: usize) -> Result<()> {
    let texts = texts()?;
    fs::create_dir_all(root.join(".git"))?;
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    fs::write(root.join(".gitignore"), "__pycache__/\n*.pyc\nbuild/\n")?;
    fs::write(root.join("pyproject.toml"), PROJECT)?;
    let mut random = Random(1);
    for index in 0..files {
        let path = root.join(path_of(index));
        fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
        fs::write(path, text_of(index, &texts, &mut random))?;
    }
    Ok(())
}

/// Path of a file, whose name has its kind.
fn path_of(index: usize) -> String {
    let folder = index / PER_FOLDER;
    let name = match index % PER_FOLDER {
        0 => "__init__.py".to_owned(),
        21 => format!("data_{index}.json"),
        22 if folder.is_multiple_of(2) => format!("notes_{index}.md"),
        23 if folder.is_multiple_of(4) => format!("list_{index}.txt"),
        _ => format!("module_{index}.py"),
    };
    format!("pkg_{}/part_{}/{name}", folder / 20, folder % 20)
}

fn text_of(index: usize, texts: &[Vec<String>], random: &mut Random) -> String {
    let path = path_of(index);
    if path.ends_with("__init__.py") {
        return format!("\"\"\"Part {index}.\"\"\"\n");
    }
    if path.ends_with(".json") {
        return format!("{{\n  \"index\": {index},\n  \"name\": \"data\"\n}}\n");
    }
    if !path.ends_with(".py") {
        return format!("# Notes {index}\n\nNothing of note.\n").repeat(1 + random.below(20));
    }
    let lines = match random.below(10) {
        _ if is_large(index) => LARGE,
        0..2 => 10 + random.below(20),
        2..6 => 30 + random.below(90),
        6..9 => 120 + random.below(180),
        _ => 300 + random.below(200),
    };
    python(index, &texts[random.below(texts.len())], lines, is_large(index))
}

/// The beginning of `source` up to a definition, and small functions up to the length that is wanted.
fn python(index: usize, source: &[String], lines: usize, exactly: bool) -> String {
    let begins = |at: usize| {
        let line = &source[at];
        (line.starts_with("def ") || line.starts_with("class ")) && source[at - 1].trim().is_empty()
    };
    let end = (1..source.len().min(lines.saturating_sub(6))).rev().find(|it| begins(*it)).unwrap_or(0);
    let mut text: Vec<String> = source[..end].to_vec();
    text.extend([
        String::new(),
        String::new(),
        format!("def copy_{index}(value):"),
        "    return value".to_owned(),
    ]);
    while exactly && text.len() + 4 <= lines {
        let number = text.len();
        text.extend([
            String::new(),
            String::new(),
            format!("def step_{number}(value, other={number}):"),
            format!("    return [value + it for it in range(other) if it != {index}]"),
        ]);
    }
    while exactly && text.len() < lines {
        text.push("# the end".to_owned());
    }
    text.join("\n") + "\n"
}

/// The sources of the standard library of this machine's Python that are long enough, by name.
fn texts() -> Result<Vec<Vec<String>>> {
    let command = ["-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"];
    let output =
        Command::new("python3").args(command).output().context("Python 3 is needed for its texts")?;
    let folder = String::from_utf8(output.stdout)?;
    let files = fs::read_dir(folder.trim())?.collect::<std::io::Result<Vec<_>>>()?;
    let mut files: Vec<_> = files.into_iter().map(|it| it.path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "py"));
    files.sort();
    let texts = files.iter().filter_map(|it| fs::read_to_string(it).ok());
    let texts = texts.map(|it| it.lines().map(str::to_owned).collect::<Vec<_>>());
    let texts: Vec<_> = texts.filter(|it| it.len() > 200).collect();
    ensure!(!texts.is_empty(), "no sources in {}", folder.trim());
    Ok(texts)
}

/// Numbers that look random and are the same each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}
