//! Steps of a command, as data: `run` carries them out, tests compare them, `cargo xtask steps` prints them.

use std::{fmt, path::PathBuf};

/// A program to run, in the root of the repository unless it names a folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Invocation {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) folder: Option<PathBuf>,
    /// A variable whose folders go before `PATH`; an earlier step may have set it.
    pub(crate) path_from: Option<&'static str>,
}

/// Message and hint of a step that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    pub(crate) message: &'static str,
    pub(crate) hint: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Say(String),
    Run(Invocation, Option<Failure>),
    /// Shows what the program printed only if it fails.
    RunQuietly(Invocation),
    /// Replaces this process, whose exit code is then the program's.
    Exec(Invocation),
    /// Sets the variables that the program prints as `export NAME='VALUE'`, for all later steps.
    Export(Invocation, Option<Failure>),
    /// Fails if the program warns, or fails itself.
    ExpectNoWarnings(Invocation, Failure),
    /// Compares features of dependencies with each of these plugins alone, and with none, to those with all of them.
    ExpectSameFeatures(Vec<String>),
    /// Does nothing where the file is there.
    Unless(PathBuf, Vec<Step>),
    /// Copies files that are newer than those in the folder.
    Copy(Vec<PathBuf>, PathBuf),
    /// Removes a file or a folder, if it is there.
    Remove(PathBuf),
    /// Sequences that run side by side.
    Together(Vec<Lane>),
}

#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) steps: Vec<Step>,
    /// Shown as a whole when it has ended.
    pub(crate) is_shown_at_end: bool,
}

impl Invocation {
    pub(crate) fn new(program: impl Into<String>) -> Invocation {
        Invocation { program: program.into(), ..Invocation::default() }
    }

    /// `line`, cut at spaces.
    pub(crate) fn of(line: &str) -> Invocation {
        let mut words = line.split_whitespace().map(str::to_owned);
        Invocation {
            program: words.next().unwrap_or_default(),
            args: words.collect(),
            ..Invocation::default()
        }
    }

    pub(crate) fn arg(mut self, arg: impl Into<String>) -> Invocation {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Invocation {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Invocation {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn folder(mut self, folder: impl Into<PathBuf>) -> Invocation {
        self.folder = Some(folder.into());
        self
    }

    pub(crate) fn path_from(mut self, variable: &'static str) -> Invocation {
        self.path_from = Some(variable);
        self
    }

    pub(crate) fn step(self) -> Step {
        Step::Run(self, None)
    }

    pub(crate) fn or(self, message: &'static str, hint: impl Into<Option<&'static str>>) -> Step {
        Step::Run(self, Some(Failure { message, hint: hint.into() }))
    }
}

pub(crate) fn say(text: impl Into<String>) -> Step {
    Step::Say(text.into())
}

pub(crate) fn lane(steps: impl IntoIterator<Item = Step>) -> Lane {
    Lane { steps: steps.into_iter().collect(), is_shown_at_end: false }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(folder) = &self.folder {
            write!(f, "cd {}; ", folder.display())?;
        }
        if let Some(variable) = self.path_from {
            write!(f, "PATH=${variable}:$PATH ")?;
        }
        for (name, value) in &self.env {
            write!(f, "{name}={} ", quoted(value))?;
        }
        write!(f, "{}", self.program)?;
        self.args.iter().try_for_each(|it| write!(f, " {}", quoted(it)))
    }
}

fn quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| format!("{text:?}"), Into::into)
}

/// Lines of the steps, those within others indented.
pub(crate) fn printed(steps: &[Step]) -> String {
    steps.iter().map(|it| lines(it).join("\n") + "\n").collect()
}

fn lines(step: &Step) -> Vec<String> {
    match step {
        Step::Say(text) => vec![format!("# {text}")],
        Step::Run(it, _) | Step::RunQuietly(it) => vec![it.to_string()],
        Step::Exec(it) => vec![format!("exec {it}")],
        Step::Export(it, _) => vec![format!("export $({it})")],
        Step::ExpectNoWarnings(it, _) => vec![format!("no warnings: {it}")],
        Step::ExpectSameFeatures(plugins) => vec![format!("same features: {}", plugins.join(" "))],
        Step::Unless(file, steps) => headed(format!("unless {}", file.display()), steps),
        Step::Copy(files, folder) => {
            let copy = |it: &PathBuf| format!("copy {} to {}", it.display(), folder.display());
            files.iter().map(copy).collect()
        }
        Step::Remove(it) => vec![format!("remove {}", it.display())],
        Step::Together(lanes) => {
            lanes.iter().flat_map(|it| headed("together".to_owned(), &it.steps)).collect()
        }
    }
}

fn headed(head: String, steps: &[Step]) -> Vec<String> {
    let inner = steps.iter().flat_map(lines).map(|it| format!("  {it}"));
    [head].into_iter().chain(inner).collect()
}
