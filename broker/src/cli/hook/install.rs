//! `broker agent hook install`: what an agent's settings need, and where they are.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::super::{Session, settings_file};
use crate::{CliError, Exit, git};

/// Print what makes an agent, or git, ask Broker about edits
///
/// With `--write`, shows what would change in the settings of this project, and writes them. For git, the hook lets a commit
/// through only if what is staged brings nothing new.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What is to ask
    #[arg(long, value_enum)]
    client: Client,

    /// Whether to ask before an edit, so that it can be refused, or after it
    #[arg(long, value_enum, default_value_t = When::After)]
    when: When,

    /// Refuse an edit that would bring errors, and have one that brought them mended
    #[arg(long)]
    block: bool,

    /// Merge it into the settings of this project, after showing the difference
    #[arg(long)]
    write: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Client {
    Claude,
    Cursor,
    Codex,
    Git,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    Before,
    After,
}

/// Remove what `install --write` added to the settings of this project
///
/// Shows what changes. What else is in the file stays; a file that has nothing else is deleted.
#[derive(Debug, clap::Args)]
pub(super) struct RemoveArgs {
    /// What is not to ask any more
    #[arg(long, value_enum)]
    client: Client,
}

/// Git hook before a commit. Without Broker in the `PATH`, it lets the commit pass.
const PRE_COMMIT: &str = r#"#!/bin/sh
# What is staged may bring nothing new. What a merge brings was looked at where it was made.
git rev-parse --quiet --verify MERGE_HEAD >/dev/null && exit 0
command -v broker >/dev/null || {
    echo "warning: broker is not in the PATH, the commit is not checked" >&2
    exit 0
}
broker check --staged --new-only || {
    status=$?
    echo "broker refused the commit; \`git commit --no-verify\` passes over it" >&2
    exit $status
}
"#;

/// Git hook of earlier versions, which is replaced.
const EARLIER_PRE_COMMIT: &str = "#!/bin/sh
# What is staged may bring nothing new. What a merge brings was looked at where it was made.
git rev-parse --quiet --verify MERGE_HEAD >/dev/null && exit 0
exec broker check --staged --new-only
";

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let file = args.client.file(session)?;
    if !args.write {
        session.messages.line(&format!("for {}:", file.display()));
        session.print(&args.merged("").unwrap_or_default())?;
        return Ok(Exit::Clean);
    }
    let by_hand = "add what `broker agent hook install` prints by hand";
    settings_file::update(&file, |before| args.merged(before), by_hand, session)?;
    if args.client == Client::Git {
        settings_file::make_executable(&file)?;
    }
    Ok(Exit::Clean)
}

pub(super) fn remove(args: &RemoveArgs, session: &mut Session) -> Result<Exit, CliError> {
    let file = args.client.file(session)?;
    settings_file::remove(&file, |before| args.client.without(before), session)?;
    Ok(Exit::Clean)
}

impl Client {
    fn file(self, session: &Session) -> Result<PathBuf, CliError> {
        let here = session.cwd()?;
        Ok(match self {
            Self::Claude => here.join(".claude/settings.json"),
            Self::Cursor => here.join(".cursor/hooks.json"),
            Self::Codex => here.join(".codex/hooks.json"),
            Self::Git => git::Git::of(&here)?.hook("pre-commit")?,
        })
    }

    /// The settings without Broker's entries; as they were if they have none.
    fn without(self, before: &str) -> Result<String, String> {
        if self != Self::Git {
            let after = settings_file::without_elements(before, "hooks", &is_ours)?;
            let bare = after.split_whitespace().collect::<String>();
            let is_bare = self == Self::Cursor && bare == r#"{"version":1}"#;
            return Ok(if is_bare && after != before { String::new() } else { after });
        }
        match before {
            PRE_COMMIT | EARLIER_PRE_COMMIT => Ok(String::new()),
            other if other.contains("broker check") => Err("the hook has other commands, too".to_owned()),
            other => Ok(other.to_owned()),
        }
    }
}

impl Args {
    /// The settings with the entry; as they were if they have it.
    fn merged(&self, before: &str) -> Result<String, String> {
        if self.client == Client::Git {
            return match before {
                "" | PRE_COMMIT | EARLIER_PRE_COMMIT => Ok(PRE_COMMIT.to_owned()),
                _ => Err("there is a hook already".to_owned()),
            };
        }
        let before = match self.client {
            Client::Cursor if before.trim().is_empty() => "{ \"version\": 1 }",
            _ => before,
        };
        settings_file::with_element(before, &["hooks"], self.event(), &self.entry(), &is_ours)
    }

