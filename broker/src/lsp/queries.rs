//! Targets, limits and errors of requests to language servers.

use std::{pin::pin, rc::Rc, time::Duration};

use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use workspaces::{RequestError, TargetId};

use super::{document::DocumentLocation, failure::Failure, folder::Folder, server::Server, target};

/// Longest time for which what Broker answers itself waits for a language server.
pub(super) const QUERY_TIMEOUT: Duration = Duration::from_millis(500);

/// The result if it comes within [`QUERY_TIMEOUT`] of `since`.
pub(super) async fn in_time<T>(since: Instant, asked: impl Future<Output = T>) -> Option<T> {
    timeout_at(since + QUERY_TIMEOUT, asked).await.ok()
}

/// Broker's own result, and that of a language server if it is there when the own one is, or [`in_time`].
pub(super) async fn with_server<T, S>(
    since: Instant,
    own: impl Future<Output = T>,
    of_server: impl Future<Output = S>,
) -> (T, Option<S>) {
    let (mut own, mut of_server) = (pin!(own), pin!(of_server));
    tokio::select! {
        own = &mut own => (own, in_time(since, of_server).await),
        of_server = &mut of_server => (own.await, Some(of_server)),
    }
}

/// The answer for an error of the daemon: `null` if no language server answers this for the file, else an error.
pub(super) fn no_answer(server: &Server, method: &str, error: RequestError) -> Result<Value, Failure> {
    match error.reason.as_str() {
        "SERVER_UNAVAILABLE" | "SERVER_UNSUPPORTED" | "NOT_FOUND" => {
            server.log(format!("{method}: {error}"));
            Ok(Value::Null)
        }
        "SERVER_PENDING" => Err(Failure::failed(error.sentence)),
        _ => Err(error.into()),
    }
}

/// Folder, target and path of an open document; `None` if it is in no served workspace.
pub(super) async fn target_of(
    server: &Server,
    uri: &str,
) -> Result<Option<(Rc<Folder>, TargetId, String)>, RequestError> {
    let Some(document) = server.document(uri) else { return Ok(None) };
    let (Some(folder), Some(path)) = (document.folder(), document.path()) else { return Ok(None) };
    let target = match &document.place {
        DocumentLocation::Branch(_, file) => server.branch_target(folder, file).await?,
        DocumentLocation::Base(..) | DocumentLocation::Elsewhere => target::base(&folder.served().await?),
    };
    Ok(Some((Rc::clone(folder), target, path.as_str().to_owned())))
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn a_server_holds_up_no_own_result_for_longer_than_agreed() {
        let now = Instant::now();
        let past = now.checked_sub(QUERY_TIMEOUT).unwrap();
        assert_eq!(with_server(now, ready(1), ready(2)).await, (1, Some(2)));
        assert_eq!(with_server(past, ready(1), pending::<()>()).await, (1, None));
        // A server that answers while the own result is computed is not too late.
        let own = async {
            tokio::task::yield_now().await;
            1
        };
        assert_eq!(with_server(past, own, ready(2)).await, (1, Some(2)));
    }
}
