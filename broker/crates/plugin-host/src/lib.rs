//! Runs lint plugins: WASI components of the world in `wit/`, each on a view of the workspace.
//!
//! [`PluginHost`] owns the engine and loads a [`Component`](wasmtime::component::Component) from a file or
//! from the bundle that the program carries; a [`Plugin`] configured with [`Settings`] is a
//! [`lint::Linter`]. Every job gets an instance that has checked nothing, which is thrown away at its end or at its first fault.
//!
//! This crate schedules nothing, caches no answers (only machine code) and knows no output format.

mod bindings;
mod capability;
mod clock;
mod compile;
mod compiler;
mod convert;
mod endings;
mod error;
mod files;
mod held;
mod host;
mod initialized;
mod instance;
mod machine_code;
mod manifest;
mod mapped_code;
mod options;
mod plugin;
mod ready;
mod state;
mod stdio;
mod syntax;
mod wasi;

pub use capability::Capability;
pub use compile::{Compiled, compile, compiler_stamp, target};
pub use compiler::{Compiler, compile_for_parent};
pub use error::PluginError;
pub use host::{Bundled, HostOptions, Limits, MAX_COMPONENT, Notice, Notify, PluginHost};
pub use instance::Usage;
pub use manifest::{Manifest, is_name};
pub use options::{BadOption, OptionSchema, OptionSchemas};
pub use plugin::{Configured, Plugin, Settings};

/// Whether this is a quick build, whose machine code is made faster and runs slower.
pub const IS_QUICK: bool = cfg!(debug_assertions);
