//! What `wasmtime` makes of the world in `wit/`.

#![allow(unreachable_pub, clippy::all, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../../../wit",
    world: "linter",
    // A file's text is lent to the call, not copied for it.
    ownership: Borrowing { duplicate_if_necessary: true },
});

pub(crate) use broker::plugin::{host, syntax, types};
