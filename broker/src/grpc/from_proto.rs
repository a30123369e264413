//! From messages to the daemon's own types, every field checked.

use std::{collections::BTreeMap, sync::Arc};

use broker_proto::v1 as pb;
use overlay::{ContentHash, OnConflict, Revision, WorkspacePath};
use scheduler::Class;
use tonic::Status;
use workspaces::{Daemon, DaemonError, Repeatable, Target};

use super::status;

pub(super) fn target(daemon: &Daemon, target: Option<pb::Target>) -> Result<Target, Status> {
    let found = match target.and_then(|it| it.target) {
        Some(pb::target::Target::WorkspaceId(id)) => daemon.workspace(&id).map(Target::Base),
        Some(pb::target::Target::BranchId(id)) => {
            daemon.branch(&id).map(|(served, branch)| Target::Branch(served, branch))
        }
        None => Err(DaemonError::invalid("target", "name a workspace or a branch")),
    };
    found.map_err(status::of)
}

pub(super) fn path(field: &'static str, text: &str) -> Result<WorkspacePath, Status> {
    checked_path(field, text).map_err(status::of)
}

pub(super) fn checked_path(field: &'static str, text: &str) -> Result<WorkspacePath, DaemonError> {
    /// As Linux has it.
    const LONGEST: usize = 4096;
    if text.len() > LONGEST {
        return Err(DaemonError::invalid(field, format!("a path of {} bytes is too long", text.len())));
    }
    WorkspacePath::new(text).map_err(|error| DaemonError::invalid(field, error))
}

/// How a request is recognised when it is sent again; `None` if the client gave no identifier. `content` is all
/// that it says, put so that the same is always put alike.
pub(super) fn repeatable(
    about: &Arc<str>,
    id: &str,
    content: impl FnOnce() -> Vec<u8>,
) -> Option<Repeatable> {
    let about = Arc::clone(about);
    (!id.is_empty()).then(|| Repeatable { about, id: id.to_owned(), content: ContentHash::of(&content()) })
}

pub(super) fn revision(revision: Option<u64>) -> Option<Revision> {
    revision.map(Revision)
}

/// `None` for an empty text.
pub(super) fn content_hash(field: &'static str, text: &str) -> Result<Option<ContentHash>, DaemonError> {
    if text.is_empty() {
        return Ok(None);
    }
    let hash = ContentHash::from_hex(text);
    hash.map(Some).ok_or_else(|| DaemonError::invalid(field, "not 64 hexadecimal digits"))
}

pub(super) fn labels(labels: std::collections::HashMap<String, String>) -> BTreeMap<String, String> {
    labels.into_iter().collect()
}

/// Variables that a process can have: no empty names, `=` or NUL.
pub(super) fn environment(it: pb::Environment) -> Result<BTreeMap<String, String>, Status> {
    const LARGEST: usize = 1 << 20;
    let size: usize = it.variables.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > LARGEST {
        let (limit, actual) = (LARGEST as u64, size as u64);
        return Err(status::of(DaemonError::TooMuch { what: "bytes of an environment", limit, actual }));
    }
    for (name, value) in &it.variables {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(status::invalid("environment", format!("`{name}` cannot be a variable")));
        }
    }
    Ok(it.variables.into_iter().collect())
}

pub(super) fn class(priority: i32) -> Result<Class, Status> {
    match pb::Priority::try_from(priority) {
        Ok(pb::Priority::Unspecified | pb::Priority::Agent) => Ok(Class::Agent),
        Ok(pb::Priority::Background) => Ok(Class::Background),
        Ok(pb::Priority::Interactive) => Ok(Class::Interactive),
        Err(_) => Err(status::invalid("priority", format!("there is no priority {priority}"))),
    }
}

pub(super) fn on_conflict(handling: i32) -> Result<OnConflict, Status> {
    match pb::ConflictHandling::try_from(handling) {
        Ok(pb::ConflictHandling::Unspecified | pb::ConflictHandling::Refuse) => Ok(OnConflict::Refuse),
        Ok(pb::ConflictHandling::KeepBranch) => Ok(OnConflict::KeepOurs),
        Ok(pb::ConflictHandling::Markers) => Ok(OnConflict::Markers),
        Err(_) => Err(status::invalid("on_conflict", format!("there is no way {handling}"))),
    }
}

/// One page of a sorted list. The token is the number of items before it: what was added or removed since
/// shifts it, as the conventions allow.
pub(super) struct Page {
    pub(super) start: usize,
    pub(super) size: usize,
}

impl Page {
    pub(super) fn of(size: u32, token: &str, default: usize, most: usize) -> Result<Self, Status> {
        let start = if token.is_empty() { Ok(0) } else { token.parse() };
        let start = start.map_err(|_| status::invalid("page_token", "not a token of an earlier page"))?;
        let size = if size == 0 { default } else { (size as usize).min(most) };
        Ok(Self { start, size })
    }

    /// The items of the page, and the token of the next one.
    pub(super) fn cut<T>(&self, items: impl ExactSizeIterator<Item = T>) -> (Vec<T>, String) {
        let total = items.len();
        let end = self.start.saturating_add(self.size);
        let token = if end < total { end.to_string() } else { String::new() };
        (items.skip(self.start).take(self.size).collect(), token)
    }
}

/// The branch that a handle, or a name in a workspace, stands for.
pub(super) fn branch(
    daemon: &Daemon,
    id: &str,
) -> Result<(Arc<workspaces::Served>, Arc<workspaces::BranchCell>), Status> {
    if id.is_empty() {
        return Err(status::invalid("branch_id", "it is empty"));
    }
    daemon.branch(id).map_err(status::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other() {
        let items = [1, 2, 3, 4, 5];
        let page = Page::of(2, "", 100, 1000).unwrap();
        assert_eq!(page.cut(items.iter().copied()), (vec![1, 2], "2".to_owned()));
        let page = Page::of(2, "4", 100, 1000).unwrap();
        assert_eq!(page.cut(items.iter().copied()), (vec![5], String::new()));
        let page = Page::of(0, "9", 100, 1000).unwrap();
        assert_eq!(page.cut(items.iter().copied()), (vec![], String::new()));
        assert!(Page::of(1, "x", 100, 1000).is_err());
        assert_eq!(Page::of(u32::MAX, "", 100, 1000).unwrap().size, 1000);
    }
}
