//! Sketches whose last line, an added or a changed one, also stands a little further down in the file. The near place is
//! right, or a refusal; the far one deletes all that stands between.

use std::{fs, path::Path};

use agent_tools::edit;
use overlay::WorkspacePath;
use syntax::Trees;

use crate::{languages, shapes::Random};

/// Cases of each kind, and those that are taken from one file.
const MOST: usize = 1500;
const MOST_OF_FILE: usize = 4;

/// Lines further down in which the line is looked for.
const NEAR: usize = 14;

#[derive(Default)]
pub(crate) struct Outcomes {
    right: usize,
    refused: usize,
    pub(crate) wrong: usize,
}

/// A line that is added, or one that is changed, with the lines of the sketch and of the file after it.
type Made<'a> = (Vec<&'a str>, Vec<&'a str>);

/// What comes of added lines and of changed lines in the files of a folder.
pub(crate) fn outcomes(folder: &Path) -> [(&'static str, Outcomes); 2] {
    let (mut files, mut random) = (Vec::new(), Random::new(3));
    files_of(folder, &mut files);
    files.sort();
    let mut outcomes = [("added", Outcomes::default()), ("changed", Outcomes::default())];
    for (path, text) in &files {
        let lines: Vec<_> = text.lines().collect();
        for ((_, of_kind), make) in outcomes.iter_mut().zip([added, changed]) {
            let mut made: Vec<_> = (2..lines.len())
                .flat_map(|it| (it + 2..lines.len().min(it + NEAR)).map(move |far| (it, far)))
                .filter_map(|(it, far)| make(&lines, it, far))
                .collect();
            for _ in 0..made.len().min(MOST_OF_FILE) {
                let picked = made.swap_remove(random.below(made.len()));
                if of_kind.total() < MOST {
                    of_kind.add(path, text, &picked);
                }
            }
        }
    }
    outcomes
}

fn files_of(folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && name != ".git" {
            files_of(&path, files);
        } else if languages::of(&name).is_some()
            && let Ok(text) = fs::read_to_string(&path)
            && text.len() < 100_000
            && !text.contains('\r')
        {
            files.push((path.to_string_lossy().trim_start_matches('/').to_owned(), text));
        }
    }
}

/// A line of further down, added between two lines of which the second also follows it there.
fn added<'a>(lines: &[&'a str], at: usize, far: usize) -> Option<Made<'a>> {
    let is_said = |it: usize| lines.get(it).is_some_and(|it| !it.trim().is_empty());
    let is_case = is_said(at - 1)
        && is_said(at)
        && is_said(at + 1)
        && lines.get(far + 1) == Some(&lines[at + 1])
        && lines[at] != lines[far]
        && indent(lines[at]) == indent(lines[far])
        && lines[far].trim().len() > 5;
    let after = [&lines[..=at], &[lines[far]], &lines[at + 1..]].concat();
    is_case.then(|| (vec![lines[at - 1], lines[at], lines[far], lines[at + 1]], after))
}

/// A line with the value that its key has further down, behind the two lines above it.
fn changed<'a>(lines: &[&'a str], at: usize, far: usize) -> Option<Made<'a>> {
    let (old, new) = (lines[at].trim(), lines[far].trim());
    let is_case = !old.is_empty()
        && !lines[at - 1].trim().is_empty()
        && key(old).is_some_and(|it| it.len() > 1 && key(new) == Some(it))
        && indent(lines[at]) == indent(lines[far])
        && old.trim_end_matches(',') != new.trim_end_matches(',');
    let from = if lines[at - 2].trim().is_empty() { at - 1 } else { at - 2 };
    let after = [&lines[..at], &[lines[far]], &lines[at + 1..]].concat();
    is_case.then(|| ([&lines[from..at], &[lines[far]]].concat(), after))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn key(line: &str) -> Option<&str> {
    line.split_once([':', '=']).map(|it| it.0)
}

impl Outcomes {
    fn total(&self) -> usize {
        self.right + self.refused + self.wrong
    }

    fn add(&mut self, path: &str, text: &str, (sketch, after): &Made<'_>) {
        let (open, close) = languages::of(path).map(|it| it.comment).unwrap_or_default();
        let marker = format!("{open}... existing code ...{close}");
        let edit = format!("{marker}\n{}\n{marker}\n", sketch.join("\n"));
        let said = |text: &str| -> Vec<String> {
            let lines = text.lines().map(|it| it.trim().trim_end_matches([',', ';']).to_owned());
            lines.filter(|it| !it.is_empty()).collect()
        };
        match edit::apply(&WorkspacePath::new(path).unwrap(), text, &edit, None, &Trees::new(1 << 20)) {
            Ok(it) if said(&it.text) == said(&after.join("\n")) => self.right += 1,
            Ok(it) => {
                self.wrong += 1;
                if self.wrong <= 6 {
                    println!("=== WRONG {path}\n--- edit\n{edit}--- got\n{}", it.diff);
                }
            }
            Err(_) => self.refused += 1,
        }
    }

    pub(crate) fn row(&self) -> String {
        format!("{:6} right {:6} refused {:6} wrong", self.right, self.refused, self.wrong)
    }
}
