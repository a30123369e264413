//! Writes the table of the plugins that the program carries, and names the build. `./dev build` makes the files that the
//! table names.

#![allow(clippy::disallowed_methods, reason = "a build script sees no workspace")]

use std::{
    env, fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=BROKER_BUNDLE");
    let bundle = bundle_dir();
    println!("cargo::rerun-if-changed={}", bundle.display());
    let names = plugin_names(&bundle);
    if names.is_empty() {
        println!("cargo::warning=no plugins in {}: this `broker` will carry none", bundle.display());
    }
    expect_target(&bundle);
    let entries: String = names.iter().map(|name| entry(&bundle, name)).collect();
    let table = format!(
        "static BUNDLE: &[plugin_host::Bundled] = &[\n{entries}];\n\nconst GRAMMARS: Option<syntax::CarriedGrammars> = \
         {};\n",
        grammars(&bundle)
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("bundle.rs"), table).expect("OUT_DIR is writable");
    println!("cargo::rustc-env=BROKER_BUILD={}", build_name(&bundle));
    println!("cargo::rustc-env=BROKER_TARGET={}", env::var("TARGET").expect("cargo sets TARGET"));
    println!("cargo::rustc-env=BROKER_RUSTC={}", rustc_version());
}

fn manifest_dir() -> PathBuf {
    PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
}

fn rustc_version() -> String {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let output = Command::new(rustc).arg("--version").output().expect("rustc runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A hash of what shapes answers: the sources of the program, the versions of all that it is built with, and the grammars.
fn build_name(bundle: &Path) -> String {
    let folder = manifest_dir();
    let mut files = vec![folder.join("../Cargo.lock")];
    let mut folders = vec![folder.join("src"), folder.join("../wit")];
    let crates = fs::read_dir(folder.join("crates")).expect("the crates are beside the program");
    folders.extend(crates.flatten().map(|it| it.path().join("src")));
    for it in files.iter().chain(&folders) {
        println!("cargo::rerun-if-changed={}", it.display());
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            if is_folder { &mut folders } else { &mut files }.push(entry.path());
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    env::var_os("CARGO_PKG_VERSION").hash(&mut hasher);
    fs::read(grammars_files(bundle)[0].as_path()).ok().hash(&mut hasher);
    for file in files {
        let name = file.strip_prefix(&folder).unwrap_or(&file);
        (name, fs::read(&file).expect("a source file is readable")).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

fn bundle_dir() -> PathBuf {
    let manifest_dir = manifest_dir();
    let default = || manifest_dir.join("../target/bundle");
    let dir = env::var_os("BROKER_BUNDLE").filter(|it| !it.is_empty()).map_or_else(default, PathBuf::from);
    fs::canonicalize(&dir).unwrap_or(dir)
}

/// A plugin is there when all of its files are.
fn plugin_names(bundle: &Path) -> Vec<String> {
    let files = fs::read_dir(bundle).into_iter().flatten().flatten();
    let mut names: Vec<String> = files
        .filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".cwasm.zst")?.to_owned()))
        .collect();
    names.retain(|name| files_of(bundle, name).iter().all(|file| file.is_file()));
    names.sort();
    names
}

/// Machine code is for one kind of processor, and there is nothing else of the plugins to fall back to.
fn expect_target(bundle: &Path) {
    let target = env::var("TARGET").expect("cargo sets TARGET");
    if let Ok(bundled_for) = fs::read_to_string(bundle.join("_target")) {
        let bundle = bundle.display();
        assert!(
            bundled_for == target,
            "the bundle {bundle} is for {bundled_for}, not for {target}: run ./dev build there"
        );
    }
}

fn grammars_files(bundle: &Path) -> [PathBuf; 2] {
    ["_grammars.digest", "_grammars.zst"].map(|it| bundle.join(it))
}

/// Rust expression for the carried grammars.
fn grammars(bundle: &Path) -> String {
    let [digest, library] = grammars_files(bundle);
    println!("cargo::rerun-if-changed={}", digest.display());
    let Some(digest) = fs::read_to_string(digest).ok().filter(|_| library.is_file()) else {
        println!("cargo::warning=no grammars in {}: this `broker` will carry none", bundle.display());
        return "None".to_owned();
    };
    format!("Some(syntax::CarriedGrammars {{ library: include_bytes!({library:?}), digest: {digest:?} }})")
}

fn files_of(bundle: &Path, name: &str) -> [PathBuf; 3] {
    ["toml", "digest", "cwasm.zst"].map(|extension| bundle.join(format!("{name}.{extension}")))
}

fn entry(bundle: &Path, name: &str) -> String {
    let files = files_of(bundle, name);
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    let [manifest, _, machine_code] = &files;
    let digest = fs::read_to_string(&files[1]).expect("the digest is readable");
    format!(
        "    plugin_host::Bundled {{\n        manifest: include_str!({manifest:?}),\n        \
         digest: {:?},\n        machine_code: include_bytes!({machine_code:?}),\n    }},\n",
        digest.trim()
    )
}
