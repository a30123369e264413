//! Commands of bash in `RUN` where `/bin/sh` is dash, which has none of them: on images that are known to be Debian's or
//! Ubuntu's, and where nothing chose another shell.
//!
//! Left out is what dash cannot parse (arrays, `<(…)`), and what an image of another name is made from.

use broker_plugin_sdk::Diagnostic;

use crate::parse::Instruction;
use crate::replaced::replaces_shell;
use crate::shell::{Command, Script};
use crate::stages::{Build, Stage};

const SYSTEMS: [&str; 3] = ["buildpack-deps", "debian", "ubuntu"];

/// Debian's releases that tags of Docker's official images name, oldest first. Source: `debian.csv` of Debian's package
/// distro-info-data, 0.58+deb12u7 of 2026-04-25. Their `/bin/sh` is dash, as it is since squeeze.
const DEBIAN: [&str; 7] = ["wheezy", "jessie", "stretch", "buster", "bullseye", "bookworm", "trixie"];

/// Ubuntu's releases since Docker's first, oldest first. Source: `ubuntu.csv` of the same package. Their `/bin/sh` is dash,
/// as it is since edgy.
const UBUNTU: [&str; 30] = [
    "precise", "quantal", "raring", "saucy", "trusty", "utopic", "vivid", "wily", "xenial", "yakkety",
    "zesty", "artful", "bionic", "cosmic", "disco", "eoan", "focal", "groovy", "hirsute", "impish", "jammy",
    "kinetic", "lunar", "mantic", "noble", "oracular", "plucky", "questing", "resolute", "stonking",
];

/// Whether dash runs the `RUN`s of each stage without a `SHELL`.
pub(crate) fn shell_of_stages(build: &Build<'_>, text: &str) -> Vec<bool> {
    let escape = build.file.escape;
    let mut all: Vec<bool> = Vec::new();
    for stage in &build.stages {
        let parent = stage.parent.and_then(|it| all.get(it)).copied();
        let is_dash = parent.unwrap_or_else(|| is_of_debian(stage, escape));
        all.push(is_dash && !stage.steps.iter().any(|it| replaces_shell(it, text, escape)));
    }
    all
}

fn is_of_debian(stage: &Stage<'_>, escape: char) -> bool {
    let Some((name, tag)) = stage.official_image(escape) else { return false };
    let is_release = |it: &str| DEBIAN.contains(&it) || UBUNTU.contains(&it);
    SYSTEMS.contains(&&*name) || tag.split('-').any(is_release)
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
