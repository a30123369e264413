//! The secret that a client over TCP must show.

use std::sync::Arc;

use tonic::{Request, Status, service::Interceptor};
use workspaces::DaemonError;

use super::status;

/// `None` accepts all requests: the connection's peer was checked already.
#[derive(Clone)]
pub(crate) struct Token(pub(crate) Option<Arc<str>>);

impl Token {
    /// Fails unless this header has the token, if one is needed.
    pub(crate) fn expect(&self, authorization: Option<&str>) -> Result<(), DaemonError> {
        let Some(token) = &self.0 else { return Ok(()) };
        let shown = authorization
            .and_then(|it| it.split_once(' '))
            .filter(|it| it.0.eq_ignore_ascii_case("bearer"))
            .map(|it| it.1);
        match shown {
            Some(shown) if is_equal(shown, token) => Ok(()),
            Some(_) => Err(DaemonError::WrongToken),
            None => Err(DaemonError::NoToken),
        }
    }
}

impl Interceptor for Token {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let shown = request.metadata().get("authorization").and_then(|it| it.to_str().ok());
        self.expect(shown).map_err(status::of)?;
        Ok(request)
    }
}

/// Compares hashes, so that the time it takes says nothing of how much was right.
fn is_equal(shown: &str, token: &str) -> bool {
    blake3::hash(shown.as_bytes()) == blake3::hash(token.as_bytes())
}

#[cfg(test)]
mod tests {
    use tonic_types::StatusExt as _;

    use super::*;

    #[test]
    fn only_the_token_opens() {
        let mut door = Token(Some("secret".into()));
        let mut with = |value: Option<&'static str>| {
            let mut request = Request::new(());
            if let Some(value) = value {
                request.metadata_mut().insert("authorization", value.parse().unwrap());
            }
            door.call(request)
                .map(drop)
                .map_err(|it| it.get_error_details().error_info().unwrap().reason.clone())
        };
        assert_eq!((with(Some("Bearer secret")), with(Some("bearer secret"))), (Ok(()), Ok(())));
        for wrong in ["Bearer secre", "Bearer ", "bearer secret "] {
            assert_eq!(with(Some(wrong)), Err("WRONG_TOKEN".to_owned()), "{wrong}");
        }
        for none in [None, Some("secret"), Some("Basic secret")] {
            assert_eq!(with(none), Err("NO_TOKEN".to_owned()), "{none:?}");
        }
        assert!(Token(None).call(Request::new(())).is_ok());
    }
}
