//! Dockerfiles, as a Broker plugin: what BuildKit refuses, its build checks (`docker build --check`), and those of
//! hadolint's rules that can be checked exactly, with both tools' comments and hadolint's configuration.
//!
//! Start reading at [`Dockerfile`], then [`parse`] (text to instructions), [`syntax`] and [`flags`] (what cannot be built),
//! [`stages`], [`buildkit`], [`variables`], [`hadolint`], [`run`] (what `RUN` runs, which [`shell`] reads), and [`suppress`].
//!
//! Why no linter of the registry: `dockerfile-roast` 1.7 reports lines only, has codes of its own and comes with its whole
//! command line; the rest are translations of hadolint within other programs. BuildKit's own is written in Go, hadolint in
//! Haskell.
//!
//! Left out: what needs the base image or a registry (`InvalidBaseImagePlatform`, most of `UndefinedVar`), most of
//! ShellCheck on what `RUN` runs, hadolint's rules on package managers but the plainest, and those on what a label is (`DL3052` and later).
//! A file that is a template is left out, and the log says so; a `Dockerfile.part` without a stage is not read.

mod buildkit;
mod config;
mod dash;
mod flags;
mod hadolint;
mod ignored;
mod input;
mod logical;
mod parse;
mod replaced;
mod rules;
mod run;
mod secrets;
mod shell;
mod splits;
mod stages;
mod suppress;
mod syntax;
#[cfg(test)]
mod tests;
mod variables;
mod words;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::Path;

use broker_plugin_sdk::config::ConfigFiles;
use broker_plugin_sdk::offsets::without_mark;
use broker_plugin_sdk::template::{Tag, outside_of_quotes};
use broker_plugin_sdk::{
    Diagnostic, Plugin, Report, Rule, RulesOn, Selection, Settings, SettingsError, Severity, SourceFile,
};

use config::Config;
use parse::Flaw;
use stages::Build;
use suppress::{Check, Comments};

/// The plugin: where the workspace is, what is wanted, and what hadolint's configuration says.
pub struct Dockerfile {
    files: ConfigFiles,
    config: OnceCell<Result<Config, String>>,
    wanted: Selection,
}

impl Plugin for Dockerfile {
    const SELECTS_ITSELF: bool = true;

    fn new() -> Self {
        Self { files: ConfigFiles::default(), config: OnceCell::new(), wanted: Selection::default() }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        self.files = ConfigFiles::new(settings);
        self.config.take();
        let settings = own_words(settings);
        let unknown;
        // A configuration may turn on what is off without one.
        let on = |it: Rule| Rule { default: it.default || rules::needs_hadolint(&it.code), ..it };
        let all: Vec<Rule> = rules::all().into_iter().map(on).collect();
        (self.wanted, unknown) = Selection::new(&settings, &all);
        SettingsError::unless_known(unknown)
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let config = self.config.get_or_init(|| Config::find(&self.files)).as_ref().map_err(Clone::clone)?;
        if !is_dockerfile(&file.path) {
            return Ok(Report::excluded());
        }
        let text = file.text();
        let path = self.files.root().join(&file.path);
        let lint = Lint { config, wanted: &self.wanted };
        let (mark, code) = without_mark(&text);
        let report = lint.report(&path, code).shifted(mark);
        Ok(if matches!(text, Cow::Borrowed(_)) { report } else { report.without_fixes() })
    }

    fn rules_on(&mut self, _path: &str) -> Result<RulesOn, String> {
        let config = self.config.get_or_init(|| Config::find(&self.files)).as_ref().map_err(Clone::clone)?;
        let lint = Lint { config, wanted: &self.wanted };
        let is_on = |it: &String| self.wanted.includes(it) && (it == rules::SYNTAX || lint.is_configured(it));
        let on = rules::all().into_iter().map(|it| it.code).filter(is_on);
        Ok(RulesOn::new(on, config.file.as_deref()))
    }
}

broker_plugin_sdk::plugin!(Dockerfile, "../broker-plugin.toml");

/// Whether a bake file beside or above the file may name build contexts, which `--from` takes as it takes stages.
fn has_named_contexts(path: &Path) -> bool {
    let bake = ["docker-bake.hcl", "docker-bake.json"];
    path.ancestors().skip(1).any(|folder| bake.iter().any(|it| folder.join(it).is_file()))
}

/// State that is the same for all files.
struct Lint<'a> {
    config: &'a Config,
    wanted: &'a Selection,
}

