//! `broker doctor`

mod diagnosis;
mod survey;
mod text;

use std::{
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use checker::{Router, SharedLinter};
use config::{Configs, Selectors, ServerSettings, folders, root::WorkspaceRoot};
use language_servers::{Environment, Profile};
use lint::Cancel;
use linters::{
    LinterSet, Provider,
    plugins::{PluginProvider, Plugins},
    servers::{self, Servers, Site},
};
use overlay::{Disk, View, WalkOptions, WorkspacePath, walk};

use self::{
    diagnosis::{Diagnosis, Server},
    survey::Survey,
};
use super::{AnswerFormat, Session, json};
use crate::{
    CliError, Exit,
    client::{Client, elsewhere, unwell},
};

/// Say who checks a workspace, and what is missing for it
///
/// For each language that is found: the plugins, the language servers, which of them are asked and why, where
/// their programs are, and how to install those that are asked and are not there. Needs no daemon, and starts
/// nothing without `--versions`. Exits with 0 if all is there that is to be asked, and with 1 if not: also if
/// `broker.toml` says to ask language servers in a workspace that is not trusted. With 2 if a plugin does
/// not load.
///
/// The settings are those of the workspace's root. Programs are looked for in the `PATH` of this command; a
/// daemon looks in that of whoever started it, and if one is running that finds others, that is told. docs/doctor.schema.json is the schema of the JSON.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A file or folder of the workspace [default: the current folder]
    path: Option<PathBuf>,

    /// Start each language server that is installed, to ask for its version; only in a trusted workspace
    #[arg(long)]
    versions: bool,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

/// How long a server may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let path = args.path.clone().unwrap_or_else(|| PathBuf::from("."));
    let home = session.surroundings.home.as_deref();
    let workspace = WorkspaceRoot::of_paths(&session.cwd()?, &[path], home)?.workspace;
    let servers = Servers::of_user();
    let is_trusted = servers.are_trusted_in(workspace.root());
    let mut place = Place::open(&workspace, session)?;
    place.diagnosis.trust(is_trusted);
    if args.versions && is_trusted {
        place.ask_for_versions(&servers, &session.surroundings.cancel);
    } else if args.versions {
        session.messages.warning("nothing is started: the workspace is not trusted");
    }
    servers.shut_down();
    // Without a daemon, what is found here is what it would find.
    if let Ok(Some(daemon)) = Client::running(&session.surroundings.cancel) {
        place.diagnosis.keep_elsewhere(elsewhere(&daemon, workspace.root(), &place.known));
        for (name, unwell) in unwell(&daemon, workspace.root()) {
            place.diagnosis.keep_unwell(&name, unwell);
        }
    }
    let diagnosis = place.diagnosis.finish();
    let text = match args.output_format {
        AnswerFormat::Text => text::told(&diagnosis),
        AnswerFormat::Json => json(&diagnosis),
    };
    session.print(&text)?;
    Ok(exit(place.is_whole, &diagnosis))
}

fn exit(is_whole: bool, diagnosis: &Diagnosis) -> Exit {
    match (is_whole, diagnosis.missing.is_empty() && !diagnosis.daemon_misses_some()) {
        (false, _) => Exit::Abnormal,
        (true, false) => Exit::Findings,
        (true, true) => Exit::Clean,
    }
}

/// What was found out without starting anything.
struct Place<'w> {
    workspace: &'w WorkspaceRoot,
    disk: Arc<dyn View>,
    known: Vec<Profile>,
    diagnosis: Diagnosis,
    /// Whether all plugins could be loaded.
    is_whole: bool,
}

impl<'w> Place<'w> {
    fn open(workspace: &'w WorkspaceRoot, session: &Session) -> Result<Self, CliError> {
        let root = workspace.root();
        let unusable = |error| CliError::files(format!("cannot open {}: {error}", root.display()));
        let disk: Arc<dyn View> = Arc::new(Disk::new(root).map_err(unusable)?);
        let configs = Configs::new(&*disk);
        let settings = configs.workspace()?.servers();
        // The name stands for any: what is for all files holds for it.
        let choice = configs.for_file(&WorkspacePath::root().child("*"))?.choice.clone();
        let selectors = Selectors::parse(choice.select.as_deref(), &choice.ignore)?;
        let known = servers::known(&settings)?;
        let site = linters::Site::of_shell(root, Arc::clone(&disk));
        let environment = site.environment.clone();
        let provider = PluginProvider::new(session.loader().load(&[], 1)?);
        let plugins = provider.in_workspace(&site, &disk)?;
        session.report_broken(&plugins);
        let providers: Vec<Arc<dyn Provider>> = vec![Arc::new(provider), Arc::new(Servers::of_user())];
        let router = LinterSet::new(providers, site, choice.clone()).at(&disk)?.router(&choice)?;
        let router = Router::new(&plugins_of(&router, &plugins));
        let options = WalkOptions { global_excludes: folders::global_excludes(), ..WalkOptions::default() };
        let survey = Survey::of(walk(&*disk, &[WorkspacePath::root()], &options), &router, &known);
        let site = Site { root, disk: &disk, environment: &environment };
        let find = |it: &Profile| it.find(root, &environment).map(|(program, _)| program);
        let diagnosis = diagnose(&site, &known, &settings, &selectors, survey, find)?;
        Ok(Self { workspace, disk, known, diagnosis, is_whole: plugins.broken.is_empty() })
    }

