//! Commands of bash in `RUN` where `/bin/sh` is dash, which has none of them: on images that are known to be Debian's or
//! Ubuntu's, and where nothing chose another shell.
//!
//! Left out is what dash cannot parse (arrays, `<(…)`), and what an image of another name is made from.

use broker_plugin_sdk::Diagnostic;

use crate::parse::Instruction;
use crate::shell::{Command, Script};
use crate::stages::{Build, Stage};
use crate::words::unquote;

const SYSTEMS: [&str; 3] = ["buildpack-deps", "debian", "ubuntu"];

/// Versions of these systems in the tags of Docker's official images.
const RELEASES: [&str; 7] = ["bookworm", "bullseye", "buster", "focal", "jammy", "noble", "trixie"];

/// Whether what a stage runs is read by dash, where no `SHELL` says otherwise.
pub(crate) fn is_shell_of(build: &Build<'_>, number: usize) -> bool {
    let is_debian = build.line_of(number).last().is_some_and(|it| is_of_debian(it, build.file.escape));
    let steps = || build.line_of(number).flat_map(|it| it.steps);
    let may_replace = |it: &Instruction| {
        let text = it.line.text.as_str();
        it.has_heredoc || text.contains("/bin/sh") || text.contains("dpkg-reconfigure")
    };
    is_debian && !steps().filter(|it| it.is("RUN")).any(may_replace)
}

fn is_of_debian(stage: &Stage<'_>, escape: char) -> bool {
    let image = unquote(stage.image_text(), escape);
    let official = image.trim_start_matches("docker.io/").trim_start_matches("library/");
    let plain = official.split('@').next().unwrap_or_default();
    let (name, tag) = plain.split_once(':').unwrap_or((plain, ""));
    let is_release = tag.split('-').any(|it| RELEASES.contains(&it));
    !name.contains(['/', '$']) && (SYSTEMS.contains(&name) || is_release)
}

pub(crate) fn check(it: &Instruction, script: &Script, found: &mut Vec<Diagnostic>) {
    for command in &script.commands {
        let Some((name, range)) = command.words.first() else { continue };
        let Some((code, instead)) = missing(name).filter(|_| !is_asked_for(name, script)) else { continue };
        let message = format!("`{name}` is of bash, and `/bin/sh` is dash here: {instead}");
        let place = it.line.place(it.arguments + range.start..it.arguments + range.end);
        found.push(Diagnostic::new(code, message, place));
    }
}

fn missing(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "[[" => ("SC3010", "use `[`, or name bash in SHELL"),
        "source" => ("SC3046", "use `.`, or name bash in SHELL"),
        "declare" | "dirs" | "popd" | "pushd" | "shopt" | "typeset" => ("SC3044", "name bash in SHELL"),
        _ => return None,
    })
}

/// Whether a script asks for the command, or has another for the case that there is none: `source x || . x`.
fn is_asked_for(name: &str, script: &Script) -> bool {
    let asks = |it: &Command| it.words.iter().skip(1).any(|it| it.0 == name);
    let is_other = |it: &Command| name == "source" && it.words.first().is_some_and(|it| it.0 == ".");
    script.commands.iter().any(|it| asks(it) || is_other(it))
}
