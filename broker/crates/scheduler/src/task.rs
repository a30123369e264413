//! Tasks of the scheduler, and every way in which they end.

use std::{fmt, time::Duration};

use lint::Cancel;

/// Class of a task, by who waits for it. A greater class starts first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// No person or agent waits.
    Background,
    /// An agent waits.
    Agent,
    /// A person waits.
    Interactive,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Background => "background",
            Self::Agent => "agent",
            Self::Interactive => "interactive",
        })
    }
}

/// Names a branch. Branches of one class take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchKey(pub u64);

/// Names what a task computes: tasks with equal keys give the same answer, so one of them is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkKey(pub [u8; 32]);

/// The work itself. It should look at the flag now and then, and return early once it is set: whatever it
/// gives then, it is not seen.
pub type Run<T> = Box<dyn FnOnce(&Cancel) -> T + Send>;

/// Work for a branch at a revision.
pub struct Task<T> {
    pub class: Class,
    pub branch: BranchKey,
    pub revision: u64,
    /// Equal keys are the same work: the task joins one that is queued or running, and its own `run` and
    /// `memory` are not used.
    pub key: Option<WorkKey>,
    /// Whether tasks submitted for lower revisions of this branch are no longer wanted.
    pub supersede: bool,
    /// Bytes that it may need while it runs.
    pub memory: u64,
    pub run: Run<T>,
}

/// End of a task for one ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End<T> {
    Done(T),
    /// A newer revision of the ticket's branch was submitted or announced.
    Superseded,
    /// The ticket's branch was cancelled, or the scheduler shut down while the task ran.
    Cancelled,
    /// The task panicked with this message.
    Panicked(String),
    /// The scheduler shut down before the task started.
    ShuttingDown,
}

/// End of a task for one ticket, and the time it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished<T> {
    pub end: End<T>,
    /// From this ticket's submission to the start of the task, or to the end if it never started.
    pub queued: Duration,
    /// From the start of the task to its end for this ticket; zero if it never started.
    pub ran: Duration,
    /// Whether another ticket had asked for the same work before.
    pub joined: bool,
}

/// Error of a submission of which nothing was accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("the queue for {class} work is full; try again in {} ms", retry_after.as_millis())]
    QueueFull { class: Class, retry_after: Duration },
    #[error("the queue of branch {} is full; try again in {} ms", branch.0, retry_after.as_millis())]
    BranchQueueFull { branch: BranchKey, retry_after: Duration },
    #[error("the scheduler is shutting down")]
    ShuttingDown,
}
