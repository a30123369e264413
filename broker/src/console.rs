//! Context of a run: standard streams, environment, and the messages to standard error.

use std::{
    env,
    io::{self, IsTerminal as _, Read, Write},
    path::PathBuf,
    process,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
    thread,
};

use anstyle::{AnsiColor, Style};
use config::folders;
use indicatif::ProgressBar;
use lint::{Cancel, printable};
use linters::plugins;
use parking_lot::Mutex;
use plugin_host::{Bundled, Compiler, Notice};
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::CliError;

/// Everything that a run takes from its process, so that tests can replace it.
pub struct ProcessContext {
    pub stdin: Box<dyn Read + Send>,
    pub stdout: Box<dyn Write + Send>,
    pub stderr: Box<dyn Write + Send>,
    /// Whether `--color auto` colours standard output.
    pub color_stdout: bool,
    pub color_stderr: bool,
    /// Whether a person watches standard error.
    pub watched: bool,
    /// Whether standard output is a terminal, so that texts of others must not steer it.
    pub is_terminal: bool,
    pub cwd: io::Result<PathBuf>,
    pub home: Option<PathBuf>,
    pub cache_dir: Option<PathBuf>,
    pub bundle: &'static [Bundled],
    /// Compiles plugins that the program does not carry.
    pub compiler: Compiler,
    /// Cancellation, which ends the run early.
    pub cancel: Cancel,
}

impl ProcessContext {
    /// The process's own, with the plugins that the program carries. An interrupt from the keyboard ends the run early, a second
    /// one at once.
    pub fn of_process(bundle: &'static [Bundled]) -> Self {
        let colors = |choice| choice != anstream::ColorChoice::Never;
        Self {
            color_stdout: colors(anstream::AutoStream::choice(&io::stdout())),
            color_stderr: colors(anstream::AutoStream::choice(&io::stderr())),
            watched: io::stderr().is_terminal(),
            is_terminal: io::stdout().is_terminal(),
            stdin: Box::new(io::stdin()),
            stdout: Box::new(io::stdout()),
            stderr: Box::new(io::stderr()),
            cwd: env::current_dir(),
            home: env::home_dir().filter(|it| !it.as_os_str().is_empty()),
            cache_dir: folders::cache_dir(),
            bundle,
            compiler: plugins::compiler(),
            cancel: cancelled_by_interrupt(),
        }
    }
}

/// The signal that interrupted this process.
static INTERRUPTED_BY: AtomicI32 = AtomicI32::new(SIGINT);

/// The signal that interrupted this process, if one did: what a command that it runs is to get.
pub(crate) fn interrupted_by() -> i32 {
    INTERRUPTED_BY.load(Relaxed)
}

/// A flag that the first interrupt sets; the second one ends the process.
fn cancelled_by_interrupt() -> Cancel {
    let cancel = Cancel::default();
    let flag = cancel.clone();
    // Without a handler an interrupt ends the process, which is what it is for.
    if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) {
        thread::spawn(move || {
            for signal in signals.forever() {
                if flag.is_cancelled() {
                    #[expect(clippy::exit, reason = "the user insists")]
                    process::exit(128 + signal);
                }
                INTERRUPTED_BY.store(signal, Relaxed);
                flag.cancel();
            }
        });
    }
    cancel
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// The way to standard error, past a progress bar if there is one. Clones share it. Words that cannot be
/// written are lost: no output is left to report that to.
#[derive(Clone)]
pub(crate) struct Messages(Arc<Mutex<Inner>>);

struct Inner {
    stderr: Box<dyn Write + Send>,
    color: bool,
    bar: Option<ProgressBar>,
}

impl Messages {
    pub(crate) fn new(stderr: Box<dyn Write + Send>, color: bool) -> Self {
        Self(Arc::new(Mutex::new(Inner { stderr, color, bar: None })))
    }

    /// `error: …` and, on a line of its own, `hint: …`.
    pub(crate) fn error(&self, error: &CliError) {
        self.labelled("error", ERROR, &error.message);
        if let Some(hint) = &error.hint {
            self.labelled("hint", HINT, hint);
        }
    }

    pub(crate) fn warning(&self, text: &str) {
        self.labelled("warning", WARNING, text);
    }

    pub(crate) fn line(&self, text: &str) {
        self.0.lock().write(text);
    }

    /// Standard error, for what would stand in standard output if that were not taken.
    pub(crate) fn writer(&self) -> Box<dyn Write + Send> {
        Box::new(Writer(self.clone()))
    }

    fn labelled(&self, label: &str, style: Style, text: &str) {
        let mut inner = self.0.lock();
        let style = if inner.color { style } else { Style::new() };
        inner.write(&format!("{style}{label}{style:#}: {text}"));
    }

    /// Shows the bar that `make` makes, or the one that is there, at `position`.
    pub(crate) fn progress(&self, position: u64, make: impl FnOnce() -> ProgressBar) {
        self.0.lock().bar.get_or_insert_with(make).set_position(position);
    }

    pub(crate) fn end_progress(&self) {
        if let Some(bar) = self.0.lock().bar.take() {
            bar.finish_and_clear();
        }
    }
}

struct Writer(Messages);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.lock().stderr.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.0.lock().stderr.flush()
    }
}

impl Inner {
    fn write(&mut self, line: &str) {
        let Self { stderr, bar, .. } = self;
        let mut write = || {
            let _nobody_left = writeln!(stderr, "{line}");
        };
        match bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// Shows what the host of the plugins has to say, as loudly as was asked.
pub(crate) fn show_notice(messages: &Messages, notice: &Notice, verbose: bool, quiet: bool) {
    let text = notice.to_string();
    let text = printable(&text);
    let is_shown = match notice {
        Notice::Log { .. } => verbose,
        Notice::Compiling { .. } | Notice::NoCache { .. } => !quiet,
    };
    match notice {
        _ if !is_shown => {}
        Notice::NoCache { .. } => messages.warning(&text),
        Notice::Log { .. } | Notice::Compiling { .. } => messages.line(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn notices_are_told_as_loudly_as_was_asked() {
        let told = |verbose, quiet| {
            let text = Arc::new(Mutex::new(Vec::new()));
            let messages = Messages::new(Box::new(Captured(Arc::clone(&text))), false);
            for notice in [
                Notice::Compiling { plugin: "p".into() },
                Notice::NoCache { reason: "no room".into() },
                Notice::Log { plugin: "p".into(), level: "info".into(), message: "m".into() },
            ] {
                show_notice(&messages, &notice, verbose, quiet);
            }
            let text = text.lock();
            String::from_utf8(text.clone()).unwrap()
        };
        let normal = "compiling plugin `p` (once)\nwarning: machine code is not kept: no room\n";
        assert_eq!(told(false, false), normal);
        assert_eq!(told(true, false), format!("{normal}p: info: m\n"));
        assert_eq!(told(false, true), "");
        assert_eq!(told(true, true), "p: info: m\n");
    }
}
