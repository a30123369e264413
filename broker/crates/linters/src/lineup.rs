//! Which linters are asked about which file of a workspace, and which rules they have.
//!
//! The one place that decides it, for the command line and the daemon alike. Knows kinds of linters only as [`Provider`].

mod unknown;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

use check_engine::{Absent, Files, Incomplete, MissingLinter, Need, Router};
use config::{Choice, Configs, EffectiveValue, Selectors, SetupFailure};
use lint::{Cancel, Rule, RulePattern, suppress};
use overlay::{View, WorkspacePath};
use parking_lot::Mutex;

use self::unknown::Known;
use crate::{
    provider::{
        Catalog, Diagnosis, LinterKind, LinterName, Provider, RuleSet, Rules, Selected, WorkspaceContext,
    },
    tools::with_version,
};

/// The linters of a workspace, of which a request asks for some.
pub struct LinterSet {
    providers: Vec<Arc<dyn Provider>>,
    context: Arc<WorkspaceContext>,
    requested: Choice,
    /// Kinds of the linters that are asked; empty for all kinds.
    kinds: Vec<LinterKind>,
    /// The views that were asked about last, since each is asked about several times.
    last: Mutex<Vec<Seen>>,
}

/// A comparison asks about two views, and about the folder that both lie over.
const VIEWS: usize = 3;

/// A view with its linters.
type Seen = (Arc<dyn View>, Arc<Catalogs>);

/// The linters of one state of a workspace.
pub struct Catalogs {
    /// One catalog of each provider.
    catalogs: Vec<Box<dyn Catalog>>,
    /// For each catalog, whether the request asks for linters of its kind.
    are_asked: Vec<bool>,
    /// Linters whose tool is not there as it is pinned.
    missing: Vec<MissingLinter>,
    /// View whose files may name versions of tools; `None` if no configuration counts.
    disk: Option<Arc<dyn View>>,
    /// Made when first needed: most files are asked about in the same way.
    routers: Mutex<BTreeMap<Choice, Arc<Router>>>,
}

impl LinterSet {
    /// Linters of these providers. A `select` of `requested` replaces the configuration's whole choice, as with ruff, unless it
    /// extends that; `ignore` of `requested` is added to it.
    pub fn new(providers: Vec<Arc<dyn Provider>>, context: WorkspaceContext, requested: Choice) -> Self {
        let (kinds, last) = (Vec::new(), Mutex::default());
        Self { providers, context: Arc::new(context), requested, kinds, last }
    }

    /// Returns the same set, which asks only linters of these kinds, if any are given. The others are known, and neither asked
    /// nor missed.
    #[must_use]
    pub fn of_kinds(mut self, kinds: Vec<LinterKind>) -> Self {
        self.kinds = kinds;
        self
    }

    /// The linters of the workspace as `view` shows it. Blocks: configuration is read.
    pub fn at(&self, view: &Arc<dyn View>) -> Result<Arc<Catalogs>, SetupFailure> {
        let last = || self.last.lock();
        if let Some((_, known)) = last().iter().find(|(of, _)| Arc::ptr_eq(of, view)) {
            return Ok(Arc::clone(known));
        }
        let catalogs = Arc::new(self.open(view)?);
        let mut last = last();
        last.truncate(VIEWS - 1);
        last.insert(0, (Arc::clone(view), Arc::clone(&catalogs)));
        Ok(catalogs)
    }

    fn open(&self, view: &Arc<dyn View>) -> Result<Catalogs, SetupFailure> {
        let catalogs = self.providers.iter().map(|it| it.open(&self.context, view));
        let is_asked = |it: &Arc<dyn Provider>| self.kinds.is_empty() || self.kinds.contains(&it.kind());
        let asks_tools = self.kinds.is_empty() || self.kinds.iter().any(|it| *it != LinterKind::Plugin);
        let missing = self.context.missing.iter().filter(|_| asks_tools && !self.context.isolated);
        Ok(Catalogs {
            missing: missing.cloned().collect(),
            disk: (!self.context.isolated).then(|| Arc::clone(&self.context.disk)),
            catalogs: catalogs.collect::<Result<_, _>>()?,
            are_asked: self.providers.iter().map(is_asked).collect(),
            routers: Mutex::default(),
        })
    }
}

