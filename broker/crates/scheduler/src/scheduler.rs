//! The handle through which work comes in.

use std::{io, sync::Arc};

use crate::{BranchKey, Options, Rejected, Stats, Task, Ticket, runner::Shared};

/// Decides which tasks run when. Clones share it; when the last one is dropped, queued tasks end as
/// [`End::ShuttingDown`](crate::End::ShuttingDown) and the threads end after what they run.
///
/// Interactive tasks come first, then those that agents wait for, then the others; but while a background
/// task is overdue, one task of the class starts after every seven of agents: none starves, and a flood of
/// them does not hold up agents. In a class, branches take turns, and the tasks of a branch start in the
/// order of submission. A task that does not fit into memory beside those
/// that run is waited for.
#[derive(Clone)]
pub struct Scheduler<T>(Arc<Handle<T>>);

struct Handle<T>(Arc<Shared<T>>);

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        self.0.close(false);
    }
}

impl<T: Clone + Send + 'static> Scheduler<T> {
    /// Starts the threads.
    pub fn new(options: Options) -> io::Result<Self> {
        if options.workers == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a scheduler needs at least one worker"));
        }
        Ok(Self(Arc::new(Handle(Shared::start(&options)?))))
    }

    /// Queues a task, or joins one of the same key.
    pub fn submit(&self, task: Task<T>) -> Result<Ticket<T>, Rejected> {
        let mut tickets = self.submit_all(vec![task])?;
        tickets.pop().ok_or(Rejected::ShuttingDown) // one task, one ticket
    }

    /// Queues all of these or none, and gives a ticket for each in the same order. What cannot fit into
    /// an empty queue is never accepted.
    pub fn submit_all(&self, tasks: Vec<Task<T>>) -> Result<Vec<Ticket<T>>, Rejected> {
        self.shared().submit(tasks)
    }

    pub fn stats(&self) -> Stats {
        self.shared().stats()
    }

    /// Ends what was submitted for this branch as cancelled. Work that other branches wait for goes on.
    pub fn cancel_branch(&self, branch: BranchKey) {
        self.shared().cancel_branch(branch);
    }

    /// Ends what was submitted for lower revisions of this branch as superseded. Work that other branches
    /// wait for goes on.
    pub fn supersede(&self, branch: BranchKey, newer_than_revision: u64) {
        self.shared().supersede(branch, newer_than_revision);
    }

    /// Ends queued tasks as [`End::ShuttingDown`](crate::End::ShuttingDown) and running ones as cancelled,
    /// and blocks until the threads have ended; inside a task it does not wait.
    pub fn shutdown(&self) {
        self.shared().close(true);
        self.shared().wait_for_threads();
    }

    fn shared(&self) -> &Arc<Shared<T>> {
        &self.0.0
    }
}
