//! Work that leaves the task of its request.

use tokio::runtime::Handle;

use super::DaemonError;

/// Carries on even if the client leaves: what is kept on the disk and what is shown may not differ, and a client that
/// sends the request again must find the first one's answer.
pub(super) async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, DaemonError>> + Send + 'static,
) -> Result<T, DaemonError> {
    let done = tokio::spawn(telemetry::in_current_span(work)).await;
    done.unwrap_or_else(|error| Err(DaemonError::broke_off("a request", error)))
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

    use tokio::sync::oneshot;

    use super::*;

    struct Slow(Option<oneshot::Sender<ThreadId>>);

    impl Drop for Slow {
        fn drop(&mut self) {
            let _not_waited_for = self.0.take().map(|it| it.send(current().id()));
        }
    }

    #[tokio::test]
    async fn what_is_slow_to_go_holds_up_no_thread_that_answers() {
        let (tell, dropped) = oneshot::channel();
        drop_aside(Slow(Some(tell)));
        assert_ne!(dropped.await.unwrap(), current().id());
    }
}
