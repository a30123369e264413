//! Builds, tests and checks the repository: the build graph behind `./dev`, which lists the commands.
//!
//! Each command becomes steps (`step`), which are data: `cargo xtask steps COMMAND` prints them, and tests compare them.

#![allow(clippy::disallowed_methods, reason = "a build tool, far from any workspace")]

mod benches;
mod checks;
mod features;
mod layout;
mod plugins;
mod program;
mod run;
mod step;
mod testing;
mod toolchain;

use std::{env, path::Path, process::ExitCode};

use layout::{Build, Layout, text};
use program::Program;
use run::{Failed, Runner, fail, find_program};
use step::{Invocation, Step, printed, say};
use testing::Options;
use toolchain::Toolchain;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match command(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed { message, hint, code }) => {
            message.iter().for_each(|it| eprintln!("error: {it}"));
            hint.iter().for_each(|it| eprintln!("hint: {it}"));
            ExitCode::from(code)
        }
    }
}

fn command(arguments: &[String]) -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(""));
    let layout = Layout::new(root, variable);
    if let [first, rest @ ..] = arguments
        && first == "steps"
    {
        print!("{}", printed(&steps(&layout, rest)?.1));
        return Ok(());
    }
    let (build, steps) = steps(&layout, arguments)?;
    runner(&layout, build).run(&steps)
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// Steps of a command, and the build that they use.
fn steps(layout: &Layout, arguments: &[String]) -> Result<(Build, Vec<Step>), Failed> {
    let Some((name, rest)) = arguments.split_first() else { return Err(unknown("")) };
    let quick = || program(layout, Build::Quick, Vec::new());
    let quick_steps = match &**name {
        "build" => return build(layout, rest),
        "bench" => return bench(layout, rest),
        "package" => return package(layout, rest),
        "check" => check(layout, rest)?,
        "test" => quick()?.test_steps(Options::new(variable), rest),
        "docs" => {
            need("python3", "which checks the links of the documentation")?;
            let program = quick()?;
            [program.steps(), checks::docs(layout, program.broker())].concat()
        }
        "lint" => {
            need("python3", "which checks the links of the documentation")?;
            checks::lint(layout, &plugins::read(&layout.root.join("plugins"))?, |it| {
                find_program(it).is_some()
            })
        }
        "graph" => vec![Step::Exec(Invocation::new("tests/graph").args(rest))],
        _ => return Err(unknown(name)),
    };
    Ok((Build::Quick, quick_steps))
}

fn unknown(name: &str) -> Failed {
    fail(&format!("there is no command `{name}`"), Some("./dev help lists them"))
}

fn need(program: &str, why: &str) -> Result<(), Failed> {
    find_program(program).map(drop).ok_or_else(|| fail(&format!("{program} is needed, {why}"), None))
}

fn runner(layout: &Layout, build: Build) -> Runner {
    let ruff = layout.tools().join(testing::RUFF_PROGRAM);
    let env = [
        ("CARGO_TARGET_DIR", text(&layout.target)),
        ("BROKER_BUNDLE", text(&layout.bundle(build))),
        ("BROKER_GUESTS", text(&layout.guests())),
        ("BROKER_TEST_RUFF", text(&ruff)),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value)).into();
    Runner::new(layout.root.clone(), env)
}

fn program(layout: &Layout, build: Build, left_out: Vec<String>) -> Result<Program, Failed> {
    Ok(Program {
        layout: layout.clone(),
        build,
        toolchain: Toolchain::find(layout)?,
        plugins: plugins::read(&layout.root.join("plugins"))?,
        left_out,
        has_clippy: find_program("clippy-driver").is_some(),
    })
}

fn build(layout: &Layout, arguments: &[String]) -> Result<(Build, Vec<Step>), Failed> {
    let build = match arguments.first().map(String::as_str) {
        Some("--release") => Build::Shipping,
        None => Build::Quick,
        Some(other) => {
            return Err(fail(
                &format!("there is no option `{other}`"),
                Some("./dev build, or ./dev build --release"),
            ));
        }
    };
    let program = program(layout, build, Vec::new())?;
    let mut steps = program.steps();
    steps.push(say(format!("built {}", program.broker())));
    Ok((build, steps))
}

/// Plugins that no file asks for are not built, unless they were before.
fn check(layout: &Layout, arguments: &[String]) -> Result<Vec<Step>, Failed> {
    let mut program = program(layout, Build::Quick, Vec::new())?;
    let components = program.toolchain.folder(layout, Build::Quick.guest_profile());
    let is_candidate =
        |it: &plugins::Plugin| it.can_be_left_out() && !components.join(it.component()).exists();
    let candidates = program.plugins.iter().filter(|it| is_candidate(it)).cloned().collect();
    program.left_out = plugins::left_out(&layout.root, arguments, candidates);
    let mut steps = Vec::new();
    if !program.left_out.is_empty() {
        steps.push(say(format!("not built now, as no file asks for them: {}", program.left_out.join(" "))));
    }
    steps.extend(program.steps());
    steps.push(Step::Exec(Invocation::new(program.broker()).arg("check").args(arguments)));
    Ok(steps)
}

fn package(layout: &Layout, arguments: &[String]) -> Result<(Build, Vec<Step>), Failed> {
    let is_test = match arguments {
        [] => false,
        [test] if test == "test" => true,
        _ => {
            let message = format!("there is no `package {}`", arguments.join(" "));
            return Err(fail(&message, Some("./dev package, or ./dev package test")));
        }
    };
    let program = program(layout, Build::Shipping, Vec::new())?;
    let packages = text(&layout.target.join("packages"));
    let broker = program.broker();
    let mut steps = program.shipping();
    steps.push(say("packages"));
    steps.push(Invocation::new("packaging/build").args([&broker, &packages]).step());
    steps.push(say(format!("they are in {packages}")));
    if is_test {
        steps.push(Invocation::new("packaging/test").args([&*packages, "--again", &broker]).step());
    }
    Ok((Build::Shipping, steps))
}

fn bench(layout: &Layout, arguments: &[String]) -> Result<(Build, Vec<Step>), Failed> {
    if benches::needs_packages(arguments) {
        need("python3", "which brings packages")?;
        need("npm", "which brings packages")?;
    }
    if let Some(step) = benches::script(arguments) {
        return Ok((Build::Quick, vec![step]));
    }
    let build = benches::build(arguments);
    let packages = if benches::needs_repositories(arguments) { repositories(layout)? } else { Vec::new() };
    Ok((build, program(layout, build, Vec::new())?.bench_steps(arguments, &packages)))
}

/// Repositories made of well-known packages.
fn repositories(layout: &Layout) -> Result<Vec<String>, Failed> {
    let printed = run::output(&Invocation::new(text(&layout.root.join("tests/bench/packages.py"))));
    let printed = printed.map_err(|error| fail(&error.to_string(), None))?;
    Ok(printed.lines().map(str::to_owned).collect())
}
