//! Definitions of external linters, the programs of the user's own that are asked for findings: language servers and native
//! checkers. A [`Tool`] is what both kinds have in common, a [`Definitions`] the definitions of one kind, and an
//! [`OutsideState`] what is known of the places outside of the workspace that decide what a tool finds.
//!
//! Left out: how a tool is asked and how its answers are read, which differs by kind.

mod definitions;
mod marker;
mod outside;
mod package;
mod programs;
mod tool;

pub use definitions::Definitions;
pub use marker::is_there;
pub use outside::{ACTIVE, OutsideAge, OutsideState, Surroundings};
pub use package::{names_package, version_of_package};
pub use programs::{Variables, in_folders_of_path, interpreter_of};
pub use tool::{Executes, Find, Tool};
