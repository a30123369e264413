//! The bindings in `sdk/c` are those that the world makes. `UPDATE_BINDINGS=1` writes them.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the disk themselves, and may fail"
)]

use std::{fs, path::Path};

use wit_bindgen_core::{Files, wit_parser::Resolve};

#[test]
fn are_those_of_the_world() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut resolve = Resolve::default();
    let text = fs::read_to_string(root.join("wit/broker-plugin.wit")).unwrap();
    let package = resolve.push_str("broker-plugin.wit", &text).unwrap();
    let world = resolve.select_world(&[package], Some("linter")).unwrap();
    let mut files = Files::default();
    // `broker plugin build` tells the world; there is no object file to link.
    let options = wit_bindgen_c::Opts { no_object_file: true, ..Default::default() };
    options.build().generate(&mut resolve, world, &mut files).unwrap();
    for (name, made) in files.iter() {
        let kept = root.join("sdk/c").join(name);
        if std::env::var_os("UPDATE_BINDINGS").is_some() {
            fs::write(&kept, made).unwrap();
        }
        let is_same = fs::read(&kept).is_ok_and(|it| it == made);
        assert!(
            is_same,
            "{} is not what wit/ makes: UPDATE_BINDINGS=1 cargo test -p componentize",
            kept.display()
        );
    }
}
