//! Places outside of the workspace that a server reads, from its profile: fixed places, and places that programs print.
//!
//! Programs run only where the server itself may. Their output is read again now and then.

use std::{
    collections::HashSet,
    env,
    ffi::OsStr,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use overlay::ContentHash;

use super::outside_state::{OutsideState, children, variable};
use crate::{Launch, Profile, environment::ACTIVE, profile::Outside};

/// Longest wait for programs that print folders, all together.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time for which what a program printed is taken to be true.
const ASKED_EVERY: Duration = Duration::from_secs(30);

/// Time for which the folders of a name in the workspace are taken to be all.
const WALKED_EVERY: Duration = Duration::from_secs(5);

/// Folders of the workspace that are looked into for those of a name.
const MOST: usize = 20_000;

/// Files and folders whose stamps stand for what the server reads there.
pub(super) fn paths(profile: &Profile, launch: &Launch, root: &Path, outside: &OutsideState) -> Vec<PathBuf> {
    let all = || profile.outside.iter().flatten();
    let commands = all().filter_map(|it| match it {
        Outside::Printed(command) => command.split_first(),
        _ => None,
    });
    let printed = printed(commands, launch, root, outside);
    let named = all().flat_map(|it| match it {
        Outside::Path(path) => places(path, launch),
        Outside::Folders(name) => folders(name, root, outside),
        Outside::Program(name) => programs(name, launch, root).into_iter().take(1).collect(),
        Outside::Printed(_) => Vec::new(),
    });
    named.chain(printed).collect()
}

/// The places that a path stands for: `~` is the home, `$NAME` each folder of a variable, `*` any one name.
fn places(path: &str, launch: &Launch) -> Vec<PathBuf> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let mut found: Vec<PathBuf> = match first.strip_prefix('$') {
        Some(name) => variable(launch, name).map_or_else(Vec::new, |it| env::split_paths(&it).collect()),
        None if first == "~" => variable(launch, "HOME").map(PathBuf::from).into_iter().collect(),
        None => vec![PathBuf::from("/")],
    };
    for part in rest.split('/').filter(|it| !it.is_empty()) {
        found = found
            .into_iter()
            .flat_map(|it| if part == "*" { children(&it) } else { vec![it.join(part)] })
            .collect();
    }
    found
}

/// Folders of this name in the workspace, and those in them that group others, as `@scope` does.
fn folders(name: &str, root: &Path, outside: &OutsideState) -> Vec<PathBuf> {
    let known = || outside.folders.lock();
    let fresh = known().get(name).filter(|it| it.0.elapsed() < WALKED_EVERY).map(|it| it.1.clone());
    let found = fresh.unwrap_or_else(|| {
        let found = walk(name, root);
        known().insert(name.to_owned(), (Instant::now(), found.clone()));
        found
    });
    let is_group = |it: &PathBuf| it.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b"@"));
    let groups: Vec<_> = found.iter().flat_map(|it| children(it)).filter(is_group).collect();
    // With the one that an installation may make.
    found.into_iter().chain(groups).chain([root.join(name)]).collect()
}

fn walk(name: &str, root: &Path) -> Vec<PathBuf> {
    let (mut found, mut todo, mut looked) = (Vec::new(), vec![root.to_owned()], 0);
    while let Some(folder) = todo.pop().filter(|_| looked < MOST) {
        looked += 1;
        for child in children(&folder).into_iter().filter(|it| it.is_dir() && !it.is_symlink()) {
            let own = child.file_name().unwrap_or_default();
            if own == name {
                found.push(child);
            } else if !own.as_encoded_bytes().starts_with(b".") {
                todo.push(child);
            }
        }
    }
    found
}

/// The programs of this name that a server may come upon: in an environment, beside itself, in `PATH`.
fn programs(name: &str, launch: &Launch, root: &Path) -> Vec<PathBuf> {
    let active = ACTIVE.into_iter().filter_map(|it| variable(launch, it));
    let active = active.map(|it| Path::new(&it).join("bin"));
    let own = [".venv/bin", "venv/bin"].map(|it| root.join(it));
    let beside = launch.program.parent().map(Path::to_owned);
    let path = variable(launch, "PATH").unwrap_or_default();
    let first_in_path = env::split_paths(&path).find(|it| it.join(name).is_file());
    let folders = own.into_iter().chain(active).chain(beside).chain(first_in_path);
    let mut seen = HashSet::new();
    let programs = folders.map(|it| it.join(name));
    programs.filter(|it| seen.insert(it.clone()) && it.is_file()).collect()
}

/// Command that prints the folders that a server reads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PrintCommand {
    program: PathBuf,
    arguments: Vec<String>,
    /// Hash of the variables that it is started with.
    environment: ContentHash,
}

