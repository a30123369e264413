//! Cancellation of running work. Tasks await it, threads block on it, and what waits for something else is woken by it.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Wake, Waker},
    thread,
    time::Instant,
};

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// A request to stop running work. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Beside the token, whose state is behind a lock: guests and searches ask often.
    is_cancelled: AtomicBool,
    token: CancellationToken,
}

/// A callback that waits for a cancellation. Dropping it withdraws the callback.
#[must_use = "a callback that is dropped is not called"]
pub struct OnCancel {
    _waiting: Pin<Box<WaitForCancellationFutureOwned>>,
}

struct Callback<F>(F);

impl Cancel {
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Release);
        self.0.token.cancel();
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Acquire)
    }

    /// Whether one is a clone of the other.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Resolves when it is cancelled.
    pub async fn cancelled(&self) {
        self.0.token.cancelled().await;
    }

    /// Blocks the thread until it is cancelled, which is `true`, or until the deadline.
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        let thread = thread::current();
        let _wakes = self.on_cancel(move || thread.unpark());
        while !self.is_cancelled() {
            match deadline.map(|it| it.saturating_duration_since(Instant::now())) {
                Some(left) if left.is_zero() => return false,
                Some(left) => thread::park_timeout(left),
                None => thread::park(),
            }
        }
        true
    }

    /// Has a callback called once: by the thread that cancels, or here if it is cancelled already. It must be quick, and may
    /// not lock what is held while cancelling, or while calling this.
    pub fn on_cancel(&self, callback: impl Fn() + Send + Sync + 'static) -> OnCancel {
        let callback = Arc::new(Callback(callback));
        let waker = Waker::from(Arc::clone(&callback));
        let mut waiting = Box::pin(self.0.token.clone().cancelled_owned());
        if waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            (callback.0)();
        }
        OnCancel { _waiting: waiting }
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for Callback<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{atomic::AtomicUsize, mpsc},
        task::Poll,
    };

    use super::*;

    fn counted(cancel: &Cancel) -> (OnCancel, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&count);
        (cancel.on_cancel(move || _ = own.fetch_add(1, Ordering::SeqCst)), count)
    }

    #[test]
    fn callbacks_are_called_once() {
        let cancel = Cancel::default();
        let (_waits, count) = counted(&cancel);
        let (withdrawn, never) = counted(&cancel);
        drop(withdrawn);
        assert_eq!(count.load(Ordering::SeqCst), 0);
        cancel.cancel();
        cancel.clone().cancel();
        assert_eq!((count.load(Ordering::SeqCst), never.load(Ordering::SeqCst)), (1, 0));
        let (_late, at_once) = counted(&cancel);
        assert_eq!(at_once.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn threads_wait_for_it() {
        let cancel = Cancel::default();
        assert!(!cancel.wait(Some(Instant::now())));
        thread::scope(|scope| {
            let waits = scope.spawn(|| cancel.wait(None));
            cancel.cancel();
            assert!(waits.join().unwrap());
        });
        assert!(cancel.wait(Some(Instant::now())));
    }

    #[test]
    fn tasks_wait_for_it() {
        let (cancel, (woken, is_woken)) = (Cancel::default(), mpsc::channel());
        let waker = Waker::from(Arc::new(Callback(move || woken.send(()).unwrap())));
        let (mut context, mut task) = (Context::from_waker(&waker), Box::pin(cancel.cancelled()));
        assert_eq!(task.as_mut().poll(&mut context), Poll::Pending);
        cancel.cancel();
        is_woken.try_recv().unwrap();
        assert_eq!(task.as_mut().poll(&mut context), Poll::Ready(()));
    }
}
