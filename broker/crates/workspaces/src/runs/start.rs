//! From a request to a program that runs.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    os::fd::{AsFd as _, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use config::RunSettings;
use overlay::WorkspacePath;
use shadow::{Ended, Limits, Program, Running, Sandbox, Shadow};
use tokio::{io::Interest, sync::oneshot};

use super::{
    folder::{Folder, FolderUse, Harvesting},
    harvest::Chosen,
    log::OutputStream,
    pipes::{self, End},
    request::RunRequest,
    run::Run,
    sandbox::{no_folder, sandbox},
    target::RunTarget,
};
use crate::{Daemon, DaemonError, task::blocking};

/// A request whose fields are checked.
pub(super) struct Prepared {
    pub(super) target: RunTarget,
    sandbox: Sandbox,
    own_folder: bool,
    program: Program,
    chosen: Option<Arc<Chosen>>,
    in_background: bool,
}

/// A program that runs.
pub(super) struct Live {
    pub(super) folder: FolderUse,
    pub(super) harvest: Option<(Harvesting, Arc<Chosen>)>,
    pub(super) ended: oneshot::Receiver<Ended>,
    /// `None` in the background, and once it is closed.
    pub(super) input: Option<Arc<End>>,
    pub(super) outputs: Vec<(OutputStream, Arc<End>)>,
    pub(super) terminal: Option<Arc<End>>,
}

impl Daemon {
    /// Looks at everything that can be wrong before something is started.
    pub(super) fn prepare(
        &self,
        request: &RunRequest,
        target: RunTarget,
        allowed: &RunSettings,
    ) -> Result<Prepared, DaemonError> {
        let folder = request.expect_sense()?;
        target.expect_here()?;
        let environment = environment(&target, request.environment.as_ref(), allowed);
        let variable =
            |name: &str| environment.iter().find(|(it, _)| it == name).map(|(_, value)| value.clone());
        let sandbox = sandbox(target.root(), &request.sandbox, &request.limits, variable)?;
        let limits = Limits {
            time: request.limits.time,
            memory: request.limits.memory,
            processes: Some(sandbox.processes.into()),
            file_size: None,
        };
        let program = Program {
            command: request.command.clone(),
            environment,
            folder: folder_at(target.root(), &folder),
            terminal: request.terminal,
            limits,
        };
        Ok(Prepared {
            target,
            sandbox,
            own_folder: request.sandbox.own_folder,
            program,
            chosen: request.harvest.as_deref().map(Chosen::new).transpose()?.map(Arc::new),
            in_background: request.background,
        })
    }

    /// Starts the program in the folder of its branch, or in one of its own.
    pub(super) async fn begin(&self, run: &Run, prepared: Prepared) -> Result<Live, DaemonError> {
        let Prepared { target, sandbox, own_folder, program, chosen, in_background } = prepared;
        let stopping = self.stopping.subscribe();
        let folder = match own_folder {
            true => Folder::open(&self.launcher, &target, sandbox, stopping).await?,
            false => self.runs.folders.shared(&self.launcher, &target, sandbox, run, stopping).await?,
        };
        let harvest = match chosen {
            Some(chosen) => folder.harvest(&chosen).await?.map(|it| (it, chosen)),
            None => None,
        };
        let shadow = folder.shadow()?;
        let start = move || {
            let cannot = |source| DaemonError::Io { message: "cannot start the command".to_owned(), source };
            let ends = Ends::of(program.terminal.is_some(), in_background).map_err(cannot)?;
            started(&shadow, program, ends)
        };
        // Ends are registered with the runtime, which a blocking thread knows as well.
        let Started { running, input, outputs, terminal } = blocking(start).await?;
        run.started(folder.status(), running.signals());
        let ended = wait_aside(running)?;
        Ok(Live { folder, harvest, ended, input, outputs, terminal })
    }
}

/// All variables of a command.
fn environment(
    target: &RunTarget,
    given: Option<&BTreeMap<OsString, OsString>>,
    allowed: &RunSettings,
) -> Vec<(OsString, OsString)> {
    let Some(given) = given else {
        let variable = target.variables();
        let mut environment = shadow::environment(&variable);
        environment.extend(allowed.env.iter().filter_map(|it| Some((it.into(), variable(it)?))));
        // Without a client's shell there is no terminal of a person.
        if !environment.iter().any(|(name, _)| name == NO_COLOR) {
            environment.push((NO_COLOR.into(), "1".into()));
        }
        return environment;
    };
    let given = given.iter().filter(|(name, _)| *name != "TMPDIR");
    let given = given.map(|(name, value)| (name.clone(), value.clone()));
    given.chain([("TMPDIR".into(), "/tmp".into())]).collect()
}

const NO_COLOR: &str = "NO_COLOR";

fn folder_at(root: &Path, folder: &WorkspacePath) -> PathBuf {
    if folder.is_root() { root.to_owned() } else { root.join(folder.as_str()) }
}

/// Both ends of what a program reads and prints.
struct Ends {
    input: Option<Arc<End>>,
    outputs: Vec<(OutputStream, Arc<End>)>,
    /// Ends for the program; none with a terminal.
    programs: Option<[OwnedFd; 3]>,
}

impl Ends {
    fn of(has_terminal: bool, in_background: bool) -> io::Result<Self> {
        if has_terminal {
            return Ok(Self { input: None, outputs: Vec::new(), programs: None });
        }
        let (own, input) = match in_background {
            true => (None, pipes::no_input()?),
            false => {
                let (own, input) = pipes::input()?;
                (Some(Arc::new(own)), input)
            }
        };
        let ((first, output), (second, errors)) = (pipes::output()?, pipes::output()?);
        let outputs = vec![(OutputStream::Stdout, Arc::new(first)), (OutputStream::Stderr, Arc::new(second))];
        Ok(Self { input: own, outputs, programs: Some([input, output, errors]) })
    }
}

struct Started {
    running: Running,
    input: Option<Arc<End>>,
    outputs: Vec<(OutputStream, Arc<End>)>,
    terminal: Option<Arc<End>>,
}

fn started(shadow: &Shadow, program: Program, ends: Ends) -> Result<Started, DaemonError> {
    let Ends { mut input, mut outputs, programs } = ends;
    let files = programs.as_ref().map(|it| it.each_ref().map(|it| it.as_fd()));
    let mut running = shadow.run(program, files).map_err(|it| no_folder(&it))?;
    // The program has its own copies of its ends now.
    drop(programs);
    let cannot = |source| DaemonError::Io { message: "cannot use the terminal".to_owned(), source };
    let mut terminal = None;
    if let Some(file) = running.terminal.take() {
        let end = End::new(file, Interest::READABLE | Interest::WRITABLE).map_err(cannot)?;
        let end = Arc::new(end);
        input = Some(Arc::clone(&end));
        outputs.push((OutputStream::Stdout, Arc::clone(&end)));
        terminal = Some(end);
    }
    Ok(Started { running, input, outputs, terminal })
}

/// Waits for the program's end on a thread of its own: it may take days.
fn wait_aside(mut running: Running) -> Result<oneshot::Receiver<Ended>, DaemonError> {
    let (tell, ended) = oneshot::channel();
    let wait = move || {
        let _not_waited_for = tell.send(running.wait());
    };
    let thread = thread::Builder::new().name("run".to_owned()).spawn(wait);
    let cannot = |source| DaemonError::Io { message: "cannot start a thread".to_owned(), source };
    thread.map(|_| ended).map_err(cannot)
}
