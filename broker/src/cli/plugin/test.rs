//! `broker plugin test`

use std::{fmt::Write as _, path::PathBuf};

use lint::printable;
use plugin_host::Plugin;
use plugin_kit::{Finding, Fixtures, Report, Verdict, try_out, update};
use serde::Serialize;

use super::folder::Folder;
use crate::{
    CliError, Exit,
    cli::{AnswerFormat, Session},
};

/// Try a plugin on its fixtures, and on what every plugin must hold
///
/// Without being asked it tries: whether each file has the same answer alone, twice and in another order; whether each
/// fix removes its finding and leaves a file that parses; files that are cut off, not UTF-8, huge, deeply nested; what
/// an answer costs; what the plugin imports. Exit codes: 0 if all holds, 1 if not, 2 if it could not be tried.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The plugin's folder, with `broker-plugin.toml` and `fixtures`
    #[arg(default_value = ".", value_name = "FOLDER")]
    folder: PathBuf,

    /// The component to try, in place of the one that `broker plugin build` makes
    #[arg(long, value_name = "FILE")]
    component: Option<PathBuf>,

    /// Try the plugin of this name that the program carries
    #[arg(long, conflicts_with = "component")]
    bundled: bool,

    /// Write what the plugin says now as what the fixtures expect
    #[arg(long)]
    update: bool,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Serialize)]
struct Row<'a> {
    check: String,
    verdict: &'static str,
    subject: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct Answer<'a> {
    plugin: &'a str,
    version: &'a str,
    passed: bool,
    checks: Vec<Row<'a>>,
}

pub(in crate::cli) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let folder = Folder::open(&session.cwd()?.join(&args.folder))?;
    let plugin = plugin(args, &folder, session)?;
    if args.update {
        let changed = update(&plugin, &load(&folder)?, &session.process_context.cancel)
            .map_err(|error| CliError::files(format!("cannot write fixtures: {error}")))?;
        for path in changed {
            session.messages.line(&format!("wrote {}", path.display()));
        }
    }
    show(&folder, &plugin, args.output_format, session)
}

/// Tries a plugin on the fixtures of its folder, and shows what comes of it.
pub(super) fn show(
    folder: &Folder,
    plugin: &Plugin,
    format: AnswerFormat,
    session: &mut Session,
) -> Result<Exit, CliError> {
    let cancel = session.process_context.cancel.clone();
    let report = try_out(plugin, &load(folder)?, &cancel);
    if cancel.is_cancelled() {
        return Err(CliError::plugin("interrupted: the plugin was not tried to the end"));
    }
    let text = match format {
        AnswerFormat::Text => text(plugin, &report),
        AnswerFormat::Json => crate::cli::json(&answer(plugin, &report)),
    };
    session.print(&text)?;
    Ok(if report.has_failed() { Exit::Findings } else { Exit::Clean })
}

fn load(folder: &Folder) -> Result<Fixtures, CliError> {
    Fixtures::load(&folder.fixtures()).map_err(|error| CliError::files(error.to_string()))
}

fn plugin(args: &Args, folder: &Folder, session: &Session) -> Result<Plugin, CliError> {
    let name = &folder.manifest.name;
    if args.bundled {
        return Ok(session.loader().bundled(name)?);
    }
    let component = args.component.as_ref().map(|it| session.cwd().map(|cwd| cwd.join(it))).transpose()?;
    let file = component.unwrap_or_else(|| folder.component());
    if !file.exists() {
        let error = CliError::files(format!("there is no component {}", file.display()));
        return Err(error.hint("`broker plugin build` makes it"));
    }
    let plugin = session.loader().open(&file)?;
    if args.component.is_none() {
        expect_built(folder, &plugin, session)?;
    }
    Ok(plugin)
}

/// Returns an error if the component was built with another manifest, and warns if it is older than the folder's files.
fn expect_built(folder: &Folder, plugin: &Plugin, session: &Session) -> Result<(), CliError> {
    let component = folder.component();
    if *plugin.manifest() != folder.manifest {
        let error = CliError::plugin(format!("{} was built with another manifest", component.display()));
        return Err(error.hint("`broker plugin build` builds it anew"));
    }
    // Times tell less surely: a checkout sets them as it likes.
    if let Some(newer) = folder.newer_than(&component) {
        let (component, newer) = (component.display(), newer.display());
        session
            .messages
            .warning(&format!("{component} is older than {newer}; `broker plugin build` builds it anew"));
    }
    Ok(())
}

fn answer<'a>(plugin: &'a Plugin, report: &'a Report) -> Answer<'a> {
    let row = |it: &'a Finding| Row {
        check: it.check.to_string(),
        verdict: word(it.verdict),
        subject: &it.subject,
        message: &it.message,
    };
    Answer {
        plugin: &plugin.manifest().name,
        version: &plugin.manifest().version,
        passed: !report.has_failed(),
        checks: report.findings.iter().map(row).collect(),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "ok",
        Verdict::Note => "note",
        Verdict::Failed => "FAILED",
    }
}

fn text(plugin: &Plugin, report: &Report) -> String {
    let mut text = format!("{} {}\n", plugin.manifest().name, plugin.manifest().version);
    for it in &report.findings {
        let subject = if it.subject.is_empty() { String::new() } else { format!("{}: ", it.subject) };
        let mut lines = it.message.lines();
        let first = lines.next().unwrap_or_default();
        let _to_a_string = writeln!(
            text,
            "  {:6}  {:11}  {}",
            word(it.verdict),
            it.check.to_string(),
            printable(&(subject + first))
        );
        for line in lines {
            let _to_a_string = writeln!(text, "  {:6}  {:11}    {}", "", "", printable(line));
        }
    }
    text
}
