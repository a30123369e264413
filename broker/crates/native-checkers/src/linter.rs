//! A checker as a linter: what it is called, which files it wants, and what its answers rest on.

mod command;
mod listing;
mod outcome;
mod packages;
mod texts;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use imports::{Imports, Languages};
use lint::{
    CHANGED, Cancel, Completeness, Identity, Interest, Job, Linter, Masking, Outcome, Reads, Rule, Runs,
    Scope, SetupError,
};
use overlay::{ContentHash, View, WalkOptions, WorkspacePath, walk};

use self::{
    command::Call,
    outcome::{in_no_project, outcome},
};
use crate::{
    checker::{Checker, Checks},
    findings::{self, Ground, RunFindings},
    globs::Globs,
    inputs::Inputs,
    output,
    project::Projects,
    run::{Folder, Ran, Setup},
    runner::{Given, Report, RunKind, Runner, interrupted},
};

/// A command that is asked for findings, of one workspace. It runs when it is asked.
pub struct NativeChecker {
    checker: Checker,
    setup: Arc<Setup>,
    runner: Runner,
    program: PathBuf,
    identity: Identity,
    interest: Interest,
    imports: Imports,
}

/// Files of a job in one project.
struct Group {
    project: WorkspacePath,
    files: Vec<WorkspacePath>,
}

/// State that a run of a group rests on, from before the run.
struct Look<'j> {
    job: &'j Job,
    inputs: Arc<Inputs>,
    outside: ContentHash,
    /// Contents of the group's files.
    contents: Vec<Option<ContentHash>>,
}

/// Runs for one job of a project whose files change meanwhile.
const MAX_ATTEMPTS: usize = 3;

/// Reason for which there is no answer then.
fn changed_meanwhile() -> String {
    format!("files that it rests on {CHANGED}")
}

impl NativeChecker {
    /// Finds the checker's program.
    pub fn new(checker: &Checker, setup: Arc<Setup>, runner: &Runner) -> Result<Self, SetupError> {
        let program = setup.find_anywhere(checker).ok_or_else(|| checker.tool.not_installed())?;
        let said = format!("{checker:?} {} {:?} {}", program.display(), setup.environment, setup.confined);
        let digest = ContentHash::of(said.as_bytes());
        Ok(Self {
            identity: Identity { name: checker.tool.name.clone(), version: String::new(), digest },
            interest: Interest {
                languages: checker.tool.languages.clone(),
                globs: checker.tool.globs.clone(),
                interpreters: Vec::new(),
            },
            checker: checker.clone(),
            runner: runner.clone(),
            imports: Imports::default(),
            program,
            setup,
        })
    }

    fn context_of(&self, inputs: &Inputs, view: &dyn View) -> ContentHash {
        let mut projects = Projects::new(&self.checker, view);
        let covers = Globs::new(&self.checker.tool.globs);
        let files = inputs.contents.keys().filter(|it| covers.matches(it));
        let projects: BTreeSet<_> = files.filter_map(|it| projects.of(it)).collect();
        ContentHash::of(format!("{} {}", inputs.digest, self.outside(&projects)).as_bytes())
    }

    /// State of what runs of these projects read outside of the view.
    fn outside(&self, projects: &BTreeSet<WorkspacePath>) -> ContentHash {
        let (checker, variable) = (&self.checker, |name: &str| self.setup.variable(name));
        let places: BTreeSet<_> = projects.iter().map(|it| self.setup.folder_of(it)).collect();
        let tool = &checker.tool;
        let own = places.iter().filter_map(|it| self.setup.find(checker, it));
        let programs = own.chain([self.program.clone()]).chain(tool.needed(&variable)).collect();
        let surroundings = self.setup.surroundings(checker, places.clone(), programs);
        let named = tool.outside.iter().flatten().map(String::as_str);
        self.runner.outside().digest(named, &surroundings)
    }

    /// Returns the findings of a run for these files, or the last ones that are still true.
    fn given(&self, group: &Group, look: &Look<'_>) -> Given {
        let name = look.name(&self.identity, self.checker.checks, group);
        let kind = if self.checker.gets_texts() { RunKind::Question } else { RunKind::Command };
        self.runner.get(name, kind, &look.job.cancel, |stop| {
            let place = self.setup.folder_of(&group.project);
            let tool = &self.checker.tool;
            let Some(program) = self.setup.find(&self.checker, &place) else {
                return Err(Completeness::Failed(tool.not_installed_sentence()));
            };
            let run = self.run(group, look, &place, &program, stop);
            if stop.is_cancelled() {
                Err(interrupted())
            } else if !look.holds(self, group) {
                Err(Completeness::Pending(changed_meanwhile()))
            } else {
                run.map_err(|why| Completeness::Failed(format!("{}: {why}", tool.name)))
            }
        })
    }

