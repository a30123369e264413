//! A checker as a linter: what it is called, which files it wants, and what its answers rest on.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use imports::{Imports, Languages};
use lint::{
    Completeness, Diagnostic, Identity, Interest, Job, Linter, Masking, Outcome, Reads, Rule, Runs, Scope,
    SetupError,
};
use overlay::{ContentHash, Read, ReadSet, View, WalkOptions, WorkspacePath, walk};

use crate::{
    checker::{Checker, Checks},
    findings::{self, Found, Ground},
    globs::Globs,
    inputs::Inputs,
    output, outside, program,
    project::{Projects, is_there},
    run::{Folder, Ran, Setup},
    runner::{Given, Report, Runner, interrupted},
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

/// One look at a view, for all units of a job.
struct Look<'j> {
    job: &'j Job,
    inputs: Inputs,
}

impl NativeChecker {
    /// Finds the checker's program.
    pub fn new(checker: &Checker, setup: Arc<Setup>, runner: &Runner) -> Result<Self, SetupError> {
        let program = Self::find(checker, &setup).ok_or_else(|| SetupError {
            linter: checker.name.clone(),
            message: format!("{} is not installed", checker.command.first().unwrap_or(&checker.name)),
            hint: Some(format!("to have it: {}", checker.install)),
        })?;
        let said = format!("{checker:?} {} {:?}", program.display(), setup.environment);
        let digest = ContentHash::of(said.as_bytes());
        Ok(Self {
            identity: Identity { name: checker.name.clone(), version: String::new(), digest },
            interest: Interest { languages: checker.languages.clone(), globs: checker.globs.clone() },
            checker: checker.clone(),
            runner: runner.clone(),
            imports: Imports::default(),
            program,
            setup,
        })
    }

    /// Where its program is.
    pub fn find(checker: &Checker, setup: &Setup) -> Option<PathBuf> {
        program::find_anywhere(checker, &setup.root, &|name| setup.variable(name))
    }

    fn context_of(&self, inputs: &Inputs) -> ContentHash {
        let outside =
            outside::digest(&self.checker, &self.program, &self.setup.root, &|it| self.setup.variable(it));
        ContentHash::of(format!("{} {outside}", inputs.digest).as_bytes())
    }

    /// What a run for these files says, or the last one that is still true.
    fn given(&self, project: &WorkspacePath, files: &[WorkspacePath], look: &Look<'_>) -> Given {
        let mut name = format!("{} {} {project}", self.identity.digest, self.context_of(&look.inputs));
        if self.checker.checks == Checks::Files {
            let hash = |it: &WorkspacePath| look.job.view.hash(it).ok();
            files.iter().for_each(|it| name.push_str(&format!("\0{it} {:?}", hash(it))));
        }
        let name = ContentHash::of(name.as_bytes());
        self.runner.get(name, &look.job.cancel, |stop| {
            let run = self.run(project, files, look, stop);
            match run {
                Ok(report) => Ok(report),
                Err(_) if stop() => Err(interrupted()),
                Err(why) => Err(Completeness::Failed(format!("{}: {why}", self.checker.name))),
            }
        })
    }

    fn run(
        &self,
        project: &WorkspacePath,
        files: &[WorkspacePath],
        look: &Look<'_>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Arc<Report>, String> {
        let (checker, view) = (&self.checker, &*look.job.view);
        let place = self.setup.folder_of(project);
        let program = program::find(checker, &self.setup.root, &place, &|it| self.setup.variable(it));
        let program =
            program.ok_or_else(|| format!("it is not installed; to have it: {}", checker.install))?;
        let folder = Folder::open(&self.setup, checker, &program, view, project)?;
        let (mut found, mut halted) = (Found::default(), false);
        let is_known = |it: &WorkspacePath| match checker.checks {
            Checks::Project => look.inputs.contents.contains_key(it),
            Checks::Files => true,
        };
        let ground = Ground { checker, view, root: &self.setup.root, project, is_known: &is_known };
        for command in self.commands(&program, &place, project, files, view) {
            let ran = folder.run(command, stop)?;
            let of_run = self.read(&ran, &ground)?;
            halted |= of_run.has_errors && checker.halted_codes.contains(&ran.code()?);
            found.add(of_run);
        }
        Ok(self.runner.report(found, halted, checker.longest_reuse()))
    }

