//! The linters of a workspace: the plugins, and the language servers where it is trusted.
//!
//! [`plugins`] loads what the program carries and what a workspace adds, [`servers`] says which language servers are asked,
//! [`setup`] which rules of them. No check is run here, and nothing is shown to a user.

pub mod plugins;
pub mod servers;
pub mod setup;
pub mod trust;
