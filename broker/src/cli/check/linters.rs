//! Which linters take part, with which settings.

use std::sync::Arc;

use lint::Rule;
use plugin_host::{Configured, Plugin, Settings};

use super::{Args, input::Input};
use crate::{
    CliError,
    check::SharedLinter,
    cli::Session,
    plugins::{self, Plugins},
    selectors::{Selectors, closest},
};

pub(super) struct Linters {
    pub(super) used: Vec<SharedLinter>,
    pub(super) plugins: Plugins,
}

impl Linters {
    pub(super) fn of(
        args: &Args,
        input: &Input,
        session: &Session,
        instances: usize,
    ) -> Result<Self, CliError> {
        let selectors = Selectors::parse(args.select.as_deref(), &args.ignore)?;
        let plugins = session.loader.load(&args.plugins, instances)?;
        selectors.check_linters(&plugins.names())?;
        let configured: Vec<_> =
            plugins.usable.iter().map(|it| it.configured(settings(it, args, input, &selectors))).collect();
        let used = if selectors.is_empty() {
            configured
        } else {
            with_something_to_say(configured, &plugins, &selectors)?
        };
        Ok(Self { used: used.into_iter().map(|it| Arc::new(it) as SharedLinter).collect(), plugins })
    }

    /// Every rule of a linter that takes part; none if it cannot say.
    pub(super) fn rules(&self, name: &str) -> Vec<Rule> {
        let linter = self.used.iter().find(|it| it.identity().name == name);
        linter.and_then(|it| it.rules().ok()).unwrap_or_default()
    }
}

fn settings(plugin: &Plugin, args: &Args, input: &Input, selectors: &Selectors) -> Settings {
    let manifest = plugin.manifest();
    let selection = selectors.for_linter(&manifest.name);
    Settings {
        root: input.workspace.root().to_string_lossy().into_owned(),
        select: selection.select,
        ignore: selection.ignore,
        isolated: args.isolated,
        config: input.config.clone().filter(|_| !manifest.config_files.is_empty()),
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
