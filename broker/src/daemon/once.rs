//! Requests that a client may send twice, because it does not know whether the first arrived.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::OnceCell;

/// Remembers the answers of the newest requests that had an identifier.
pub(crate) struct Once<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    answers: HashMap<String, Arc<OnceCell<T>>>,
    /// Oldest first.
    order: VecDeque<String>,
}

/// More than a client can have under way.
const REMEMBERED: usize = 4096;

impl<T: Clone> Once<T> {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { answers: HashMap::new(), order: VecDeque::new() }) }
    }

    /// Does the work unless it was done under this identifier before. A failure is not remembered. An empty
    /// identifier is none.
    pub(crate) async fn run<E>(&self, id: &str, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        if id.is_empty() {
            return work.await;
        }
        let cell = self.cell(id);
        cell.get_or_try_init(|| work).await.cloned()
    }

    fn cell(&self, id: &str) -> Arc<OnceCell<T>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = state.answers.get(id) {
            return Arc::clone(known);
        }
        if state.order.len() == REMEMBERED
            && let Some(oldest) = state.order.pop_front()
        {
            state.answers.remove(&oldest);
        }
        state.order.push_back(id.to_owned());
        let cell = Arc::new(OnceCell::new());
        state.answers.insert(id.to_owned(), Arc::clone(&cell));
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_same_request_is_done_once() {
        let once = Once::new();
        let answer = |it: u32| async move { Ok::<_, ()>(it) };
        assert_eq!(once.run("a", answer(1)).await, Ok(1));
        assert_eq!(once.run("a", answer(2)).await, Ok(1));
        assert_eq!(once.run("", answer(3)).await, Ok(3));
        assert_eq!(once.run("", answer(4)).await, Ok(4));
        assert_eq!(once.run("b", async { Err(()) }).await, Err::<u32, _>(()));
        assert_eq!(once.run("b", answer(5)).await, Ok(5), "a failure may be tried again");
        for id in 0..REMEMBERED {
            assert_eq!(once.run(&format!("n{id}"), answer(6)).await, Ok(6));
        }
        assert_eq!(once.run("a", answer(7)).await, Ok(7), "forgotten by now");
    }
}
