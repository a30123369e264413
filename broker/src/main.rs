//! The program. Everything it does is in the library of the same name.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(kept) = broker::keep(std::env::args_os().skip(1)) {
        return kept;
    }
    broker::run(std::env::args_os(), broker::Surroundings::of_process()).into()
}
