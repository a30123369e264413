//! The linters of a workspace: the plugins, and the external linters as far as it is trusted or they can be confined.
//!
//! [`LinterSet`] says which linters are asked about which file, and what rules they have. It knows them by the seam that
//! [`provider`] is, with an implementation for each kind: [`plugins`] loads what the program carries and what a workspace
//! adds, [`servers`] says which language servers are asked, [`native`] which commands (`asked.rs` decides it), and `confine.rs` how they may run. No check is run here, and nothing is
//! shown to a user.

mod asked;
mod confine;
mod external;
mod lineup;
mod lock;
pub mod native;
pub mod plugins;
pub mod provider;
mod selected;
pub mod servers;
pub mod tools;
pub mod trust;

pub use confine::{Level, Permissions, Way};
pub use lineup::{Catalogs, LinterSet};
pub use lock::{LOCK_FILE, Lock, Locked};
pub use provider::{
    Catalog, Diagnosis, LinterKind, LinterName, Program, ProgramKind, Provider, RuleSet, Rules, Selected,
    Standing, WorkspaceContext,
};
