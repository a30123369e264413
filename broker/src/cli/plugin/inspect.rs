//! `broker plugin inspect`

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use config::{Digest, folders, unknown_linter};
use lint::printable;
use linters::plugins::{self, PluginContext, RuleContext};
use plugin_host::{Capability, Plugin};
use serde::Serialize;

use crate::{
    CliError, Exit,
    cli::{AnswerFormat, Session},
};

/// Tell what is in a plugin: its world, what it imports, its rules, its size
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A component, or the name of a plugin that the program carries or the workspace has
    plugin: PathBuf,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Serialize)]
struct Answer<'a> {
    name: &'a str,
    version: &'a str,
    description: &'a str,
    /// The version of `broker:plugin` that it is built for.
    api: &'a str,
    /// BLAKE3 of the component, in hex: what answers rest on.
    digest: &'a str,
    /// SHA-256 of a file, as `broker.lock` and `--digest` have it.
    sha256: Option<Digest>,
    /// Bytes of the component; `None` if it was asked for by its name.
    size: Option<u64>,
    languages: &'a [String],
    globs: &'a [String],
    /// Interpreters whose scripts it wants.
    interpreters: &'a [String],
    config_files: &'a [String],
    needs: Vec<&'a str>,
    /// Capabilities beyond the files that it is shown; it is used where `broker.toml` grants all of them.
    capabilities: &'a [Capability],
    /// Keys for `[linters.NAME]` of `broker.toml`, as JSON Schema.
    options: serde_json::Value,
    /// Keys as text for people: each with its possible values and its purpose.
    #[serde(skip)]
    declared: Vec<(String, String)>,
    /// The interfaces that it imports. All of them are granted, or it could not be loaded.
    imports: Vec<String>,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
struct Rule {
    code: String,
    name: String,
    summary: String,
    default: bool,
}

pub(in crate::cli) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let file = session.cwd()?.join(&args.plugin);
    let is_file = file.is_file();
    let (root, view) = &session.here();
    let (plugin, locked) = match (is_file, args.plugin.to_str()) {
        (false, Some(name)) => {
            let context = PluginContext::on_disk(&**view, Path::new(root));
            let plugins = session.loader().load(&[], 1)?.in_workspace(&context)?;
            let unknown = || match name.contains('/') || name.ends_with(".wasm") {
                true => CliError::files(format!("there is no file {name}")),
                false => unknown_linter(name, &plugins.names(), &[]).into(),
            };
            let plugin = plugins.find(name).cloned().ok_or_else(unknown)?;
            let locked = plugins.locked(&plugin).cloned();
            (plugin, locked)
        }
        _ => (session.loader().open(&file)?, None),
    };
    let bytes = is_file.then(|| folders::read(&file).ok()).flatten();
    let sha256 = bytes.as_deref().map(Digest::of).or(locked);
    let size = bytes.map(|it| it.len() as u64);
    let rules = plugins::rules(&plugin, RuleContext { root, view })?;
    let answer = answer(&plugin, size, sha256, rules)?;
    let text = match args.output_format {
        AnswerFormat::Text => text(&answer),
        AnswerFormat::Json => crate::cli::json(&answer),
    };
    session.print(&text)?;
    Ok(Exit::Clean)
}

fn answer<'p>(
    plugin: &'p Plugin,
    size: Option<u64>,
    sha256: Option<Digest>,
    rules: Vec<lint::Rule>,
) -> Result<Answer<'p>, CliError> {
    let manifest = plugin.manifest();
    let declared = manifest.options.iter();
    let declared = declared.map(|(name, it)| (name.to_owned(), format!("{}. {}", it.kind(), it.description)));
    let rule =
        |it: lint::Rule| Rule { code: it.code, name: it.name, summary: it.summary, default: it.default };
    Ok(Answer {
        name: &manifest.name,
        version: &manifest.version,
        description: &manifest.description,
        api: &manifest.api,
        digest: plugin.digest(),
        sha256,
        size,
        languages: &manifest.languages,
        globs: &manifest.globs,
        interpreters: &manifest.interpreters,
        config_files: &manifest.config_files,
        needs: manifest.needs.iter().map(|it| it.as_str()).collect(),
        capabilities: &manifest.capabilities,
        options: manifest.options.to_json(),
        declared: declared.collect(),
        imports: plugin.imports().map_err(CliError::plugin)?,
        rules: rules.into_iter().map(rule).collect(),
    })
}

fn text(it: &Answer<'_>) -> String {
    let size = it.size.map_or_else(String::new, |it| format!("{it} bytes"));
    let mut text = format!("{} {}: {}\n", it.name, it.version, it.description);
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _to_a_string = writeln!(text, "{name:13}{}", printable(&value));
        }
    };
    line("world", format!("broker:plugin {}", it.api));
    line("size", size);
    line("digest", it.sha256.as_ref().map_or_else(|| format!("blake3:{}", it.digest), ToString::to_string));
    line("languages", it.languages.join(", "));
    line("files", it.globs.join(", "));
    line("scripts of", it.interpreters.join(", "));
    line("config files", it.config_files.join(", "));
    line("needs", it.needs.join(", "));
    line("asks for", it.capabilities.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    for (number, (name, kind)) in it.declared.iter().enumerate() {
        line(if number == 0 { "options" } else { "" }, format!("{name}: {kind}"));
    }
    for (number, import) in it.imports.iter().enumerate() {
        line(if number == 0 { "imports" } else { "" }, import.clone());
    }
    line(
        "rules",
        format!(
            "{}, {} of them on by default",
            it.rules.len(),
            it.rules.iter().filter(|it| it.default).count()
        ),
    );
    for rule in &it.rules {
        let sign = if rule.default { ' ' } else { '-' };
        let _to_a_string = writeln!(text, "  {sign} {}  {}", printable(&rule.code), printable(&rule.summary));
    }
    text
}
