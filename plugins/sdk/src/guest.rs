//! Adapter between the generated exports and a [`Plugin`]. Not for plugin authors.
//!
//! Constructors, which crates such as `ctor` and `inventory` register through, run once: in `initialize`, before the
//! plugin is made, and not again in the instances that start from its image. Of libc's own, which run with them, only
//! what it read of the environment would be wrong in an instance; that is forgotten and read anew.

use std::cell::RefCell;

pub use crate::bindings::exports::broker::plugin::selection::{Because, EnabledRule};
use crate::{Plugin, Report, Rule, RulesOn, Selection, Settings, SettingsError, SourceFile};

/// The component's one plugin, and the rules that the user selected.
pub struct State<P>(RefCell<Option<Configured<P>>>);

struct Configured<P> {
    plugin: P,
    selection: Selection,
    /// `None` before it is configured.
    settings: Option<Settings>,
}

impl<P: Plugin> State<P> {
    #[allow(clippy::new_without_default, reason = "only the macro makes one")]
    pub const fn new() -> Self {
        Self(RefCell::new(None))
    }

    pub fn initialize(&self) {
        constructors::run();
        self.with(|_| {});
        constructors::forget_environment();
    }

    pub fn configure(&self, settings: Settings) -> Result<(), SettingsError> {
        constructors::read_environment();
        self.with(|it| it.configure(settings))
    }

    pub fn rules(&self) -> Vec<Rule> {
        self.with(|it| it.plugin.rules())
    }

    pub fn check(&self, file: SourceFile) -> Result<Report, String> {
        self.with(|Configured { plugin, selection, .. }| {
            let mut report = plugin.check(&file)?;
            // A finding whose rule is missing in `rules` is a mistake of the plugin: dropped silently, it would never be noticed.
            if let Some(it) = report.diagnostics.iter().find(|it| !selection.knows(&it.code)) {
                return Err(format!("`{}` is found, but `rules` does not name it", it.code));
            }
            report.diagnostics.retain(|it| selection.includes(&it.code));
            Ok(report)
        })
    }

    /// Returns the enabled rules. Leaves the plugin configured without a selection if the settings have one; otherwise `check`
    /// returns the same as before.
    pub fn enabled_rules(&self, path: &str) -> Result<Vec<EnabledRule>, String> {
        self.with(|it| it.enabled_rules(path))
    }

    fn with<T>(&self, body: impl FnOnce(&mut Configured<P>) -> T) -> T {
        let mut state = self.0.borrow_mut();
        let new = || Configured { plugin: P::new(), selection: Selection::default(), settings: None };
        body(state.get_or_insert_with(new))
    }
}

impl<P: Plugin> Configured<P> {
    fn configure(&mut self, settings: Settings) -> Result<(), SettingsError> {
        let settings = self.settings.insert(settings);
        if P::SELECTS_ITSELF {
            return self.plugin.configure(settings);
        }
        let unknown;
        (self.selection, unknown) = Selection::new(settings, &self.plugin.rules());
        self.plugin.configure(settings)?;
        SettingsError::unless_known(unknown)
    }

    fn enabled_rules(&mut self, path: &str) -> Result<Vec<EnabledRule>, String> {
        let on = self.rules_on(path)?;
        let root = self.settings.as_ref().map(|it| it.root.clone()).unwrap_or_default();
        let unselected = self.unselected(path, &on)?;
        let relative = |it: &String| it.strip_prefix(&root).unwrap_or(it).trim_start_matches('/').to_owned();
        let because = |code: &String| match &unselected.config {
            _ if !unselected.codes.contains(code) => Because::Selected,
            Some(file) => Because::Configured(relative(file)),
            None => Because::Default,
        };
        Ok(on.codes.iter().map(|it| EnabledRule { code: it.clone(), because: because(it) }).collect())
    }

    /// Returns the rules that would be on without a selection, to tell them from those that the selection turns on; `on` are the
    /// rules that are on. Returns none if the selection replaces all others.
    fn unselected(&mut self, path: &str, on: &RulesOn) -> Result<RulesOn, String> {
        let Some(settings) = self.settings.clone().filter(|it| it.select.is_some()) else {
            return Ok(on.clone());
        };
        if settings.selected().0.is_some() {
            return Ok(RulesOn::default());
        }
        match self.configure(Settings { select: None, ..settings }) {
            Ok(()) | Err(SettingsError::UnknownSelectors(_)) => self.rules_on(path),
            Err(SettingsError::Invalid(why)) => Err(why),
        }
    }

    fn rules_on(&mut self, path: &str) -> Result<RulesOn, String> {
        let mut on = self.plugin.rules_on(path)?;
        on.codes.retain(|it| self.selection.includes(it));
        Ok(on)
    }
}

#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "libc's")]
mod constructors {
    unsafe extern "C" {
        fn __wasilibc_deinitialize_environ();
        fn __wasilibc_maybe_reinitialize_environ_eagerly();
    }

    /// Runs the constructors, unless they ran already, as they do before a generated export if nothing ran them earlier.
    pub(super) fn run() {
        wit_bindgen::rt::run_ctors_once();
    }

    /// Makes libc forget the variables that it has read, which are those of where the image is made.
    pub(super) fn forget_environment() {
        // SAFETY: there is one thread, and nothing of the plugin runs any more that could hold a variable.
        unsafe { __wasilibc_deinitialize_environ() }
    }

    /// Makes libc read the variables, for code in C that reads `environ` itself; all other code has libc read them on demand.
    pub(super) fn read_environment() {
        // SAFETY: there is one thread, and no variable was read yet.
        unsafe { __wasilibc_maybe_reinitialize_environ_eagerly() }
    }
}

/// Stand-ins for native tests, which are programs like any other.
#[cfg(not(target_family = "wasm"))]
mod constructors {
    pub(super) fn run() {}
    pub(super) fn forget_environment() {}
    pub(super) fn read_environment() {}
}
