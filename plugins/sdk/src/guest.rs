//! What stands between the generated exports and a [`Plugin`]. Not for plugin authors.
//!
//! Constructors, which crates such as `ctor` and `inventory` register through, run once: in `initialize`, before the
//! plugin is made, and not again in the instances that start from its image. Of libc's own, which run with them, only
//! what it read of the environment would be wrong in an instance; that is forgotten and read anew.

use std::cell::RefCell;

use crate::{Plugin, Report, Rule, Selection, Settings, SettingsError, SourceFile};

/// The component's one plugin and what the user selected of it.
pub struct State<P>(RefCell<Option<(P, Selection)>>);

impl<P: Plugin> State<P> {
    #[allow(clippy::new_without_default, reason = "only the macro makes one")]
    pub const fn new() -> Self {
        Self(RefCell::new(None))
    }

    pub fn initialize(&self) {
        constructors::run();
        self.with(|_, _| {});
        constructors::forget_environment();
    }

    pub fn configure(&self, settings: Settings) -> Result<(), SettingsError> {
        constructors::read_environment();
        self.with(|plugin, selection| {
            if !P::SELECTS_ITSELF {
                let unknown;
                (*selection, unknown) = Selection::new(&settings, &plugin.rules());
                plugin.configure(&settings)?;
                return if unknown.is_empty() {
                    Ok(())
                } else {
                    Err(SettingsError::UnknownSelectors(unknown))
                };
            }
            plugin.configure(&settings)
        })
    }

    pub fn rules(&self) -> Vec<Rule> {
        self.with(|plugin, _| plugin.rules())
    }

    pub fn check(&self, file: SourceFile) -> Result<Report, String> {
        self.with(|plugin, selection| {
            let mut report = plugin.check(&file)?;
            // One that is merely dropped is a slip that would never be seen.
            if let Some(it) = report.diagnostics.iter().find(|it| !selection.knows(&it.code)) {
                return Err(format!("`{}` is found, but `rules` does not name it", it.code));
            }
            report.diagnostics.retain(|it| selection.includes(&it.code));
            Ok(report)
        })
    }

    fn with<T>(&self, body: impl FnOnce(&mut P, &mut Selection) -> T) -> T {
        let mut state = self.0.borrow_mut();
        let (plugin, selection) = state.get_or_insert_with(|| (P::new(), Selection::default()));
        body(plugin, selection)
    }
}

#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "libc's")]
mod constructors {
    unsafe extern "C" {
        fn __wasilibc_deinitialize_environ();
        fn __wasilibc_maybe_reinitialize_environ_eagerly();
    }

    /// Unless they ran already, as they do before a generated export if nothing ran them earlier.
    pub(super) fn run() {
        wit_bindgen::rt::run_ctors_once();
    }

    /// The variables that libc has seen are those of where the image is made.
    pub(super) fn forget_environment() {
        // SAFETY: there is one thread, and nothing of the plugin runs any more that could hold a variable.
        unsafe { __wasilibc_deinitialize_environ() }
    }

    /// For code in C that reads `environ` itself; all else has libc read the variables when it asks for one.
    pub(super) fn read_environment() {
        // SAFETY: there is one thread, and no variable was read yet.
        unsafe { __wasilibc_maybe_reinitialize_environ_eagerly() }
    }
}

/// A native test is a program like any other.
#[cfg(not(target_family = "wasm"))]
mod constructors {
    pub(super) fn run() {}
    pub(super) fn forget_environment() {}
    pub(super) fn read_environment() {}
}
