//! `lsp-client-testkit supervisor …|fake SCRIPT|orphan|grandchild|daemon SCRIPT…`: what the tests run.

#![allow(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test's other half: stops at what is unexpected, and says so"
)]

mod daemon;
mod fake;
mod family;
mod options;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let command = args.next().unwrap();
    let text = args.by_ref().map(|it| it.into_string().unwrap());
    match command.to_str().unwrap() {
        "supervisor" => return lsp_client::supervisor::run(args),
        "fake" => fake::run(&text.collect::<String>()),
        "orphan" => family::orphan(),
        "grandchild" => family::grandchild(),
        "daemon" => daemon::run(text),
        other => panic!("no command `{other}`"),
    }
    ExitCode::SUCCESS
}
