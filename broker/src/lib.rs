//! The program `broker`: puts the rooms together and shows what they say.
//!
//! [`run`] is the whole program behind `main`; [`check`] is the engine without a command line, for
//! whoever has a view and linters already.

mod cli;
mod client;
mod console;
mod endpoint;
mod error;
mod git;
mod grpc;
mod progress;

/// Names this build of the program: a hash of its sources and of its dependencies' versions.
const BUILD: &str = env!("BROKER_BUILD");

pub use cli::run;
pub use console::Surroundings;
pub use error::{CliError, ErrorKind, Exit};
pub use linters::plugins::compile;
pub use linters::servers::keep;
