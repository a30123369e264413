//! What a watch promises, and where it cannot.
//!
//! Besides what no stat tells, see [`base`](super), a watch is not told of a file that is written through a shared
//! `mmap` before the last program that has it mapped lets go, nor of one that gets a second name outside of the
//! workspace after it was looked at and is written under that. What has two names already is not covered.

use std::time::Duration;

use super::Shared;
use crate::{ChangeLog, Extensions, Look, Moment, WorkspacePath};

/// An answer takes less than a millisecond, unless the machine is very busy; then a look at everything is not dear.
const LONGEST: Duration = Duration::from_secs(2);

impl ChangeLog for Shared {
    fn sync(&self) -> Option<Moment> {
        let promise = self.announcements.promise()?;
        let is_kept = is_local(self.live.disk().root()) && promise.holds(LONGEST);
        // What was told meanwhile happened before anything is looked at from now on.
        is_kept.then(|| self.announcements.journal().now())
    }

    fn changed_since(&self, moment: Moment) -> Option<Vec<WorkspacePath>> {
        self.announcements.journal().since(moment)
    }

    fn covers(&self, look: Look<'_>) -> bool {
        let Some(promise) = self.announcements.promise() else { return false };
        match look {
            Look::At(path) => promise.covers(path, false) && !self.live.has_other_names(path),
            Look::Listing(path) => promise.covers(path, true),
        }
    }

    fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}

/// Whether no other machine and no other file system has a part in the folder, whose changes the kernel would not tell.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "what the kernel says of mounts, which is in no workspace")]
fn is_local(root: &std::path::Path) -> bool {
    if !rustix::fs::statfs(root).is_ok_and(|it| crate::disk::is_local(it.f_type)) {
        return false;
    }
    let Ok(mounts) = std::fs::read_to_string("/proc/self/mountinfo") else { return false };
    let Some(root) = root.to_str() else { return false };
    !mounts.lines().filter_map(|it| it.split(' ').nth(4)).any(|it| is_below(&unescaped(it), root))
}

/// Where other systems fail to tell of changes is not known.
#[cfg(not(target_os = "linux"))]
fn is_local(_: &std::path::Path) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|it| it.starts_with('/') || root == "/" && !it.is_empty())
}

/// As the kernel writes a path there: spaces, tabs, line ends and backslashes by their octal numbers.
#[cfg(target_os = "linux")]
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
