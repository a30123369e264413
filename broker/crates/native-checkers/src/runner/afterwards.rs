//! Work that runs leave to be done when their answers are out.

use std::{
    collections::HashMap,
    mem,
    path::{Path, PathBuf},
    thread::{Builder, JoinHandle},
};

use parking_lot::Mutex;

/// Work under way, by the workspace that it is for. When this is dropped, all of it has been done.
#[derive(Default)]
pub(super) struct Afterwards(Mutex<HashMap<PathBuf, Vec<JoinHandle<()>>>>);

impl Afterwards {
    pub(super) fn start(&self, root: &Path, work: impl FnOnce() + Send + 'static) {
        // Without a thread it is left out: what it would keep is made anew.
        if let Ok(thread) = Builder::new().name("keep-caches".to_owned()).spawn(work) {
            self.0.lock().entry(root.to_owned()).or_default().push(thread);
        }
    }

    /// Waits for what was started for a workspace.
    pub(super) fn wait_for(&self, root: &Path) {
        let threads = self.0.lock().remove(root);
        join(threads.into_iter().flatten());
    }

    pub(super) fn wait(&self) {
        let all = mem::take(&mut *self.0.lock());
        join(all.into_values().flatten());
    }
}

impl Drop for Afterwards {
    fn drop(&mut self) {
        self.wait();
    }
}

fn join(threads: impl Iterator<Item = JoinHandle<()>>) {
    // A thread that broke off has done what it could.
    threads.for_each(|it| _ = it.join());
}
