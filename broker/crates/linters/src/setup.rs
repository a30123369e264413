//! Which linters take part, with which settings: for the command line and for the daemon alike.

use std::sync::Arc;

use checker::{Absent, SharedLinter};
use config::{Selectors, SetupFailure, closest, closest_linter, nearest, with_slash};
use lint::{Linter as _, Rule, RulePattern, suppress};
use overlay::{View, WorkspacePath};
use plugin_host::{Configured, Plugin, Settings};

use crate::plugins::{self, Plugins, Shown};

/// What is asked of all plugins alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Setup {
    /// Where the workspace is on the disk.
    pub root: String,
    pub select: Option<Vec<String>>,
    pub ignore: Vec<String>,
    /// Read no configuration files.
    pub isolated: bool,
    /// Read this configuration file and no other.
    pub config: Option<WorkspacePath>,
}

/// The linters that are asked.
pub struct Asked {
    pub linters: Vec<SharedLinter>,
    /// Those of which nothing is selected.
    pub absent: Vec<Absent>,
}

/// The plugins that have something to say of the workspace that `view` shows, as linters. All that this depends on in the
/// workspace is read through `view`. `servers` are the names of all
/// language servers.
pub fn configure(
    plugins: &Plugins,
    setup: &Setup,
    servers: &[&str],
    view: &Arc<dyn View>,
) -> Result<Asked, SetupFailure> {
    let selectors = Selectors::parse(setup.select.as_deref(), &setup.ignore)?;
    // What cannot be used is told as that, not as unknown.
    let broken = plugins.broken.iter().filter_map(|it| it.linter.as_deref());
    let others: Vec<_> = servers.iter().copied().chain(broken).collect();
    let servers = others.as_slice();
    selectors.check_linters(&plugins.names(), servers)?;
    let selectors = selectors.without(servers);
    let configured = plugins.usable.iter().map(|it| it.configured(settings(plugins, it, setup, &selectors)));
    let configured: Vec<_> = configured.collect();
    let (used, unselected) = if selectors.are_none() {
        (configured, Vec::new())
    } else {
        let shown = Shown { root: &setup.root, view };
        with_something_to_say(configured, plugins, &selectors, servers, shown)?
    };
    let has_needs = |it: &Configured| has_what_it_needs(it.plugin(), &**view);
    let linters = used.into_iter().filter(has_needs).map(|it| Arc::new(it) as SharedLinter).collect();
    let absent = |globs: &[String]| Absent { globs: globs.to_vec(), has_own_rules: false };
    let unselected = unselected.iter().filter(|it| has_needs(it)).map(|it| absent(&it.interest().globs));
    // What a plugin that cannot be used would look at is not known.
    let broken = plugins.broken.iter().map(|_| absent(&["*".to_owned()]));
    Ok(Asked { linters, absent: unselected.chain(broken).collect() })
}

fn has_what_it_needs(plugin: &Plugin, view: &dyn View) -> bool {
    let needs = &plugin.manifest().needs;
    needs.is_empty() || needs.iter().any(|it| view.metadata(it).is_ok())
}

fn settings(plugins: &Plugins, plugin: &Plugin, setup: &Setup, selectors: &Selectors) -> Settings {
    let manifest = plugin.manifest();
    let selection = selectors.for_linter(&manifest.name);
    Settings {
        root: setup.root.clone(),
        select: selection.select,
        ignore: selection.ignore,
        isolated: setup.isolated,
        config: setup.config.clone().filter(|_| !manifest.config_files.is_empty()),
        environment: plugins.environment(plugin),
    }
}

/// Those linters for which something is selected, and the others. A selector that means nothing to any linter
/// it is for is an error.
fn with_something_to_say(
    configured: Vec<Configured>,
    plugins: &Plugins,
    selectors: &Selectors,
    servers: &[&str],
    shown: Shown<'_>,
) -> Result<(Vec<Configured>, Vec<Configured>), SetupFailure> {
    let names = plugins.names();
    // A plugin that cannot answer says why when it is asked about a file.
    let unknown = |it: &Configured| it.unknown_selectors(shown.view).unwrap_or_default();
    let unknown: Vec<_> = names.iter().copied().zip(configured.iter().map(unknown)).collect();
    let nobodys = selectors.unknown_to_all(&unknown);
    if !nobodys.is_empty() {
        return Err(unknown_selectors(&nobodys, plugins, servers, shown));
    }
    let has_something: Vec<_> =
        unknown.iter().map(|(name, unknown)| !selectors.for_linter(name).is_nothing(unknown)).collect();
    let mut each = has_something.into_iter();
    Ok(configured.into_iter().partition(|_| each.next().unwrap_or_default()))
}

