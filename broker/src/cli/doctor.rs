//! `broker doctor`

mod diagnosis;
mod language_stats;
mod text;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use check_engine::with_file_settings;
use config::{Configs, ServerSettings, folders, root::WorkspaceRoot};
use language_servers::Profile;
use lint::Cancel;
use linters::{
    Catalogs, LinterSet, Permissions, Provider, Standing, WorkspaceContext,
    native::external,
    plugins::PluginProvider,
    servers::{self, Servers},
};
use overlay::{Disk, View, WalkOptions, WorkspacePath, walk};
use shadow::{Isolation, Sandbox};

use self::{
    diagnosis::{Diagnosis, Kind, Reason, Runs, Server},
    language_stats::LanguageStats,
};
use super::{AnswerFormat, Session, json};
use crate::{
    CliError, Exit,
    client::{Client, elsewhere, unwell},
};

/// Show which linters check a workspace, and what is missing
///
/// For each language that is found: the plugins, the language servers, the commands, which of them are asked and why, where
/// their programs are, whether they run confined or need trust, and how to install those that are asked and are not there; and how
/// `broker run` runs commands, which is tried. Needs no daemon, and starts none of the programs without `--versions`. Exits
/// with 0 if all is there that is to be asked, and with 1 if not: also if `broker.toml` says to ask for what needs trust in a
/// workspace that is not trusted. With 2 if a plugin does not load.
///
/// The settings are those of the workspace's root. Programs are searched in the `PATH` of this command. A running
/// daemon uses the `PATH` it was started with; servers that it finds elsewhere, or not at all, are listed. The
/// JSON follows docs/doctor.schema.json.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A file or folder of the workspace [default: the current folder]
    path: Option<PathBuf>,

    /// Start each language server that is installed, and each command that is used, to ask for its version, as far as it may run here
    #[arg(long)]
    versions: bool,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

/// Time limit for a server to print its version.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let path = args.path.clone().unwrap_or_else(|| PathBuf::from("."));
    let home = session.process_context.home.as_deref();
    let workspace = WorkspaceRoot::of_paths(&session.cwd()?, &[path], home)?.workspace;
    let mut place = Place::open(&workspace, session)?;
    if args.versions {
        place.ask_for_versions(&session.process_context.cancel);
    }
    place.providers.iter().for_each(|it| it.shut_down());
    place.diagnosis.runs = Some(runs(workspace.root()));
    // Without a daemon, what is found here is what it would find.
    if let Ok(Some(daemon)) = Client::running(&session.process_context.cancel) {
        place.diagnosis.keep_elsewhere(elsewhere(&daemon, workspace.root(), &place.known));
        for (name, unwell) in unwell(&daemon, workspace.root()) {
            place.diagnosis.keep_unwell(&name, unwell);
        }
    }
    let diagnosis = place.diagnosis.finish();
    let text = match args.output_format {
        AnswerFormat::Text => text::render(&diagnosis),
        AnswerFormat::Json => json(&diagnosis),
    };
    session.print(&text)?;
    Ok(exit(place.is_whole, &diagnosis))
}

/// Finds out how commands run here, by making a folder for one.
fn runs(root: &Path) -> Runs {
    let launcher = super::run::launcher();
    let chosen = launcher.choose(root, &Sandbox::default());
    let off = Sandbox { isolation: Isolation::Off, ..Sandbox::default() };
    let remedy = chosen.as_ref().err().and_then(workspaces::how_to_isolate).map(|it| {
        // Backends without isolation are tried only if one of them is of interest.
        match launcher.choose(root, &off) {
            Ok(without) => format!("{it} (here: {})", without.backend),
            Err(_) => it,
        }
    });
    Runs {
        backend: chosen.as_ref().ok().map(|it| it.backend.name().to_owned()),
        isolated: chosen.as_ref().is_ok_and(|it| it.isolated),
        lacks: chosen.iter().flat_map(|it| it.lacks()).map(str::to_owned).collect(),
        error: chosen.as_ref().err().map(ToString::to_string),
        remedy,
    }
}

