//! Work that leaves the task of its request.

use super::DaemonError;

/// Carries on even if the client leaves: what is kept on the disk and what is shown may not differ, and a client that
/// sends the request again must find the first one's answer.
pub(super) async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, DaemonError>> + Send + 'static,
) -> Result<T, DaemonError> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|error| Err(DaemonError::broke_off("a request", error)))
}

/// Runs what reads many files beside the threads that answer.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DaemonError> + Send + 'static,
) -> Result<T, DaemonError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(DaemonError::broke_off("a request", error)))
}
