//! `broker server list --tools`

use linters::{Lock, tools};
use serde::Serialize;
use tool_store::{Catalogue, Executes, Kind, LockedTool, Package, Plan, Store, Target, Tool, UserSettings};

use super::{
    super::{AnswerFormat, Session, json, words},
    installer::executes,
};
use crate::{CliError, Exit};

/// A tool of the catalogue.
#[derive(Debug, Serialize)]
struct Row<'c> {
    name: &'c str,
    kind: Kind,
    /// Version that this Broker knows; `None` for a tool that its own toolchain installs, as are the next two.
    version: Option<&'c str>,
    package: Option<&'c Package>,
    /// Bytes to download on this machine.
    bytes: Option<u64>,
    /// Version that `broker.lock` pins.
    pinned: Option<String>,
    /// Whether that is on this machine.
    installed: bool,
    licence: &'c str,
    /// Code of a workspace that it executes.
    executes: Executes,
    /// Command of its own toolchain.
    command: Option<&'c str>,
}

pub(super) fn run(format: AnswerFormat, session: &mut Session) -> Result<Exit, CliError> {
    let (root, view) = session.here();
    let pinned = match root.is_empty() {
        true => Vec::new(),
        false => Lock::read(&*view).map_err(CliError::usage)?.tools,
    };
    let (store, target) = (tools::store(), Target::here(&UserSettings::of_process()));
    let row = |it| row(it, &pinned, store.as_ref(), target.as_ref());
    let rows: Vec<_> = Catalogue::own().tools.iter().map(row).collect();
    let text = if format == AnswerFormat::Json {
        json(&rows)
    } else {
        words::table(HEADING, rows.iter().map(cells))
    };
    session.print(&text)?;
    Ok(Exit::Clean)
}

fn row<'c>(tool: &'c Tool, pinned: &[LockedTool], store: Option<&Store>, target: Option<&Target>) -> Row<'c> {
    let plan = |it: &LockedTool| Plan::of_pinned(it, target?).ok();
    let known = tool.locked().and_then(|it| plan(&it));
    let pinned = pinned.iter().find(|it| it.name == tool.name);
    Row {
        name: &tool.name,
        kind: tool.kind,
        version: tool.package.as_ref().map(|it| it.version.as_str()),
        package: tool.package.as_ref(),
        bytes: known.as_ref().map(Plan::size),
        pinned: pinned.map(|it| it.version.clone()),
        installed: pinned.and_then(plan).zip(store).is_some_and(|(plan, store)| store.has(&plan)),
        licence: &tool.licence,
        executes: tool.executes,
        command: tool.command.as_deref(),
    }
}

const HEADING: [&str; 6] = ["NAME", "VERSION", "PINNED", "SIZE", "EXECUTES", "LICENCE"];

fn cells(it: &Row<'_>) -> [String; 6] {
    let or_none = |it: Option<String>| it.unwrap_or_else(|| "-".to_owned());
    let missing = if it.installed { "" } else { " (not installed)" };
    [
        it.name.to_owned(),
        or_none(it.version.map(str::to_owned)),
        or_none(it.pinned.as_ref().map(|it| format!("{it}{missing}"))),
        or_none(it.bytes.map(words::bytes)),
        executes(it.executes).to_owned(),
        it.command.map_or_else(|| it.licence.to_owned(), |command| format!("{} ({command})", it.licence)),
    ]
}

#[cfg(test)]
mod tests {
    use tool_store::Platform;

    use super::*;

    #[test]
    fn looks_so() {
        let target = Target { platform: Platform::LinuxX64, python: Some("3.12".to_owned()) };
        let tool = |name: &str| Catalogue::own().find(name).unwrap();
        let pinned = [LockedTool { version: "0.0.1".to_owned(), ..tool("ty").locked().unwrap() }];
        let all = ["ty", "eslint", "gopls"].map(|it| row(tool(it), &pinned, None, Some(&target)));
        insta::assert_snapshot!(words::table(HEADING, all.iter().map(cells)), @"
        NAME    VERSION  PINNED                 SIZE    EXECUTES       LICENCE
        ty      0.0.108  0.0.1 (not installed)  16 MiB  nothing        MIT
        eslint  10.15.0  -                      2 MiB   configuration  MIT
        gopls   -        -                      -       nothing        BSD-3-Clause (go install golang.org/x/tools/gopls@latest)
        ");
    }
}
