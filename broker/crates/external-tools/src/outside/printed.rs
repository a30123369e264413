//! Folders that programs print. Programs run only where the tool itself may; their output is read again now and then.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use overlay::ContentHash;

use super::{entries::OutsideState, places::Surroundings};

/// Longest wait for programs that print folders, all together.
const PRINT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time for which what a program printed is taken to be true.
const PRINT_INTERVAL: Duration = Duration::from_secs(30);

/// Fails if a place of a definition begins like a command and is none.
pub(crate) fn check(place: &str) -> Result<(), String> {
    let has_words = words(place).is_some_and(|it| !it.is_empty());
    if is_command(place) && !has_words {
        return Err(format!("`{place}` in `outside` is no command of the form `$(PROGRAM ARGUMENTS)`"));
    }
    Ok(())
}

/// Whether a place of a definition is what a program prints.
pub(crate) fn is_command(place: &str) -> bool {
    place.starts_with("$(")
}

/// The words of a command, quoted as in a shell; `None` for a place of another kind.
pub(super) fn words(place: &str) -> Option<Vec<String>> {
    shlex::split(place.strip_prefix("$(")?.strip_suffix(')')?)
}

/// A command that prints folders.
#[derive(Debug)]
struct PrintCommand<'c> {
    program: PathBuf,
    arguments: &'c [String],
}

/// The programs of these commands, and the folders that each prints, one a line. All are asked side by side, so that together they
/// take no longer than one may.
pub(super) fn folders(
    commands: &[Vec<String>],
    surroundings: &Surroundings<'_>,
    state: &OutsideState,
) -> Vec<PathBuf> {
    let asked = commands.iter().filter_map(|it| it.split_first()).flat_map(|(name, arguments)| {
        let programs = surroundings.programs_named(name).into_iter();
        programs.map(move |program| PrintCommand { program, arguments })
    });
    let asked: Vec<_> = asked.map(|it| (it.key(surroundings), it)).collect();
    let stale = asked.iter().filter(|(key, _)| state.printed.get(key, PRINT_INTERVAL).is_none());
    let running: Vec<_> = stale.map(|(key, it)| (*key, Running::start(it, surroundings))).collect();
    let deadline = Instant::now() + PRINT_TIMEOUT;
    for (key, running) in running {
        let output = running.and_then(|it| it.output(deadline)).unwrap_or_default();
        let lines = output.lines().map(str::trim).filter(|it| it.starts_with('/'));
        state.printed.keep(key, lines.map(PathBuf::from).collect());
    }
    let printed = |key| state.printed.get(key, Duration::MAX).unwrap_or_default();
    asked.iter().flat_map(|(key, it)| printed(key).into_iter().chain([it.program.clone()])).collect()
}

impl PrintCommand<'_> {
    fn key(&self, surroundings: &Surroundings<'_>) -> ContentHash {
        let text = format!("{self:?} {:?} {:?}", surroundings.root, surroundings.variables);
        ContentHash::of(text.as_bytes())
    }
}

/// A program that prints, in the tool's own environment.
struct Running {
    child: Child,
    printed: Receiver<String>,
}

impl Running {
    fn start(it: &PrintCommand<'_>, surroundings: &Surroundings<'_>) -> Option<Self> {
        let mut command = command(&it.program, it.arguments, surroundings);
        let mut child = command.spawn().ok()?;
        let mut output = child.stdout.take()?;
        let (sender, printed) = channel();
        thread::spawn(move || {
            let mut text = String::new();
            let _not_text = output.read_to_string(&mut text);
            // The receiver is gone if this took too long.
            let _ = sender.send(text);
        });
        Some(Self { child, printed })
    }

    /// Returns the output of the program; `None` if it does not end in time.
    fn output(mut self, deadline: Instant) -> Option<String> {
        let printed = self.printed.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok();
        // The program has closed its output, or takes too long.
        let _ = self.child.kill();
        let _ = self.child.wait();
        printed
    }
}

fn command(program: &Path, arguments: &[String], surroundings: &Surroundings<'_>) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(surroundings.root);
    command.env_clear().envs(&surroundings.variables);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;
    use crate::outside::places::tests::surroundings;

    #[test]
    fn words_of_commands() {
        assert_eq!(words("$(go env GOROOT)").unwrap(), ["go", "env", "GOROOT"]);
        assert_eq!(words("$(python -c 'print(\")\")')").unwrap(), ["python", "-c", "print(\")\")"]);
        assert_eq!(words("$PATH/go"), None);
        assert!(check("$(go)").is_ok() && check("$GO/bin").is_ok() && check("(x)").is_ok());
        assert!(check("$(go").is_err() && check("$()").is_err() && check("$(go 'env)").is_err());
    }

    #[test]
    fn a_program_prints_folders() {
        let (folder, path) = (tempfile::tempdir().unwrap(), std::env::var_os("PATH").unwrap());
        let root = folder.path();
        let (surroundings, state) =
            (surroundings(root, &[("WHERE", root), ("PATH", Path::new(&path))]), OutsideState::default());
        let ask = |place: &str| folders(&[words(place).unwrap()], &surroundings, &state);
        let found = ask("$(sh -c 'echo note; echo $WHERE/lib')");
        assert_eq!(found[0], root.join("lib"));
        assert!(found[1].ends_with("sh"), "{found:?}");
        assert!(ask("$(no-such-program)").is_empty());
    }

    /// Each of these programs prints only when all of them have been started.
    #[test]
    fn programs_are_asked_side_by_side() {
        let (folder, path) = (tempfile::tempdir().unwrap(), std::env::var_os("PATH").unwrap());
        let own = [".venv/bin", "venv/bin"].map(|it| folder.path().join(it));
        let wait = "#!/bin/sh\n: >$0.here\n\
                    until [ -e .venv/bin/a.here -a -e venv/bin/a.here -a -e venv/bin/b.here ]; do sleep 0.01; done\n\
                    echo $0/lib\n";
        for file in [own[0].join("a"), own[1].join("a"), own[1].join("b")] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, wait).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let surroundings = surroundings(folder.path(), &[("PATH", Path::new(&path))]);
        let commands = [vec!["a".to_owned()], vec!["b".to_owned()]];
        let found = folders(&commands, &surroundings, &OutsideState::default());
        let programs = [own[0].join("a"), own[1].join("a"), own[1].join("b")];
        assert_eq!(found, programs.map(|it| [it.join("lib"), it]).concat());
    }
}
