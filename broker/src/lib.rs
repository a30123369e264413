//! The program `broker`: puts the rooms together and shows what they say.
//!
//! [`run`] is the whole program behind `main`; [`check`] is the engine without a command line, for
//! whoever has a view and linters already.

pub mod check;
mod cli;
mod console;
mod error;
mod home;
mod plugins;
mod progress;
pub mod render;
mod selectors;
mod workspace;

pub use cli::run;
pub use console::Surroundings;
pub use error::{CliError, ErrorKind, Exit};
pub use workspace::{Located, Workspace};
