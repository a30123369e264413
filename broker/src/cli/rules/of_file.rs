//! `broker rule list --file`

use std::{collections::BTreeMap, path::Path, slice, sync::Arc};

use check_engine::with_file_settings;
use config::{Choice, Configs, Effective, RuleLevel, root::WorkspaceRoot};
use lint::{Because, Rule, counted, printable};
use linters::{
    Catalogs, LinterSet, Provider, Rules, WorkspaceContext, native::external, plugins::PluginProvider,
    servers::Servers,
};
use overlay::{Disk, View, WalkOptions, WorkspacePath};
use serde::Serialize;

use super::{Args, Known, Row, exit};
use crate::{CliError, Exit, cli::Session};

/// A rule of a linter that looks at the file.
#[derive(Serialize)]
struct FileRow<'a> {
    #[serde(flatten)]
    row: Row<'a>,
    enabled: bool,
    /// Setting that turns the rule on or off; `None` if it is off since nothing turns it on.
    because: Option<String>,
    /// Severity that `broker.toml` gives it.
    severity: Option<&'static str>,
}

/// A file with all that says which rules are on for it.
struct Asked {
    view: Arc<dyn View>,
    path: WorkspacePath,
    linters: Arc<Catalogs>,
    effective: Arc<Effective>,
    /// Whether `broker.toml` leaves the file out, unless it is named.
    is_excluded: bool,
    /// The configuration files that say something of a key.
    said: BTreeMap<String, String>,
}

/// Rules that linters turn on, by linter, with each rule's reason by its code.
type Enabled = BTreeMap<String, BTreeMap<String, Because>>;

pub(super) fn run(args: &Args, file: &Path, session: &mut Session) -> Result<Exit, CliError> {
    let asked = Asked::new(args, file, session)?;
    let choice = &asked.effective.choice;
    let (mut enabled, open) = asked.enabled(choice)?;
    // A linter that is not asked has all rules off.
    for name in asked.enabled(&Choice::default())?.0.into_keys() {
        enabled.entry(name).or_default();
    }
    // Rules that are ignored would be on without the `ignore` entry.
    let unignored = Choice { ignore: Vec::new(), ..choice.clone() };
    let before = if unignored == *choice { enabled.clone() } else { asked.enabled(&unignored)?.0 };
    let known = asked.rules(enabled.keys())?;
    let known = args.named(known, &format!(" of a linter that looks at {}", shown(file)))?;
    let mut rows: Vec<_> = known.iter().map(|it| asked.row(it, &enabled[&it.0], &before)).collect();
    let summary = summary(file, &rows, &open);
    let is_listed = args.all || !args.rules.is_empty();
    rows.retain(|it| it.enabled || is_listed);
    session.print(&if args.is_json() { super::super::json(&rows) } else { table(&rows) })?;
    session.messages.line(&summary);
    if asked.is_excluded {
        session.messages.line("`exclude` in `[files]` leaves it out, unless it is named.");
    }
    Ok(exit(&asked.linters, session))
}

impl Asked {
    fn new(args: &Args, file: &Path, session: &Session) -> Result<Self, CliError> {
        let home = session.process_context.home.clone();
        let (workspace, path) = WorkspaceRoot::of_future_path(&session.cwd()?, file, home.as_deref())?;
        let root = workspace.root();
        let view: Arc<dyn View> = Arc::new(Disk::new(root)?);
        let plugins = PluginProvider::new(session.loader().load(&args.plugins.plugin, 1)?);
        let mut providers: Vec<Arc<dyn Provider>> = vec![Arc::new(plugins)];
        providers.extend(external(&Servers::of_user()));
        let context = WorkspaceContext::of_shell(root, Arc::clone(&view));
        let linters = LinterSet::new(providers, context, Choice::default()).at(&view)?;
        let configs = Configs::new(&*view);
        let effective = configs.for_file(&path)?;
        // The last that says something is the one that counts.
        let said = configs.show(&path)?.values.into_iter();
        let said = said.filter_map(|it| Some((it.key, it.file?.to_string()))).collect();
        let options =
            with_file_settings(&WalkOptions { force_excludes: true, ..WalkOptions::default() }, &*view);
        let is_excluded = options.visited_roots(slice::from_ref(&path)).next().is_none();
        Ok(Self { view, path, linters, effective, is_excluded, said })
    }