fn unknown_selectors(
    nobodys: &[String],
    plugins: &Plugins,
    servers: &[&str],
    shown: Shown<'_>,
) -> SetupFailure {
    let quoted: Vec<_> = nobodys.iter().map(|it| format!("`{it}`")).collect();
    let what = if nobodys.len() == 1 { "selector" } else { "selectors" };
    let error = SetupFailure::new(format!("unknown rule {what} {}", quoted.join(", ")));
    let first = &nobodys[0];
    let names = [&plugins.names(), servers].concat();
    if names.contains(&first.as_str()) {
        return error.hint(format!("did you mean `{first}/ALL`?"));
    }
    if let Some(meant) = with_slash(first, names.iter().copied()) {
        return error.hint(format!("did you mean `{meant}`?"));
    }
    let (prefix, rule) = first.split_once('/').map_or((None, first.as_str()), |(it, rule)| (Some(it), rule));
    let asked = plugins.usable.iter().filter(|it| prefix.is_none_or(|name| it.manifest().name == name));
    let rules: Vec<_> = asked.filter_map(|it| plugins::rules(it, shown).ok()).flatten().collect();
    let words =
        || rules.iter().flat_map(|it| [it.code.as_str(), it.name.as_str()]).filter(|it| !it.is_empty());
    error.hint(match (closest(rule, words()), prefix) {
        (Some(close), Some(prefix)) => format!("did you mean `{prefix}/{close}`?"),
        (Some(close), None) => format!("did you mean `{close}`?"),
        (None, Some(prefix)) => match nearest(rule, words()) {
            Some(nearest) => format!("the nearest of its rules is `{prefix}/{nearest}`"),
            None => format!("`broker plugins` says what `{prefix}` is"),
        },
        (None, None) => format!("a language server's rule has its name before it: `SERVER/{rule}`"),
    })
}

/// The language servers that there could be. None of them says which rules it has.
#[derive(Clone, Copy)]
pub struct ServerNames<'n> {
    pub all: &'n [&'n str],
    /// Whether any of them is for the workspace.
    pub are_wanted: bool,
}

/// Of the rules that configuration files name, those that nobody has: one sentence for each.
///
/// Says nothing if a plugin cannot say what it has.
pub fn unknown_rules<'n>(
    named: impl IntoIterator<Item = &'n (WorkspacePath, RulePattern)>,
    plugins: &Plugins,
    servers: ServerNames<'_>,
    shown: Shown<'_>,
) -> Vec<String> {
    let mut named = named.into_iter().peekable();
    if named.peek().is_none() {
        return Vec::new();
    }
    let Some(rules) = all_rules(plugins, shown) else { return Vec::new() };
    let unknown = named.filter(|(_, rule)| !may_be_known(rule, &rules, servers));
    unknown
        .map(|(file, rule)| {
            let close = meant(&rule.to_string(), &rules, servers.all);
            let close = close.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
            format!("{file}: no rule is called `{rule}`, of which `severity` tells{close}")
        })
        .collect()
}

/// What nobody knows may be a language server's, unless it looks like a slip.
fn may_be_known(it: &RulePattern, rules: &[(String, Rule)], servers: ServerNames<'_>) -> bool {
    if rules.iter().any(|(of, rule)| it.matches(of, &rule.code, Some(&rule.name))) {
        return true;
    }
    match it.linter() {
        Some(linter) => servers.all.contains(&linter),
        None => servers.are_wanted && !is_slip(&it.to_string(), rules, servers.all),
    }
}

/// Of a code. Names in words are alike where nobody slipped.
fn is_slip(text: &str, rules: &[(String, Rule)], servers: &[&str]) -> bool {
    with_slash(text, names(rules, servers)).is_some()
        || is_prefix(text, rules)
        || closest(text, codes(rules)).is_some()
}

