//! Generates the types from the `.proto` files, without a `protoc` on the machine.

use std::{env, error::Error, fs, path::PathBuf};

#[expect(clippy::disallowed_methods, reason = "what a build makes is no workspace file")]
fn main() -> Result<(), Box<dyn Error>> {
    let files =
        ["branch", "check", "daemon", "file", "query", "rule", "run", "server", "tool", "types", "workspace"];
    let files = files.map(|it| format!("broker/v1/{it}.proto"));
    println!("cargo::rerun-if-changed=broker");
    let descriptors = protox::compile(&files, ["."])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    // With the comments, for who looks at the service by reflection.
    let mut compiler = protox::Compiler::new(["."])?;
    compiler.include_source_info(true).include_imports(true).open_files(&files)?;
    fs::write(out.join("descriptors.bin"), compiler.encode_file_descriptor_set())?;
    tonic_prost_build::configure().bytes(".broker.v1").compile_fds(descriptors)?;
    Ok(())
}
