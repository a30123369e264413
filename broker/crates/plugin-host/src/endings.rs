//! The end of guests, beside the checks that they were for: to give a guest's memory back takes most of a millisecond, and no
//! answer should wait for that.

use std::{
    io,
    sync::mpsc::{Sender, channel},
    thread,
};

/// A thread that drops what it is given, and ends with this.
pub(crate) struct Endings(Sender<Box<dyn Send>>);

impl Endings {
    pub(crate) fn new() -> io::Result<Self> {
        let (sender, receiver) = channel();
        let drop_all = move || receiver.into_iter().for_each(drop::<Box<dyn Send>>);
        thread::Builder::new().name("guests-end".to_owned()).spawn(drop_all)?;
        Ok(Self(sender))
    }

    /// Ends a guest soon. The place that it takes among all guests is free when it has ended.
    pub(crate) fn end(&self, guest: impl Send + 'static) {
        // Without the thread it ends here.
        drop(self.0.send(Box::new(guest)));
    }
}
