//! The program `broker`: the command line, the fronts that speak gRPC, MCP, LSP and ACP, and the client that finds or starts the daemon.
//!
//! [`run`] is the program behind `main`. The engine without a command line is the crate `check-engine`.

mod acp;
mod cli;
mod client;
mod console;
mod error;
mod git;
mod grpc;
mod lsp;
mod mcp;
mod memory;
mod progress;

/// Names this build of the program: a hash of its sources and of its dependencies' versions.
const BUILD: &str = env!("BROKER_BUILD");

pub use cli::run;
pub use console::ProcessContext;
pub use error::{CliError, ErrorKind, Exit};
