//! Program that the tests of shadow folders run: the processes inside, a parent that is to be killed, and random operations on a
//! file (`fsx FILE SEED OPERATIONS`), which writes what the file has then to FILE.model.

#![expect(clippy::print_stderr, reason = "it says what became of the program")]
#![expect(clippy::disallowed_methods, reason = "it reads and writes as any program inside does")]

mod fsx;

use std::{path::PathBuf, process::ExitCode};

use shadow::{Isolation, Launcher, Layer, Program, Sandbox, Shadow, Storage};

fn main() -> ExitCode {
    if let Some(code) = shadow::inside(std::env::args_os().skip(1)) {
        return code;
    }
    let args: Vec<_> = std::env::args().skip(1).collect();
    if let ["fsx", file, seed, operations] = *args.iter().map(String::as_str).collect::<Vec<_>>() {
        return fsx(file, seed, operations);
    }
    let mut args = std::env::args_os().skip(1);
    let root = PathBuf::from(args.next().expect("a folder"));
    let mut sandbox = Sandbox { space: 1 << 30, ..Sandbox::default() };
    let mut launcher = Launcher::this_program();
    if let Some(copies) = std::env::var_os("SHADOW_TESTKIT_COPIES") {
        launcher = launcher.with_storage(Storage::new(copies)).with_copies_only();
        sandbox.isolation = Isolation::Off;
    } else if let Some(merged) = std::env::var_os("SHADOW_TESTKIT_MERGED") {
        launcher = launcher.with_storage(Storage::new(merged));
        sandbox.isolation = Isolation::Off;
    }
    let shadow = match Shadow::open(&launcher, &root, &Layer::default(), &sandbox) {
        Ok(it) => it,
        Err(error) => panic!("{error}"),
    };
    let program = Program {
        command: args.collect(),
        environment: std::env::vars_os().collect(),
        folder: root,
        terminal: None,
        // Enough for all of them; with a limit they have a control group where there may be one.
        limits: shadow::Limits { processes: Some(1000), ..shadow::Limits::default() },
    };
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    use std::os::fd::AsFd as _;
    let mut running =
        shadow.run(program, Some([input.as_fd(), output.as_fd(), errors.as_fd()])).expect("it runs");
    let ended = running.wait();
    eprintln!("{ended:?}");
    ExitCode::from(u8::try_from(ended.exit.code()).unwrap_or(255))
}

fn fsx(file: &str, seed: &str, operations: &str) -> ExitCode {
    let operations = operations.parse().expect("a number of operations");
    let done = fsx::run(file.as_ref(), seed.parse().expect("a seed"), operations);
    match done.and_then(|model| std::fs::write(format!("{file}.model"), model)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
