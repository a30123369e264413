//! Why the daemon does not do what it was asked: the reason and the facts of it, for all fronts. How a protocol
//! carries them, its front decides.

mod facts;
mod table;

use std::{io, path::PathBuf, time::Duration};

use config::SetupFailure;
use language_servers::NoAnswer;
use lint::printable;
use overlay::{CommitError, Conflict, EditError, PatchError, Revision, StoreError, WorkspacePath, io_reason};

pub use self::{
    facts::Facts,
    table::{ErrorKind, OPEN_FOR_WRITING, Obstacle},
};

/// Error that a request is refused with. Nothing has changed then, unless a variant is documented otherwise.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    #[error("there is no {what} `{}`", printable(.id))]
    NotFound { what: &'static str, id: String },
    /// The stream of the editor has ended, and its buffers are closed.
    #[error("there is no editor `{}`: its stream has ended; call WatchWorkspace again", printable(.0))]
    EditorGone(String),
    #[error("the client was too slow: more than {limit} events waited for it; call WatchWorkspace again")]
    ClientTooSlow { limit: usize },
    #[error("there is already a branch named `{0}`")]
    NameTaken(String),
    #[error("there is already a run named `{0}`")]
    RunNameTaken(String),
    /// A field of a request makes no sense.
    #[error("{field}: {message}")]
    Invalid { field: &'static str, message: String },
    #[error("{what}: {actual} is more than the limit of {limit}")]
    TooMuch { what: &'static str, limit: u64, actual: u64 },
    #[error("the branch is at revision {actual}, not {expected}")]
    Stale { expected: Revision, actual: Revision },
    #[error("both sides changed {}: {}", files(.0.len()), overlay::first_of_files(.0.iter().map(path_of)))]
    Conflicts(Vec<Conflict>),
    /// Files, with the lines at which markers begin.
    #[error("conflicts are not resolved in {}: {}", files(.0.len()), overlay::first_of_files(.0.iter().map(|it| &it.0)))]
    Markers(Vec<(WorkspacePath, Vec<u32>)>),
    /// The first of `total` new errors, and of the reasons why answers are missing.
    #[error("{}", not_clean(.errors, *.total, .incomplete))]
    NotClean { errors: Vec<(WorkspacePath, String)>, total: usize, incomplete: Vec<String> },
    #[error(transparent)]
    Edit(#[from] EditError),
    /// Error of one of several edits, counted from 0.
    #[error("{error}")]
    InEdit { index: usize, error: Box<Self> },
    #[error("request_id: `{id}` was that of a request which asked for something else")]
    RequestReused { id: String },
    #[error(transparent)]
    Patch(#[from] PatchError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Commit(CommitError),
    /// A commit wrote everything, and the branch shows the base; only a restart would find it as it was before.
    #[error(
        "all changes are on the disk, and the branch is at revision {revision}; saving this to the state folder \
         failed and will be retried: {source}"
    )]
    NotNoted { revision: Revision, source: Box<Self> },
    /// A file could not be read.
    #[error("`{path}`: {}", io_reason(.source))]
    File { path: WorkspacePath, source: io::Error },
    #[error("{message}")]
    Io { message: String, source: io::Error },
    /// Another folder of the same name is another workspace.
    #[error(
        "the workspace {} {} since it was opened; call OpenWorkspace again{}", .root.display(),
        if *.is_replaced { "was replaced by another folder" } else { "was moved or deleted" },
        if *.is_replaced { "" } else { " when it is there" }
    )]
    WorkspaceGone { root: PathBuf, is_replaced: bool },
    #[error("too much is waiting; try again in {} ms", .retry_after.as_millis())]
    Busy { retry_after: Duration },
    #[error("a newer revision of the branch made this needless")]
    Superseded,
    #[error("the check took longer than the client wanted to wait")]
    DeadlineExceeded,
    #[error(
        "this port requires the metadata `authorization: Bearer TOKEN`; the token is in `broker.token` beside the \
         daemon's socket"
    )]
    NoToken,
    #[error("the token is not that of this daemon, which has a new one each time it starts")]
    WrongToken,
    #[error("the daemon is shutting down")]
    ShuttingDown,
    /// No language server can answer.
    #[error("{message}")]
    NoServer {
        /// That which is not installed.
        server: Option<String>,
        message: String,
        hint: Option<String>,
    },
    #[error("{server}: {why}")]
    NoAnswer { server: String, why: NoAnswer },
    /// A plugin cannot say what was asked of it.
    #[error("{message}")]
    PluginFailed { plugin: String, message: String },
    /// No shadow folder can be made, or it is gone.
    #[error("{message}")]
    NoFolder { message: String, hint: Option<String> },
    /// The run needs another sandbox than that of the folder which it would share with other runs.
    #[error("the branch has a folder in which something runs, made with another sandbox: {what} differs")]
    SandboxDiffers { what: String },
    /// Files that a run wrote are not kept.
    #[error(
        "what was written is not kept: the branch was edited meanwhile: {}",
        .paths.iter().map(|it| printable(it.as_str()).into_owned()).collect::<Vec<_>>().join(", ")
    )]
    EditedMeanwhile { paths: Vec<WorkspacePath> },
    #[error("what was written is not kept: {0}")]
    NothingKept(&'static str),
    #[error("the command was not started: it was ended while it waited for its folder")]
    RunCancelled,
    #[error(
        "the command was not given a permission: {}; a trusted workspace allows it for good in `[run]` of its \
         broker.toml: {}", .reasons.join("; "), .remedies.join(", ")
    )]
    NotPermitted {
        /// The key and the thing of each.
        wanted: Vec<String>,
        reasons: Vec<String>,
        remedies: Vec<String>,
    },
    #[error("the run `{}` is in the foreground, and its client has what it prints", printable(.0))]
    NoLog(String),
    /// The configuration or a selector is wrong.
    #[error("{message}")]
    Setup { message: String, hint: Option<String> },
    #[error("{0}; this is a bug in Broker")]
    Bug(String),
}

