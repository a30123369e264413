//! Carries out steps.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, Seek as _, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use crate::{
    features,
    step::{Failure, Invocation, Lane, Step},
};

/// Failure of a command: its message, unless a program said enough, and the exit code.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) message: Option<String>,
    pub(crate) hint: Option<String>,
    pub(crate) code: u8,
}

pub(crate) fn fail(message: &str, hint: Option<&str>) -> Failed {
    Failed { message: Some(message.to_owned()), hint: hint.map(str::to_owned), code: 2 }
}

pub(crate) fn say(text: &str) {
    eprintln!("\x1b[1m• {text}\x1b[0m");
}

pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|it| it.join(name)).find(|it| it.is_file())
}

/// Output of a program that succeeds; its messages are dropped.
pub(crate) fn output(invocation: &Invocation) -> io::Result<String> {
    let output = Runner::default().command(invocation).stderr(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(io::Error::other(format!("{invocation} failed")))
}

/// Variables for later steps, and where they print.
#[derive(Default)]
pub(crate) struct Runner {
    root: PathBuf,
    env: BTreeMap<String, String>,
    log: Option<fs::File>,
}

impl Runner {
    pub(crate) fn new(root: PathBuf, env: BTreeMap<String, String>) -> Runner {
        Runner { root, env, log: None }
    }

    pub(crate) fn run(&mut self, steps: &[Step]) -> Result<(), Failed> {
        steps.iter().try_for_each(|it| self.step(it))
    }

    fn step(&mut self, step: &Step) -> Result<(), Failed> {
        match step {
            Step::Say(text) => self.say(text),
            Step::Run(it, failure) => self.spawn(it, *failure),
            Step::RunQuietly(it) => self.run_quietly(it),
            Step::Exec(it) => Err(cannot_run(it, &self.command(it).exec())),
            Step::Export(it, failure) => self.export(it, *failure),
            Step::ExpectNoWarnings(it, failure) => self.expect_no_warnings(it, *failure),
            Step::ExpectSameFeatures(plugins) => {
                features::expect_same(plugins, |excluded| self.stdout(&features::tree(excluded), None))
            }
            Step::Unless(file, steps) if !file.exists() => self.run(steps),
            Step::Unless(..) => Ok(()),
            Step::Copy(files, folder) => files.iter().try_for_each(|it| copy_newer(it, folder)),
            Step::Remove(path) => remove(&self.root.join(path)),
            Step::Together(lanes) => self.together(lanes),
        }
    }

    fn say(&mut self, text: &str) -> Result<(), Failed> {
        match &mut self.log {
            Some(log) => writeln!(log, "• {text}").map_err(|error| fail(&error.to_string(), None)),
            None => {
                say(text);
                Ok(())
            }
        }
    }

    fn command(&self, it: &Invocation) -> Command {
        let mut command = Command::new(&it.program);
        command.args(&it.args);
        let folder = it.folder.as_ref().map_or_else(|| self.root.clone(), |it| self.root.join(it));
        if !folder.as_os_str().is_empty() {
            command.current_dir(folder);
        }
        env::vars_os()
            .map(|it| it.0)
            .filter(|it| is_of_cargo_run(&it.to_string_lossy()))
            .for_each(|it| _ = command.env_remove(it));
        command.envs(&self.env).envs(it.env.iter().cloned());
        if let Some(first) = it.path_from.and_then(|it| self.env.get(it)) {
            command.env("PATH", format!("{first}:{}", env::var("PATH").unwrap_or_default()));
        }
        if let Some(log) = &self.log {
            for set in [Command::stdout::<Stdio>, Command::stderr] {
                set(&mut command, log.try_clone().map_or_else(|_| Stdio::inherit(), Stdio::from));
            }
        }
        command
    }

    fn spawn(&self, it: &Invocation, failure: Option<Failure>) -> Result<(), Failed> {
        let status = self.command(it).status().map_err(|error| cannot_run(it, &error))?;
        if status.success() { Ok(()) } else { Err(failed(failure, status.code())) }
    }

    fn run_quietly(&self, it: &Invocation) -> Result<(), Failed> {
        let output =
            self.command(it).stdout(Stdio::piped()).output().map_err(|error| cannot_run(it, &error))?;
        if output.status.success() {
            return Ok(());
        }
        eprint!("{}", String::from_utf8_lossy(&output.stdout));
        Err(failed(None, output.status.code()))
    }

    fn stdout(&self, it: &Invocation, failure: Option<Failure>) -> Result<String, Failed> {
        let output = self.command(it).stdout(Stdio::piped()).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| cannot_run(it, &error))?;
        if !output.status.success() {
            return Err(failed(failure, output.status.code()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn export(&mut self, it: &Invocation, failure: Option<Failure>) -> Result<(), Failed> {
        let printed = self.stdout(it, failure)?;
        self.env.extend(exports(&printed));
        Ok(())
    }

    fn expect_no_warnings(&self, it: &Invocation, failure: Failure) -> Result<(), Failed> {
        let output = self.command(it).output().map_err(|error| cannot_run(it, &error))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(failed(Some(failure), None));
        }
        if said.contains("warning:") {
            eprint!("{said}");
            return Err(fail("there are warnings, see above", None));
        }
        Ok(())
    }

    /// After a failure, the other lanes end with the step that they are at.
    fn together(&self, lanes: &[Lane]) -> Result<(), Failed> {
        let has_failed = AtomicBool::new(false);
        let results: Vec<_> = thread::scope(|scope| {
            let has_failed = &has_failed;
            let run = |lane| scope.spawn(move || self.lane(lane, has_failed));
            let threads: Vec<_> = lanes.iter().map(run).collect();
            threads
                .into_iter()
                .map(|it| it.join().unwrap_or_else(|_| Err(fail("a lane panicked", None))))
                .collect()
        });
        results.into_iter().collect()
    }

    fn lane(&self, lane: &Lane, has_failed: &AtomicBool) -> Result<(), Failed> {
        let log = lane.is_shown_at_end.then(temporary_file).transpose();
        let log = log.map_err(|error| fail(&format!("no log can be written: {error}"), None))?;
        let mut runner = Runner { root: self.root.clone(), env: self.env.clone(), log };
        let mut steps = lane.steps.iter();
        let result = steps.try_for_each(|step| match has_failed.load(Ordering::Relaxed) {
            true => Ok(()),
            false => runner.step(step),
        });
        has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
        if let Some(mut log) = runner.log {
            _ = log.rewind().and_then(|()| io::copy(&mut log, &mut io::stderr()));
        }
        result
    }
}

/// Variables that `cargo run` sets for this program. Build scripts of dependencies look at some of them, and would run again.
fn is_of_cargo_run(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|it| name.starts_with(it))
}

fn cannot_run(it: &Invocation, error: &io::Error) -> Failed {
    fail(&format!("{} cannot be run: {error}", it.program), None)
}

fn failed(failure: Option<Failure>, code: Option<i32>) -> Failed {
    match failure {
        Some(it) => fail(it.message, it.hint),
        None => {
            Failed { message: None, hint: None, code: code.and_then(|it| u8::try_from(it).ok()).unwrap_or(2) }
        }
    }
}

fn temporary_file() -> io::Result<fs::File> {
    let path = env::temp_dir().join(format!("xtask-{}.log", std::process::id()));
    let file = fs::File::options().read(true).append(true).create_new(true).open(&path)?;
    fs::remove_file(path)?;
    Ok(file)
}

/// Variables of lines `export NAME='VALUE'`.
fn exports(printed: &str) -> Vec<(String, String)> {
    let words = shlex::split(printed).unwrap_or_default();
    let pairs = words.iter().filter_map(|it| it.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn copy_newer(file: &Path, folder: &Path) -> Result<(), Failed> {
    let to = folder.join(file.file_name().unwrap_or_default());
    let modified = |it: &Path| fs::metadata(it).and_then(|it| it.modified());
    if modified(&to).is_ok_and(|old| modified(file).is_ok_and(|new| new <= old)) {
        return Ok(());
    }
    let copied = fs::create_dir_all(folder).and_then(|()| fs::copy(file, &to));
    copied.map(drop).map_err(|error| fail(&format!("cannot copy {}: {error}", file.display()), None))
}

fn remove(path: &Path) -> Result<(), Failed> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(fail(&format!("cannot remove {}: {error}", path.display()), None))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::lane;

    fn runner() -> Runner {
        Runner::new(env::temp_dir(), BTreeMap::new())
    }

    fn shell(script: &str) -> Invocation {
        Invocation::new("sh").args(["-c", script])
    }

    #[test]
    fn printed_variables_are_set_for_later_steps() {
        let print = shell(r#"printf "export A='x y'\nexport B='it'\\\\''s'\n""#);
        let look = shell(r#"[ "$A" = "x y" ] && [ "$B" = "it's" ] || exit 7"#);
        runner().run(&[Step::Export(print, None), look.clone().step()]).unwrap();
        assert_eq!(runner().run(&[look.step()]).unwrap_err().code, 7);
    }

    #[test]
    fn a_message_is_in_place_of_the_programs_exit_code() {
        let failed = runner().run(&[shell("exit 7").or("it failed", "try again")]).unwrap_err();
        let seen = (failed.message.as_deref(), failed.hint.as_deref(), failed.code);
        assert_eq!(seen, (Some("it failed"), Some("try again"), 2));
    }

    #[test]
    fn output_is_that_of_a_program_that_succeeds() {
        assert_eq!(output(&shell("echo out; echo err >&2")).unwrap(), "out\n");
        assert!(output(&shell("echo out; exit 1")).is_err());
    }

    #[test]
    fn lanes_fail_together() {
        let lanes = vec![lane([shell("exit 0").step()]), lane([shell("exit 5").step()])];
        assert_eq!(runner().run(&[Step::Together(lanes)]).unwrap_err().code, 5);
        let quiet = Lane { is_shown_at_end: true, ..lane([shell("true").step()]) };
        runner().run(&[Step::Together(vec![quiet])]).unwrap();
    }

    #[test]
    fn warnings_fail() {
        let failure = Failure { message: "not built", hint: None };
        let message = |script: &str| {
            let step = Step::ExpectNoWarnings(shell(script), failure);
            runner().run(&[step]).err().and_then(|it| it.message)
        };
        assert_eq!(message("echo fine >&2"), None);
        assert_eq!(message("echo warning: unused >&2").as_deref(), Some("there are warnings, see above"));
        assert_eq!(message("exit 1").as_deref(), Some("not built"));
    }

    #[test]
    fn what_is_there_is_not_made_again() {
        let step = |file: PathBuf| Step::Unless(file, vec![shell("exit 3").step()]);
        runner().run(&[step(env::temp_dir())]).unwrap();
        assert_eq!(runner().run(&[step("/none/at/all".into())]).unwrap_err().code, 3);
    }
}
