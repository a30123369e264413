//! Packs `bundle/` and `own/` into one table: each schema without white space, deflated by itself, so that a plugin
//! unpacks what it needs and no more.

#![allow(clippy::disallowed_methods, reason = "a build script has no workspace")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    for folder in ["bundle", "own"] {
        println!("cargo::rerun-if-changed={folder}");
        for entry in fs::read_dir(folder)? {
            files.push(entry?.path());
        }
    }
    files.sort_by(|a, b| a.file_stem().cmp(&b.file_stem()));
    let out = env::var("OUT_DIR")?;
    let mut table = String::from("&[\n");
    for file in &files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let text = serde_json::from_slice::<serde_json::Value>(&fs::read(file)?)?.to_string();
        let packed = Path::new(&out).join(format!("{name}.z"));
        fs::write(&packed, miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 10))?;
        writeln!(table, "    ({name:?}, include_bytes!({packed:?})),")?;
    }
    table.push_str("]\n");
    Ok(fs::write(Path::new(&out).join("bundle.rs"), table)?)
}
