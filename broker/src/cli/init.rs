//! `broker init`

mod clusters;
mod config_file;
mod first_check;
mod offers;

use std::{
    env,
    io::{self, IsTerminal as _},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use config::{FILE_NAMES, folders, root::WorkspaceRoot};
use lint::printable;
use overlay::{Disk, View};

use self::{
    first_check::FirstCheck,
    offers::{Offer, offers},
};
use super::{PluginArgs, Session, confirm};
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

    /// Add the language servers and checkers that the files ask for: see `broker server add`
    #[arg(long)]
    tools: bool,

    /// Trust the workspace, so that language servers and checkers may run its code: see `broker trust`
    #[arg(long)]
    trust: bool,
}

/// Steps of the initialisation.
struct Plan {
    config: String,
    /// Commands of Broker itself, to be run one after another.
    commands: Vec<Vec<&'static str>>,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let home = session.process_context.home.clone();
    let found = WorkspaceRoot::of_paths(&session.cwd()?, &[".".into()], home.as_deref())?;
    let root = found.workspace.root();
    let is_git = root.join(".git").symlink_metadata().is_ok();
    args.expect_to_fit(root, is_git)?;
    session.print(&format!("Looking at {} …\n", printable(&root.display().to_string())))?;
    let check = first_check(root, session)?;
    let offers = offers(&check);
    session.print(&(check.text() + &offers.iter().map(Offer::text).collect::<String>()))?;
    let asks = !args.yes && io::stdin().is_terminal() && io::stderr().is_terminal();
    let wants = |flag: bool, question: &str| -> Result<bool, CliError> {
        Ok(flag || asks && confirm(session, question)?)
    };
    let baseline = args.baseline
        || !check.findings.is_empty()
            && wants(false, "List them as known, so that only new ones are reported?")?;
    let hook = args.hook || is_git && wants(false, "Have git check what is staged before each commit?")?;
    let tools = args.tools
        || check.lacks_tools
            && wants(false, "Add the language servers and checkers that the files ask for?")?;
    let trust =
        wants(args.trust, "Trust this folder, so that language servers and checkers may run its code?")?;
    let config = config_file::text(&offers, &check.linters(), baseline);
    let plan = Plan { config, commands: commands(tools, trust, baseline, hook) };
    session.print(&plan.text(root))?;
    if !(args.yes || asks && confirm(session, "Do this?")?) {
        session.messages.line("Nothing was written; `--yes` does it without a question.");
        return Ok(Exit::Clean);
    }
    plan.carry_out(root)
}

impl Args {
    /// Fails where there is a configuration already, or no repository for the hook.
    fn expect_to_fit(&self, root: &Path, is_git: bool) -> Result<(), CliError> {
        if let Some(name) = FILE_NAMES.into_iter().find(|it| root.join(it).symlink_metadata().is_ok()) {
            let error = CliError::usage(format!("{} is there already", root.join(name).display()));
            return Err(error.hint("`broker config show FILE` says what holds for a file"));
        }
        if self.hook && !is_git {
            let error = CliError::usage(format!(
                "`--hook` is for git, and {} is no repository of it",
                root.display()
            ));
            return Err(error.hint("run `git init` first, or leave `--hook` out"));
        }
        Ok(())
    }
}

impl Plan {
    fn carry_out(&self, root: &Path) -> Result<Exit, CliError> {
        let file = root.join(FILE_NAMES[0]);
        folders::replace(&file, self.config.as_bytes())
            .map_err(|error| CliError::files(format!("cannot write {}: {error}", file.display())))?;
        let failed = self.commands.iter().filter(|it| !is_done(root, it)).count();
        Ok(if failed == 0 { Exit::Clean } else { Exit::Abnormal })
    }

    fn text(&self, root: &Path) -> String {
        let file = printable(&root.join(FILE_NAMES[0]).display().to_string()).into_owned();
        let config: String = self.config.lines().map(|it| format!("  {it}\n")).collect();
        let commands: String =
            self.commands.iter().map(|it| format!("run `broker {}`\n", it.join(" "))).collect();
        format!("\nwrite {file}:\n\n{config}\n{commands}")
    }
}

fn first_check(root: &Path, session: &Session) -> Result<FirstCheck, CliError> {
    let view: Arc<dyn View> = Arc::new(Disk::new(root)?);
    let linters = session.linters(&PluginArgs { plugin: Vec::new() })?;
    FirstCheck::of(own(root, &first_check::ARGUMENTS)?, &*view, &linters)
}

/// Returns the commands to run after the configuration is written.
fn commands(tools: bool, trust: bool, baseline: bool, hook: bool) -> Vec<Vec<&'static str>> {
    let all = [
        (tools, vec!["server", "add", "--recommended"]),
        (trust, vec!["trust"]),
        (baseline, vec!["check", "--baseline-update", "--allow-incomplete"]),
        (hook, vec!["agent", "hook", "install", "--client", "git", "--write"]),
    ];
    all.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, it)| it).collect()
}

fn is_done(root: &Path, arguments: &[&str]) -> bool {
    own(root, arguments).and_then(|mut it| Ok(it.status()?)).is_ok_and(|it| it.success())
}

/// Returns a command that runs this program once more.
fn own(root: &Path, arguments: &[&str]) -> Result<Command, CliError> {
    let mut command = Command::new(env::current_exe()?);
    command.args(arguments).current_dir(root).stdin(Stdio::null());
    Ok(command)
}
