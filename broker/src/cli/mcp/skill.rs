//! `broker agent mcp skill`: what an agent is to know of the tools, for clients that load such texts when they are needed.

use std::path::PathBuf;

use clap::ValueEnum;

use super::super::{Session, settings_file};
use crate::{CliError, Exit};

/// Print how an agent is to work with Broker, as a skill
///
/// The same as the server's instructions, for clients that take skills. With `--write`, puts it where the client looks for
/// those of this project.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent
    #[arg(long, value_enum)]
    client: Client,

    /// Write it, after showing the difference
    #[arg(long)]
    write: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    Claude,
    Cursor,
    Codex,
}

const HEAD: &str = "\
---
name: broker
description: How to edit code on a branch in memory with Broker's tools, and hear what linters, type checkers and tests say before \
anything is written to the disk. Use when the tools of the MCP server `broker` are at hand.
---
";

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let file = session.cwd()?.join(args.client.file());
    let text = text();
    if !args.write {
        session.messages.line(&format!("for {}:", file.display()));
        session.print(&text)?;
        return Ok(Exit::Clean);
    }
    let merge = |before: &str| match before.is_empty() || before.starts_with("---\nname: broker\n") {
        true => Ok(text),
        false => Err("it is another skill".to_owned()),
    };
    settings_file::update(
        &file,
        merge,
        "remove that one, or add what `broker agent mcp skill` prints by hand",
        session,
    )?;
    Ok(Exit::Clean)
}

fn text() -> String {
    format!("{HEAD}\n{}\n", agents::INSTRUCTIONS)
}

impl Client {
    /// Path of the skill in the project's folder.
    fn file(self) -> PathBuf {
        let folder = match self {
            Self::Claude => ".claude",
            Self::Cursor => ".cursor",
            Self::Codex => ".agents",
        };
        [folder, "skills/broker/SKILL.md"].iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_has_a_name_and_the_instructions() {
        let text = text();
        assert!(text.starts_with("---\nname: broker\ndescription: "), "{text}");
        assert!(text.contains("\n---\n\nBroker answers") && text.ends_with("pass `branch`.\n"), "{text}");
    }
}
