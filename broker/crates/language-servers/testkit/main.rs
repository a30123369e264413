//! `language-servers-testkit supervisor …|fake SCRIPT|model [publishes|MS]|orphan|grandchild|pool COUNT`:
//! what the tests run.

#![allow(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test's other half: stops at what is unexpected, and says so"
)]

#[path = "../../lsp-client/testkit/fake.rs"]
mod fake;
#[path = "../../lsp-client/testkit/family.rs"]
mod family;
mod model;
#[path = "../../lsp-client/testkit/options.rs"]
#[expect(dead_code, reason = "the rest is for the tests")]
mod options;
mod pool;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let command = args.next().unwrap();
    let text = args.by_ref().map(|it| it.into_string().unwrap());
    match command.to_str().unwrap() {
        "supervisor" => return language_servers::supervisor::run(args),
        "fake" => fake::run(&text.collect::<String>()),
        "model" => model::run(&text.collect::<String>()),
        "orphan" => family::orphan(),
        "grandchild" => family::grandchild(),
        "pool" => pool::run(&text.collect::<String>()),
        other => panic!("no command `{other}`"),
    }
    ExitCode::SUCCESS
}