impl Lint<'_> {
    fn report(&self, path: &Path, text: &str) -> Report {
        let mut file = parse::parse(text);
        let flaws = syntax::flaws(&mut file);
        if syntax::is_foreign(&file) || is_part(path, &file) {
            return Report::excluded();
        }
        if let Some(why) = template(text, &flaws) {
            return Report::left_out(&path.display().to_string(), &why);
        }
        let check = Check::of(&file);
        let mut found: Vec<Diagnostic> = flaws.into_iter().map(|it| syntax_error(&it)).collect();
        let is_sound = found.is_empty();
        if let Err(problem) = &check {
            let place = file.directives.iter().find(|it| it.name == "check").map(|it| it.place.clone());
            found.push(syntax_error(&Flaw { message: problem.clone(), place: place.unwrap_or_default() }));
        }
        let build = Build::new(&file);
        if is_sound {
            buildkit::check(&build, text, &mut found);
            variables::check(&build, &mut found);
            hadolint::check(&build, self.config, &mut found);
            run::check(&build, text, &mut found);
            if has_named_contexts(path) {
                found.retain(|it| it.code != "DL3022");
            }
            ignored::check(&build, path, &mut found);
        }
        self.judge(found, &Comments::of(&file, check.unwrap_or_default()))
    }

    /// Report with the findings that are kept, each with its configured severity.
    fn judge(&self, mut found: Vec<Diagnostic>, comments: &Comments) -> Report {
        found.retain(|it| self.is_reported(it, comments));
        for it in &mut found {
            let Some(entry) = rules::entry(&it.code) else { continue };
            it.url = Some(entry.url());
            it.severity = match self.config.severities.get(&*it.code) {
                Some(severity) => *severity,
                None if comments.are_errors() && !it.code.starts_with("DL") => Severity::Error,
                None => entry.severity,
            };
        }
        found.sort_by(|a, b| (a.span.start, a.span.end, &a.code).cmp(&(b.span.start, b.span.end, &b.code)));
        found.dedup_by(|a, b| a.code == b.code && a.span.start == b.span.start && a.message == b.message);
        Report::new(found)
    }

    fn is_reported(&self, it: &Diagnostic, comments: &Comments) -> bool {
        let (code, at) = (&*it.code, it.span.start as usize);
        let is_wanted =
            self.wanted.includes(code) || (!self.wanted.is_chosen() && comments.turn_on(code, at));
        if code == rules::SYNTAX {
            return is_wanted;
        }
        let is_configured = self.is_configured(code);
        let is_ignored = !self.config.no_pragmas && comments.ignore(code, at);
        is_wanted && is_configured && !is_ignored && !comments.skip(code, at)
    }

    /// Whether hadolint's configuration leaves the rule on.
    fn is_configured(&self, code: &str) -> bool {
        let is_off = self.config.file.is_none() && rules::needs_hadolint(code);
        self.wanted.asks_for(code) || !is_off && !self.config.ignored.contains(&code)
    }
}

/// hadolint's codes in the words of this plugin.
fn own_words(settings: &Settings) -> Settings {
    let own = |it: &String| match rules::named(it) {
        codes if codes.is_empty() => vec![it.clone()],
        codes => codes.into_iter().map(str::to_owned).collect(),
    };
    Settings {
        select: settings.select.as_ref().map(|it| it.iter().flat_map(own).collect()),
        ignore: settings.ignore.iter().flat_map(own).collect(),
        ..settings.clone()
    }
}

/// Endings that make something else of `Dockerfile.*`: an ignore file, documentation, a template, another tool's file.
const OTHERS: [&str; 19] = [
    "dockerignore",
    "md",
    "rst",
    "txt",
    "j2",
    "jinja",
    "jinja2",
    "tmpl",
    "tpl",
    "template",
    "erb",
    "in",
    "json",
    "yaml",
    "yml",
    "toml",
    "nanorc",
    "vim",
    "tmPreferences",
];

fn is_dockerfile(path: &str) -> bool {
    !OTHERS.iter().any(|it| path.rsplit_once('.').is_some_and(|(_, end)| end == *it))
}

/// `Dockerfile.part` without a stage is put together with others.
fn is_part(path: &Path, file: &parse::Dockerfile) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_plain = name == "Dockerfile" || name == "Containerfile";
    !is_plain && !file.instructions.iter().any(|it| it.is("FROM"))
}

/// Why nothing can be said of a file that a template becomes: it cannot be read where a tag is outside of quotes, or where a
/// line begins with `@`.
fn template(text: &str, flaws: &[Flaw]) -> Option<String> {
    let tag = outside_of_quotes(text.as_bytes(), &Tag::UNQUOTED, flaws.iter().map(|it| it.place.start));
    let at = tag.map(|it| it.start).or_else(|| flaws.iter().find_map(|it| at_sign(text, it.place.start)))?;
    let row = text[..at].matches('\n').count() + 1;
    Some(format!("line {row} looks like a template's, and not like one of what is made of it"))
}

/// Offset of the `@` that a line begins with.
fn at_sign(text: &str, place: usize) -> Option<usize> {
    let start = text[..place].rfind('\n').map_or(0, |it| it + 1);
    let rest = text[start..].trim_start_matches([' ', '\t']);
    rest.starts_with('@').then(|| text.len() - rest.len())
}

fn syntax_error(flaw: &Flaw) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        ..Diagnostic::new(rules::SYNTAX, &flaw.message, flaw.place.clone())
    }
}
