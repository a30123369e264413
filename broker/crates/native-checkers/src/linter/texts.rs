//! Runs of a checker that gets the files of a check, and the texts that differ from the disk, on its standard input.

use std::{path::Path, sync::Arc, time::Duration};

use lint::Cancel;

use super::{Call, Group, Look, NativeChecker};
use crate::{
    findings::Ground,
    run::{Folder, Ran},
    runner::Report,
    tsgolint::{Rules, SourceOverrides, edited, question, without_emit},
};

impl NativeChecker {
    pub(super) fn run_on_texts(
        &self,
        group: &Group,
        look: &Look<'_>,
        program: &Path,
        stop: &Cancel,
    ) -> Result<Arc<Report>, String> {
        let view = &*look.job.view;
        let rules = Rules::of(&self.checker, view)?;
        let ran = self.ask_about_texts(group, look, program, &rules, stop)?;
        let (checker, root, project) = (&self.checker, &*self.setup.root, &group.project);
        let (asked, is_known) = (&*group.files, &|_: &_| true);
        let mut found = self.read(&ran, &Ground { checker, view, root, project, asked, is_known })?;
        for it in found.files.values_mut().flatten() {
            it.severity = rules.severity(&it.code).unwrap_or(it.severity);
        }
        let is_whole = found.unanswered.is_empty();
        let longest = if is_whole { checker.longest_reuse() } else { Duration::ZERO };
        Ok(self.runner.report(found, false, longest))
    }

    /// One rule decides where it runs: on the workspace as it is on the disk if texts of files there are all that the view has
    /// otherwise, and else in a shadow folder. The sandbox around both is the same, so that both answer the same.
    fn ask_about_texts(
        &self,
        group: &Group,
        look: &Look<'_>,
        program: &Path,
        rules: &Rules,
        stop: &Cancel,
    ) -> Result<Ran, String> {
        let (setup, checker, view, project) = (&*self.setup, &self.checker, &*look.job.view, &group.project);
        let on_disk = edited(view, &*setup.disk, &setup.root).and_then(|texts| {
            // Where that is not possible, a shadow folder may be.
            Some((Folder::on_disk(setup, checker, program, project).ok()?, texts))
        });
        let (folder, mut overrides) = match on_disk {
            Some(it) => it,
            None => (Folder::open(setup, checker, program, view, project)?, SourceOverrides::new()),
        };
        overrides.extend(without_emit(view, look.inputs.contents.keys(), &setup.root));
        let files = group.files.iter().map(|it| setup.root.join(it.as_str())).collect();
        let call = Call { checker, program, project, place: &setup.folder_of(project) };
        let command = call.with(checker.tool.arguments().iter());
        folder.run_with(command, &question(files, &overrides, rules)?, stop, None)
    }
}
