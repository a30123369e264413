//! The part of WASI that a plugin gets: what a language's standard library needs to start, and the view.
//!
//! Sockets, HTTP and the host's own files are not neutralised but absent.

use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::{
    WasiView,
    cli::{WasiCli, WasiCliView},
    clocks::{WasiClocks, WasiClocksView},
    p2::bindings::{cli, clocks, filesystem::preopens, io::error, random, sync},
    random::WasiRandom,
};

use crate::{
    PluginError, bindings,
    clock::{Frozen, HasClock},
    error::Name,
    files::HasFiles,
    manifest::API,
    state::State,
};

/// Every interface that a plugin may import, without version.
const GRANTED: &[&str] = &[
    "broker:plugin/host",
    "broker:plugin/syntax",
    "broker:plugin/types",
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
];

/// Refuses a component that wants more than [`GRANTED`].
pub(crate) fn check_imports<'a>(
    imports: impl IntoIterator<Item = &'a str>,
    name: &Name,
) -> Result<(), PluginError> {
    for import in imports {
        let (interface, version) = import.split_once('@').unwrap_or((import, ""));
        let Name { plugin, version: plugin_version } = name.clone();
        if interface.starts_with("broker:plugin/") && !version.is_empty() && version != API {
            return Err(PluginError::WorldVersion {
                plugin,
                version: plugin_version,
                api: version.to_owned(),
                supported: API.to_owned(),
            });
        }
        if !GRANTED.contains(&interface) {
            return Err(PluginError::ForbiddenImport {
                plugin,
                version: plugin_version,
                import: import.to_owned(),
            });
        }
    }
    Ok(())
}

struct HasTable;

impl HasData for HasTable {
    type Data<'a> = &'a mut ResourceTable;
}

struct HasState;

impl HasData for HasState {
    type Data<'a> = &'a mut State;
}

/// Links exactly what [`GRANTED`] names.
pub(crate) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let l = linker;
    bindings::host::add_to_linker::<State, HasState>(l, |it| it)?;
    bindings::syntax::add_to_linker::<State, HasState>(l, |it| it)?;
    preopens::add_to_linker::<State, HasFiles>(l, State::files)?;
    sync::filesystem::types::add_to_linker::<State, HasFiles>(l, State::files)?;
    error::add_to_linker::<State, HasTable>(l, |it| &mut it.table)?;
    sync::io::poll::add_to_linker::<State, HasTable>(l, |it| &mut it.table)?;
    sync::io::streams::add_to_linker::<State, HasTable>(l, |it| &mut it.table)?;
    clocks::wall_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;
    clocks::monotonic_clock::add_to_linker::<State, HasClock>(l, |it| Frozen(&mut it.table))?;
    random::random::add_to_linker::<State, WasiRandom>(l, |it| it.ctx().ctx.random())?;
    random::insecure::add_to_linker::<State, WasiRandom>(l, |it| it.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<State, WasiRandom>(l, |it| it.ctx().ctx.random())?;
    cli::environment::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::exit::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_input::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_output::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    Ok(())
}
