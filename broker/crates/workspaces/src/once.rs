//! Requests that a client may send twice, because it does not know whether the first arrived.

use std::{
    collections::{HashMap, VecDeque},
    hash::{Hash, Hasher},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::DaemonError;

/// A request that its client may send again.
#[derive(Debug, Clone)]
pub(super) struct Repeatable {
    /// The handle of what it is about: there the client's identifier is unique.
    about: Arc<str>,
    /// Identifier that the client gave.
    id: String,
    /// All that it says. With another content it is another request.
    content: blake3::Hash,
}

impl Repeatable {
    /// Identity by which `request` is recognised when it is sent again; `None` if the client gave no identifier.
    pub(super) fn of(
        about: &Arc<str>,
        id: Option<&str>,
        request: &impl Hash,
    ) -> Result<Option<Self>, DaemonError> {
        let Some(id) = id else { return Ok(None) };
        DaemonError::expect_at_most(LONGEST_ID, id.len(), "bytes of a request_id")?;
        let mut content = Digest::default();
        request.hash(&mut content);
        Ok(Some(Self { about: Arc::clone(about), id: id.to_owned(), content: content.0.finalize() }))
    }
}

/// A hash of all that a value says, which no other value has.
#[derive(Default)]
struct Digest(blake3::Hasher);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.finalize().as_bytes().iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
    }
}

/// Remembers the answers of the newest requests that had an identifier.
pub(super) struct Once<T> {
    state: Mutex<State<T>>,
}

type Key = (Arc<str>, String);

struct State<T> {
    answers: HashMap<Key, Remembered<T>>,
    /// Oldest first.
    order: VecDeque<Key>,
}

struct Remembered<T> {
    content: blake3::Hash,
    answer: Arc<OnceCell<T>>,
}

/// Bytes; each that is remembered takes so much memory.
const LONGEST_ID: usize = 1024;

/// More than a client can have under way.
const MAX_CACHED_ANSWERS: usize = 4096;

impl<T: Clone> Once<T> {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { answers: HashMap::new(), order: VecDeque::new() }) }
    }

    /// Does the work unless it was done for this request before. A failure is not remembered.
    pub(super) async fn run(
        &self,
        request: Option<Repeatable>,
        work: impl Future<Output = Result<T, DaemonError>>,
    ) -> Result<T, DaemonError> {
        let Some(request) = request else { return work.await };
        let answer = self.answer_to(request)?;
        answer.get_or_try_init(|| work).await.cloned()
    }

    fn answer_to(&self, request: Repeatable) -> Result<Arc<OnceCell<T>>, DaemonError> {
        let Repeatable { about, id, content } = request;
        let key = (about, id);
        let mut state = self.state.lock();
        if let Some(known) = state.answers.get_mut(&key) {
            return known.answer_to(content).ok_or(DaemonError::RequestReused { id: key.1 });
        }
        if state.order.len() == MAX_CACHED_ANSWERS
            && let Some(oldest) = state.order.pop_front()
        {
            state.answers.remove(&oldest);
        }
        state.order.push_back(key.clone());
        let answer = Arc::new(OnceCell::new());
        state.answers.insert(key, Remembered { content, answer: Arc::clone(&answer) });
        Ok(answer)
    }
}

impl<T> Remembered<T> {
    /// `None` if another request is done, or being done, under this identifier.
    fn answer_to(&mut self, content: blake3::Hash) -> Option<Arc<OnceCell<T>>> {
        if self.content != content {
            // Waiting requests hold a reference to the answer, too.
            if self.answer.initialized() || Arc::strong_count(&self.answer) > 1 {
                return None;
            }
            self.content = content;
        }
        Some(Arc::clone(&self.answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: &str, content: &str) -> Option<Repeatable> {
        Repeatable::of(&"branch".into(), Some(id), &content).unwrap()
    }

    #[tokio::test]
    async fn the_same_request_is_done_once() {
        let once = Once::new();
        let answer = |it: u32| async move { Ok::<_, DaemonError>(it) };
        assert_eq!(once.run(request("a", "x"), answer(1)).await.unwrap(), 1);
        assert_eq!(once.run(request("a", "x"), answer(2)).await.unwrap(), 1);
        assert_eq!(once.run(None, answer(3)).await.unwrap(), 3);
        let elsewhere = request("a", "y").map(|it| Repeatable { about: "another".into(), ..it });
        assert_eq!(once.run(elsewhere, answer(4)).await.unwrap(), 4);
        once.run(request("b", "x"), async { Err(DaemonError::Superseded) }).await.unwrap_err();
        assert_eq!(once.run(request("b", "x"), answer(5)).await.unwrap(), 5, "a failure may be tried again");
        for id in 0..MAX_CACHED_ANSWERS {
            assert_eq!(once.run(request(&format!("n{id}"), "x"), answer(6)).await.unwrap(), 6);
        }
        assert_eq!(once.run(request("a", "x"), answer(7)).await.unwrap(), 7, "forgotten by now");
    }

    #[tokio::test]
    async fn an_identifier_is_for_one_request() {
        let once = Once::new();
        let answer = |it: u32| async move { Ok::<_, DaemonError>(it) };
        let is_refused = |answer: Result<u32, DaemonError>| matches!(answer, Err(DaemonError::RequestReused { id }) if id == "a");
        once.run(request("a", "x"), async { Err(DaemonError::Superseded) }).await.unwrap_err();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let slow = once.run(request("a", "y"), async { Ok(begun.await.unwrap()) });
        let meanwhile = async {
            assert!(is_refused(once.run(request("a", "z"), answer(1)).await), "while it is done");
            begin.send(2).unwrap();
        };
        let (slow, ()) = tokio::join!(slow, meanwhile);
        assert_eq!(slow.unwrap(), 2, "what failed was not done");
        assert!(is_refused(once.run(request("a", "x"), answer(3)).await));
        assert_eq!(once.run(request("a", "y"), answer(4)).await.unwrap(), 2);
    }
}
