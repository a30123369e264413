//! `broker --version`, alone and with `--verbose`.

use std::{ffi::OsString, fmt::Write as _};

use plugin_host::Manifest;

use crate::ProcessContext;

/// The version, marked if this is a quick build: its figures are not those of what ships.
pub(super) const VERSION: &str = if plugin_host::IS_QUICK {
    concat!(env!("CARGO_PKG_VERSION"), " (quick build)")
} else {
    env!("CARGO_PKG_VERSION")
};

/// Whether the arguments ask for the version with all that a bug report needs.
pub(super) fn is_verbose(args: &[OsString]) -> bool {
    args.iter().any(|it| ["-v", "--verbose", "-vV", "-Vv"].iter().any(|verbose| it == verbose))
}

/// Details for a bug report besides the version.
pub(super) fn details(context: &ProcessContext) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &dyn std::fmt::Display| {
        let _infallible = writeln!(text, "{name}: {value}");
    };
    row("build", &crate::BUILD);
    row("target", &env!("BROKER_TARGET"));
    row("compiler", &env!("BROKER_RUSTC"));
    let system = rustix::system::uname();
    let [name, release] = [system.sysname(), system.release()].map(|it| it.to_string_lossy().into_owned());
    row("system", &format!("{name} {release}"));
    let folder = context.cache_dir.as_ref().map_or("none".into(), |it| it.to_string_lossy());
    row("cache", &folder);
    for plugin in context.bundle {
        let digest = plugin.digest.get(..12).unwrap_or(plugin.digest);
        match Manifest::parse("broker", plugin.manifest) {
            Ok(it) => row("plugin", &format!("{} {} ({digest}): {}", it.name, it.version, it.description)),
            Err(error) => row("plugin", &format!("{digest}: {error}")),
        }
    }
    text
}
