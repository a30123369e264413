//! The front that speaks the Model Context Protocol: `broker agent mcp`. Translates between a client and [`agents::Tools`]: what the tools
//! are, and what they do, the daemon says.
//!
//! Speaks the revision of 2026-07-28, and serves clients that begin with `initialize` as earlier revisions have it. Has no
//! prompts, samples nothing, asks for no roots and sends no log messages.

mod handler;
mod http;
mod resources;
mod translate;

pub(crate) use self::{
    handler::Handler,
    http::{HttpServer, serve_http},
};
