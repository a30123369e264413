//! The generated pages of the documentation, and the commands that its pages show, are those of the program.

use std::path::Path;

use tests::place::Place;

#[test]
fn pages_are_those_of_the_program() {
    let generate = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs").join("generate");
    let program = tests::broker();
    let it = Place::new(&[]);
    let output = it.isolated(generate, &["--check", program.to_str().unwrap()]).output().unwrap();
    // The output names the command that updates the pages.
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
