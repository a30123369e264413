//! The daemon's API over its connection: [`Remote`] finds a daemon or starts one, asks it, opens workspaces again in one that
//! was started anew, and repeats what only reads.
//!
//! The only crate beside the front of the program that knows messages: `to_wire` makes them of requests, `from_wire` makes answers
//! of them, `error` makes errors of statuses. `endpoint` says where a daemon is found, and is used by the daemon itself, too. Knows
//! no command line; it prints nothing.

mod connection;
mod endpoint;
mod error;
mod from_wire;
mod remote;
mod socket;
mod start;
mod to_wire;

pub use self::{
    connection::{EnvironmentOf, Notify, Options, wait_for_end},
    endpoint::{Claim, Claimed, Endpoint, IDLE_EXIT},
    error::{DAEMON_GONE, interrupted, is_ended, is_gone},
    remote::Remote,
    start::LOG_LIMIT,
};
