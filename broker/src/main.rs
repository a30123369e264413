//! The program: the library of the same name, and the plugins and grammars that the program carries.
//!
//! The plugins and grammars are included here and not in the library, which is linked into tests as well: they are some 50 MB.

use std::process::ExitCode;

include!(concat!(env!("OUT_DIR"), "/bundle.rs"));

fn main() -> ExitCode {
    // First: the process that compiles plugins makes trees for them, too.
    if let Some(grammars) = GRAMMARS {
        syntax::carry_grammars(grammars, config::folders::cache_dir().as_deref());
    }
    if let Some(exit) = linters::servers::supervise(std::env::args_os().skip(1)) {
        return exit;
    }
    #[cfg(target_os = "linux")]
    if let Some(code) = shadow::inside(std::env::args_os().skip(1)) {
        return code;
    }
    if let Some(compiled) = linters::plugins::compile(std::env::args_os().skip(1)) {
        return compiled;
    }
    broker::run(std::env::args_os(), broker::ProcessContext::of_process(BUNDLE)).into()
}
