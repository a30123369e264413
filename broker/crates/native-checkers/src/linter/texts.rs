//! Runs of a checker that gets the files of a check, and the texts that differ from the disk, on its standard input.

use std::{path::Path, sync::Arc, time::Duration};

use lint::Cancel;

use super::{Group, Look, NativeChecker};
use crate::{
    findings::Ground,
    memory::{self, Process},
    no_emit, output,
    rules::Rules,
    run::{Folder, Ran},
    runner::Report,
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
        let is_known = |_: &_| true;
        let (checker, root, project) = (&self.checker, &*self.setup.root, &group.project);
        let mut found = self.read(&ran, &Ground { checker, view, root, project, is_known: &is_known })?;
        if output::files_in(&ran.stderr) < group.files.len() {
            return Err("it does not say which project each file is in".to_owned());
        }
        for it in found.files.values_mut().flatten() {
            it.severity = rules.severity(&it.code).unwrap_or(it.severity);
        }
        Ok(self.runner.report(found, false, checker.longest_reuse()))
    }

    /// One rule decides where it runs: on the disk if texts of files there are all that the view has otherwise, and else in a
    /// shadow folder.
    fn ask_about_texts(
        &self,
        group: &Group,
        look: &Look<'_>,
        program: &Path,
        rules: &Rules,
        stop: &Cancel,
    ) -> Result<Ran, String> {
        let (setup, checker, view) = (&*self.setup, &self.checker, &*look.job.view);
        let folder = setup.folder_of(&group.project);
        let files = || group.files.iter().map(|it| setup.root.join(it.as_str())).collect();
        let command = [program.as_os_str().to_owned()]
            .into_iter()
            .chain(checker.tool.arguments().iter().map(Into::into))
            .collect();
        let configs = no_emit::texts(view, look.inputs.contents.keys(), &setup.root);
        match memory::edited(view, &*setup.disk, &setup.root) {
            Some(mut texts) => {
                texts.extend(configs);
                let question = memory::question(files(), &texts, rules)?;
                let environment = setup.environment_for(checker);
                let timeout = Duration::from_secs(checker.timeout);
                Process { command, environment, folder, timeout }.run(&question, stop)
            }
            None => {
                let question = memory::question(files(), &configs, rules)?;
                let folder = Folder::open(setup, checker, program, view, &group.project)?;
                folder.run_with(command, &question, stop, None)
            }
        }
    }
}
