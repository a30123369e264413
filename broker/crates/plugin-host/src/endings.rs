//! The end of guests, beside the checks that they were for: to unmap a guest's memory takes up to a millisecond, and no answer
//! should wait for that.

use std::{
    io,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

/// A thread that drops what it is given, and ends with this.
pub(crate) struct Endings(SyncSender<Box<dyn Send>>);

/// Guests that wait for the thread. Where there are more, each ends where it was run, so that the thread holds up nothing.
const MAX_WAITING_ENDINGS: usize = 2;

impl Endings {
    pub(crate) fn new() -> io::Result<Self> {
        let (sender, receiver) = sync_channel(MAX_WAITING_ENDINGS);
        let drop_all = move || receiver.into_iter().for_each(drop::<Box<dyn Send>>);
        thread::Builder::new().name("guests-end".to_owned()).spawn(drop_all)?;
        Ok(Self(sender))
    }

    /// Ends a guest soon. The place that it takes among all guests is free when it has ended.
    pub(crate) fn end(&self, guest: impl Send + 'static) {
        drop(self.0.try_send(Box::new(guest)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering::SeqCst},
    };

    use super::*;

    struct Guest(Arc<AtomicUsize>, Arc<Barrier>);

    impl Drop for Guest {
        fn drop(&mut self) {
            if thread::current().name() == Some("guests-end") {
                self.1.wait();
            }
            self.0.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn guests_beyond_those_that_wait_end_at_once() {
        let (ended, barrier) = (Arc::<AtomicUsize>::default(), Arc::new(Barrier::new(2)));
        let endings = Endings::new().unwrap();
        // The thread may already have taken one more.
        for _ in 0..MAX_WAITING_ENDINGS + 3 {
            endings.end(Guest(Arc::clone(&ended), Arc::clone(&barrier)));
        }
        let at_once = ended.load(SeqCst);
        assert!(at_once == 2 || at_once == 3, "{at_once}");
        for _ in at_once..MAX_WAITING_ENDINGS + 3 {
            barrier.wait();
        }
    }
}
