//! `broker run ps`

use std::path::{Path, PathBuf};

use config::root::WorkspaceRoot;
use lint::printable;
use serde::Serialize;
use workspaces::RunInfo;

use super::{AnswerFormat, Session, json};
use crate::{CliError, Exit, client::Client};

/// List the commands that the daemon runs in this workspace, and those in the background that ended lately
///
/// Exits with 1 if no daemon is running. Never starts one.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Those of every workspace
    #[arg(long)]
    all: bool,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Serialize)]
struct Run {
    run_id: String,
    name: String,
    root: String,
    /// `None` for the base.
    branch: Option<String>,
    command: Vec<String>,
    background: bool,
    started_ms: u64,
    /// The branch's revision that it sees.
    revision: u64,
    outdated: Option<String>,
    log_bytes: u64,
    /// `None` while it lives.
    exit_code: Option<i32>,
    killed: Option<String>,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let Some(client) = Client::running(&session.process_context.cancel)? else {
        session.messages.line("no daemon is running");
        if args.output_format == AnswerFormat::Json {
            session.print("[]\n")?;
        }
        return Ok(Exit::Findings);
    };
    let root = if args.all { None } else { Some(root(session)?) };
    let runs: Vec<_> = runs(&client, root.as_deref())?.into_iter().map(Run::of).collect();
    let text = match args.output_format {
        AnswerFormat::Json => json(&runs),
        AnswerFormat::Text => table(&runs, args.all),
    };
    session.print(&text)?;
    Ok(Exit::Clean)
}

/// The runs of the workspace in this folder, or of all.
fn runs(client: &Client, root: Option<&Path>) -> Result<Vec<RunInfo>, CliError> {
    let mut runs = client.wait(client.daemon().list_runs(None))?;
    runs.retain(|it| root.is_none_or(|root| it.root == root));
    Ok(runs)
}

/// The run of this name in the workspace that holds the current folder, or with this handle.
pub(super) fn find(client: &Client, name: &str, session: &Session) -> Result<RunInfo, CliError> {
    let root = root(session)?;
    let all = runs(client, None)?;
    let found = all.into_iter().find(|it| *it.id == *name || (it.name == name && it.root == root));
    found.ok_or_else(|| {
        CliError::usage(format!("there is no run `{}`", printable(name))).hint("see `broker run ps`")
    })
}

fn root(session: &Session) -> Result<PathBuf, CliError> {
    let (cwd, home) = (session.cwd()?, session.process_context.home.as_deref());
    let found = WorkspaceRoot::of_paths(&cwd, &[PathBuf::from(".")], home)?;
    Ok(found.workspace.root().to_owned())
}

impl Run {
    fn of(it: RunInfo) -> Self {
        Self {
            run_id: it.id.to_string(),
            name: it.name,
            root: it.root.to_string_lossy().into_owned(),
            branch: it.branch.map(|(_, name)| name),
            command: it.command,
            background: it.background,
            started_ms: it.started_ms,
            revision: it.revision.0,
            outdated: it.outdated,
            log_bytes: it.printed,
            exit_code: it.result.as_ref().map(|it| it.exit_code),
            killed: it.result.and_then(|it| it.killed.clone()),
        }
    }

    fn state(&self) -> String {
        match (&self.killed, self.exit_code, &self.outdated) {
            (Some(why), ..) => format!("killed: {why}"),
            (None, Some(code), _) => format!("exited {code}"),
            (None, None, Some(_)) => "runs, outdated".to_owned(),
            (None, None, None) => "runs".to_owned(),
        }
    }

    fn cells(&self) -> [String; 5] {
        let command: Vec<_> =
            self.command.iter().map(|it| shlex::try_quote(it).unwrap_or_default()).collect();
        let branch = self.branch.as_deref().unwrap_or("(base)");
        [&self.name, branch, &self.state(), &command.join(" "), &self.root]
            .map(|it| printable(it).into_owned())
    }
}

const HEADING: [&str; 5] = ["NAME", "BRANCH", "STATE", "COMMAND", "WORKSPACE"];

fn table(runs: &[Run], with_root: bool) -> String {
    if runs.is_empty() {
        return "nothing runs\n".to_owned();
    }
    let rows: Vec<_> =
        std::iter::once(HEADING.map(str::to_owned)).chain(runs.iter().map(Run::cells)).collect();
    let shown = if with_root { HEADING.len() } else { HEADING.len() - 1 };
    let width = |column: usize| rows.iter().map(|it| it[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..shown - 1).map(width).collect();
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  "));
        cells.collect::<String>() + &row[shown - 1] + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_so() {
        let run = |name: &str, command: &[&str], exit_code: Option<i32>| Run {
            run_id: String::new(),
            name: name.to_owned(),
            root: "/w".to_owned(),
            branch: exit_code.is_none().then(|| "try-it".to_owned()),
            command: command.iter().map(|it| (*it).to_owned()).collect(),
            background: true,
            started_ms: 0,
            revision: 0,
            outdated: None,
            log_bytes: 0,
            exit_code,
            killed: None,
        };
        let runs = [run("web", &["npm", "run", "dev"], None), run("x", &["sh", "-c", "exit 3"], Some(3))];
        let want = "NAME  BRANCH  STATE     COMMAND\n\
                    web   try-it  runs      npm run dev\n\
                    x     (base)  exited 3  sh -c 'exit 3'\n";
        assert_eq!(table(&runs, false), want);
        assert_eq!(table(&[], false), "nothing runs\n");
        assert!(table(&runs, true).ends_with("exit 3'  /w\n"));
    }
}
