//! What stands between the generated exports and a [`Plugin`]. Not for plugin authors.

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
        self.with(|_, _| {});
    }

    pub fn configure(&self, settings: Settings) -> Result<(), SettingsError> {
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
            // One that is merely dropped is a slip that nobody would ever see.
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
