//! Facts about an error that a program can read beside its reason. The table of names is in `proto/README.md`.

use overlay::{CommitError, EditError, PatchError, Revision, WorkspacePath};

use super::DaemonError;

/// Names in lower snake case, and values.
pub type Facts = Vec<(&'static str, String)>;

/// Facts about the error.
pub(super) fn of(error: &DaemonError) -> Facts {
    match error {
        DaemonError::NotFound { what, id } => {
            vec![("resource_type", (*what).to_owned()), ("resource_name", id.clone())]
        }
        DaemonError::NameTaken(name) | DaemonError::RunNameTaken(name) => vec![("name", name.clone())],
        DaemonError::EditorGone(id) => vec![("editor_id", id.clone())],
        DaemonError::ClientTooSlow { limit } => vec![fact("limit", limit)],
        DaemonError::NotPermitted { wanted, .. } => vec![("wanted", wanted.join("\n"))],
        DaemonError::NoLog(id) => vec![("run_id", id.clone())],
        DaemonError::SandboxDiffers { what } => vec![("what", what.clone())],
        DaemonError::EditedMeanwhile { paths } => vec![fact("conflicts", paths.len())],
        DaemonError::Invalid { field, .. } => vec![("field", (*field).to_owned())],
        DaemonError::TooMuch { what, limit, actual } => {
            vec![("what", (*what).to_owned()), fact("limit", limit), fact("actual", actual)]
        }
        DaemonError::Stale { expected, actual } => revisions(*expected, *actual),
        DaemonError::Conflicts(conflicts) => vec![fact("conflicts", conflicts.len())],
        DaemonError::Markers(places) => vec![fact("conflicts", places.len())],
        DaemonError::NotClean { total, .. } => vec![fact("errors", total)],
        DaemonError::Commit(CommitError::VersionControl { path }) => vec![of_path(path)],
        DaemonError::Commit(error) => {
            let conflicts = error.conflicts().map(|it| fact("conflicts", it.len()));
            conflicts.into_iter().collect()
        }
        DaemonError::NotNoted { revision, .. } => vec![fact("revision", revision.0)],
        DaemonError::Edit(error) => edit(error),
        DaemonError::InEdit { index, error } => {
            let mut facts = of(error);
            facts.push(fact("edit_index", index));
            facts
        }
        DaemonError::Patch(error) => patch(error),
        DaemonError::RequestReused { id } => vec![("request_id", id.clone())],
        DaemonError::File { path, .. } => vec![of_path(path)],
        DaemonError::NoAnswer { server, .. } | DaemonError::NoServer { server: Some(server), .. } => {
            vec![("server", server.clone())]
        }
        DaemonError::PluginFailed { plugin, .. } => vec![("plugin", plugin.clone())],
        DaemonError::Busy { retry_after } => vec![fact("retry_after_ms", retry_after.as_millis())],
        DaemonError::Store(_)
        | DaemonError::Io { .. }
        | DaemonError::WorkspaceGone { .. }
        | DaemonError::Superseded
        | DaemonError::DeadlineExceeded
        | DaemonError::NoToken
        | DaemonError::WrongToken
        | DaemonError::ShuttingDown
        | DaemonError::NoServer { server: None, .. }
        | DaemonError::NoFolder { .. }
        | DaemonError::NothingKept(_)
        | DaemonError::RunCancelled
        | DaemonError::Setup { .. }
        | DaemonError::Bug(_) => Vec::new(),
    }
}

fn edit(error: &EditError) -> Facts {
    match error {
        EditError::Root => Vec::new(),
        EditError::NothingToUndo => vec![fact("field", "step_back")],
        EditError::NotFound(path)
        | EditError::AlreadyExists(path)
        | EditError::NotADirectory(path)
        | EditError::IsADirectory(path)
        | EditError::NotAFile(path)
        | EditError::DirectoryNotEmpty(path)
        | EditError::NotText(path)
        | EditError::Overlap { path, .. }
        | EditError::VersionControl(path)
        | EditError::BadTarget { path, .. }
        | EditError::Unreachable { path, .. } => vec![of_path(path)],
        EditError::IntoItself { from, to } => vec![fact("from_path", from), fact("to_path", to)],
        EditError::Stale { expected, actual } => revisions(*expected, *actual),
        EditError::NoSuchRevision(revision) => vec![fact("revision", revision.0)],
        EditError::OutOfBounds { path, length, .. } => vec![of_path(path), fact("length", length)],
        EditError::OtherContent { path, expected, actual } => {
            let expected = expected.map_or_else(|| "missing".to_owned(), |it| it.to_string());
            let mut facts = vec![of_path(path), ("expected_content_hash", expected)];
            facts.extend(actual.map(|it| fact("actual_content_hash", it)));
            facts
        }
        EditError::Reversed { path, .. } => vec![of_path(path)],
        EditError::InsideCharacter { path, offset } => vec![of_path(path), fact("offset", offset)],
        EditError::TooLong { length, limit } => vec![fact("limit", limit), fact("actual", length)],
        EditError::NameTooLong { path, length, limit } => {
            vec![of_path(path), fact("limit", limit), fact("actual", length)]
        }
        EditError::TooMuch { path, limit } => vec![of_path(path), fact("limit", limit)],
        EditError::TooManyBytes { path, bytes, limit } => {
            vec![of_path(path), fact("limit", limit), fact("actual", bytes)]
        }
        EditError::BuffersFull { bytes, limit } => vec![fact("limit", limit), fact("actual", bytes)],
        EditError::TooLarge { path, limit } => vec![of_path(path), fact("limit", limit)],
        EditError::CannotBeTaken { path, directory, .. } => {
            vec![of_path(path), fact("directory", directory)]
        }
        EditError::TooDeep { path, limit } => vec![of_path(path), fact("limit", limit)],
    }
}

fn patch(error: &PatchError) -> Facts {
    match error {
        PatchError::TooLong { length, limit } => vec![fact("limit", limit), fact("actual", length)],
        PatchError::HunkLength { hunk, line, .. } => vec![fact("hunk", hunk), fact("patch_line", line)],
        PatchError::Unreadable { line, .. }
        | PatchError::LostHunk { line }
        | PatchError::Binary { line, .. } => vec![fact("patch_line", line)],
        PatchError::TooManyFiles { limit } => vec![fact("limit", limit)],
        PatchError::TooFar { path, hunk, patch_line } => {
            vec![of_path(path), fact("hunk", hunk), fact("patch_line", patch_line)]
        }
        PatchError::Submodule(path) | PatchError::NotAllDeleted(path) => vec![of_path(path)],
        PatchError::Path(_) => Vec::new(),
        PatchError::Mismatch { path, hunk, patch_line, file_line, .. } => vec![
            of_path(path),
            fact("hunk", hunk),
            fact("patch_line", patch_line),
            fact("file_line", file_line),
        ],
        PatchError::Edit(error) => edit(error),
    }
}

fn revisions(expected: Revision, actual: Revision) -> Facts {
    vec![fact("expected_revision", expected.0), fact("actual_revision", actual.0)]
}

fn of_path(path: &WorkspacePath) -> (&'static str, String) {
    ("path", path.as_str().to_owned())
}

fn fact(name: &'static str, value: impl ToString) -> (&'static str, String) {
    (name, value.to_string())
}
