//! Programs in real shadow folders.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests make their own folders, and look at the disk themselves"
)]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod copies;
mod ends;
mod escapes;
mod fixture;
mod folder;
mod harvest;
mod merged;
mod operations;
mod ordinary;
mod read_only;
mod renames;
mod services;
mod tools;
mod warm;
