//! Runs of a tool that is told the texts of edited files: it needs no folder that shows them.
//!
//! A text can be told of a file that is on the disk. A tool that looks for files reads folders of the disk, where new ones are
//! missing and deleted ones are not: views with such edits, or with other links, are checked in a shadow folder.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::{self, Write as _},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use lint::Cancel;
use overlay::{FileKind, View, WorkspacePath};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde::Serialize;
use shadow::{Ended, Exit, Stopped};

use crate::{
    rules::{Asked, Rules},
    run::{CHECKER_NICENESS, Ran, kept},
};

const BOM: char = '\u{feff}';

/// Texts of files by their places on the disk.
pub(crate) type Texts = BTreeMap<PathBuf, String>;

/// Question to `tsgolint headless`.
#[derive(Serialize)]
struct Question<'q> {
    version: u32,
    configs: [Files<'q>; 1],
    source_overrides: &'q Texts,
    report_syntactic: bool,
    report_semantic: bool,
}

#[derive(Serialize)]
struct Files<'q> {
    file_paths: Vec<PathBuf>,
    rules: Vec<Asked<'q>>,
}

/// Returns the texts that differ from those on the disk, in the folder `root`; `None` if something else differs.
pub(crate) fn edited(view: &dyn View, disk: &dyn View, root: &Path) -> Option<Texts> {
    let is_file = |it: &dyn View, path: &WorkspacePath| {
        it.metadata(path).is_ok_and(|it| it.kind == FileKind::File)
            && it.resolve(path).is_ok_and(|it| it == *path)
    };
    let text = |path: WorkspacePath| {
        let text = String::from_utf8(view.read(&path).ok()?.to_vec()).ok()?;
        let text = text.strip_prefix(BOM).map(str::to_owned).unwrap_or(text);
        (is_file(view, &path) && is_file(disk, &path)).then(|| (root.join(path.as_str()), text))
    };
    view.edits().into_iter().map(text).collect()
}

/// The question about these files, with these texts instead of those that are found.
pub(crate) fn question(files: Vec<PathBuf>, texts: &Texts, rules: &Rules) -> Result<Vec<u8>, String> {
    let question = Question {
        version: 2,
        configs: [Files { file_paths: files, rules: rules.asked() }],
        source_overrides: texts,
        report_syntactic: true,
        report_semantic: true,
    };
    serde_json::to_vec(&question).map_err(|error| format!("cannot be asked: {error}"))
}

/// A program that runs on the disk as it is.
pub(crate) struct Process {
    pub(crate) command: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) folder: PathBuf,
    pub(crate) timeout: Duration,
}

impl Process {
    /// Runs it with this on its standard input, until it ends, is cancelled or late. What it started ends with it.
    pub(crate) fn run(self, input: &[u8], cancel: &Cancel) -> Result<Ran, String> {
        let (timeout, deadline) = (self.timeout, Instant::now() + self.timeout);
        let mut child = self.start().map_err(|error| format!("cannot be run: {error}"))?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err("cannot be run: it has no pipes".to_owned());
        };
        // Emptied once it has ended: its number may be that of another then.
        let group = Mutex::new(group);
        let kill = || group.lock().map(|it| kill_process_group(it, Signal::KILL));
        let (over, late) = (Cancel::default(), Mutex::new(false));
        let ends = over.clone();
        let _ends = cancel.on_cancel(move || ends.cancel());
        thread::scope(|scope| {
            let read = [scope.spawn(move || kept(stdout)), scope.spawn(move || kept(stderr))];
            // It need not read all of it.
            scope.spawn(move || _ = stdin.write_all(input));
            scope.spawn(|| {
                *late.lock() = !over.wait(Some(deadline));
                kill();
            });
            let ended = end_of(&mut child, || {
                kill();
                group.lock().take();
            });
            over.cancel();
            let [stdout, stderr] = read.map(|it| it.join().unwrap_or_default());
            let status = ended.map_err(|error| format!("cannot be run: {error}"))?;
            let stopped = late.lock().then_some(Stopped::Time(timeout));
            Ok(Ran::of([stdout, stderr], ended_as(status, stopped)))
        })
    }

    fn start(self) -> io::Result<Child> {
        let (program, arguments) = self.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.environment).current_dir(self.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let start = || {
            // Only this thread's, and that of the process that it starts.
            let _ = rustix::process::nice(CHECKER_NICENESS);
            command.spawn()
        };
        thread::scope(|scope| scope.spawn(start).join()).map_err(|_| io::ErrorKind::Other)?
    }
}

/// Waits for a process, and does this while its number is still its own.
fn end_of(child: &mut Child, then: impl FnOnce()) -> io::Result<ExitStatus> {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    }
    then();
    child.wait()
}

fn ended_as(status: ExitStatus, stopped: Option<Stopped>) -> Ended {
    let exit = match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    };
    Ended { exit, stopped, left_some: false, processor_time: Duration::ZERO, memory: 0 }
}

#[cfg(test)]
mod tests {
    use overlay::{Branch, Memory};
    use std::sync::Arc;

    use super::*;

    #[test]
    fn texts_of_files_on_the_disk_can_be_told() {
        let disk: Arc<dyn View> = Arc::new(Memory::from_files([("a.ts", "1"), ("b/c.ts", "2")]).unwrap());
        let path = |it: &str| WorkspacePath::new(it).unwrap();
        let told = |edit: &dyn Fn(&mut Branch)| {
            let mut branch = Branch::new(Arc::clone(&disk));
            branch.write(&path("a.ts"), "\u{feff}one".into()).unwrap();
            edit(&mut branch);
            edited(&branch.snapshot(), &*disk, Path::new("/w")).map(|it| format!("{it:?}"))
        };
        assert_eq!(told(&|_| {}).as_deref(), Some(r#"{"/w/a.ts": "one"}"#));
        let both = told(&|it| _ = it.write(&path("b/c.ts"), "two".into()).unwrap());
        assert_eq!(both.as_deref(), Some(r#"{"/w/a.ts": "one", "/w/b/c.ts": "two"}"#));
        assert_eq!(told(&|it| _ = it.write(&path("b/new.ts"), "".into()).unwrap()), None);
        assert_eq!(told(&|it| _ = it.write(&path("b/c.ts"), vec![0xff].into()).unwrap()), None);
        assert_eq!(told(&|it| _ = it.remove(&path("b/c.ts")).unwrap()), None);
        assert_eq!(edited(&*disk, &*disk, Path::new("/w")), Some(Texts::new()));
    }
}
