//! The folder that a command runs in.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use config::{folders, root::WorkspaceRoot};
use overlay::{Disk, Snapshot, View};
use shadow::{Launcher, Layer, OpenError, Sandbox, Shadow};

use super::Args;
use crate::{
    CliError,
    cli::Session,
    client::{BranchViews, Opened},
};

pub(super) struct Folder {
    pub(super) shadow: Shadow,
    /// Where the command starts.
    pub(super) current: PathBuf,
    pub(super) branch: Option<OpenBranch>,
}

/// The branch that is shown, as it was fetched.
pub(super) struct OpenBranch {
    pub(super) open: Opened,
    pub(super) id: String,
    pub(super) view: Snapshot,
    pub(super) disk: Arc<dyn View>,
}

impl Folder {
    pub(super) fn open(args: &Args, session: &mut Session) -> Result<Self, CliError> {
        let (root, branch) = match &args.branch {
            Some(name) => {
                let branch = OpenBranch::fetch(name, session)?;
                (branch.open.workspace.root().to_owned(), Some(branch))
            }
            None => (root(session)?, None),
        };
        let cannot_use = |error: std::io::Error| CliError::files(format!("cannot read the branch: {error}"));
        let layer =
            branch.as_ref().map_or(Ok(Layer::default()), |it| Layer::of(&it.view)).map_err(cannot_use)?;
        let sandbox = sandbox(args, session, &root)?;
        let shadow =
            Shadow::open(&Launcher::this_program(), &root, &layer, &sandbox).map_err(|it| no_folder(&it))?;
        let current = session.cwd()?;
        let current = if current.starts_with(&root) { current } else { root };
        Ok(Self { shadow, current, branch })
    }
}

impl OpenBranch {
    fn fetch(name: &str, session: &mut Session) -> Result<Self, CliError> {
        let open = session.open()?;
        let id = open.branch(name)?.branch_id;
        let disk: Arc<dyn View> = Arc::new(disk(open.workspace.root())?);
        let view = BranchViews::fetch(&open, &id, &disk, false)?.view;
        Ok(Self { open, id, view, disk })
    }
}

fn root(session: &Session) -> Result<PathBuf, CliError> {
    let (cwd, home) = (session.cwd()?, session.process_context.home.as_deref());
    let found = WorkspaceRoot::of_paths(&cwd, &[PathBuf::from(".")], home)?;
    Ok(found.workspace.root().to_owned())
}

fn disk(root: &Path) -> Result<Disk, CliError> {
    Disk::new(root).map_err(|error| CliError::files(format!("cannot use {}: {error}", root.display())))
}

fn sandbox(args: &Args, session: &Session, root: &Path) -> Result<Sandbox, CliError> {
    let home = session.process_context.home.as_deref().and_then(|it| fs::canonicalize(it).ok());
    let variable = |name: &str| env::var_os(name);
    let mut read: BTreeSet<PathBuf> = shadow::folders(home.as_deref(), variable).into_iter().collect();
    read.extend(repository(root));
    let read = read.into_iter().filter_map(|it| fs::canonicalize(it).ok());
    let named = |paths: &[PathBuf]| paths.iter().map(|it| named(it)).collect::<Result<Vec<_>, _>>();
    let own = [folders::state_dir(), folders::cache_dir(), Some(folders::runtime_dir())];
    let hidden = own.into_iter().flatten().filter_map(|it| fs::canonicalize(it).ok()).collect();
    if home.as_ref().is_some_and(|it| it.starts_with(root)) {
        let message = format!("{} holds the home folder, which a command is not to see", root.display());
        return Err(CliError::usage(message).hint("run it in a project's own folder"));
    }
    let write = named(&args.write)?;
    if let Some(inside) = write.iter().find(|it| it.starts_with(root) || root.starts_with(it)) {
        let message =
            format!("--write {}: what is written to the workspace stays in memory", inside.display());
        return Err(CliError::usage(message).hint("--harvest makes it an edit of a branch"));
    }
    Ok(Sandbox {
        home,
        hidden,
        read: read.chain(named(&args.read)?).collect(),
        write,
        network: args.network(),
        space: args.space,
        processes: args.processes,
    })
}

fn named(path: &Path) -> Result<PathBuf, CliError> {
    fs::canonicalize(path).map_err(|error| CliError::usage(format!("cannot use {}: {error}", path.display())))
}

/// Where git keeps what it knows of a linked worktree. A workspace may name any folder: it counts only if git's own note
/// there leads back.
#[expect(clippy::disallowed_methods, reason = "git's notes lie outside of the workspace")]
fn repository(root: &Path) -> Option<PathBuf> {
    let link = root.join(".git");
    let text = fs::read_to_string(&link).ok().filter(|_| !link.is_symlink())?;
    let worktree = root.join(text.strip_prefix("gitdir:")?.trim());
    let back = fs::read_to_string(worktree.join("gitdir")).ok()?;
    let leads_back = fs::canonicalize(back.trim()).ok()? == fs::canonicalize(link).ok()?;
    // It is `REPOSITORY/worktrees/NAME`.
    let above = worktree.parent().filter(|it| leads_back && it.ends_with("worktrees"))?;
    above.parent().filter(|it| it.join("objects").is_dir()).map(Path::to_owned)
}

fn no_folder(error: &OpenError) -> CliError {
    let message = format!("cannot make a folder to run in: {error}");
    CliError::files(message).maybe_hint(match error {
        OpenError::Namespaces(_) => Some(
            "allow namespaces of users: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces, or a profile of AppArmor".to_owned(),
        ),
        _ => None,
    })
}