    fn run(
        &self,
        group: &Group,
        look: &Look<'_>,
        place: &Path,
        program: &Path,
        stop: &Cancel,
    ) -> Result<Arc<Report>, String> {
        let (checker, view, project) = (&self.checker, &*look.job.view, &group.project);
        if checker.gets_texts() {
            return self.run_on_texts(group, look, program, stop);
        }
        self.runner.wait_for_earlier(&self.setup.root);
        let folder = Folder::open(&self.setup, checker, program, view, project)?;
        let is_known = |it: &WorkspacePath| match checker.checks {
            Checks::Project => look.inputs.contents.contains_key(it),
            Checks::Files => true,
        };
        let (root, asked) = (&*self.setup.root, &*group.files);
        let ground = Ground { checker, view, root, project, asked, is_known: &is_known };
        let call = Call { checker, program, project, place };
        let (mut found, mut aborted) = (None::<RunFindings>, false);
        for (number, command) in call.commands(&group.files, view).into_iter().enumerate() {
            let ran = folder.run(command, stop, None)?;
            let mut of_run = self.read(&ran, &ground)?;
            aborted |= of_run.has_errors && checker.aborted_codes.contains(&ran.code(checker)?);
            if let Some(file) = group.files.get(number).filter(|_| checker.gets_one_file()) {
                of_run.tell_of_included(file, &ground);
            }
            found = Some(match found {
                Some(before) => before.with(of_run),
                None => of_run,
            });
        }
        let mut found = found.unwrap_or_default();
        let listed = listing::ask(&call, &found, &ground, &|command| folder.run(command, stop, None))?;
        found.listed = listed.files.or(found.listed);
        found.blocked = listed.packages.blocked(&found.with_errors());
        self.runner.afterwards(&self.setup.root, move || folder.keep_caches());
        let longest = if found.rests_outside { Duration::ZERO } else { checker.longest_reuse() };
        Ok(self.runner.report(found, aborted, longest))
    }

    /// The findings of a run; fails if it did not run as it should.
    fn read(&self, ran: &Ran, ground: &Ground<'_>) -> Result<RunFindings, String> {
        let checker = &self.checker;
        let code = ran.code(checker)?;
        let printed = match checker.stream {
            crate::checker::Stream::Stdout => &ran.stdout,
            crate::checker::Stream::Stderr => &ran.stderr,
        };
        let is_found = checker.findings_codes.contains(&code);
        let is_aborted = checker.aborted_codes.contains(&code);
        if code != 0 && !is_found && !is_aborted {
            return Err(format!("it ended with exit code {code}{}", ran.last_words(checker)));
        } else if ran.is_cut {
            return Err("it printed more than is kept".to_owned());
        }
        let mut read = output::read(checker, printed, &ran.stderr, &ground.told())?;
        read.listed = output::listed(checker, [&ran.stdout, &ran.stderr]).or(read.listed);
        let mut found = findings::found(read, ground);
        let says_why = (is_found && found.says_something) || (is_aborted && found.has_errors);
        if code != 0 && !says_why {
            return Err(format!(
                "it ended with exit code {code}, and has no findings here{}",
                ran.last_words(checker)
            ));
        }
        found.partial = found.partial.map(|it| format!("{}: {it}", checker.tool.name));
        Ok(found)
    }

    fn is_of_project(&self, inputs: &Inputs, path: &WorkspacePath) -> bool {
        self.checker.checks == Checks::Files || inputs.contents.contains_key(path)
    }

