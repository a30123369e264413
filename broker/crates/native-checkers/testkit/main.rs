//! The processes inside of a shadow folder, for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    shadow::inside(std::env::args_os().skip(1)).unwrap_or(ExitCode::FAILURE)
}
