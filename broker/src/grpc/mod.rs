//! The front that speaks gRPC, `broker.v1`. Translates; has no logic of its own: what a request may be, and what becomes
//! of it, `workspaces` decides.

mod answers;
mod auth;
mod branches;
mod checks;
mod daemon;
mod files;
mod from_proto;
mod incoming;
mod queries;
#[cfg(test)]
mod remote_tests;
mod rules;
#[cfg(target_os = "linux")]
mod runs;
mod server;
mod servers;
mod status;
mod telemetry;
#[cfg(test)]
mod tests;
mod to_proto;
mod tools;
mod workspaces;

use std::sync::Arc;

use ::workspaces::Workspaces;

pub(crate) use self::{
    auth::Token,
    server::{Door, serve},
};

/// Bytes of a message that is a part of a longer text, far below gRPC's usual limit of 4 MiB.
const CHUNK_BYTES: usize = 1 << 20;

/// Every service, on one daemon.
#[derive(Clone)]
struct GrpcServer(Arc<dyn Workspaces>);
