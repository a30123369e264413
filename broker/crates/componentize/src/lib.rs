//! The last step to a plugin: of what a language's tools leave it makes a component that Broker runs.
//!
//! C's compilers leave a core module ([`from_module`]); Python's runtime wants sockets, which no plugin has
//! ([`without_network`]); and all but Rust's macro leave the manifest to us ([`with_manifest`]). It runs no compiler and
//! no guest.

mod module;
mod network;

use std::borrow::Cow;

use wasm_encoder::ComponentSection;

pub use module::{from_module, is_module};
pub use network::without_network;

/// The custom section that holds a plugin's manifest.
const SECTION: &str = "broker:plugin";

/// The component with its manifest, which Broker reads without running it.
pub fn with_manifest(mut component: Vec<u8>, manifest: &str) -> Vec<u8> {
    let section =
        wasm_encoder::CustomSection { name: SECTION.into(), data: Cow::Borrowed(manifest.as_bytes()) };
    section.append_to_component(&mut component);
    component
}