    fn look<'j>(&self, job: &'j Job, group: &Group, inputs: &Arc<Inputs>) -> Look<'j> {
        let outside = self.outside(&[group.project.clone()].into());
        let contents = group.files.iter().map(|it| job.view.hash(it).ok()).collect();
        Look { job, inputs: Arc::clone(inputs), outside, contents }
    }

    /// Returns the findings of a group, asked again if files change meanwhile; with the contents that they are for.
    fn ask(&self, job: &Job, group: &Group, inputs: &Arc<Inputs>) -> (Given, Vec<Option<ContentHash>>) {
        let mut look = self.look(job, group, inputs);
        let mut attempts = MAX_ATTEMPTS;
        loop {
            let given = match job.cancel.is_cancelled() {
                true => Err(interrupted()),
                false => self.given(group, &look),
            };
            attempts -= 1;
            let is_changed = matches!(&given, Err(Completeness::Pending(why)) if *why == changed_meanwhile());
            if !is_changed || attempts == 0 {
                return (given, look.contents);
            }
            look = self.look(job, group, &Arc::new(Inputs::of(&*job.view, &self.checker)));
        }
    }
}

impl Look<'_> {
    /// The name of a run's report.
    fn name(&self, identity: &Identity, checks: Checks, group: &Group) -> ContentHash {
        let mut name =
            format!("{} {} {} {}", identity.digest, self.inputs.digest, self.outside, group.project);
        if checks == Checks::Files {
            let files = group.files.iter().zip(&self.contents);
            files.for_each(|(path, it)| name.push_str(&format!("\0{path} {it:?}")));
        }
        ContentHash::of(name.as_bytes())
    }

    /// Whether everything is still as it was.
    fn holds(&self, checker: &NativeChecker, group: &Group) -> bool {
        let now = Inputs::of(&*self.job.view, &checker.checker);
        let now = checker.look(self.job, group, &Arc::new(now));
        (&now.inputs.contents, now.outside, &now.contents)
            == (&self.inputs.contents, self.outside, &self.contents)
    }
}

impl Linter for NativeChecker {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn interest(&self) -> &Interest {
        &self.interest
    }

    /// No command tells.
    fn rules(&self, _view: &Arc<dyn View>) -> Result<Vec<Rule>, SetupError> {
        Ok(Vec::new())
    }

    fn masking(&self) -> Masking {
        if self.checker.aborts() { Masking::Errors } else { Masking::SyntaxErrors }
    }

    fn profile(&self) -> lint::Profile {
        lint::Profile { runs: Runs::Outside, scope: Scope::Project, reads: Reads::Context }
    }

    fn context(&self, view: &Arc<dyn View>) -> Option<ContentHash> {
        Some(self.context_of(&Inputs::of(&**view, &self.checker), &**view))
    }

    /// Returns the files that import a changed one, and all files if one changed that marks the root of a project.
    fn dependents(&self, view: &Arc<dyn View>, changed: &[WorkspacePath]) -> Vec<WorkspacePath> {
        let globs = Globs::new(&self.checker.tool.globs);
        let markers = self.checker.roots.iter().filter_map(|it| it.split('#').next());
        let markers: Vec<_> = markers.filter(|it| !it.is_empty()).collect();
        let is_marker = |it: &WorkspacePath| it.file_name().is_some_and(|it| markers.contains(&it));
        let mut found: Vec<_> = if changed.iter().any(is_marker) {
            walk(&**view, &[WorkspacePath::root()], &WalkOptions::default()).collect()
        } else {
            let languages =
                Languages::of(self.checker.tool.globs.iter().filter_map(|it| it.rsplit('.').next()));
            self.imports.dependents(&languages, &**view, changed)
        };
        found.retain(|it| globs.matches(it) && !changed.contains(it));
        found
    }

    fn check(&self, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) {
        let view = &*job.view;
        let inputs = Arc::new(Inputs::of(view, &self.checker));
        let mut projects = Projects::new(&self.checker, view);
        let mut groups: BTreeMap<WorkspacePath, Vec<usize>> = BTreeMap::new();
        for (index, unit) in job.units.iter().enumerate() {
            match projects.of(&unit.path).filter(|_| self.is_of_project(&inputs, &unit.path)) {
                // One process makes the programs of all projects.
                Some(_) if self.checker.gets_texts() => {
                    groups.entry(WorkspacePath::root()).or_default().push(index);
                }
                Some(project) => groups.entry(project).or_default().push(index),
                None => answer(index, in_no_project(&self.checker, view.hash(&unit.path).ok())),
            }
        }
        for (project, indexes) in groups {
            let files = indexes.iter().map(|it| job.units[*it].path.clone()).collect();
            let group = Group { project, files };
            let (given, contents) = self.ask(job, &group, &inputs);
            for ((index, path), content) in indexes.into_iter().zip(&group.files).zip(contents) {
                answer(index, outcome(&self.checker, path, &given, content, view));
            }
        }
    }
}