fn not_clean(errors: &[(WorkspacePath, String)], total: usize, incomplete: &[String]) -> String {
    let mut text = match total {
        0 => "nothing is written, since some linters gave no answer".to_owned(),
        1 => "nothing is written, since the branch brings a new error".to_owned(),
        total => format!("nothing is written, since the branch brings {total} new errors"),
    };
    for line in errors.iter().map(|it| &it.1).chain(incomplete) {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}

impl DaemonError {
    /// An error of a task that ended before it was done.
    pub(super) fn broke_off(what: &str, error: impl ToString) -> Self {
        Self::Bug(format!("{what} broke off: {}", error.to_string()))
    }

    /// Too many or too long; `what` is counted.
    pub(super) fn expect_at_most(limit: usize, actual: usize, what: &'static str) -> Result<(), Self> {
        if actual <= limit {
            return Ok(());
        }
        Err(Self::TooMuch { what, limit: limit as u64, actual: actual as u64 })
    }

    pub(super) fn no_branch(id: &str) -> Self {
        Self::NotFound { what: "branch", id: id.to_owned() }
    }

    pub(super) fn no_workspace(id: &str) -> Self {
        Self::NotFound { what: "workspace", id: id.to_owned() }
    }

    pub fn invalid(field: &'static str, message: impl ToString) -> Self {
        Self::Invalid { field, message: message.to_string() }
    }

    pub fn in_edit(self, index: usize) -> Self {
        Self::InEdit { index, error: Box::new(self) }
    }

    /// The base cannot be read.
    pub(super) fn unreadable(source: io::Error) -> Self {
        Self::Io { message: "the workspace cannot be read".to_owned(), source }
    }

    pub(super) fn file(path: &WorkspacePath, source: io::Error) -> Self {
        Self::File { path: path.clone(), source }
    }
}

impl From<SetupFailure> for DaemonError {
    fn from(SetupFailure { message, hint }: SetupFailure) -> Self {
        Self::Setup { message, hint }
    }
}

fn files(count: usize) -> String {
    if count == 1 { "one file".to_owned() } else { format!("{count} files") }
}

fn path_of(conflict: &Conflict) -> String {
    format!("`{}`", conflict.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_in_words_of_files() {
        let path = WorkspacePath::new("a").unwrap();
        let told = |kind: io::ErrorKind| DaemonError::file(&path, kind.into()).to_string();
        assert_eq!(told(io::ErrorKind::NotFound), "`a`: no such file or directory");
        assert_eq!(told(io::ErrorKind::Unsupported), "`a`: it is not a regular file");
        assert_eq!(told(io::ErrorKind::IsADirectory), "`a`: it is a directory");
        let own = io::Error::new(io::ErrorKind::NotFound, "of our own");
        assert_eq!(DaemonError::file(&path, own).to_string(), "`a`: of our own");
        assert_eq!(DaemonError::no_branch("a\0b").to_string(), "there is no branch `a\\u{0}b`");
        let gone = |is_replaced| DaemonError::WorkspaceGone { root: "/w".into(), is_replaced }.to_string();
        assert_eq!(
            [gone(true), gone(false)],
            [
                "the workspace /w was replaced by another folder since it was opened; call OpenWorkspace again",
                "the workspace /w was moved or deleted since it was opened; call OpenWorkspace again when it is \
                 there",
            ]
        );
    }
}
