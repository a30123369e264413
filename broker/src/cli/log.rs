//! `broker agent log`

use config::folders;

use super::{AnswerFormat, Session, json};
use crate::{CliError, Exit};

/// Show what agents called, and what became of it
///
/// Each call of a tool is a line: when, which tool, the branch and its revision, how long it took and how many bytes came
/// back. The log is kept in the state folder, in files of 8 MiB of which the last four stay.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The last so many calls
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    lines: usize,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let folder = folders::own_state_dir()?
        .ok_or_else(|| CliError::files("there is no state folder").hint("set BROKER_STATE_DIR"))?;
    let entries = agents::read_log(&folder, args.lines).map_err(|error| {
        CliError::files(format!("cannot read {}: {error}", agents::log_file(&folder).display()))
    })?;
    let text = match args.output_format {
        AnswerFormat::Json => json(&entries),
        AnswerFormat::Text => entries.iter().map(line).collect(),
    };
    session.print(&text)?;
    Ok(Exit::Clean)
}

fn line(it: &agents::LogEntry) -> String {
    let seconds = i64::try_from(it.at_ms / 1000).unwrap_or(i64::MAX);
    let at = prost_types::Timestamp { seconds, nanos: 0 };
    let file = it.file.as_deref().map(|it| format!(" {it}")).unwrap_or_default();
    let branch = it.branch.as_deref().map(|it| format!(" on {it}")).unwrap_or_default();
    let revision = it.revision.map(|it| format!(" revision {it}")).unwrap_or_default();
    let error = if it.is_error { " refused" } else { "" };
    let line =
        format!("{at} {}{file}{branch}{revision} {} ms {} bytes{error}", it.tool, it.duration_ms, it.bytes);
    lint::printable(&line).into_owned() + "\n"
}
