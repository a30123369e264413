//! The linters for each way in which they are asked, made once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::Daemon;
use crate::{
    check::{Router, SetupFailure},
    linters::{self, Setup},
};

/// Routers by what was asked of the plugins.
#[derive(Default)]
pub(super) struct Configured(Mutex<HashMap<Setup, Arc<Router>>>);

/// Few clients ask in many ways; one that does shall not fill the memory.
const REMEMBERED: usize = 256;

impl Daemon {
    /// The linters that are asked in this way. Blocks: selectors are shown to the plugins.
    pub(super) fn router(&self, setup: Setup) -> Result<Arc<Router>, SetupFailure> {
        let known = || self.linters.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(router) = known().get(&setup) {
            return Ok(Arc::clone(router));
        }
        let linters = linters::configure(&self.plugins, &setup)?;
        let router = Arc::new(Router::new(&linters));
        let mut known = known();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        Ok(Arc::clone(known.entry(setup).or_insert(router)))
    }
}
