//! Commands that a script gives to the runner by its output, and that GitHub gave up.

use broker_plugin_sdk::{Diagnostic, Severity};

use crate::rules;
use crate::tree::{Document, Id, Kind};

struct Command {
    /// The command as written.
    sign: &'static str,
    name: &'static str,
    /// Environment variable with the name of the file to write to instead.
    file: &'static str,
    is_refused: bool,
}

const fn command(sign: &'static str, name: &'static str, file: &'static str, is_refused: bool) -> Command {
    Command { sign, name, file, is_refused }
}

const COMMANDS: [Command; 4] = [
    command("::add-path::", "add-path", "GITHUB_PATH", true),
    command("::save-state name=", "save-state", "GITHUB_STATE", false),
    command("::set-env name=", "set-env", "GITHUB_ENV", true),
    command("::set-output name=", "set-output", "GITHUB_OUTPUT", false),
];

/// A variable by which the runner takes them all the same.
const ALLOWED: &str = "ACTIONS_ALLOW_UNSECURE_COMMANDS";

/// Looks at the lines of a step's `run` that are no comments.
pub(crate) fn check(text: &str, document: &Document<'_>, step: Id, found: &mut Vec<Diagnostic>) {
    let Some(run) = document.get(step, "run").map(|it| document.node(document.resolved(it))) else { return };
    let script = text.get(run.range.clone()).filter(|_| matches!(run.kind, Kind::Scalar { .. }));
    let is_allowed = text.contains(ALLOWED);
    let mut at = run.range.start;
    for line in script.unwrap_or_default().split_inclusive('\n') {
        let told = COMMANDS.iter().filter(|it| !(it.is_refused && is_allowed));
        for command in told.filter(|_| !line.trim_start().starts_with('#')) {
            found.extend(command.places(line).map(|it| command.diagnostic(at + it)));
        }
        at += line.len();
    }
}

impl Command {
    /// Returns the positions on a line where the command is given with a value after it.
    fn places<'l>(&self, line: &'l str) -> impl Iterator<Item = usize> + use<'l> {
        let (sign, length) = (self.sign, self.sign.len());
        let has_value = move |at: usize| {
            let rest = &line[at + length..];
            sign.ends_with("::") && !rest.trim().is_empty() || rest.contains("::")
        };
        line.match_indices(sign).map(|it| it.0).filter(move |it| has_value(*it))
    }

    fn diagnostic(&self, at: usize) -> Diagnostic {
        let (severity, what) = match self.is_refused {
            true => (Severity::Error, "is refused by the runner"),
            false => (Severity::Warning, "is deprecated"),
        };
        let message = format!("`{}` {what}: write to the file `${}` instead", self.name, self.file);
        let start = at + "::".len();
        Diagnostic { severity, ..Diagnostic::new(rules::COMMAND, message, start..start + self.name.len()) }
    }
}
