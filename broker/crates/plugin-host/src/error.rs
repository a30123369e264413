//! Everything that can go wrong with a plugin, each kind naming whose fault it is.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// A fault of a plugin or of the host that runs it. Every variant names the plugin.
#[derive(Debug, Clone, thiserror::Error, Serialize, Deserialize)]
pub enum PluginError {
    #[error("cannot read the plugin {}: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },

    #[error("`{plugin}` has {bytes} bytes; a plugin may have {most} at most")]
    TooLarge { plugin: String, bytes: u64, most: u64 },

    #[error("`{plugin}` is not a WebAssembly component: {reason}")]
    NotAComponent { plugin: String, reason: String },

    #[error(
        "`{plugin}` is a core WebAssembly module, not a component; build it for `wasm32-wasip2`, or turn it \
         into a component with `wasm-tools component new`"
    )]
    CoreModule { plugin: String },

    #[error("`{plugin}` has no usable manifest: {reason}")]
    Manifest { plugin: String, reason: String },

    #[error(
        "plugin `{plugin}` {version} is built for broker:plugin {api}, and this Broker speaks {supported}; \
         use a Broker that is as new as the plugin, or an older release of the plugin"
    )]
    WorldVersion { plugin: String, version: String, api: String, supported: String },

    #[error("plugin `{plugin}` {version} imports `{import}`, which no plugin is granted")]
    ForbiddenImport { plugin: String, version: String, import: String },

    #[error("plugin `{plugin}` {version} does not fit the world `broker:plugin/linter`: {reason}")]
    World { plugin: String, version: String, reason: String },

    #[error(
        "plugin `{plugin}` {version} was left out when this Broker was built quickly; `./dev build` makes it"
    )]
    NotBuilt { plugin: String, version: String },

    #[error("plugin `{plugin}` {version} cannot be compiled: {reason}")]
    Compile { plugin: String, version: String, reason: String },

    /// The guest answered, and the answer is an error.
    #[error("plugin `{plugin}` {version}: {message}")]
    Guest { plugin: String, version: String, message: String },

    /// The guest broke off: a panic, a bad memory access, `unreachable`.
    #[error("plugin `{plugin}` {version} crashed: {message}")]
    Trap { plugin: String, version: String, message: String },

    #[error("plugin `{plugin}` {version} ran out of stack (deeply nested input, or endless recursion)")]
    OutOfStack { plugin: String, version: String },

    #[error("plugin `{plugin}` {version} exceeded its time limit of {}", seconds(.limit))]
    OutOfTime { plugin: String, version: String, limit: Duration },

    #[error("plugin `{plugin}` {version} exceeded its memory limit of {} MiB", .limit >> 20)]
    OutOfMemory { plugin: String, version: String, limit: usize },

    #[error("plugin `{plugin}` {version} exceeded its output limit: {what}")]
    TooMuchOutput { plugin: String, version: String, what: String },

    /// The guest's answer breaks the contract: a span outside the file, text that is not UTF-8.
    #[error("plugin `{plugin}` {version} gave an invalid answer: {message}")]
    InvalidAnswer { plugin: String, version: String, message: String },

    #[error("plugin `{plugin}` {version} was stopped because the answer is not wanted any more")]
    Cancelled { plugin: String, version: String },

    /// Our own fault or the machine's.
    #[error("the host failed to run plugin `{plugin}` {version}: {message}")]
    Host { plugin: String, version: String, message: String },
}

impl PluginError {
    /// Whether a retry may succeed a moment later: it was the machine's fault, or the request was given up.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Host { .. } | Self::Cancelled { .. })
    }

    /// Whether another attempt would end the same way, on any machine and after any other file.
    pub(crate) fn is_deterministic(&self) -> bool {
        matches!(self, Self::Guest { .. } | Self::InvalidAnswer { .. } | Self::OutOfStack { .. })
    }
}

fn seconds(limit: &Duration) -> String {
    if limit.subsec_millis() == 0 {
        format!("{} s", limit.as_secs())
    } else {
        format!("{} ms", limit.as_millis())
    }
}

/// A guest's words of any length, cut to what a person reads.
pub(crate) fn shortened(mut words: String) -> String {
    const MAX_MESSAGE_BYTES: usize = 4 << 10;
    if words.len() > MAX_MESSAGE_BYTES {
        words.truncate(words.floor_char_boundary(MAX_MESSAGE_BYTES));
        words.push('…');
    }
    words
}

/// Which plugin an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) plugin: String,
    pub(crate) version: String,
}

impl Name {
    pub(crate) fn host(&self, message: impl ToString) -> PluginError {
        let Self { plugin, version } = self.clone();
        PluginError::Host { plugin, version, message: message.to_string() }
    }

    pub(crate) fn world(&self, reason: impl ToString) -> PluginError {
        let Self { plugin, version } = self.clone();
        PluginError::World { plugin, version, reason: reason.to_string() }
    }

    pub(crate) fn compile(&self, error: &wasmtime::Error) -> PluginError {
        let Self { plugin, version } = self.clone();
        PluginError::Compile { plugin, version, reason: format!("{error:#}") }
    }

    pub(crate) fn guest(&self, message: String) -> PluginError {
        let Self { plugin, version } = self.clone();
        PluginError::Guest { plugin, version, message: shortened(message) }
    }

    pub(crate) fn invalid(&self, message: impl ToString) -> PluginError {
        let Self { plugin, version } = self.clone();
        PluginError::InvalidAnswer { plugin, version, message: shortened(message.to_string()) }
    }

    pub(crate) fn cancelled(&self) -> PluginError {
        let Self { plugin, version } = self.clone();
        PluginError::Cancelled { plugin, version }
    }

    pub(crate) fn too_much(&self, what: impl ToString) -> PluginError {
        let Self { plugin, version } = self.clone();
        PluginError::TooMuchOutput { plugin, version, what: what.to_string() }
    }
}
