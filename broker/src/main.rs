//! The program. Everything it does is in the library of the same name.

use std::process::ExitCode;

fn main() -> ExitCode {
    broker::run(std::env::args_os(), broker::Surroundings::of_process()).into()
}
