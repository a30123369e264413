//! The program `broker`: puts the rooms together and shows what they say.
//!
//! [`run`] is the whole program behind `main`; [`check`] is the engine without a command line, for
//! whoever has a view and linters already.

pub mod baseline;
pub mod check;
mod cli;
mod client;
pub mod config;
mod console;
pub mod daemon;
mod endpoint;
mod error;
mod fix;
mod git;
mod grpc;
mod home;
mod linters;
mod plugins;
mod progress;
pub mod render;
mod selectors;
mod servers;
mod trust;
mod workspace;

/// Names this build of the program: a hash of its sources and of its dependencies' versions.
const BUILD: &str = env!("BROKER_BUILD");

pub use cli::run;
pub use console::Surroundings;
pub use error::{CliError, ErrorKind, Exit};
pub use plugins::compile;
pub use servers::keep;
pub use workspace::{Located, Workspace};
