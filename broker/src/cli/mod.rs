//! The command line: one file per command, whose doc comments are its help.

mod acp;
mod agent;
mod branch;
mod check;
mod clean;
mod completions;
mod config;
mod daemon;
mod doctor;
mod explain;
mod hook;
mod init;
#[cfg(target_os = "linux")]
mod kill;
mod log;
#[cfg(target_os = "linux")]
mod logs;
mod lsp;
mod man;
mod mcp;
mod plugin;
mod plugins;
#[cfg(target_os = "linux")]
mod ps;
mod query;
mod rule;
mod rules;
#[cfg(target_os = "linux")]
mod run;
mod serve;
mod server;
mod settings_file;
mod status;
mod stop;
mod storage;
mod tool;
mod trust;
mod version;
mod watch;
mod words;

use std::{
    ffi::OsString,
    io::{BufRead as _, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use ::config::{Choice, root::WorkspaceRoot};
use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use lint::printable_text;
use linters::{
    Catalogs, LinterSet, Provider, WorkspaceContext,
    native::external,
    plugins::{Loader, PluginProvider, Plugins},
    servers::Servers,
};
use overlay::{Disk, Memory, View};

use crate::{
    CliError, ErrorKind, Exit, ProcessContext,
    client::{Client, Opened},
    console::{Messages, show_notice},
};

/// Ask linters, type checkers and tests about files as they are, or as a branch in memory would have them.
#[derive(Debug, Parser)]
#[command(name = "broker", version = version::VERSION, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// When to use colour; `auto` heeds `NO_COLOR` and `CLICOLOR_FORCE`
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,

    /// Show what plugins log
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Box<check::Args>),
    Init(init::Args),
    Branch(branch::Args),
    Query(Box<query::Args>),
    #[cfg(target_os = "linux")]
    Run(Box<run::Args>),
    Rule(rule::Args),
    Plugin(plugin::Args),
    Server(server::Args),
    Agent(agent::Args),
    Lsp(lsp::Args),
    Daemon(daemon::Args),
    Config(config::Args),
    Trust(trust::Args),
    Doctor(doctor::Args),
    Completions(completions::Args),
    Man(man::Args),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// The shape of an answer that is not a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AnswerFormat {
    Text,
    Json,
}

/// Plugins that the program does not carry.
#[derive(Debug, clap::Args)]
struct PluginArgs {
    /// Use this plugin as well, in place of a bundled one of the same name; may be repeated
    #[arg(long, value_name = "FILE")]
    plugin: Vec<PathBuf>,
}

/// Environment of a command.
struct Session {
    process_context: ProcessContext,
    messages: Messages,
    /// Whether logs of plugins are shown.
    verbose: bool,
    /// Whether only failures are shown.
    quiet: bool,
    /// Whether standard output is coloured.
    color: bool,
}

/// Runs the program with its arguments, the first of which is its name.
pub fn run(args: impl IntoIterator<Item = OsString>, mut process_context: ProcessContext) -> Exit {
    let args: Vec<_> = args.into_iter().collect();
    let is_hook = args.get(1..3).is_some_and(|it| *it == ["agent", "hook"]);
    let is_verbose = version::is_verbose(&args);
    let cli = match parse(args, &process_context) {
        Ok(cli) => cli,
        Err(error) => {
            let exit = answer_of_parser(&error, &mut process_context);
            if error.kind() == clap::error::ErrorKind::DisplayVersion && is_verbose {
                let details = version::details(&process_context);
                let _nobody_left_to_tell = process_context.stdout.write_all(details.as_bytes());
            }
            // To an agent, the exit code of an error is the refusal of its edit.
            return if is_hook && exit == Exit::Abnormal { Exit::Findings } else { exit };
        }
    };
    let mut session = Session::new(&cli, process_context);
    let result = match cli.command {
        Command::Check(args) => check::run(&args, &mut session),
        Command::Init(args) => init::run(&args, &mut session),
        Command::Branch(args) => branch::run(&args, &mut session),
        Command::Query(args) => query::run(&args, &mut session),
        #[cfg(target_os = "linux")]
        Command::Run(args) => run::run(&args, &mut session),
        Command::Rule(args) => rule::run(&args, &mut session),
        Command::Plugin(args) => plugin::run(&args, &mut session),
        Command::Server(args) => server::run(&args, &mut session),
        Command::Agent(args) => agent::run(args, &mut session),
        Command::Lsp(args) => lsp::run(&args, &mut session),
        Command::Daemon(args) => daemon::run(&args, &mut session),
        Command::Config(args) => config::run(&args, &mut session),
        Command::Trust(args) => trust::run(&args, &mut session),
        Command::Doctor(args) => doctor::run(&args, &mut session),
        Command::Completions(args) => completions::run(&args, &mut session),
        Command::Man(args) => man::run(&args, &mut session),
    };
    result.unwrap_or_else(|error| {
        if error.kind != ErrorKind::BrokenPipe {
            session.messages.error(&error);
        }
        Exit::from(&error)
    })
}

