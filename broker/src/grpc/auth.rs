//! The secret that a client over TCP must show.

use std::sync::Arc;

use tonic::{Code, Request, Status, service::Interceptor};

use super::status;

/// `None` asks for nothing: whoever connects was checked already.
#[derive(Clone)]
pub(crate) struct Token(pub(crate) Option<Arc<str>>);

impl Interceptor for Token {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let Some(token) = &self.0 else { return Ok(request) };
        let shown = request.metadata().get("authorization").and_then(|it| it.to_str().ok());
        let shown = shown
            .and_then(|it| it.split_once(' '))
            .filter(|it| it.0.eq_ignore_ascii_case("bearer"))
            .map(|it| it.1);
        if shown.is_some_and(|it| is_equal(it, token)) {
            Ok(request)
        } else {
            let message = "this port wants the metadata `authorization: Bearer TOKEN`; `broker status` says where the token is";
            Err(status::other(Code::Unauthenticated, "NO_TOKEN", message))
        }
    }
}

/// Compares hashes, so that the time it takes says nothing of how much was right.
fn is_equal(shown: &str, token: &str) -> bool {
    blake3::hash(shown.as_bytes()) == blake3::hash(token.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_opens() {
        let mut door = Token(Some("secret".into()));
        let mut with = |value: Option<&'static str>| {
            let mut request = Request::new(());
            if let Some(value) = value {
                request.metadata_mut().insert("authorization", value.parse().unwrap());
            }
            door.call(request).is_ok()
        };
        assert!(with(Some("Bearer secret")) && with(Some("bearer secret")));
        assert!(
            !with(Some("Bearer secre")) && !with(Some("secret")) && !with(Some("Bearer ")) && !with(None)
        );
        assert!(Token(None).call(Request::new(())).is_ok());
    }
}
