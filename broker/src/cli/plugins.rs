//! `broker plugin list`

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use config::{Choice, Digest, folders};
use lint::{printable, suppress};
use linters::{
    Diagnosis, LinterSet, Provider, WorkspaceContext,
    native::NativeCheckers,
    plugins::{self, PluginContext, RuleContext},
    servers::Servers,
};
use overlay::View;
use plugin_host::Plugin;
use serde::Serialize;

use super::{AnswerFormat, Session};
use crate::{CliError, Exit, cli::PluginArgs};

/// List the plugins with their versions, languages, rules and digests
///
/// `broker` among them is the program itself, whose rules are about suppression comments. Commands that `broker.toml` asks as linters are
/// listed after the plugins; `broker doctor --versions` has their versions.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    plugins: PluginArgs,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    kind: Kind,
    /// Version; empty for a command, which would have to be started to print it.
    version: &'a str,
    /// `None` for the program itself and for commands, as is the digest.
    api: Option<&'a str>,
    description: String,
    languages: &'a [String],
    globs: &'a [String],
    /// Interpreters whose scripts it wants.
    interpreters: &'a [String],
    /// Number of rules; `None` if the plugin could not list them.
    rules: Option<usize>,
    digest: Option<&'a str>,
    /// SHA-256 of one in a file or that the workspace adds, as `broker.lock` has it.
    sha256: Option<&'a Digest>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// The program itself.
    Broker,
    Plugin,
    /// A command that is a linter.
    Checker,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let (root, view) = &session.here();
    let plugins = session
        .loader()
        .load(&args.plugins.plugin, 1)?
        .in_workspace(&PluginContext::on_disk(&**view, Path::new(root)))?;
    session.report_broken(&plugins);
    let mut exit = if plugins.broken.is_empty() { Exit::Clean } else { Exit::Abnormal };
    let named = digests(&args.plugins.plugin, session);
    let mut rows = vec![ourselves()];
    for plugin in &plugins.usable {
        let rules = plugins::rules(plugin, RuleContext { root, view }).inspect_err(|error| {
            session.messages.error(&error.clone().into());
            exit = Exit::Abnormal;
        });
        let sha256 = named.get(&plugin.manifest().name).or_else(|| plugins.locked(plugin));
        rows.push(row(plugin, rules.ok().map(|it| it.len()), sha256));
    }
    let checkers = checkers(root, view)?;
    rows.extend(checkers.iter().map(checker));
    let text = match args.output_format {
        AnswerFormat::Text => table(&rows),
        AnswerFormat::Json => super::json(&rows),
    };
    session.print(&text)?;
    Ok(exit)
}

/// The SHA-256 of plugins in files, by name. What cannot be read is told by the list itself.
fn digests(files: &[PathBuf], session: &Session) -> BTreeMap<String, Digest> {
    let digest = |file: &PathBuf| {
        let plugin = session.loader().open(file).ok()?;
        Some((plugin.manifest().name.clone(), Digest::of(&folders::read(file).ok()?)))
    };
    files.iter().filter_map(digest).collect()
}

fn row<'a>(plugin: &'a Plugin, rules: Option<usize>, sha256: Option<&'a Digest>) -> Row<'a> {
    let manifest = plugin.manifest();
    Row {
        name: &manifest.name,
        kind: Kind::Plugin,
        version: &manifest.version,
        api: Some(&manifest.api),
        description: manifest.description.clone(),
        languages: &manifest.languages,
        globs: &manifest.globs,
        interpreters: &manifest.interpreters,
        rules,
        digest: Some(plugin.digest()),
        sha256,
    }
}

/// The commands that the workspace's configuration asks as linters.
fn checkers(root: &str, view: &Arc<dyn View>) -> Result<Vec<Diagnosis>, CliError> {
    if root.is_empty() {
        return Ok(Vec::new());
    }
    let context = WorkspaceContext::of_shell(Path::new(root), Arc::clone(view));
    let native = NativeCheckers::beside(&Servers::of_user()).map(|it| Arc::new(it) as Arc<dyn Provider>);
    let choice = Choice::default();
    let known = LinterSet::new(native.into(), context, choice.clone()).at(view)?.diagnose(&choice)?;
    Ok(known.into_iter().filter(|it| it.standing.is_asked()).collect())
}

/// Row of a checker. Its rules are the ones of its tool, which no command lists.
fn checker(it: &Diagnosis) -> Row<'_> {
    let program = it.program.as_ref();
    let install = program.map_or("see `broker doctor`", |it| &it.install);
    Row {
        name: &it.name,
        kind: Kind::Checker,
        version: &it.version,
        api: None,
        description: match program.and_then(|it| it.path.as_ref()) {
            Some(path) => format!("Command: runs {} in a shadow folder", path.display()),
            None => format!("Command: not installed: {install}"),
        },
        languages: &it.languages,
        globs: &[],
        interpreters: &[],
        rules: None,
        digest: None,
        sha256: None,
    }
}

/// The program has rules, too.
fn ourselves() -> Row<'static> {
    Row {
        name: suppress::LINTER,
        kind: Kind::Broker,
        version: env!("CARGO_PKG_VERSION"),
        api: None,
        description: "Built in: suppression comments that are of no use or make no sense".to_owned(),
        languages: &[],
        globs: &[],
        interpreters: &[],
        rules: Some(suppress::rules().len()),
        digest: None,
        sha256: None,
    }
}

fn table(rows: &[Row<'_>]) -> String {
    let cells: Vec<[String; 6]> = rows.iter().map(cells).collect();
    let heading = ["NAME", "VERSION", "LANGUAGES", "RULES", "DIGEST", "DESCRIPTION"].map(str::to_owned);
    let lines: Vec<_> = std::iter::once(heading).chain(cells).collect();
    let width = |column: usize| lines.iter().map(|it| it[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..5).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        for (cell, width) in line.iter().zip(&widths) {
            let _to_a_string = write!(text, "{cell:<width$}  ");
        }
        text += &line[5];
        text.push('\n');
    }
    text
}

fn cells(row: &Row<'_>) -> [String; 6] {
    /// The algorithm's name, too.
    const ENOUGH: usize = 7 + 12;
    let languages = if row.languages.is_empty() { "any".to_owned() } else { row.languages.join(", ") };
    let rules = row.rules.map_or_else(|| "?".to_owned(), |it| it.to_string());
    let blake3 = || row.digest.map_or_else(|| "-".to_owned(), |it| format!("blake3:{it}"));
    let digest = row.sha256.map_or_else(blake3, ToString::to_string);
    let digest: String = digest.chars().take(ENOUGH).collect();
    let version = if row.version.is_empty() { "-" } else { row.version };
    [row.name, version, &languages, &rules, &digest, &row.description].map(|it| printable(it).into_owned())
}