fn parse(
    args: impl IntoIterator<Item = OsString>,
    process_context: &ProcessContext,
) -> Result<Cli, clap::Error> {
    let color = if process_context.color_stderr { ColorChoice::Always } else { ColorChoice::Never };
    let matches = Cli::command().color(color).try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

/// Help is what was asked for; anything else is a mistake in the arguments.
fn answer_of_parser(error: &clap::Error, process_context: &mut ProcessContext) -> Exit {
    let (out, color, exit) = if error.use_stderr() {
        (&mut process_context.stderr, process_context.color_stderr, Exit::Abnormal)
    } else {
        (&mut process_context.stdout, process_context.color_stdout, Exit::Clean)
    };
    let text = error.render();
    let text = if color { text.ansi().to_string() } else { text.to_string() };
    let _nobody_left_to_tell = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    exit
}

impl Session {
    fn new(cli: &Cli, mut process_context: ProcessContext) -> Self {
        let colors = |auto| match cli.color {
            Color::Auto => auto,
            Color::Always => true,
            Color::Never => false,
        };
        let stderr = std::mem::replace(&mut process_context.stderr, Box::new(std::io::sink()));
        let messages = Messages::new(stderr, colors(process_context.color_stderr));
        let (verbose, quiet) = (cli.verbose, false);
        Self { color: colors(process_context.color_stdout), process_context, messages, verbose, quiet }
    }

    /// Returns the loader of plugins.
    fn loader(&self) -> Loader {
        let (messages, verbose, quiet) = (self.messages.clone(), self.verbose, self.quiet);
        Loader {
            bundle: self.process_context.bundle,
            build: crate::BUILD,
            cache_dir: self.process_context.cache_dir.clone(),
            compiler: self.process_context.compiler.clone(),
            notify: Arc::new(move |notice| show_notice(&messages, &notice, verbose, quiet)),
        }
    }

    /// The linters of the workspace that holds the current folder; those of the program if there is none.
    fn linters(&self, plugins: &PluginArgs) -> Result<Arc<Catalogs>, CliError> {
        let (root, view) = self.here();
        let plugins = PluginProvider::new(self.loader().load(&plugins.plugin, 1)?);
        let context = match root.is_empty() {
            true => WorkspaceContext::nowhere(),
            false => WorkspaceContext::of_shell(Path::new(&root), Arc::clone(&view)),
        };
        let mut providers: Vec<Arc<dyn Provider>> = vec![Arc::new(plugins)];
        providers.extend(external(&Servers::of_user()));
        Ok(LinterSet::new(providers, context, Choice::default()).at(&view)?)
    }

    /// Shows which plugins cannot be used.
    fn report_broken(&self, plugins: &Plugins) {
        for broken in &plugins.broken {
            self.messages.error(&CliError::plugin(&broken.reason));
        }
    }

    /// The current folder, which may be gone.
    fn cwd(&self) -> Result<PathBuf, CliError> {
        let cwd = self.process_context.cwd.as_ref();
        Ok(cwd.map_err(|error| CliError::files(format!("there is no current folder: {error}")))?.clone())
    }

    /// The folder of the workspace that holds the current folder, and what is in it; nothing if there is none.
    fn here(&self) -> (String, Arc<dyn View>) {
        let opened = || {
            let home = self.process_context.home.as_deref();
            let found = WorkspaceRoot::of_paths(&self.cwd().ok()?, &[PathBuf::from(".")], home).ok()?;
            let root = found.workspace.root();
            let view: Arc<dyn View> = Arc::new(Disk::new(root).ok()?);
            Some((root.to_string_lossy().into_owned(), view))
        };
        opened().unwrap_or_else(|| (String::new(), Arc::new(Memory::default())))
    }

    /// The workspace that holds the current folder, in the user's daemon, which is started if need be.
    fn open(&self) -> Result<Opened, CliError> {
        let tell = (!self.quiet).then_some(&self.messages);
        let client = Client::connect(&self.process_context.cancel, tell)?;
        Opened::open(client, &self.cwd()?, self.process_context.home.as_deref(), &self.messages)
    }

    fn read_stdin(&mut self) -> Result<Vec<u8>, CliError> {
        let mut text = Vec::new();
        let read = self.process_context.stdin.read_to_end(&mut text);
        read.map_err(|error| CliError::files(format!("cannot read standard input: {error}")))?;
        Ok(text)
    }

    /// Writes an answer to standard output.
    /// Prints a text of others, such as a file's or a patch. On a terminal, characters that would steer it are escaped: they
    /// could hide a line from the person who reviews it.
    fn print_text(&mut self, text: &str) -> Result<(), CliError> {
        match self.process_context.is_terminal {
            true => self.print(&printable_text(text)),
            false => self.print(text),
        }
    }

    fn print(&mut self, text: &str) -> Result<(), CliError> {
        let out = &mut self.process_context.stdout;
        Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush())?)
    }
}

/// Asks the person at the terminal. Only a clear yes is one.
fn confirm(session: &Session, question: &str) -> Result<bool, CliError> {
    session.messages.line(&format!("{question} [y/N]"));
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.map_err(|error| CliError::files(format!("cannot read the answer: {error}")))?;
    Ok(is_yes(&line))
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

/// An answer as indented JSON.
fn json(answer: &impl serde::Serialize) -> String {
    // The values that are written here have string keys only, the one thing that could fail.
    serde_json::to_string_pretty(answer).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn only_a_clear_yes_counts() {
        assert!(is_yes("y\n") && is_yes("Yes\n"));
        assert!(!is_yes("\n") && !is_yes("n\n") && !is_yes("yy\n"));
    }
}