    /// The findings of a run; fails if it did not run as it should.
    fn read(&self, ran: &Ran, ground: &Ground<'_>) -> Result<Found, String> {
        let checker = &self.checker;
        let code = ran.code()?;
        let printed = match checker.stream {
            crate::checker::Stream::Stdout => &ran.stdout,
            crate::checker::Stream::Stderr => &ran.stderr,
        };
        let is_found = checker.findings_codes.contains(&code);
        let is_halted = checker.halted_codes.contains(&code);
        if code != 0 && !is_found && !is_halted {
            return Err(format!("it ended with exit code {code}{}", ran.last_words()));
        } else if ran.is_cut {
            return Err("it printed more than is kept".to_owned());
        }
        let mut found = findings::found(output::read(checker, printed)?, ground);
        let says_why = (is_found && found.says_something) || (is_halted && found.has_errors);
        if code != 0 && !says_why {
            return Err(format!(
                "it ended with exit code {code}, and has no findings here{}",
                ran.last_words()
            ));
        }
        found.partial = found.partial.map(|it| format!("{}: {it}", checker.name));
        Ok(found)
    }

    /// The commands of a run: one for a project, or as many as its files take.
    fn commands(
        &self,
        program: &Path,
        place: &Path,
        project: &WorkspacePath,
        files: &[WorkspacePath],
        view: &dyn View,
    ) -> Vec<Vec<OsString>> {
        let checker = &self.checker;
        let args =
            checker.command.iter().skip(1).map(|it| it.replace("${root}", &place.to_string_lossy()).into());
        let words: Vec<OsString> = [program.as_os_str().to_owned()].into_iter().chain(args).collect();
        let with = |more: Vec<OsString>| words.iter().cloned().chain(more).collect();
        match checker.checks {
            Checks::Project => {
                let says_where = checker.unless.iter().any(|it| is_there(view, project, it));
                let target = checker.target.iter().filter(|_| !says_where);
                vec![with(target.map(OsString::from).collect())]
            }
            // Not as options, whatever they are called.
            Checks::Files => {
                let argument = |it: &WorkspacePath| {
                    format!("./{}", it.strip_prefix(project).unwrap_or(it.as_str())).into()
                };
                files.chunks(checker.at_once).map(|it| with(it.iter().map(argument).collect())).collect()
            }
        }
    }

    fn outcome(
        &self,
        path: &WorkspacePath,
        given: &Given,
        content: Option<ContentHash>,
        view: &dyn View,
    ) -> Outcome {
        let report = match given {
            Ok(report) => report,
            Err(why) => return Outcome { content, ..Outcome::without_findings(why.clone()) },
        };
        let diagnostics = report.found.files.get(path).cloned().unwrap_or_default();
        let partial = report.found.partial.clone().or_else(|| self.not_reached(path, report, view));
        let completeness = match (partial, content) {
            (_, None) => Completeness::Failed(format!("`{path}` cannot be read")),
            (Some(why), _) => Completeness::Partial(why),
            (None, _) => Completeness::Complete,
        };
        let halted = report.halted;
        let (reads, lease) = (Arc::new(related(&diagnostics, view)), Some(report.lease.clone()));
        Outcome { diagnostics, content, reads, lease, halted, ..Outcome::without_findings(completeness) }
    }

    /// Why the run did not look at the file, where it says which packages it looked at.
    fn not_reached(&self, path: &WorkspacePath, report: &Report, view: &dyn View) -> Option<String> {
        const PACKAGE: &str = "Cargo.toml";
        let packages = report.found.packages.as_ref()?;
        let package = path.ancestors().skip(1).find(|it| is_there(view, it, PACKAGE))?;
        if packages.contains(&package) {
            return None;
        }
        let name =
            if package.is_root() { "the package in the root".to_owned() } else { format!("`{package}`") };
        let why = match report.found.has_errors {
            true => "what it depends on does not compile",
            false => "the workspace does not have it",
        };
        Some(format!("{} did not look at {name}: {why}", self.checker.name))
    }

