//! Sandbox of a command of this user.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use config::folders;
use overlay::read_regular;
use shadow::{Isolation, OpenError, Sandbox};

use super::request::{DEFAULT_PROCESSES, DEFAULT_SPACE, RunLimits, SandboxRequest};
use crate::DaemonError;

/// Bytes of a file in which git notes a path.
const LARGEST_NOTE: u64 = 8 << 10;

/// The sandbox of a folder for the workspace at `root`. `variable` is the command's environment, some of whose variables
/// name folders with toolchains.
pub(super) fn sandbox(
    root: &Path,
    wanted: &SandboxRequest,
    limits: &RunLimits,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Sandbox, DaemonError> {
    let home = env::home_dir().filter(|it| !it.as_os_str().is_empty());
    let home = home.and_then(|it| fs::canonicalize(it).ok());
    if home.as_ref().is_some_and(|it| it.starts_with(root)) {
        let message = format!("{} holds the home folder, which a command is not to see", root.display());
        return Err(DaemonError::Setup {
            message,
            hint: Some("run it in a project's own folder".to_owned()),
        });
    }
    let toolchains = shadow::toolchains(home.as_deref(), root, &variable);
    let stores = shadow::stores(home.as_deref(), root, &variable);
    let repository = repository(root).and_then(|it| fs::canonicalize(it).ok());
    let read: BTreeSet<PathBuf> = toolchains.read.into_iter().chain(repository).collect();
    let named_links = wanted.read.iter().chain(&wanted.write).flat_map(|it| shadow::links_to(it));
    let own = [folders::state_dir(), folders::cache_dir(), Some(folders::runtime_dir())];
    let hidden = own.into_iter().flatten().filter_map(|it| fs::canonicalize(it).ok()).collect();
    let write = named("sandbox.write_paths", &wanted.write)?;
    if let Some(inside) = write.iter().find(|it| it.starts_with(root) || root.starts_with(it)) {
        let message = format!("{}: what is written to the workspace stays in memory", inside.display());
        return Err(DaemonError::invalid("sandbox.write_paths", message));
    }
    if wanted.isolation == Isolation::Off && !(wanted.write.is_empty() && wanted.read.is_empty()) {
        let message = "paths to read and write mean nothing without isolation, where a command may do what its user may";
        return Err(DaemonError::invalid("sandbox.isolation", message));
    }
    Ok(Sandbox {
        isolation: wanted.isolation,
        warm: !wanted.cold,
        home,
        hidden,
        read: read.into_iter().chain(named("sandbox.read_paths", &wanted.read)?).collect(),
        links: toolchains.links.into_iter().chain(named_links).collect(),
        stores,
        write,
        network: wanted.network,
        named_sockets: true,
        space: wanted.space.unwrap_or(DEFAULT_SPACE),
        processes: limits.processes.unwrap_or(DEFAULT_PROCESSES),
    })
}

/// The paths without links.
fn named(field: &'static str, paths: &[PathBuf]) -> Result<Vec<PathBuf>, DaemonError> {
    let real = |path: &PathBuf| {
        let unusable = |why: String| DaemonError::invalid(field, format!("{}: {why}", path.display()));
        if !path.is_absolute() {
            return Err(unusable("it is not absolute".to_owned()));
        }
        fs::canonicalize(path).map_err(|error| unusable(overlay::io_reason(&error).to_string()))
    };
    paths.iter().map(real).collect()
}

/// Repository of a linked worktree. A workspace may name any folder: it counts only if git's own file there leads back.
fn repository(root: &Path) -> Option<PathBuf> {
    let link = root.join(".git");
    let text = note(&link).filter(|_| !link.is_symlink())?;
    let worktree = root.join(text.strip_prefix("gitdir:")?.trim());
    let back = note(&worktree.join("gitdir"))?;
    let leads_back = fs::canonicalize(back.trim()).ok()? == fs::canonicalize(link).ok()?;
    // The path is `REPOSITORY/worktrees/NAME`.
    let above = worktree.parent().filter(|it| leads_back && it.ends_with("worktrees"))?;
    above.parent().filter(|it| it.join("objects").is_dir()).map(Path::to_owned)
}

fn note(file: &Path) -> Option<String> {
    String::from_utf8(read_regular(file, LARGEST_NOTE).ok()?).ok()
}

/// Difference between a folder that is open and one that a run asks for; `None` if the folder will do.
pub(super) fn difference(open: &Sandbox, wanted: &Sandbox) -> Option<String> {
    let whole = [
        ("isolation", open.isolation == wanted.isolation),
        ("network", open.network == wanted.network),
        ("space", open.space == wanted.space),
        ("cold", open.warm == wanted.warm),
        // A folder that allows more leaves it to each run's own limit.
        ("processes", open.processes >= wanted.processes),
    ];
    if let Some((name, _)) = whole.into_iter().find(|(_, is_same)| !is_same) {
        return Some(name.to_owned());
    }
    let lies_in = |path: &Path, all: &[PathBuf]| all.iter().any(|it| path.starts_with(it));
    let write = wanted.write.iter().find(|it| !lies_in(it, &open.write));
    let read = wanted.read.iter().find(|it| !lies_in(it, &open.read));
    // A path that one run may reach by a permission is not open to another run without it.
    let withheld_write = || open.write.iter().find(|it| !lies_in(it, &wanted.write));
    let withheld_read = || open.read.iter().find(|it| wanted.hides(it) && !lies_in(it, &wanted.read));
    let path = write.or(read).or_else(withheld_write).or_else(withheld_read)?;
    Some(path.display().to_string())
}

/// Why no folder can be made, with the remedy.
pub(super) fn no_folder(error: &OpenError) -> DaemonError {
    let message = format!("cannot make a folder to run in: {error}");
    DaemonError::NoFolder { message, hint: how_to_isolate(error) }
}

/// Remedy that makes this system isolate commands.
pub fn how_to_isolate(error: &OpenError) -> Option<String> {
    match error {
        OpenError::Namespaces(_) => Some(
            "allow namespaces of users: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces, or a profile of AppArmor; \
             `--sandbox off` runs the command without isolation, in a merged folder or a copy"
                .to_owned(),
        ),
        OpenError::Overlayfs { .. } => Some(
            "load the kernel's module (modprobe overlay); `--sandbox off` runs the command without isolation, in a merged folder or a copy"
                .to_owned(),
        ),
        OpenError::Mounts { error, .. } if error.kind() == io::ErrorKind::StorageFull => {
            Some("allow more to be written (`--space`)".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use shadow::Network;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn a_worktree_leads_to_its_repository_by_regular_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let worktree = root.join("repository/.git/worktrees/w");
        for it in ["repository/.git/objects", "repository/.git/worktrees/w", "w"] {
            fs::create_dir_all(root.join(it)).unwrap();
        }
        let (own, back) = (root.join("w/.git"), worktree.join("gitdir"));
        fs::write(&own, format!("gitdir: {}\n", worktree.display())).unwrap();
        fs::write(&back, format!("{}\n", own.display())).unwrap();
        assert_eq!(repository(&root.join("w")), Some(root.join("repository/.git")));
        fs::remove_file(&back).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &back, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert_eq!(repository(&root.join("w")), None);
    }

    #[test]
    fn a_folder_will_do_for_what_asks_for_the_same() {
        let of = |read: &[&str], write: &[&str], network| Sandbox {
            read: read.iter().map(PathBuf::from).collect(),
            write: write.iter().map(PathBuf::from).collect(),
            network,
            home: Some("/h".into()),
            ..Sandbox::default()
        };
        let all: &[&str] = &["/h/a", "/h/b", "/usr/tool"];
        let open = of(all, &["/out"], Network::None);
        assert_eq!(difference(&open, &of(all, &["/out"], Network::None)), None);
        let unhidden = of(&all[..2], &["/out"], Network::None);
        assert_eq!(difference(&open, &unhidden), None, "it is seen without a permission");
        let differs = |wanted: &Sandbox| difference(&open, wanted).unwrap();
        assert_eq!(differs(&of(&["/h/c"], &["/out"], Network::None)), "/h/c");
        assert_eq!(differs(&of(&["/h/a"], &["/out"], Network::None)), "/h/b", "it would be read");
        assert_eq!(differs(&of(&["/h/a/deep", "/h/b"], &["/out"], Network::None)), "/h/a");
        assert_eq!(differs(&of(all, &[], Network::None)), "/out", "it would be written to");
        assert_eq!(differs(&of(all, &["/out"], Network::Host)), "network");
        let fewer = Sandbox { processes: 100, ..open.clone() };
        assert_eq!(difference(&open, &fewer), None, "each run has a limit of its own");
        assert_eq!(difference(&fewer, &open).unwrap(), "processes");
    }
}