impl check_engine::pipeline::Lineup for LinterSet {
    fn route(&self, view: &Arc<dyn View>, files: &Files) -> Result<Arc<Router>, SetupFailure> {
        let configs = if self.context.isolated { Configs::isolated() } else { Configs::new(&**view) };
        self.at(view)?.route(files, &self.requested, &configs)
    }

    fn rules(&self, view: &Arc<dyn View>, linter: &str) -> Vec<Rule> {
        self.at(view).map(|it| it.known_rules(linter)).unwrap_or_default()
    }
}

impl Catalogs {
    /// The linters for these files: of each those that its configuration and the request ask for.
    fn route(
        &self,
        files: &Files,
        requested: &Choice,
        configs: &Configs<'_>,
    ) -> Result<Arc<Router>, SetupFailure> {
        if requested.select.is_some() && !requested.is_extension() {
            return self.router(requested);
        }
        let mut groups: BTreeMap<Choice, Vec<WorkspacePath>> = BTreeMap::new();
        for (choice, units) in configs.by_choice(&files.units)? {
            let paths = units.into_iter().map(|it| it.path);
            groups.entry(choice.with(requested)).or_default().extend(paths);
        }
        let mut routers = Vec::new();
        for (choice, paths) in groups {
            let router = self.router(&choice);
            let router = router.map_err(|error| match paths.first() {
                // The request's own selectors were understood before, so the error is the configuration's.
                Some(path) if choice != *requested => blame(error, configs, path),
                _ => error,
            })?;
            routers.push((router, paths));
        }
        match routers.len() {
            0 => self.router(requested),
            1 => Ok(routers.swap_remove(0).0),
            _ => Ok(Arc::new(Router::grouped(routers))),
        }
    }

    /// The linters that are asked where this is selected. A selector that means nothing to any linter is an error.
    pub fn router(&self, choice: &Choice) -> Result<Arc<Router>, SetupFailure> {
        let routers = || self.routers.lock();
        if let Some(known) = routers().get(choice) {
            return Ok(Arc::clone(known));
        }
        // Without the lock: two that ask at once find the same.
        let router = self.selected(&Selectors::parse(choice.select.as_deref(), &choice.ignore)?)?;
        routers().insert(choice.clone(), Arc::clone(&router));
        Ok(router)
    }

    fn selected(&self, selectors: &Selectors) -> Result<Arc<Router>, SetupFailure> {
        let selected = self.of_asked(true).map(|it| it.select(selectors));
        let selected = selected.collect::<Result<Vec<_>, _>>()?;
        // Without a selector, none can be unknown.
        if !selectors.is_empty() {
            self.expect_known(selectors, &selected)?;
        }
        let replaced = self.catalogs.iter().map(|it| it.replaced(selectors));
        let replaced = replaced.collect::<Result<Vec<_>, _>>()?.concat();
        let mut routers: Vec<_> = selected.into_iter().map(|it| it.router).collect();
        routers.extend(self.left_out()?);
        let is_asked =
            |it: &&MissingLinter| it.need == Need::Missing || selectors.for_server(&it.linter).is_some();
        let missing = self.missing.iter().filter(is_asked);
        let (mut known, others): (Vec<_>, Vec<_>) =
            missing.cloned().partition(|it| routers.iter().any(|router| router.misses(&it.linter)));
        known.extend(routers.iter().flat_map(|it| it.missing()).filter_map(|it| self.versioned(it)));
        if !known.is_empty() {
            routers = routers.iter().map(|it| Arc::new(Router::clone(it).explained(&known))).collect();
        }
        routers.push(Arc::new(Router::new(&[]).with_missing(others)));
        routers.retain(|it| !it.is_empty());
        Ok(match routers.len() {
            1 if replaced.is_empty() => routers.swap_remove(0),
            _ => Arc::new(Router::joined(&routers).replacing(&replaced)),
        })
    }

