//! Bindings that `wit-bindgen` generates from `wit/`. Not for plugin authors.

#![allow(missing_docs, clippy::all, unsafe_code, reason = "generated")]

wit_bindgen::generate!({
    path: "../../wit",
    world: "explaining-linter",
    // Exported by hand: see `plugin!`.
    skip: ["initialize"],
    export_macro_name: "export_plugin",
    pub_export_macro: true,
    default_bindings_module: "broker_plugin_sdk::bindings",
    generate_all,
});
