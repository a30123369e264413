//! Where a server looks outside of the workspace, as its profile has it: places, and what programs say of places.
//!
//! Programs run only where the server itself may. What they print is asked for again now and then.

use std::{
    collections::HashMap,
    env,
    ffi::OsStr,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{LazyLock, Mutex, PoisonError, mpsc::channel},
    thread,
    time::{Duration, Instant},
};

use super::surroundings::{children, variable};
use crate::{Launch, Profile, profile::Outside};

/// Longest wait for a program that prints folders.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time for which what a program printed is taken to be true.
const ASKED_EVERY: Duration = Duration::from_secs(30);

/// Time for which the folders of a name in the workspace are taken to be all.
const WALKED_EVERY: Duration = Duration::from_secs(5);

/// Folders of the workspace that are looked into for those of a name.
const MOST: usize = 20_000;

/// Files and folders whose stamps stand for what the server reads there.
pub(super) fn paths(profile: &Profile, launch: &Launch, root: &Path) -> Vec<PathBuf> {
    let all = profile.outside.iter().flatten();
    all.flat_map(|it| match it {
        Outside::Path(path) => places(path, launch),
        Outside::Folders(name) => folders(name, root),
        Outside::Printed(command) => printed(command, launch, root),
        Outside::Program(name) => programs(name, launch, root).into_iter().take(1).collect(),
    })
    .collect()
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
fn folders(name: &str, root: &Path) -> Vec<PathBuf> {
    type Known = HashMap<(String, PathBuf), (Instant, Vec<PathBuf>)>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (name.to_owned(), root.to_owned());
    let fresh = known().get(&key).filter(|it| it.0.elapsed() < WALKED_EVERY).map(|it| it.1.clone());
    let found = fresh.unwrap_or_else(|| {
        let found = walk(name, root);
        known().insert(key, (Instant::now(), found.clone()));
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
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(|it| variable(launch, it));
    let active = active.map(|it| Path::new(&it).join("bin"));
    let own = [".venv/bin", "venv/bin"].map(|it| root.join(it));
    let beside = launch.program.parent().map(Path::to_owned);
    let path = variable(launch, "PATH").unwrap_or_default();
    let first_in_path = env::split_paths(&path).find(|it| it.join(name).is_file());
    let folders = own.into_iter().chain(active).chain(beside).chain(first_in_path);
    let mut found: Vec<_> = folders.map(|it| it.join(name)).filter(|it| it.is_file()).collect();
    found.dedup();
    found
}

/// The folders that each of these programs prints, one a line.
fn printed(command: &[String], launch: &Launch, root: &Path) -> Vec<PathBuf> {
    type Known = HashMap<(PathBuf, Vec<String>, PathBuf), (Instant, Vec<PathBuf>)>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let Some((name, arguments)) = command.split_first() else { return Vec::new() };
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |program: PathBuf| {
        let key = (program.clone(), arguments.to_vec(), root.to_owned());
        let fresh = known().get(&key).filter(|it| it.0.elapsed() < ASKED_EVERY).map(|it| it.1.clone());
        let printed = fresh.unwrap_or_else(|| {
            let output = run(&program, arguments, launch, root).unwrap_or_default();
            let lines = output.lines().map(str::trim).filter(|it| it.starts_with('/'));
            let folders: Vec<_> = lines.map(PathBuf::from).collect();
            known().insert(key, (Instant::now(), folders.clone()));
            folders
        });
        printed.into_iter().chain([program])
    };
    programs(name, launch, root).into_iter().flat_map(of).collect()
}

/// What it prints, in the server's own environment; `None` if it does not end in time.
fn run(program: &Path, arguments: &[String], launch: &Launch, root: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments.iter().map(OsStr::new)).current_dir(root);
    for (name, value) in &launch.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut output = child.stdout.take()?;
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        let _not_text = output.read_to_string(&mut text);
        // The receiver is gone if this took too long.
        let _ = sender.send(text);
    });
    let printed = receiver.recv_timeout(PATIENCE).ok();
    // It has closed its output, or takes too long.
    let _ = child.kill();
    let _ = child.wait();
    printed
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::{ffi::OsString, fs};

    use super::*;
    use crate::Keeper;

    fn launch(env: &[(&str, &Path)]) -> Launch {
        let env = env.iter().map(|(name, it)| (OsString::from(name), Some(it.as_os_str().to_owned())));
        Launch {
            keeper: Keeper { program: PathBuf::new(), args: Vec::new() },
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
        let mut found = folders("node_modules", folder.path());
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
        let found = printed(&command, &launch, folder.path());
        assert_eq!(found[0], folder.path().join("lib"));
        assert!(found[1].ends_with("sh"), "{found:?}");
        assert!(printed(&["no-such-program".to_owned()], &launch, folder.path()).is_empty());
    }
}