    /// Entry of a linter whose tool is added at the version that the project's files name.
    fn versioned(&self, missing: &MissingLinter) -> Option<MissingLinter> {
        let reason = with_version(&missing.reason, &**self.disk.as_ref()?)?;
        Some(MissingLinter { reason, ..missing.clone() })
    }

    /// Catalogs whose kind is asked, or the others.
    fn of_asked(&self, is_asked: bool) -> impl Iterator<Item = &dyn Catalog> {
        let all = self.catalogs.iter().zip(&self.are_asked);
        all.filter(move |(_, it)| **it == is_asked).map(|(catalog, _)| &**catalog)
    }

    /// Routers for the kinds that are left out. They list linters that could be asked as absent: what these would find is not
    /// known.
    fn left_out(&self) -> Result<Vec<Arc<Router>>, SetupFailure> {
        let nothing = Selectors::nothing();
        let absent = |it: &dyn Catalog| -> Result<_, SetupFailure> {
            let absent: Vec<Absent> = it.select(&nothing)?.router.absent().to_vec();
            Ok(Arc::new(Router::new(&[]).without(absent)))
        };
        self.of_asked(false).map(absent).collect()
    }

    /// Fails for a selector that means nothing to any linter, also to one whose kind is left out.
    fn expect_known(&self, selectors: &Selectors, selected: &[Selected]) -> Result<(), SetupFailure> {
        let names = self.names()?;
        let (known, open) = (named(&names, RuleSet::Known), named(&names, RuleSet::Open));
        selectors.check_linters(&known, &open)?;
        let listed = selectors.clone().without(&open);
        let mut unknown: Vec<_> = selected.iter().flat_map(|it| it.unknown.clone()).collect();
        if !listed.unknown_to_all(&borrowed(&unknown)).is_empty() {
            for others in self.of_asked(false) {
                unknown.extend(others.select(selectors)?.unknown);
            }
        }
        let nobodys = listed.unknown_to_all(&borrowed(&unknown));
        match nobodys.is_empty() {
            true => Ok(()),
            false => Err(Known { names: &names, rules: self.listed(&nobodys, &known) }.no_rule(&nobodys)),
        }
    }

    /// Every linter that there could be, by provider.
    pub fn names(&self) -> Result<Vec<LinterName>, SetupFailure> {
        let names = self.catalogs.iter().map(|it| it.names()).collect::<Result<Vec<_>, _>>()?;
        Ok(names.into_iter().flatten().collect())
    }

    /// The names of all that list their rules, Broker itself first.
    pub fn listing(&self) -> Result<Vec<String>, SetupFailure> {
        let names = self.names()?;
        let listing = std::iter::once(suppress::LINTER).chain(named(&names, RuleSet::Known));
        Ok(listing.map(str::to_owned).collect())
    }

    /// Every rule of a linter, Broker's own of suppression comments among them; `None` if there is no linter of this name.
    pub fn rules(&self, linter: &str) -> Result<Option<Rules>, SetupFailure> {
        if linter == suppress::LINTER {
            return Ok(Some(Rules::Known(suppress::rules())));
        }
        for catalog in &self.catalogs {
            if let Some(rules) = catalog.rules(linter)? {
                return Ok(Some(rules));
            }
        }
        Ok(None)
    }

    /// The rules of a linter as far as it lists them.
    pub fn known_rules(&self, linter: &str) -> Vec<Rule> {
        self.rules(linter).ok().flatten().map(Rules::listed).unwrap_or_default()
    }

    /// The rules that one of the `selectors` may have meant.
    fn listed(&self, selectors: &[String], linters: &[&str]) -> Vec<(String, Rule)> {
        let prefix = selectors.first().and_then(|it| it.split_once('/')).map(|(prefix, _)| prefix);
        let asked = linters.iter().filter(|it| prefix.is_none_or(|prefix| prefix == **it));
        asked
            .flat_map(|name| self.known_rules(name).into_iter().map(|rule| ((*name).to_owned(), rule)))
            .collect()
    }