fn exit(is_whole: bool, diagnosis: &Diagnosis) -> Exit {
    match (is_whole, diagnosis.missing.is_empty() && !diagnosis.daemon_misses_some()) {
        (false, _) => Exit::Abnormal,
        (true, false) => Exit::Findings,
        (true, true) => Exit::Clean,
    }
}

/// Facts about the workspace that were found without starting anything.
struct Place {
    providers: Vec<Arc<dyn Provider>>,
    linters: Arc<Catalogs>,
    /// Language servers, which a daemon may find elsewhere.
    known: Vec<Profile>,
    diagnosis: Diagnosis,
    /// Whether all linters could be loaded.
    is_whole: bool,
}

impl Place {
    fn open(workspace: &WorkspaceRoot, session: &Session) -> Result<Self, CliError> {
        let root = workspace.root();
        let unusable = |error| CliError::files(format!("cannot open {}: {error}", root.display()));
        let disk: Arc<dyn View> = Arc::new(Disk::new(root).map_err(unusable)?);
        let configs = Configs::new(&*disk);
        let settings = configs.workspace()?.servers();
        // The name stands for any: what is for all files holds for it.
        let choice = configs.for_file(&WorkspacePath::root().child("*"))?.choice.clone();
        let plugins = PluginProvider::new(session.loader().load(&[], 1)?);
        let mut providers: Vec<Arc<dyn Provider>> = vec![Arc::new(plugins)];
        providers.extend(external(&Servers::of_user()));
        let context = WorkspaceContext::of_shell(root, Arc::clone(&disk));
        let linters = LinterSet::new(providers.clone(), context, choice.clone()).at(&disk)?;
        let broken = linters.broken();
        broken.iter().for_each(|it| session.messages.error(&CliError::plugin(&it.reason)));
        let diagnoses = linters.diagnose(&choice)?;
        let options = WalkOptions { global_excludes: folders::global_excludes(), ..WalkOptions::default() };
        let stats = LanguageStats::of(
            &*disk,
            walk(&*disk, &[WorkspacePath::root()], &with_file_settings(&options, &*disk)),
            &diagnoses,
        );
        let level = Permissions::of_user().level(root);
        let mut diagnosis = diagnosis(root, &settings, stats, &diagnoses);
        diagnosis.level(level);
        let known = servers::known(&settings, level)?.into_owned();
        Ok(Self { providers, linters, known, diagnosis, is_whole: broken.is_empty() })
    }

    /// Starts them side by side; each is reported in its place.
    fn ask_for_versions(&mut self, cancel: &Cancel) {
        let deadline = Instant::now() + PROBE_TIMEOUT;
        let linters = &self.linters;
        thread::scope(|scope| {
            let is_started = |it: &&mut Server| {
                it.program.is_some() && it.refused.is_none() && (it.kind == Kind::Server || it.used)
            };
            for it in self.diagnosis.servers.iter_mut().filter(is_started) {
                scope.spawn(move || match linters.version(&it.name, deadline, cancel) {
                    Some(version) => it.keep_version(version),
                    // No argument is known that makes a command of the workspace's own print its version.
                    None if it.kind == Kind::Checker => {}
                    None => it.keep_version(Err("it is not known".to_owned())),
                });
            }
        });
    }
}

