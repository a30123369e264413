//! Conversion of a core module to a component, as `wasm-component-ld` does it for Rust.

use anyhow::{Context as _, Result};
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wasmparser::Parser;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Whether a compiler left the file as a core module.
pub fn is_module(wasm: &[u8]) -> bool {
    Parser::is_core_wasm(wasm)
}

/// A component of `world`, whose package `wit` tells, from a module that exports what the world does by the names
/// that `wit-bindgen` gives it. What it imports of the older WASI becomes an import of the newer.
pub fn from_module(mut module: Vec<u8>, wit: &str, world: &str) -> Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("broker-plugin.wit", wit)?;
    let world = resolve.select_world(&[package], Some(world))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .context("the compiler left no WebAssembly module")?;
    let mut encoder = ComponentEncoder::default()
        .validate(true)
        .module(&module)?
        .adapter(WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER)?;
    encoder.encode().context("the module does not fit the world of plugins")
}
