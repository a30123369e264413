//! `broker init`

mod first_check;

use std::{
    env,
    io::{self, IsTerminal as _},
    path::Path,
    process::{Command, Stdio},
};

use config::{FILE_NAMES, folders, root::WorkspaceRoot};
use lint::printable;
use overlay::{Disk, FileKind, View as _, WorkspacePath};

use self::first_check::Findings;
use super::{Session, confirm};
use crate::{CliError, Exit};

/// Begin to use Broker in a repository: look at it, and write `broker.toml`
///
/// Shows what it would write and run, and asks before it does; without a terminal it only shows, unless `--yes` is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker init                              look, show, and ask
  broker init --yes                        write broker.toml without a question
  broker init --yes --baseline --hook      also list today's findings as known, and check what is staged at each commit")]
pub(super) struct Args {
    /// Do without a question what is shown
    #[arg(long)]
    yes: bool,

    /// List today's findings in a baseline, so that only new ones are reported
    #[arg(long)]
    baseline: bool,

    /// Have git check what is staged before each commit
    #[arg(long)]
    hook: bool,

    /// Trust the workspace, so that language servers and checkers run: see `broker trust`
    #[arg(long)]
    trust: bool,
}

/// Where known findings are listed.
const BASELINE: &str = "broker-baseline.json";

/// Names of folders that usually hold the code of others.
const OF_OTHERS: [&str; 6] = ["vendor", "third_party", "third-party", "thirdparty", "external", "extern"];

/// What is to be done.
struct Plan {
    config: String,
    /// Commands of Broker itself, to be run one after another.
    commands: Vec<Vec<&'static str>>,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let home = session.process_context.home.clone();
    let found = WorkspaceRoot::of_paths(&session.cwd()?, &[".".into()], home.as_deref())?;
    let root = found.workspace.root();
    if let Some(name) = FILE_NAMES.into_iter().find(|it| root.join(it).symlink_metadata().is_ok()) {
        let error = CliError::usage(format!("{} is there already", root.join(name).display()));
        return Err(error.hint("`broker config show FILE` says what holds for a file"));
    }
    let is_git = root.join(".git").symlink_metadata().is_ok();
    if args.hook && !is_git {
        let error =
            CliError::usage(format!("`--hook` is for git, and {} is no repository of it", root.display()));
        return Err(error.hint("run `git init` first, or leave `--hook` out"));
    }
    session.print(&format!("Looking at {} …\n", printable(&root.display().to_string())))?;
    let findings = Findings::of(own(root, &first_check::ARGUMENTS)?)?;
    session.print(&findings.text())?;
    let asks = !args.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
    let wants = |flag: bool, question: &str| -> Result<bool, CliError> {
        Ok(flag || asks && confirm(session, question)?)
    };
    let baseline = args.baseline
        || findings.count() > 0 && wants(false, "List them as known, so that only new ones are reported?")?;
    let hook = args.hook || is_git && wants(false, "Have git check what is staged before each commit?")?;
    let trust = wants(args.trust, "Trust this folder, so that language servers and checkers run?")?;
    let plan = Plan::of(root, findings.sample_folder(), baseline, hook, trust)?;
    session.print(&plan.text(root))?;
    if !(args.yes || asks && confirm(session, "Do this?")?) {
        session.messages.line("Nothing was written; `--yes` does it without a question.");
        return Ok(Exit::Clean);
    }
    let file = root.join(FILE_NAMES[0]);
    folders::replace(&file, plan.config.as_bytes())
        .map_err(|error| CliError::files(format!("cannot write {}: {error}", file.display())))?;
    let failed = plan.commands.iter().filter(|it| !is_done(root, it)).count();
    Ok(if failed == 0 { Exit::Clean } else { Exit::Abnormal })
}

impl Plan {
    fn of(
        root: &Path,
        samples: Option<&str>,
        baseline: bool,
        hook: bool,
        trust: bool,
    ) -> Result<Self, CliError> {
        let disk = Disk::new(root)?;
        let is_folder = |name: &&str| {
            let found = disk.metadata(&WorkspacePath::root().child(name));
            found.is_ok_and(|it| it.kind == FileKind::Directory)
        };
        let others: Vec<_> = OF_OTHERS.into_iter().filter(is_folder).chain(samples).collect();
        let mut commands = Vec::new();
        if trust {
            commands.push(vec!["trust"]);
        }
        if baseline {
            commands.push(vec!["check", "--baseline-update", "--allow-incomplete"]);
        }
        if hook {
            commands.push(vec!["hook", "install", "--client", "git", "--write"]);
        }
        Ok(Self { config: config(&others, baseline), commands })
    }

    fn text(&self, root: &Path) -> String {
        let file = printable(&root.join(FILE_NAMES[0]).display().to_string()).into_owned();
        let config: String = self.config.lines().map(|it| format!("  {it}\n")).collect();
        let commands: String =
            self.commands.iter().map(|it| format!("run `broker {}`\n", it.join(" "))).collect();
        format!("\nwrite {file}:\n\n{config}\n{commands}")
    }
}

/// The text of `broker.toml`.
fn config(others: &[&str], baseline: bool) -> String {
    let mut text = "# What Broker reports in this repository. All keys: `broker config schema`.\n".to_owned();
    let excluded: Vec<_> = others.iter().map(|it| format!("\"/{it}/\"")).collect();
    let comment = if excluded.is_empty() { "# " } else { "" };
    text += &format!(
        "\n[files]\n# Leave these out, as in a `.gitignore`.\n{comment}exclude = [{}]\n",
        excluded.join(", ")
    );
    if baseline {
        text += &format!(
            "\n[baseline]\n# Findings of earlier code, which are not reported.\nfile = \"{BASELINE}\"\n"
        );
    }
    text += "\n[severity]\n# A rule by its name, or all of a linter; `off`, `hint`, `info`, `warning` or `error`.\n\
             # \"text/*\" = \"off\"\n";
    text
}

fn is_done(root: &Path, arguments: &[&str]) -> bool {
    own(root, arguments).and_then(|mut it| Ok(it.status()?)).is_ok_and(|it| it.success())
}

/// This program once more.
fn own(root: &Path, arguments: &[&str]) -> Result<Command, CliError> {
    let mut command = Command::new(env::current_exe()?);
    command.args(arguments).current_dir(root).stdin(Stdio::null());
    Ok(command)
}
