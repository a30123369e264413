//! The linters of a workspace: the plugins, and the language servers where it is trusted.
//!
//! [`LinterSet`] says which linters are asked about which file, and what rules they have. It knows them by the seam that
//! [`provider`] is, with an implementation for each kind: [`plugins`] loads what the program carries and what a workspace
//! adds, [`servers`] says which language servers are asked. No check is run here, and nothing is shown to a user.

mod lineup;
pub mod plugins;
pub mod provider;
pub mod servers;
pub mod trust;

pub use lineup::{Catalogs, LinterSet};
pub use provider::{
    Catalog, Diagnosis, LinterName, Program, Provider, RuleSet, Rules, Selected, Standing, WorkspaceContext,
};
