//! Suppresses findings: writes comments with their rules and a reason beside them, and checks those files again. Comments that
//! do harm are taken back, as with fixes.
//!
//! Neither syntax errors nor problems with suppressions are suppressed, nor findings in cells of notebooks.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bytes::Bytes;
use lint::{LineTable, suppress};
use overlay::{Branch, ContentHash, View, WorkspacePath};

use super::{
    FixNote, Fixed, Fixer,
    fixes::{Open, harm, opened},
};
use crate::{Files, Finding, Refused, Report, suppression::place};

/// New text of one file.
struct Suppressed {
    text: Vec<u8>,
    /// Number of findings that the comments are for.
    count: usize,
}

/// The notes about one file.
struct Notes<'a> {
    path: &'a WorkspacePath,
    notes: &'a mut Vec<FixNote>,
}

impl Fixer<'_> {
    /// Writes comments for what `report` tells of `files`.
    pub async fn suppress(&self, files: &Files, report: &Report, reason: &str) -> Result<Fixed, Refused> {
        let branch = Branch::new(Arc::clone(&self.request.view));
        let mut fixed = Fixed { branch, before: BTreeMap::new(), count: 0, notes: Vec::new() };
        let mut written = Vec::new();
        let open = opened(&files.units, report);
        for (path, file) in &open {
            let Some((before, suppressed)) = suppressed(&mut fixed, path, file, reason) else { continue };
            let content = ContentHash::of(&before);
            let is_written = fixed.branch.write(path, suppressed.text.into());
            if let Err(error) = is_written {
                fixed.notes.push(FixNote::NotEdited { path: path.clone(), reason: error.to_string() });
                continue;
            }
            let real = fixed.branch.snapshot().resolve(path).unwrap_or_else(|_| path.clone());
            fixed.before.entry(real).or_insert(content);
            written.push((path.clone(), before, suppressed.count));
        }
        self.take_back(&mut fixed, &open, written).await?;
        Ok(fixed)
    }

    /// Checks the files again, and restores those that are worse.
    async fn take_back(
        &self,
        fixed: &mut Fixed,
        open: &BTreeMap<WorkspacePath, Open>,
        written: Vec<(WorkspacePath, Bytes, usize)>,
    ) -> Result<(), Refused> {
        let units = written.iter().filter_map(|it| open.get(&it.0)).map(|it| it.unit.clone());
        let files = Files { units: units.collect(), ..Files::default() };
        let view: Arc<dyn View> = Arc::new(fixed.branch.snapshot());
        let report = self.check(view, files).await?;
        let now = opened(open.values().map(|it| &it.unit), &report);
        for (path, text, count) in written {
            let Some(harm) = open.get(&path).zip(now.get(&path)).and_then(|(old, new)| harm(old, new)) else {
                fixed.count += count;
                continue;
            };
            let restored = fixed.branch.write(&path, text);
            restored.map_err(|error| Refused::Broken(format!("a comment cannot be taken back: {error}")))?;
            Notes { path: &path, notes: &mut fixed.notes }.add(1, &harm);
        }
        Ok(())
    }
}

/// The file's text, and the one with comments; `None` if there is nothing to write.
fn suppressed(
    fixed: &mut Fixed,
    path: &WorkspacePath,
    file: &Open,
    reason: &str,
) -> Option<(Bytes, Suppressed)> {
    let notes = &mut Notes { path, notes: &mut fixed.notes };
    let text = fixed.branch.snapshot().open(path).ok()?;
    let content = ContentHash::of(&text);
    let wanted = wanted(file.findings.iter().filter(|it| it.file.content == Some(content)), &text);
    let first = *wanted.keys().next()?;
    let rules = wanted.iter().map(|(line, it)| (*line, it.rules.iter().cloned().collect())).collect();
    let placed = match place(path, &text, &rules, reason) {
        Ok(placed) => placed,
        Err(why) => {
            notes.add(first, why);
            return None;
        }
    };
    placed.refused.iter().for_each(|(line, why)| notes.add(*line, why));
    let count = placed.lines.iter().filter_map(|it| wanted.get(it)).map(|it| it.count).sum();
    (count > 0).then_some((text, Suppressed { text: placed.with.text, count }))
}

/// The rules to suppress on each line, with how many findings they have there.
fn wanted<'f>(findings: impl Iterator<Item = &'f Finding>, text: &[u8]) -> BTreeMap<u32, Wanted> {
    let table = LineTable::new(text);
    let mut wanted = BTreeMap::<u32, Wanted>::new();
    let can_be =
        |it: &&Finding| it.cell.is_none() && !it.rule.is_syntax_error && &*it.rule.linter != suppress::LINTER;
    for it in findings.filter(can_be) {
        let line = wanted.entry(table.utf8(it.span.start).line).or_default();
        line.rules.insert(it.rule.to_string());
        line.count += 1;
    }
    wanted
}

#[derive(Default)]
struct Wanted {
    rules: BTreeSet<String>,
    count: usize,
}

impl Notes<'_> {
    fn add(&mut self, line: u32, reason: &str) {
        let (path, reason) = (self.path.clone(), reason.to_owned());
        self.notes.push(FixNote::NotSuppressed { path, line, reason });
    }
}