    /// Lists all rules of these linters.
    fn rules<'n>(&self, linters: impl Iterator<Item = &'n String>) -> Result<Vec<Known>, CliError> {
        let mut known = Vec::new();
        for name in linters {
            let rules = self.linters.rules(name)?.map(Rules::listed).unwrap_or_default();
            known.extend(rules.into_iter().map(|rule| (name.clone(), rule)));
        }
        Ok(known)
    }

    /// The rules that are on where this is chosen, and the linters that list none.
    fn enabled(&self, choice: &Choice) -> Result<(Enabled, Vec<String>), CliError> {
        let (mut enabled, mut open) = (Enabled::new(), Vec::new());
        for linter in self.linters.router(choice)?.linters_for(&*self.view, &self.path) {
            let name = linter.identity().name.clone();
            let rules = linter.enabled_rules(&self.view, &self.path);
            match rules.map_err(|error| CliError::plugin(error.message))? {
                Some(rules) => {
                    let rules = rules.into_iter().map(|it| (it.code, it.because)).collect();
                    enabled.insert(name, rules);
                }
                None => open.push(name),
            }
        }
        Ok((enabled, open))
    }

    fn row<'a>(&self, known: &'a Known, on: &BTreeMap<String, Because>, before: &Enabled) -> FileRow<'a> {
        let (linter, rule) = known;
        let name = Some(&*rule.name).filter(|it| !it.is_empty());
        let level = self.effective.severities.level(linter, &rule.code, name);
        let is_off = level == Some(RuleLevel::Off);
        let because = match on.get(&rule.code) {
            Some(_) if is_off => Some(self.said_in(|it| it.starts_with("severity."), "severity")),
            Some(Because::Default) => Some("default".to_owned()),
            Some(Because::Configured(file)) => Some(file.clone()),
            Some(Because::Selected) => Some(self.selected()),
            None => self.why_off(rule, on, before.get(linter)),
        };
        FileRow {
            row: Row::of(known),
            enabled: on.contains_key(&rule.code) && !is_off,
            because,
            severity: level.and_then(RuleLevel::severity).map(|it| it.name()),
        }
    }

    fn why_off(
        &self,
        rule: &Rule,
        on: &BTreeMap<String, Because>,
        before: Option<&BTreeMap<String, Because>>,
    ) -> Option<String> {
        if before.is_some_and(|it| it.contains_key(&rule.code)) {
            return Some(self.said_in(|it| it == "ignore", "ignore"));
        }
        let choice = &self.effective.choice;
        if choice.select.is_some() && !choice.is_extension() {
            return Some(self.selected());
        }
        // A linter that is configured says so of what it has on.
        let file = on.values().find_map(|it| match it {
            Because::Configured(file) => Some(file.clone()),
            _ => None,
        });
        file.or_else(|| (!rule.default).then(|| "default".to_owned()))
    }

    /// `select in broker.toml`
    fn selected(&self) -> String {
        let is_extended = self.effective.choice.is_extension();
        let key =
            if is_extended && self.said.contains_key("extend-select") { "extend-select" } else { "select" };
        self.said_in(|it| it == key, key)
    }

    fn said_in(&self, is_it: impl Fn(&str) -> bool, key: &str) -> String {
        let file = self.said.iter().find(|(key, _)| is_it(key)).map_or("broker.toml", |(_, file)| file);
        format!("{key} in {file}")
    }
}

/// Rule, whether it can be fixed, what turns it on, and its name. Those that are off say so.
fn table(rows: &[FileRow<'_>]) -> String {
    let because = |it: &FileRow<'_>| {
        let because = it.because.as_deref().unwrap_or("nothing turns it on");
        let severity = it.severity.filter(|_| it.enabled).map(|it| format!(", {it}")).unwrap_or_default();
        format!("{}{}{severity}", if it.enabled { "" } else { "off: " }, printable(because))
    };
    let width = rows.iter().map(|it| it.row.rule.len()).max().unwrap_or_default();
    let second = rows.iter().map(|it| because(it).chars().count()).max().unwrap_or_default();
    let line = |it: &FileRow<'_>| {
        let fix = if it.row.fix == "none" { "   " } else { "[*]" };
        format!("{:width$}  {fix}  {:second$}  {}\n", it.row.rule, because(it), it.row.title())
    };
    rows.iter().map(line).collect()
}

fn shown(file: &Path) -> String {
    printable(&file.display().to_string()).into_owned()
}

/// `app.py: 58 of 952 rules of python are on, 5 of 5 of text. Asked as well, without a list of rules: ty.`
fn summary(file: &Path, rows: &[FileRow<'_>], open: &[String]) -> String {
    // Number of rules that are on, and number of all, by linter.
    let mut counts = BTreeMap::<&str, (usize, usize)>::new();
    for it in rows {
        let (on, all) = counts.entry(it.row.linter()).or_default();
        (*on, *all) = (*on + usize::from(it.enabled), *all + 1);
    }
    let mut counts = counts.into_iter();
    let shown = shown(file);
    let mut text = match counts.next() {
        None => format!("{shown}: no linter that lists its rules looks at it"),
        Some((name, (on, all))) => {
            let is = if on == 1 { "is" } else { "are" };
            format!("{shown}: {on} of {} of {name} {is} on", counted(all, "rule"))
        }
    };
    counts.for_each(|(name, (on, all))| text += &format!(", {on} of {all} of {name}"));
    text += ".";
    if !open.is_empty() {
        text += &format!(" Asked as well, without a list of rules: {}.", open.join(", "));
    }
    text
}
