//! Which linters take part, with which settings: for the command line and for the daemon alike.

use std::sync::Arc;

use lint::{Rule, RulePattern, suppress};
use overlay::WorkspacePath;
use plugin_host::{Configured, Plugin, Settings};

use crate::{
    CliError,
    check::SharedLinter,
    plugins::{self, Plugins},
    selectors::{Selectors, closest},
};

/// What is asked of all plugins alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Setup {
    /// Where the workspace is on the disk.
    pub(crate) root: String,
    pub(crate) select: Option<Vec<String>>,
    pub(crate) ignore: Vec<String>,
    /// Read no configuration files.
    pub(crate) isolated: bool,
    /// Read this configuration file and no other.
    pub(crate) config: Option<WorkspacePath>,
}

/// The plugins that have something to say, as linters. `servers` are the names of all language servers.
pub(crate) fn configure(
    plugins: &Plugins,
    setup: &Setup,
    servers: &[&str],
) -> Result<Vec<SharedLinter>, CliError> {
    let selectors = Selectors::parse(setup.select.as_deref(), &setup.ignore)?;
    selectors.check_linters(&[&plugins.names(), servers].concat())?;
    let selectors = selectors.without(servers);
    let configured = plugins.usable.iter().map(|it| it.configured(settings(it, setup, &selectors)));
    let configured: Vec<_> = configured.collect();
    let used = if selectors.is_empty() {
        configured
    } else {
        with_something_to_say(configured, plugins, &selectors)?
    };
    Ok(used.into_iter().map(|it| Arc::new(it) as SharedLinter).collect())
}

fn settings(plugin: &Plugin, setup: &Setup, selectors: &Selectors) -> Settings {
    let manifest = plugin.manifest();
    let selection = selectors.for_linter(&manifest.name);
    Settings {
        root: setup.root.clone(),
        select: selection.select,
        ignore: selection.ignore,
        isolated: setup.isolated,
        config: setup.config.clone().filter(|_| !manifest.config_files.is_empty()),
    }
}

/// Those linters for which something is selected. A selector that means nothing to any linter it is for
/// is an error.
fn with_something_to_say(
    configured: Vec<Configured>,
    plugins: &Plugins,
    selectors: &Selectors,
) -> Result<Vec<Configured>, CliError> {
    let names = plugins.names();
    // A plugin that cannot answer says why when it is asked about a file.
    let unknown = |it: &Configured| it.unknown_selectors().unwrap_or_default();
    let unknown: Vec<_> = names.iter().copied().zip(configured.iter().map(unknown)).collect();
    let nobodys = selectors.unknown_to_all(&unknown);
    if !nobodys.is_empty() {
        return Err(unknown_selectors(&nobodys, plugins));
    }
    let with_unknown = configured.into_iter().zip(&unknown);
    let used = with_unknown.filter(|(_, (name, unknown))| !selectors.for_linter(name).is_nothing(unknown));
    Ok(used.map(|(configured, _)| configured).collect())
}

fn unknown_selectors(nobodys: &[String], plugins: &Plugins) -> CliError {
    let quoted: Vec<_> = nobodys.iter().map(|it| format!("`{it}`")).collect();
    let what = if nobodys.len() == 1 { "selector" } else { "selectors" };
    let error = CliError::usage(format!("unknown rule {what} {}", quoted.join(", ")));
    let first = &nobodys[0];
    if plugins.find(first).is_some() {
        return error.hint(format!("did you mean `{first}/ALL`?"));
    }
    let (prefix, rule) = first.split_once('/').map_or((None, first.as_str()), |(it, rule)| (Some(it), rule));
    let asked = plugins.usable.iter().filter(|it| prefix.is_none_or(|name| it.manifest().name == name));
    let rules: Vec<_> = asked.filter_map(|it| plugins::rules(it).ok()).flatten().collect();
    let words = rules.iter().flat_map(|it| [it.code.as_str(), it.name.as_str()]);
    let close = closest(rule, words).map(|it| match prefix {
        Some(prefix) => format!("did you mean `{prefix}/{it}`?"),
        None => format!("did you mean `{it}`?"),
    });
    error.maybe_hint(close)
}

/// Of the rules that configuration files name, those that nobody has: one sentence for each.
///
/// Says nothing if a plugin cannot say what it has.
pub(crate) fn unknown_rules<'n>(
    named: impl IntoIterator<Item = &'n (WorkspacePath, RulePattern)>,
    plugins: &Plugins,
) -> Vec<String> {
    let mut named = named.into_iter().peekable();
    if named.peek().is_none() {
        return Vec::new();
    }
    let Some(rules) = all_rules(plugins) else { return Vec::new() };
    let is_known =
        |it: &RulePattern| rules.iter().any(|(of, rule)| it.matches(of, &rule.code, Some(&rule.name)));
    let unknown = named.filter(|(_, rule)| !is_known(rule));
    unknown
        .map(|(file, rule)| {
            let close = closest_rule(&rule.to_string(), &rules);
            let close = close.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
            format!("{file}: no rule is called `{rule}`, of which `severity` tells{close}")
        })
        .collect()
}

/// Every rule with the name of its linter, those of Broker itself among them.
fn all_rules(plugins: &Plugins) -> Option<Vec<(String, Rule)>> {
    if !plugins.broken.is_empty() {
        return None;
    }
    let mut all: Vec<_> = suppress::rules().into_iter().map(|it| (suppress::LINTER.to_owned(), it)).collect();
    for plugin in &plugins.usable {
        let rules = plugins::rules(plugin).ok()?;
        all.extend(rules.into_iter().map(|it| (plugin.manifest().name.clone(), it)));
    }
    Some(all)
}

/// What `named` may be a slip of, with a linter before it if it has one.
fn closest_rule(named: &str, rules: &[(String, Rule)]) -> Option<String> {
    let words = |rule: &Rule| [rule.code.clone(), rule.name.clone()].into_iter().filter(|it| !it.is_empty());
    let words: Vec<_> = match named.contains('/') {
        true => rules.iter().flat_map(|(of, it)| words(it).map(move |it| format!("{of}/{it}"))).collect(),
        false => rules.iter().flat_map(|(_, it)| words(it)).collect(),
    };
    closest(named, words.iter().map(String::as_str)).map(str::to_owned)
}