/// The programs of these names, and the folders that each prints, one a line. All are asked side by side, so that
/// together they take no longer than one may.
fn printed<'a>(
    commands: impl Iterator<Item = (&'a String, &'a [String])>,
    launch: &Launch,
    root: &Path,
    outside: &OutsideState,
) -> Vec<PathBuf> {
    let environment = ContentHash::of(format!("{:?}", launch.env).as_bytes());
    let asked = commands.flat_map(|(name, arguments)| {
        let arguments = arguments.to_vec();
        programs(name, launch, root).into_iter().map(move |program| PrintCommand {
            program,
            arguments: arguments.clone(),
            environment,
        })
    });
    let asked: Vec<_> = asked.collect();
    let is_fresh =
        |it: &PrintCommand| outside.printed.lock().get(it).is_some_and(|it| it.0.elapsed() < ASKED_EVERY);
    let running: Vec<_> =
        asked.iter().filter(|it| !is_fresh(it)).map(|it| (it, Running::start(it, launch, root))).collect();
    let deadline = Instant::now() + PATIENCE;
    for (it, running) in running {
        let output = running.and_then(|it| it.output(deadline)).unwrap_or_default();
        let lines = output.lines().map(str::trim).filter(|it| it.starts_with('/'));
        let folders = lines.map(PathBuf::from).collect();
        outside.printed.lock().insert(it.clone(), (Instant::now(), folders));
    }
    let known = outside.printed.lock();
    let folders = |it: &PrintCommand| known.get(it).map(|it| it.1.clone()).unwrap_or_default();
    asked.iter().flat_map(|it| folders(it).into_iter().chain([it.program.clone()])).collect()
}

/// A program that prints, in the server's own environment.
struct Running {
    child: Child,
    printed: Receiver<String>,
}

impl Running {
    fn start(it: &PrintCommand, launch: &Launch, root: &Path) -> Option<Self> {
        let mut command = Command::new(&it.program);
        command.args(it.arguments.iter().map(OsStr::new)).current_dir(root);
        for (name, value) in &launch.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
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

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::{ffi::OsString, fs, os::unix::fs::PermissionsExt as _};

    use super::*;
    use crate::Supervisor;

    pub(in crate::pool) fn launch(env: &[(&str, &Path)]) -> Launch {
        let env = env.iter().map(|(name, it)| (OsString::from(name), Some(it.as_os_str().to_owned())));
        Launch {
            supervisor: Supervisor { program: PathBuf::new(), args: Vec::new() },
            program: PathBuf::from("/nowhere/server"),
            args: Vec::new(),
            env: env.collect(),
            own_folder: Vec::new(),
            cwd: PathBuf::from("/"),
            nice: 0,
        }
    }

    #[test]
    fn places_are_filled_in() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x/lib", "y/lib"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let launch = launch(&[("HOME", folder.path()), ("IT", &folder.path().join("x"))]);
        let of = |it: &str| places(it, &launch);
        assert_eq!(of("/usr/include"), [PathBuf::from("/usr/include")]);
        assert_eq!(of("~/*/lib"), ["x/lib", "y/lib"].map(|it| folder.path().join(it)));
        assert_eq!(of("$IT/lib"), [folder.path().join("x/lib")]);
        assert_eq!(of("$NO_SUCH_VARIABLE/lib"), Vec::<PathBuf>::new());
    }

    #[test]
    fn folders_of_a_name_are_found_wherever_they_are() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/node_modules/@s/p", "node_modules/q/node_modules", ".git/node_modules"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let mut found = folders("node_modules", folder.path(), &OutsideState::default());
        found.sort();
        found.dedup();
        let want = ["a/node_modules", "a/node_modules/@s", "node_modules"];
        assert_eq!(found, want.map(|it| folder.path().join(it)));
    }

    #[test]
    fn a_program_says_where() {
        let folder = tempfile::tempdir().unwrap();
        let launch = launch(&[("WHERE", folder.path())]);
        let command = ["sh", "-c", "echo note; echo $WHERE/lib"].map(str::to_owned);
        let outside = OutsideState::default();
        let ask =
            |command: &[String]| printed(command.split_first().into_iter(), &launch, folder.path(), &outside);
        let found = ask(&command);
        assert_eq!(found[0], folder.path().join("lib"));
        assert!(found[1].ends_with("sh"), "{found:?}");
        assert!(ask(&["no-such-program".to_owned()]).is_empty());
        assert_eq!(outside.printed.lock().len(), 1);
    }

    #[test]
    fn a_program_of_several_places_is_asked_once() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (folder.path().join(".venv"), folder.path().join("other"));
        for bin in [own.join("bin"), other.join("bin")] {
            fs::create_dir_all(&bin).unwrap();
            fs::write(bin.join("python"), "").unwrap();
        }
        let environment = [("VIRTUAL_ENV", &*own), ("CONDA_PREFIX", &*other), ("PATH", &*own.join("bin"))];
        let found = programs("python", &launch(&environment), folder.path());
        assert_eq!(found, [own, other].map(|it| it.join("bin/python")));
    }

    /// Each of these programs prints only when all of them have been started.
    #[test]
    fn programs_are_asked_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        let own = [".venv/bin", "venv/bin"].map(|it| folder.path().join(it));
        let wait = "#!/bin/sh\n: >$0.here\n\
                    until [ -e .venv/bin/a.here -a -e venv/bin/a.here -a -e venv/bin/b.here ]; do sleep 0.01; done\n\
                    echo $0/lib\n";
        for file in [own[0].join("a"), own[1].join("a"), own[1].join("b")] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, wait).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let commands = [vec!["a".to_owned()], vec!["b".to_owned()]];
        let commands = commands.iter().filter_map(|it| it.split_first());
        let path = std::env::var_os("PATH").unwrap();
        let found = printed(
            commands,
            &launch(&[("PATH", Path::new(&path))]),
            folder.path(),
            &OutsideState::default(),
        );
        let programs = [own[0].join("a"), own[1].join("a"), own[1].join("b")];
        assert_eq!(found, programs.map(|it| [it.join("lib"), it]).concat());
    }
}