/// Diagnosis of these linters: of programs those that there are files for, and those that are to be asked anyway.
fn diagnosis(
    root: &Path,
    settings: &ServerSettings,
    stats: LanguageStats,
    diagnoses: &[linters::Diagnosis],
) -> Diagnosis {
    let server = |it: &linters::Diagnosis| {
        let (program, reason) = (it.program.as_ref()?, Reason::of(&it.standing)?);
        let is_selected_out = it.standing == Standing::NotSelected;
        let is_shown = stats.files_of(&it.name) > 0 || it.standing.is_asked() || is_selected_out;
        is_shown.then(|| Server::new(&it.name, reason, program, stats.files_of(&it.name)))
    };
    let servers = diagnoses.iter().filter_map(server).collect();
    Diagnosis::new(root, settings.used.is_some(), stats, servers)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::collections::BTreeSet;

    use config::Selectors;
    use language_servers::Environment;
    use lint_testkit::Scripted;
    use linters::{Level, Way};
    use overlay::Memory;

    use super::*;
    use crate::client;

    /// Diagnosis of these files with these programs, all of which are in `/bin`.
    fn diagnosis(files: &[(&str, &str)], installed: &[&str], is_trusted: bool) -> Diagnosis {
        let view: Arc<dyn View> = Arc::new(Memory::from_files(files.iter().copied()).unwrap());
        let settings = Configs::new(&*view).workspace().unwrap().servers();
        let level = if is_trusted { Level::Trusted } else { Level::Untrusted };
        let known = servers::known(&settings, level).unwrap();
        let plugins = [
            Scripted::new("python", &["*.py", "pyproject.toml"]).about("python"),
            Scripted::new("text", &["*"]),
        ];
        let plugins = plugins.map(|it| linters::Diagnosis::of_linter(Arc::new(it), Standing::Always));
        let paths = walk(&*view, &[WorkspacePath::root()], &WalkOptions::default());
        let environment = Environment::of_shell();
        let context = servers::ServerContext { root: Path::new("/w"), disk: &view, environment, level };
        let selectors = Selectors::parse(None, &["eslint".to_owned()]).unwrap();
        let is_there = |it: &&Profile| installed.contains(&it.tool.name.as_str());
        let find = |it: &Profile| {
            let path = Some(it).filter(is_there).map(|it| Path::new("/bin").join(&it.tool.name));
            let way = match (is_trusted, it.tool.name.as_str()) {
                (true, _) => Ok(Way::Free),
                (false, "ty" | "pyright") => Ok(Way::Confined),
                (false, _) => Err("not trusted".to_owned()),
            };
            (path, way)
        };
        let servers =
            servers::diagnose(&known, &context, (&settings, &BTreeSet::new()), &selectors, find).unwrap();
        let diagnoses: Vec<_> = plugins.into_iter().chain(servers).collect();
        let stats = LanguageStats::of(&*view, paths, &diagnoses);
        let mut diagnosis = super::diagnosis(context.root, &settings, stats, &diagnoses);
        diagnosis.level(level);
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
        insta::assert_snapshot!(text::render(&it));
    }

    #[test]
    fn how_commands_run_is_told() {
        let text = |runs| {
            let mut it = diagnosis(&[("a.py", "")], &[], false);
            it.runs = Some(runs);
            text::render(&it)
        };
        let lacks = vec!["a folder cannot be renamed".to_owned()];
        let runs =
            Runs { backend: Some("overlayfs".to_owned()), isolated: true, lacks, error: None, remedy: None };
        let text_of = text(runs);
        assert!(
            text_of
                .contains("\ncommands   isolated, by overlayfs; not promised: a folder cannot be renamed\n"),
            "{text_of}"
        );
        let (error, remedy) = (Some("no namespaces".to_owned()), Some("allow them".to_owned()));
        let text_of = text(Runs { backend: None, isolated: false, lacks: vec![], error, remedy });
        assert!(
            text_of.contains("\ncommands   do not run: no namespaces; to mend it: allow them\n"),
            "{text_of}"
        );
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
        insta::assert_snapshot!(text::render(&diagnosis(&files, &["own", "ty"], false)));
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
        let text = text::render(&it);
        let lines: Vec<_> = text.lines().filter(|it| it.starts_with("the daemon")).collect();
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
        insta::assert_snapshot!(text::render(&it.finish()));
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
