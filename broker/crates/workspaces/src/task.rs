//! Work that leaves the task of its request.

use tokio::runtime::Handle;

use super::DaemonError;

tokio::task_local! {
    /// Set in a task that goes on without its client.
    static IS_UNCANCELLABLE: ();
}

/// Carries on even if the client leaves: what is kept on the disk and what is shown may not differ, and a client that
/// sends the request again must find the first one's answer. Work within such work is done in its task.
pub async fn run_uncancellable<T: Send + 'static, E: From<DaemonError> + Send + 'static>(
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E> {
    // Not a part of this future, which would have room for it twice.
    let work = Box::pin(work);
    if IS_UNCANCELLABLE.try_get().is_ok() {
        return work.await;
    }
    let done = tokio::spawn(IS_UNCANCELLABLE.scope((), telemetry::in_current_span(work))).await;
    done.unwrap_or_else(|error| Err(DaemonError::broke_off("a request", error).into()))
}

/// Runs what reads many files beside the threads that answer.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DaemonError> + Send + 'static,
) -> Result<T, DaemonError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(DaemonError::broke_off("a request", error)))
}

/// Drops what takes its time to go, such as a folder with processes, beside the threads that answer.
pub(super) fn drop_aside<T: Send + 'static>(it: T) {
    match Handle::try_current() {
        Ok(runtime) => _ = runtime.spawn_blocking(move || drop(it)),
        Err(_) => drop(it),
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{ThreadId, current};

    use tokio::{sync::oneshot, task};

    use super::*;

    struct Slow(Option<oneshot::Sender<ThreadId>>);

    impl Drop for Slow {
        fn drop(&mut self) {
            let _not_waited_for = self.0.take().map(|it| it.send(current().id()));
        }
    }

    #[tokio::test]
    async fn uncancellable_work_goes_on_without_its_client() {
        let ((begin, has_begun), (go, may_go)) = (oneshot::channel(), oneshot::channel());
        let (end, has_ended) = oneshot::channel();
        let client = tokio::spawn(run_uncancellable(async move {
            begin.send(()).unwrap();
            may_go.await.unwrap();
            end.send(()).unwrap();
            Ok::<_, DaemonError>(())
        }));
        has_begun.await.unwrap();
        client.abort();
        assert!(client.await.unwrap_err().is_cancelled());
        go.send(()).unwrap();
        has_ended.await.unwrap();
    }

    #[tokio::test]
    async fn uncancellable_work_has_one_task() {
        let inner = || run_uncancellable(async { Ok::<_, DaemonError>(task::id()) });
        let outer = run_uncancellable(async move { Ok::<_, DaemonError>((task::id(), inner().await?)) });
        let (outer, inner) = outer.await.unwrap();
        assert_eq!(outer, inner);
        let alone = run_uncancellable(async { Ok::<_, DaemonError>(task::id()) });
        let (client, alone) = tokio::spawn(async { (task::id(), alone.await.unwrap()) }).await.unwrap();
        assert_ne!(client, alone);
    }

    #[tokio::test]
    async fn what_is_slow_to_go_holds_up_no_thread_that_answers() {
        let (tell, dropped) = oneshot::channel();
        drop_aside(Slow(Some(tell)));
        assert_ne!(dropped.await.unwrap(), current().id());
    }
}