    fn event(&self) -> &'static str {
        match (self.client, self.when) {
            (Client::Cursor, When::Before) => "preToolUse",
            (Client::Cursor, When::After) => "postToolUse",
            (_, When::Before) => "PreToolUse",
            (_, When::After) => "PostToolUse",
        }
    }

    fn entry(&self) -> Value {
        let command = if self.block { "broker agent hook --block" } else { "broker agent hook" };
        let matcher = match self.client {
            Client::Cursor => return json!({ "command": command, "matcher": "Write|Delete" }),
            Client::Codex => "apply_patch",
            Client::Claude | Client::Git => "Edit|MultiEdit|Write",
        };
        json!({ "matcher": matcher, "hooks": [{ "type": "command", "command": command, "timeout": 30 }] })
    }
}

/// Whether a hook is one that Broker installed before, perhaps with other options.
fn is_ours(entry: &Value) -> bool {
    let runs_broker =
        |it: &Value| it["command"].as_str().is_some_and(|it| it.starts_with("broker agent hook"));
    let all = entry["hooks"].as_array();
    runs_broker(entry) || all.is_some_and(|it| it.len() == 1 && it.iter().all(runs_broker))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    #[cfg(unix)]
    use std::{fs, process::Command};

    use super::*;

    fn args(client: Client) -> Args {
        Args { client, when: When::After, block: false, write: true }
    }

    #[test]
    fn other_hooks_stay() {
        let before = r#"{ "model": "x", "hooks": { "PostToolUse": [{ "matcher": "Bash", "hooks": [] }] } }"#;
        let after = args(Client::Claude).merged(before).unwrap();
        insta::assert_snapshot!(after, @r#"
        {
          "model": "x",
          "hooks": { "PostToolUse": [
              { "matcher": "Bash", "hooks": [] },
              {
                "hooks": [
                  {
                    "command": "broker agent hook",
                    "timeout": 30,
                    "type": "command"
                  }
                ],
                "matcher": "Edit|MultiEdit|Write"
              }
            ] }
        }
        "#);
        assert_eq!(args(Client::Claude).merged(&after).unwrap(), after, "once is enough");
        let stricter = Args { block: true, ..args(Client::Claude) }.merged(&after).unwrap();
        assert_eq!(stricter, after.replace("broker agent hook", "broker agent hook --block"));
        assert!(args(Client::Claude).merged(r#"{ "hooks": [] }"#).is_err());
    }

    #[test]
    fn cursor_has_a_version() {
        insta::assert_snapshot!(args(Client::Cursor).merged("").unwrap(), @r#"
        {
          "version": 1,
          "hooks": {
            "postToolUse": [
              {
                "command": "broker agent hook",
                "matcher": "Write|Delete"
              }
            ]
          }
        }
        "#);
    }

    #[test]
    fn what_was_installed_can_be_removed() {
        for client in [Client::Claude, Client::Cursor, Client::Codex, Client::Git] {
            let installed = args(client).merged("").unwrap();
            let left = client.without(&installed).unwrap();
            assert!(settings_file::is_bare(&left), "{client:?}: {left}");
        }
        let own = r#"{ "hooks": { "PostToolUse": [{ "matcher": "Bash", "hooks": [] }] } }"#;
        assert_eq!(Client::Claude.without(own).unwrap(), own);
        assert!(Client::Git.without("#!/bin/sh\nother\nbroker check\n").is_err());
    }

    #[test]
    fn a_hook_of_the_users_own_is_left_alone() {
        let git = args(Client::Git);
        for before in ["", PRE_COMMIT, EARLIER_PRE_COMMIT] {
            assert_eq!(git.merged(before).unwrap(), PRE_COMMIT);
        }
        assert!(git.merged("#!/bin/sh\nexec other\n").is_err());
    }

    /// Exit code and standard error of the hook, in a repository where `broker` is this script, or missing.
    #[cfg(unix)]
    fn run_hook(broker: Option<&str>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
            settings_file::make_executable(&file).unwrap();
        };
        // There is no merge.
        script("git", "exit 1");
        broker.into_iter().for_each(|it| script("broker", it));
        let mut hook = Command::new("/bin/sh");
        let output = hook.args(["-c", PRE_COMMIT]).env("PATH", folder.path()).output().unwrap();
        let code = output.status.code().unwrap();
        format!("exit {code}\n{}", String::from_utf8(output.stderr).unwrap())
    }

    #[cfg(unix)]
    #[test]
    fn git_is_told_who_refuses_and_a_missing_program_refuses_nothing() {
        assert_eq!(run_hook(Some("exit 0")), "exit 0\n");
        insta::assert_snapshot!(run_hook(Some("exit 2")), @r"
        exit 2
        broker refused the commit; `git commit --no-verify` passes over it
        ");
        insta::assert_snapshot!(run_hook(None), @r"
        exit 0
        warning: broker is not in the PATH, the commit is not checked
        ");
    }
}