fn codes(rules: &[(String, Rule)]) -> impl Iterator<Item = &str> {
    rules.iter().filter(|(_, it)| it.code != it.name).map(|(_, it)| it.code.as_str())
}

/// Whether it would mean something as a selector, or with a star.
fn is_prefix(text: &str, rules: &[(String, Rule)]) -> bool {
    codes(rules).any(|it| it.starts_with(text))
}

/// Of all linters; some more than once.
fn names<'n>(rules: &'n [(String, Rule)], servers: &'n [&str]) -> impl Iterator<Item = &'n str> + Clone {
    rules.iter().map(|(of, _)| of.as_str()).chain(servers.iter().copied())
}

/// Every rule with the name of its linter, those of Broker itself among them.
fn all_rules(plugins: &Plugins, shown: Shown<'_>) -> Option<Vec<(String, Rule)>> {
    if !plugins.broken.is_empty() {
        return None;
    }
    let mut all: Vec<_> = suppress::rules().into_iter().map(|it| (suppress::LINTER.to_owned(), it)).collect();
    for plugin in &plugins.usable {
        let rules = plugins::rules(plugin, shown).ok()?;
        all.extend(rules.into_iter().map(|it| (plugin.manifest().name.clone(), it)));
    }
    Some(all)
}

/// What `named` may be a slip of, with a linter before it if it has one.
fn meant(named: &str, rules: &[(String, Rule)], servers: &[&str]) -> Option<String> {
    let words = |rule: &Rule| [rule.code.clone(), rule.name.clone()].into_iter().filter(|it| !it.is_empty());
    let Some((linter, rule)) = named.split_once('/') else {
        if is_prefix(named, rules) {
            return Some(format!("{named}*"));
        }
        let words: Vec<_> = rules.iter().flat_map(|(_, it)| words(it)).collect();
        let close = || closest(named, words.iter().map(String::as_str)).map(str::to_owned);
        return with_slash(named, names(rules, servers)).or_else(close);
    };
    let words: Vec<_> =
        rules.iter().flat_map(|(of, it)| words(it).map(move |it| format!("{of}/{it}"))).collect();
    let close = closest(named, words.iter().map(String::as_str)).map(str::to_owned);
    close.or_else(|| Some(format!("{}/{rule}", closest_linter(linter, servers.iter().copied())?)))
}

#[cfg(test)]
mod tests {
    use lint::FixAvailability;

    use super::*;

    fn rules() -> Vec<(String, Rule)> {
        let rule = |linter: &str, code: &str, name: &str| {
            let rule = Rule {
                code: code.to_owned(),
                name: name.to_owned(),
                summary: String::new(),
                explanation: String::new(),
                url: None,
                fix: FixAvailability::None,
                default: true,
            };
            (linter.to_owned(), rule)
        };
        vec![rule("python", "F401", "unused-import"), rule("text", "private-key", "private-key")]
    }

    /// What is told of a rule that `severity` names, where language servers are asked and where not.
    fn doubts(named: &str) -> [Option<String>; 2] {
        let rules = rules();
        [true, false].map(|are_wanted| {
            let servers = ServerNames { all: &["ty", "pyright"], are_wanted };
            let is_known = may_be_known(&named.parse().unwrap(), &rules, servers);
            (!is_known).then(|| meant(named, &rules, servers.all).unwrap_or_default())
        })
    }

    #[test]
    fn any_rule_may_be_that_of_a_server() {
        let meant = |it: &str| Some(it.to_owned());
        for known in ["F401", "python/unused-import", "F4*", "ty/unresolved-reference", "pyright/*"] {
            assert_eq!(doubts(known), [None, None], "{known}");
        }
        assert_eq!(doubts("reportMissingImports"), [None, meant("")]);
        assert_eq!(
            doubts("unusd-import"),
            [None, meant("unused-import")],
            "they may have names of that kind"
        );
        assert_eq!(doubts("F4O1"), [meant("F401"), meant("F401")]);
        assert_eq!(doubts("F4"), [meant("F4*"), meant("F4*")]);
        assert_eq!(doubts("ty:some"), [meant("ty/some"), meant("ty/some")]);
        assert_eq!(doubts("tyy/some"), [meant("ty/some"), meant("ty/some")]);
        assert_eq!(doubts("python/F4O1"), [meant("python/F401"), meant("python/F401")]);
    }
}
