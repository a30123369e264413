//! `wasi:clocks/monotonic-clock` that stands still: an answer must not depend on time, and a guest that sleeps
//! must not hold a thread where no deadline reaches it. Waiting is over at once.

use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::p2::{DynPollable, Pollable, bindings::clocks::monotonic_clock, subscribe};

/// For the linker.
pub(crate) struct HasClock;

impl HasData for HasClock {
    type Data<'a> = Frozen<'a>;
}

pub(crate) struct Frozen<'a>(pub(crate) &'a mut ResourceTable);

/// Something that need not be waited for.
struct Over;

#[wasmtime_wasi::async_trait]
impl Pollable for Over {
    async fn ready(&mut self) {}
}

impl Frozen<'_> {
    fn over(&mut self) -> wasmtime::Result<Resource<DynPollable>> {
        let over = self.0.push(Over)?;
        subscribe(self.0, over)
    }
}

impl monotonic_clock::Host for Frozen<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(0)
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1)
    }

    fn subscribe_instant(&mut self, _: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.over()
    }

    fn subscribe_duration(&mut self, _: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.over()
    }
}
