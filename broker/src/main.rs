//! The program: the library of the same name, and the plugins that the program carries.
//!
//! They are included here and not in the library, which is linked into tests as well: they are some 80 MB.

use std::process::ExitCode;

include!(concat!(env!("OUT_DIR"), "/bundle.rs"));

fn main() -> ExitCode {
    if let Some(kept) = linters::servers::keep(std::env::args_os().skip(1)) {
        return kept;
    }
    if let Some(compiled) = linters::plugins::compile(std::env::args_os().skip(1)) {
        return compiled;
    }
    broker::run(std::env::args_os(), broker::Surroundings::of_process(BUNDLE)).into()
}
