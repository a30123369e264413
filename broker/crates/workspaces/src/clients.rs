//! Clients as leases: a daemon without any may end, whichever front they come by.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

/// The clients that are there. Clones count together.
#[derive(Clone, Default)]
pub struct Clients(Arc<watch::Sender<usize>>);

/// Registration of a client, for as long as it lives.
pub struct ClientLease(Clients);

impl Clients {
    pub fn lease(&self) -> ClientLease {
        self.0.send_modify(|it| *it += 1);
        ClientLease(self.clone())
    }

    pub fn count(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until there has been no client for `idle`.
    pub(super) async fn gone_for(&self, idle: Duration) {
        let mut open = self.0.subscribe();
        loop {
            // The sender lives as long as this.
            let _none = open.wait_for(|it| *it == 0).await.map(drop);
            let next = open.wait_for(|it| *it > 0);
            if tokio::time::timeout(idle, next).await.is_err() {
                return;
            }
        }
    }
}

impl Drop for ClientLease {
    fn drop(&mut self) {
        self.0.0.send_modify(|it| *it -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    use super::*;

    #[tokio::test]
    async fn a_lease_keeps_the_daemon() {
        let clients = Clients::default();
        let (first, second) = (clients.lease(), clients.clone().lease());
        let mut end = pin!(clients.gone_for(Duration::ZERO));
        let mut context = Context::from_waker(Waker::noop());
        assert!(end.as_mut().poll(&mut context).is_pending());
        drop(first);
        assert!(end.as_mut().poll(&mut context).is_pending(), "one is left");
        drop(second);
        end.await;
        assert_eq!(clients.count(), 0);
    }
}
