//! Compilation of a component that the program does not carry, in a process of its own.
//!
//! A component of a few kilobytes can keep the compiler busy for hours, and nothing interrupts it; a workspace, or a branch
//! of one, may bring such a component. The process has little time and memory, and no environment.

use std::{
    ffi::OsString,
    io::{self, Read, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::{Child, Command, ExitCode, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::process::{Resource, Rlimit, setrlimit};
use wasmtime::Engine;

use crate::{
    Manifest, PluginError,
    compile::{compile_component, preinitialize},
    error::Name,
    host,
};

/// Process in which components are compiled.
#[derive(Debug, Clone)]
pub enum Compiler {
    /// This process, without a limit of time.
    Here,
    /// A process of its own: this program with these arguments, which calls [`compile_for_parent`].
    Process(PathBuf, Vec<OsString>),
}

/// Seconds of the processor: ten times what an interpreter of 20 MB takes.
const SECONDS: u64 = 300;
/// Wall time, long enough where the machine is busy with other things.
const COMPILE_TIMEOUT: Duration = Duration::from_secs(1800);
/// Bytes of memory that is written to.
const MEMORY: u64 = 4 << 30;
/// Bytes of machine code.
const MAX_COMPILED_BYTES: u64 = 1 << 30;

/// First byte on the standard output of the process.
const DONE: u8 = 1;
const FAILED: u8 = 2;

impl Compiler {
    /// The machine code of a component, pre-initialised.
    pub(crate) fn compile(&self, engine: &Engine, name: &Name, wasm: &[u8]) -> Result<Vec<u8>, PluginError> {
        match self {
            Self::Here => compile_component(engine, name, &preinitialize(name, wasm)?),
            Self::Process(program, arguments) => {
                let mut command = Command::new(program);
                command.args(arguments).env_clear();
                in_process(command, name, wasm)
            }
        }
    }
}

fn in_process(mut command: Command, name: &Name, wasm: &[u8]) -> Result<Vec<u8>, PluginError> {
    let failed = |error: io::Error| name.host(format!("its compiler cannot be run: {error}"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let (told, status) = talk(&mut child, wasm).map_err(failed)?;
    match (told.split_first(), status) {
        (Some((&DONE, code)), status) if status.success() => Ok(code.to_vec()),
        (Some((&FAILED, error)), _) => {
            let error = std::str::from_utf8(error).ok().and_then(|it| toml::from_str(it).ok());
            Err(error.unwrap_or_else(|| name.host("its compiler gave no answer")))
        }
        (_, status) => Err(broke_off(name, status)),
    }
}

/// Gives the component to the process and takes its answer. Ends a process that takes too long.
fn talk(child: &mut Child, wasm: &[u8]) -> io::Result<(Vec<u8>, ExitStatus)> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("it has no pipes"));
    };
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        // A process that broke off takes no more; its status says so.
        scope.spawn(move || drop(stdin.write_all(wasm)));
        scope.spawn(move || {
            let mut told = Vec::new();
            drop(sender.send(stdout.take(MAX_COMPILED_BYTES).read_to_end(&mut told).map(|_| told)));
        });
        let told = receiver.recv_timeout(COMPILE_TIMEOUT);
        if told.is_err() {
            child.kill()?;
        }
        let told = told.or_else(|_| receiver.recv());
        let status = child.wait()?;
        Ok((told.map_err(io::Error::other)??, status))
    })
}

fn broke_off(name: &Name, status: ExitStatus) -> PluginError {
    use rustix::process::Signal;
    let told = match status.signal().and_then(Signal::from_named_raw) {
        Some(Signal::XCPU) => format!("it takes more than {SECONDS} s of a processor's time"),
        Some(Signal::ABORT) => {
            format!("it breaks off, as it does where {} MiB of memory are not enough", MEMORY >> 20)
        }
        _ => return name.host(format!("its compiler ended too early: {status}")),
    };
    name.compile(&wasmtime::Error::msg(told))
}

/// The life of the process: a component comes in, machine code or the reason why there is none goes out.
pub fn compile_for_parent() -> ExitCode {
    let mut wasm = Vec::new();
    let there = limit().and_then(|()| io::stdin().lock().read_to_end(&mut wasm));
    let answer = there.map_err(|error| unnamed().host(error)).and_then(|_| compile(&wasm));
    let (kind, told) = match answer {
        Ok(code) => (DONE, code),
        Err(error) => (FAILED, toml::to_string(&error).unwrap_or_default().into_bytes()),
    };
    let mut out = io::stdout().lock();
    let written = out.write_all(&[kind]).and_then(|()| out.write_all(&told)).and_then(|()| out.flush());
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn compile(wasm: &[u8]) -> Result<Vec<u8>, PluginError> {
    let name = Manifest::of_component("plugin", wasm)?.full_name();
    let engine = Engine::new(&host::config()).map_err(|error| name.host(error))?;
    Compiler::Here.compile(&engine, &name, wasm)
}

fn unnamed() -> Name {
    Name { plugin: "plugin".to_owned(), version: String::new() }
}

fn limit() -> io::Result<()> {
    // Nothing is compiled for a parent that was killed.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let at = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(Resource::Core, at(0))?;
    setrlimit(Resource::Data, at(MEMORY))?;
    // The soft limit sends SIGXCPU, which says why the process ended.
    setrlimit(Resource::Cpu, Rlimit { current: Some(SECONDS), maximum: Some(SECONDS + 5) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Result for a component whose compiler is the script.
    fn compiled_by(script: &str) -> Result<Vec<u8>, String> {
        let name = Name { plugin: "p".to_owned(), version: "1.0.0".to_owned() };
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        in_process(command, &name, b"component").map_err(|error| error.to_string())
    }

    #[test]
    fn what_becomes_of_a_compiler() {
        assert_eq!(compiled_by(r"printf '\001'; cat").unwrap(), b"component");
        let error = toml::to_string(&unnamed().too_much("x")).unwrap();
        let told = compiled_by(&format!("printf '\\002'; cat <<'E'\n{error}\nE")).unwrap_err();
        insta::assert_snapshot!(told, @"plugin `plugin`  exceeded its output limit: x");
        let told = compiled_by("ulimit -S -t 1; while :; do :; done").unwrap_err();
        insta::assert_snapshot!(told, @"plugin `p` 1.0.0 cannot be compiled: it takes more than 300 s of a processor's time");
        let told = compiled_by("kill -ABRT $$").unwrap_err();
        insta::assert_snapshot!(told, @"plugin `p` 1.0.0 cannot be compiled: it breaks off, as it does where 4096 MiB of memory are not enough");
        let told = compiled_by("cat >/dev/null; exit 3").unwrap_err();
        insta::assert_snapshot!(told, @"the host failed to run plugin `p` 1.0.0: its compiler ended too early: exit status: 3");
    }
}
