//! `broker agent mcp config`: what an agent's configuration needs, and where it is.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::super::{Session, settings_file};
use crate::{CliError, Exit};

/// Print what makes an agent use Broker, for its configuration file
///
/// With `--write`, shows what would change in the file, and writes it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent
    #[arg(long, value_enum)]
    client: Agent,

    /// Merge it into the agent's configuration file, after showing the difference
    #[arg(long)]
    write: bool,

    /// Remove what `--write` added, after showing the difference
    #[arg(long, conflicts_with = "write")]
    remove: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Agent {
    Claude,
    Cursor,
    Vscode,
    Zed,
    Codex,
    Goose,
}

/// The form of a configuration file.
enum Form {
    /// JSON with the entry `broker` below this key.
    Json { key: &'static str, entry: Value },
    /// Another form, to which this text is added.
    Text { marker: &'static str, text: &'static str },
}

impl Agent {
    /// The file, in the current folder or in the home folder.
    fn file(self, session: &Session) -> Result<PathBuf, CliError> {
        let here = session.cwd()?;
        let home = || {
            let home = session.process_context.home.clone();
            home.ok_or_else(|| CliError::files("there is no home folder").hint("set HOME"))
        };
        Ok(match self {
            Self::Claude => here.join(".mcp.json"),
            Self::Cursor => here.join(".cursor/mcp.json"),
            Self::Vscode => here.join(".vscode/mcp.json"),
            Self::Zed => here.join(".zed/settings.json"),
            Self::Codex => home()?.join(".codex/config.toml"),
            Self::Goose => home()?.join(".config/goose/config.yaml"),
        })
    }

    fn form(self) -> Form {
        let command = json!({ "command": "broker", "args": ["agent", "mcp"] });
        match self {
            Self::Claude | Self::Cursor => Form::Json { key: "mcpServers", entry: command },
            Self::Vscode => Form::Json {
                key: "servers",
                entry: json!({ "type": "stdio", "command": "broker", "args": ["agent", "mcp"] }),
            },
            Self::Zed => Form::Json { key: "context_servers", entry: command },
            Self::Codex => Form::Text {
                marker: "[mcp_servers.broker]",
                text: "[mcp_servers.broker]\ncommand = \"broker\"\nargs = [\"agent\", \"mcp\"]\n",
            },
            Self::Goose => Form::Text {
                marker: "cmd: broker",
                text: "extensions:\n  broker:\n    enabled: true\n    name: broker\n    type: stdio\n    cmd: broker\n    args: [agent, mcp]\n    timeout: 300\n",
            },
        }
    }
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let file = args.client.file(session)?;
    let form = args.client.form();
    if args.remove {
        settings_file::remove(&file, |before| form.without(before), session)?;
        return Ok(Exit::Clean);
    }
    if !args.write {
        session.messages.line(&format!("for {}:", file.display()));
        session.print(&form.alone())?;
        return Ok(Exit::Clean);
    }
    let by_hand = "add what `broker agent mcp config` prints by hand";
    settings_file::update(&file, |before| form.merged(before), by_hand, session)?;
    Ok(Exit::Clean)
}

impl Form {
    /// A file that has nothing else.
    fn alone(&self) -> String {
        match self {
            Self::Json { key, entry } => super::super::json(&json!({ *key: { "broker": entry } })),
            Self::Text { text, .. } => (*text).to_owned(),
        }
    }

    /// The file with the entry; as it was if it has one.
    fn merged(&self, before: &str) -> Result<String, String> {
        match self {
            _ if before.trim().is_empty() => Ok(self.alone()),
            Self::Json { key, entry } => settings_file::with_member(before, &[key], "broker", entry),
            Self::Text { marker, .. } if before.contains(marker) => Ok(before.to_owned()),
            Self::Text { marker: "cmd: broker", .. } if before.contains("extensions:") => {
                Err("it has extensions already".to_owned())
            }
            Self::Text { text, .. } => {
                let end = if before.ends_with('\n') { "" } else { "\n" };
                Ok(format!("{before}{end}\n{text}"))
            }
        }
    }

    /// The file without the entry; as it was if it has none.
    fn without(&self, before: &str) -> Result<String, String> {
        match self {
            Self::Json { key, .. } => settings_file::without_member(before, key, "broker"),
            Self::Text { text, .. } if before.contains(text) => {
                Ok(before.replacen(&format!("\n{text}"), "", 1).replacen(text, "", 1))
            }
            Self::Text { marker, .. } if before.contains(marker) => {
                Err("the entry is not as Broker wrote it".to_owned())
            }
            Self::Text { .. } => Ok(before.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command that every agent's configuration names.
    #[test]
    fn the_command_is_one_that_the_program_has() {
        for agent in Agent::value_variants() {
            let text = agent.form().alone().replace(['"', '\n', ' '], "");
            assert!(text.contains("[agent,mcp]"), "{agent:?}: {text}");
        }
    }

    #[test]
    fn what_was_added_can_be_removed() {
        for agent in Agent::value_variants() {
            let form = agent.form();
            let left = form.without(&form.alone()).unwrap();
            assert!(settings_file::is_bare(&left), "{agent:?}: {left}");
        }
        let form = Agent::Codex.form();
        let before = "model = \"x\"\n";
        assert_eq!(form.without(&form.merged(before).unwrap()).unwrap(), before);
        assert!(form.without("[mcp_servers.broker]\ncommand = \"other\"\n").is_err());
    }

    #[test]
    fn other_entries_stay() {
        let form = Agent::Claude.form();
        let before = "{\n  \"mcpServers\": { \"other\": { \"command\": \"x\" } },\n  \"z\": 1\n}\n";
        let after = form.merged(before).unwrap();
        let value: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(value["mcpServers"]["other"]["command"], "x");
        assert_eq!(value["mcpServers"]["broker"]["args"], json!(["agent", "mcp"]));
        assert_eq!(value["z"], 1);
        assert_eq!(form.merged(&after).unwrap(), after);
        assert!(form.merged("{ \"mcpServers\": 1 }").is_err());
    }

    #[test]
    fn a_text_is_added_once() {
        let form = Agent::Codex.form();
        let after = form.merged("model = \"x\"").unwrap();
        assert!(after.starts_with("model = \"x\"\n\n[mcp_servers.broker]\n"));
        assert_eq!(form.merged(&after).unwrap(), after);
        assert!(Agent::Goose.form().merged("extensions:\n  a: 1\n").is_err());
    }
}
