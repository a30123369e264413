//! Guarantees of a watch, and their limits.
//!
//! Besides the changes that no `stat` shows, see [`base`](super), a watch does not report a file that is written
//! through a shared `mmap` before the last program that has it mapped lets go, nor one that gets a second name
//! outside of the workspace after it was looked at and is written under that. Files that have two names already are
//! not covered.

use std::time::Duration;

use super::Shared;
use crate::{ChangeLog, Extensions, Look, Moment, WorkspacePath};

/// An answer takes less than a millisecond, unless the machine is very busy; then a look at everything is not dear.
const LONGEST: Duration = Duration::from_secs(2);

impl ChangeLog for Shared {
    fn sync(&self) -> Option<Moment> {
        let promise = self.announcements.promise()?;
        let is_kept = is_local(self.live.disk().root()) && promise.holds(LONGEST);
        // Changes reported meanwhile happened before anything is looked at from now on.
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

/// Whether the folder has no part on another machine or another file system, whose changes the kernel would not report.
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

/// On other systems it is unknown which file systems fail to report changes.
#[cfg(not(target_os = "linux"))]
fn is_local(_: &std::path::Path) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|it| it.starts_with('/') || root == "/" && !it.is_empty())
}

/// Decodes a path of the kernel's mount list: it has spaces, tabs, line ends and backslashes as octal numbers.
#[cfg(target_os = "linux")]
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