    fn is_of_project(&self, look: &Look<'_>, path: &WorkspacePath) -> bool {
        self.checker.checks == Checks::Files || look.inputs.contents.contains_key(path)
    }
}

impl Found {
    fn add(&mut self, other: Self) {
        for (path, findings) in other.files {
            let all = self.files.entry(path).or_default();
            all.extend(findings);
        }
        self.has_errors |= other.has_errors;
        self.says_something |= other.says_something;
        self.packages = other.packages.or(self.packages.take());
        self.partial = self.partial.take().or(other.partial);
    }
}

/// Hashes of the other files that findings point to.
fn related(findings: &[Diagnostic], view: &dyn View) -> ReadSet {
    let paths = findings.iter().flat_map(|it| &it.related).filter_map(|it| it.path.clone());
    paths.map(Read::Content).map(|it| (it.clone(), it.observe(view))).collect()
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
        if self.checker.halts() { Masking::Errors } else { Masking::SyntaxErrors }
    }

    fn profile(&self) -> lint::Profile {
        lint::Profile { runs: Runs::Outside, scope: Scope::Project, reads: Reads::Context }
    }

    fn context(&self, view: &Arc<dyn View>) -> Option<ContentHash> {
        Some(self.context_of(&Inputs::of(&**view, &self.checker)))
    }

    /// Those that import what changed, and all if what a project is found by changed.
    fn dependents(&self, view: &Arc<dyn View>, changed: &[WorkspacePath]) -> Vec<WorkspacePath> {
        let globs = Globs::new(&self.checker.globs);
        let markers = self.checker.roots.iter().filter_map(|it| it.split('#').next());
        let markers: Vec<_> = markers.filter(|it| !it.is_empty()).collect();
        let is_marker = |it: &WorkspacePath| it.file_name().is_some_and(|it| markers.contains(&it));
        let mut found: Vec<_> = if changed.iter().any(is_marker) {
            walk(&**view, &[WorkspacePath::root()], &WalkOptions::default()).collect()
        } else {
            let languages = Languages::of(self.checker.globs.iter().filter_map(|it| it.rsplit('.').next()));
            self.imports.dependents(&languages, &**view, changed)
        };
        found.retain(|it| globs.matches(it) && !changed.contains(it));
        found
    }

    fn check(&self, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) {
        let view = &*job.view;
        let contents: Vec<_> = job.units.iter().map(|it| view.hash(&it.path).ok()).collect();
        let look = Look { job, inputs: Inputs::of(view, &self.checker) };
        let mut projects = Projects::new(&self.checker, view);
        let mut groups: BTreeMap<WorkspacePath, Vec<usize>> = BTreeMap::new();
        for (index, unit) in job.units.iter().enumerate() {
            match projects.of(&unit.path).filter(|_| self.is_of_project(&look, &unit.path)) {
                Some(project) => groups.entry(project).or_default().push(index),
                None => answer(index, self.left_out(contents[index])),
            }
        }
        for (project, indexes) in groups {
            let files: Vec<_> = indexes.iter().map(|it| job.units[*it].path.clone()).collect();
            let given = match job.cancel.is_cancelled() {
                true => Err(interrupted()),
                false => self.given(&project, &files, &look),
            };
            for index in indexes {
                answer(index, self.outcome(&job.units[index].path, &given, contents[index], view));
            }
        }
    }
}

impl NativeChecker {
    /// For a file in no project.
    fn left_out(&self, content: Option<ContentHash>) -> Outcome {
        let markers: Vec<_> =
            self.checker.roots.iter().filter(|it| !it.is_empty()).map(|it| format!("`{it}`")).collect();
        let why = match markers.is_empty() {
            true => format!("{} does not look at it", self.checker.name),
            false => {
                format!("it is in no project of {}: there is no {}", self.checker.name, markers.join(" or "))
            }
        };
        let left_out = Some(why);
        Outcome { content, left_out, ..Outcome::without_findings(Completeness::Excluded) }
    }
}
