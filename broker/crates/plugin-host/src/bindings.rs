//! Bindings that `wasmtime` generates from the world in `wit/`.

#![allow(unreachable_pub, clippy::all, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../../../wit",
    world: "linter",
    // A file's text is lent to the call, not copied for it.
    ownership: Borrowing { duplicate_if_necessary: true },
});

pub(crate) use broker::plugin::{host, syntax, types};

/// Bindings of the exports that a plugin may leave out.
pub(crate) mod explaining {
    wasmtime::component::bindgen!({
        path: "../../../wit",
        world: "explaining",
    });

    pub(crate) use exports::broker::plugin::selection::{Because, EnabledRule, GuestIndices};
}