    /// One sentence for each rule that configuration files name and no linter has.
    ///
    /// Empty if the rules of a linter cannot be read.
    pub fn unknown_rules(
        &self,
        named_rules: &BTreeSet<(WorkspacePath, RulePattern)>,
    ) -> Result<Vec<String>, SetupFailure> {
        if named_rules.is_empty() || !self.broken().is_empty() {
            return Ok(Vec::new());
        }
        let names = self.names()?;
        let mut rules = Vec::new();
        for name in self.listing()? {
            let Ok(Some(of_linter)) = self.rules(&name) else { return Ok(Vec::new()) };
            rules.extend(of_linter.listed().into_iter().map(|rule| (name.clone(), rule)));
        }
        let mut has_open_rules = false;
        for catalog in &self.catalogs {
            has_open_rules |= catalog.has_open_rules()?;
        }
        let known = Known { names: &names, rules };
        Ok(named_rules.iter().filter_map(|(file, rule)| known.doubt(file, rule, has_open_rules)).collect())
    }

    /// Why each linter is asked where this is selected, or why not, by provider.
    pub fn diagnose(&self, choice: &Choice) -> Result<Vec<Diagnosis>, SetupFailure> {
        // Selectors that cannot be understood are an error, as in a check.
        self.router(choice)?;
        let selectors = Selectors::parse(choice.select.as_deref(), &choice.ignore)?;
        let all = self.catalogs.iter().map(|it| it.diagnose(&selectors)).collect::<Result<Vec<_>, _>>()?;
        let mut all: Vec<_> = all.into_iter().flatten().collect();
        for it in all.iter_mut().filter_map(|it| it.program.as_mut()) {
            let versioned = self.disk.as_ref().and_then(|disk| with_version(&it.install, &**disk));
            it.install = versioned.unwrap_or_else(|| it.install.clone());
        }
        Ok(all)
    }

    /// The version that a linter tells once it is started; `None` if there is nothing to be started.
    pub fn version(
        &self,
        linter: &str,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Option<Result<String, String>> {
        self.catalogs.iter().find_map(|it| it.version(linter, deadline, cancel))
    }

    /// Linters that cannot be used, without which no answer is complete.
    pub fn broken(&self) -> Vec<Incomplete> {
        self.catalogs.iter().flat_map(|it| it.broken()).collect()
    }
}

fn borrowed(unknown: &[(String, Vec<String>)]) -> Vec<(&str, Vec<String>)> {
    unknown.iter().map(|(name, selectors)| (name.as_str(), selectors.clone())).collect()
}

/// The names of those whose rules are `rules`.
fn named(names: &[LinterName], rules: RuleSet) -> Vec<&str> {
    names.iter().filter(|it| it.rules == rules).map(|it| it.name.as_str()).collect()
}

/// Adds to the error the place of the selector which is at fault, or else the nearest configuration file of `path`.
fn blame(error: SetupFailure, configs: &Configs<'_>, path: &WorkspacePath) -> SetupFailure {
    let Ok(shown) = configs.show(path) else { return error };
    let told = &error.message;
    let said = shown.values.iter().rev().find(|it| is_at_fault(it, told)).and_then(|it| it.file.as_ref());
    let at = said.and_then(|it| configs.place_of_text(it, &SELECTING, |it| is_told(it, told)));
    let message = match (said.or(shown.files.last()), at) {
        (Some(file), Some(at)) => format!("{file}:{}:{}: {told}", at.line, at.column),
        (Some(file), None) => format!("{told}, in `{file}`"),
        (None, _) => return error,
    };
    SetupFailure { message, ..error }
}

/// Keys of lists of selectors.
const SELECTING: [&str; 3] = ["select", "extend-select", "ignore"];

/// Whether the value has a selector that the message names.
fn is_at_fault(value: &EffectiveValue, message: &str) -> bool {
    let mut all = value.value.as_array().into_iter().flatten().filter_map(|it| it.as_str());
    SELECTING.contains(&&*value.key) && all.any(|it| is_told(it, message))
}

/// Whether the message names the selector: a rule, or a linter of that name.
fn is_told(selector: &str, message: &str) -> bool {
    let is_named = |it: &str| message.contains(&format!("`{it}`"));
    is_named(selector) || selector.split_once('/').is_some_and(|(linter, _)| is_named(linter))
}

#[cfg(test)]
mod tests;