    /// Side by side. Each is told in its place.
    fn ask_for_versions(&mut self, servers: &Servers, cancel: &Cancel) {
        let deadline = Instant::now() + PATIENCE;
        let environment = Environment::of_shell();
        let site = Site { root: self.workspace.root(), disk: &self.disk, environment: &environment };
        let known = &self.known;
        thread::scope(|scope| {
            let installed = self.diagnosis.servers.iter_mut().filter(|it| it.program.is_some());
            for it in installed {
                let site = &site;
                scope.spawn(move || it.keep_version(version(it, known, servers, site, deadline, cancel)));
            }
        });
    }
}

/// Those of the linters that are plugins.
fn plugins_of(router: &Router, plugins: &Plugins) -> Vec<SharedLinter> {
    let is_plugin = |it: &&SharedLinter| plugins.find(&it.identity().name).is_some();
    router.linters().iter().filter(is_plugin).cloned().collect()
}

fn version(
    it: &Server,
    known: &[Profile],
    servers: &Servers,
    site: &Site<'_>,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<String, String> {
    let profile = known.iter().find(|profile| profile.name == it.name).ok_or("it is not known")?;
    let server = servers.server(site, profile).map_err(|error| error.message)?;
    server.version(deadline, cancel)
}

fn diagnose(
    site: &Site<'_>,
    known: &[Profile],
    settings: &ServerSettings,
    selectors: &Selectors,
    survey: Survey,
    find: impl Fn(&Profile) -> Option<PathBuf>,
) -> Result<Diagnosis, CliError> {
    let wanted = servers::wanted(known, site, settings)?;
    let is_shown =
        |it: &&Profile| survey.files_of(it) > 0 || wanted.iter().any(|wanted| wanted.profile.name == it.name);
    let server = |profile: &Profile| {
        let why = wanted.iter().find(|it| it.profile.name == profile.name).map(|it| it.why);
        let reason = match why {
            Some(_) if selectors.for_server(&profile.name).is_none() => diagnosis::Reason::NotSelected,
            Some(why) => why.into(),
            None => diagnosis::Reason::not_wanted(profile, &wanted, settings),
        };
        Server::new(profile, reason, find(profile), survey.files_of(profile))
    };
    let servers = known.iter().filter(is_shown).map(server).collect();
    Ok(Diagnosis::new(site.root, settings.used.is_some(), survey, servers))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::path::Path;

    use checker::SharedLinter;
    use lint_testkit::Scripted;
    use overlay::Memory;

    use super::*;
    use crate::client;

    /// What is told of these files with these programs, all of which are in `/bin`.
    fn diagnosis(files: &[(&str, &str)], installed: &[&str], is_trusted: bool) -> Diagnosis {
        let view: Arc<dyn View> = Arc::new(Memory::from_files(files.iter().copied()).unwrap());
        let settings = Configs::new(&*view).workspace().unwrap().servers();
        let known = servers::known(&settings).unwrap();
        let plugins: [SharedLinter; 2] = [
            Arc::new(Scripted::new("python", &["*.py", "pyproject.toml"]).about("python")),
            Arc::new(Scripted::new("text", &["*"])),
        ];
        let paths = walk(&*view, &[WorkspacePath::root()], &WalkOptions::default());
        let survey = Survey::of(paths, &Router::new(&plugins), &known);
        let environment = Environment::of_shell();
        let site = Site { root: Path::new("/w"), disk: &view, environment: &environment };
        let selectors = Selectors::parse(None, &["eslint".to_owned()]).unwrap();
        let is_there = |it: &&Profile| installed.contains(&it.name.as_str());
        let find = |it: &Profile| Some(it).filter(is_there).map(|it| Path::new("/bin").join(&it.name));
        let mut diagnosis = diagnose(&site, &known, &settings, &selectors, survey, find).unwrap();
        diagnosis.trust(is_trusted);
        diagnosis.finish()
    }

    fn project() -> Vec<(&'static str, &'static str)> {
        let python = ["a.py", "b.py", "c.pyi"].map(|it| (it, ""));
        let others = [
            ("pyproject.toml", "[tool.pyright]\n"),
            ("Cargo.toml", ""),
            ("src/lib.rs", ""),
            ("run.js", ""),
            ("run.sh", ""),
            ("notes", ""),
            ("go.mod", ""),
        ];
        python.into_iter().chain(others).collect()
    }

    #[test]
    fn looks_so() {
        let mut it = diagnosis(&project(), &["pyright", "ty", "gopls", "biome"], true);
        let pyright = it.servers.iter_mut().find(|it| it.name == "pyright").unwrap();
        pyright.keep_version(Ok("pyright 1.1.406".to_owned()));
        insta::assert_snapshot!(text::told(&it));
    }

    #[test]
    fn looks_so_in_json() {
        let it = diagnosis(&[("ty.toml", ""), ("a.py", "")], &["pyright"], true);
        insta::assert_snapshot!(json(&it));
    }

    #[test]
    fn what_is_named_needs_trust() {
        let config = "[servers]\nuse = ['own', 'gopls']\n[servers.define.own]\ncommand = ['own']\n\
                      globs = ['*.m']\nbarrier = 'pull'\n";
        let files = [("broker.toml", config), ("a.m", ""), ("b.py", "")];
        insta::assert_snapshot!(text::told(&diagnosis(&files, &["own", "ty"], false)));
        assert!(diagnosis(&files, &["own"], true).missing.is_empty(), "there are no files for gopls");
    }

    #[test]
    fn what_the_daemon_finds_elsewhere_is_told() {
        let mut it = diagnosis(&[("ty.toml", ""), ("a.py", ""), ("go.mod", ""), ("a.go", "")], &["ty"], true);
        let found = |server: &str, here: Option<&str>, by_daemon: Option<&str>| client::Elsewhere {
            server: server.to_owned(),
            here: here.map(Into::into),
            by_daemon: by_daemon.map(Into::into),
        };
        it.keep_elsewhere(vec![
            found("ty", Some("/bin/ty"), None),
            found("gopls", None, Some("/go/gopls")),
            found("pyright", Some("/bin/pyright"), None),
        ]);
        let told = text::told(&it);
        let lines: Vec<_> = told.lines().filter(|it| it.starts_with("the daemon")).collect();
        insta::assert_snapshot!(lines.join("\n"));
        let mut it = diagnosis(&[("ty.toml", ""), ("a.py", "")], &["ty"], true).finish();
        assert_eq!(exit(true, &it), Exit::Clean);
        it.keep_elsewhere(vec![found("ty", Some("/bin/ty"), Some("/other/ty"))]);
        assert_eq!(exit(true, &it), Exit::Clean, "the daemon has one, too");
        it.keep_elsewhere(vec![found("ty", Some("/bin/ty"), None)]);
        assert_eq!(exit(true, &it), Exit::Findings);
    }

    #[test]
    fn the_exit_code_tells_whether_all_is_there() {
        let files = [("broker.toml", "[servers]\nuse = ['ty']\n"), ("a.py", "")];
        let (missing, whole) = (diagnosis(&files, &[], true), diagnosis(&files, &["ty"], true));
        assert_eq!([exit(true, &whole), exit(true, &missing)], [Exit::Clean, Exit::Findings]);
        assert_eq!([exit(false, &whole), exit(false, &missing)], [Exit::Abnormal; 2], "a plugin is broken");
    }

    #[test]
    fn one_that_does_not_start_is_missing() {
        let mut it = diagnosis(&[("go.mod", ""), ("a.go", "")], &["gopls"], true);
        assert!(it.missing.is_empty());
        it.servers[0].keep_version(Err("it has ended".to_owned()));
        insta::assert_snapshot!(text::told(&it.finish()));
    }

    /// To bring the copy up to date, run this test with `UPDATE_SCHEMA=1`.
    #[test]
    fn the_schema_is_up_to_date() {
        let schema = json(&diagnosis::schema());
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/doctor.schema.json");
            std::fs::write(path, &schema).unwrap();
        }
        assert!(schema == include_str!("../../../docs/doctor.schema.json"), "run with UPDATE_SCHEMA=1");
    }
}
