//! `broker plugin dev`

use std::path::{Path, PathBuf};

use config::root::WorkspaceRoot;
use linters::plugins::{RuleContext, rules};
use overlay::{Changes, WorkspacePath};
use plugin_host::Plugin;

use super::{
    build,
    folder::{Files, Folder},
    test,
};
use crate::{
    CliError, Exit,
    cli::{
        AnswerFormat, Session,
        check::ByPlugin,
        watch::{Watching, separator},
    },
};

/// Build a plugin and check with it, again whenever one of its files is saved
///
/// Builds as `broker plugin build` does. Then tries what `broker plugin test` tries, and checks the workspace that the plugin's
/// folder lies in, without that folder; with PATHS, checks these and tries nothing. The rules that are on by default are asked, or all if none is, and
/// no other linter. What fails to compile is shown, and the next change is waited for. A change in `fixtures` needs no build.
/// Ctrl-C ends it; the exit code is that of the last round.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker plugin dev
  broker plugin dev tools/no-todo -- src tests/app.py")]
pub(in crate::cli) struct Args {
    /// The plugin's folder
    #[arg(default_value = ".", value_name = "FOLDER")]
    folder: PathBuf,

    /// Check these files and folders, in place of the fixtures and the workspace
    #[arg(last = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,
}

pub(in crate::cli) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let folder = Folder::open(&session.cwd()?.join(&args.folder))?.path;
    // Begins before the first build, so that no change meanwhile is missed.
    let watching = Watching::of(&folder, session)?;
    let (mut tried, mut is_built) = (Files::of(&folder), false);
    loop {
        let exit = round(&folder, &args.paths, &mut is_built, session).unwrap_or_else(|error| {
            session.messages.error(&error);
            Exit::Abnormal
        });
        tried.take_what_builds_write(&folder);
        if !session.process_context.cancel.is_cancelled() {
            session.messages.line(&format!("watching {}; Ctrl-C ends it", folder.display()));
        }
        let Some((now, changes)) = next(&watching, &tried, &folder, session) else { return Ok(exit) };
        session.messages.line(&separator(&changes));
        is_built &= !now.differ_in_sources(&tried);
        tried = now;
    }
}

/// The files as they are after the next change of their contents; `None` if the run is to end. A build tells of changes as
/// well: of what it writes beside the sources.
fn next(watching: &Watching, tried: &Files, folder: &Path, session: &Session) -> Option<(Files, Changes)> {
    loop {
        watching.wait(session, |_| true)?;
        let now = Files::of(folder);
        let paths = now.differing(tried);
        if !paths.is_empty() {
            return Some((now, Changes { paths, overflow: false }));
        }
    }
}

/// Builds, unless that is done, and checks.
fn round(
    folder: &Path,
    paths: &[PathBuf],
    is_built: &mut bool,
    session: &mut Session,
) -> Result<Exit, CliError> {
    let folder = Folder::open(folder)?;
    if !*is_built {
        let component = build::build(&folder)?;
        *is_built = true;
        session.print(&format!("built {}\n", component.display()))?;
    }
    let plugin = session.loader().open(&folder.component())?;
    if !paths.is_empty() {
        return check(&folder, &plugin, paths, Vec::new(), session);
    }
    let tried = test::show(&folder, &plugin, AnswerFormat::Text, session)?;
    let home = session.process_context.home.as_deref();
    let around = WorkspaceRoot::of_paths(&folder.path, &[PathBuf::from(".")], home)?;
    let Some(own) = around.located.into_iter().map(|it| it.path).find(|it| !it.is_root()) else {
        // The folder is a workspace by itself.
        return Ok(tried);
    };
    // The SDK and the fixtures are no code to check.
    let workspace = around.workspace.root().to_owned();
    let found = check(&folder, &plugin, &[workspace], vec![pattern(&own)], session)?;
    Ok(match (tried, found) {
        (_, Exit::Abnormal) | (Exit::Clean, _) => found,
        _ => tried,
    })
}

fn check(
    folder: &Folder,
    plugin: &Plugin,
    paths: &[PathBuf],
    exclude: Vec<String>,
    session: &mut Session,
) -> Result<Exit, CliError> {
    let (root, view) = &session.here();
    let name = &plugin.manifest().name;
    let known = rules(plugin, RuleContext { root, view })?;
    let mut asked: Vec<_> =
        known.iter().filter(|it| it.default).map(|it| format!("{name}/{}", it.code)).collect();
    if asked.is_empty() {
        asked.push(format!("{name}/ALL"));
    }
    let file = &folder.component();
    ByPlugin { file, rules: &asked, paths, exclude }.run(session)
}

/// Returns the pattern for this path in a `.gitignore` of the workspace's root.
fn pattern(path: &WorkspacePath) -> String {
    let special = |it: char| matches!(it, '\\' | '*' | '?' | '[' | ']' | '{' | '}' | ' ');
    let escaped = path.as_str().chars().flat_map(|it| special(it).then_some('\\').into_iter().chain([it]));
    ['/'].into_iter().chain(escaped).collect()
}
