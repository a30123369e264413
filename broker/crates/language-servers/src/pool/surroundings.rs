//! What a server reads besides the workspace's own files: its program, the environment, and where dependencies are
//! installed. Whoever installs something there gets another server, which knows it from the start.
//!
//! Told by names and times, not by contents: a file that is changed by hand among the dependencies is not noticed.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Variables that decide where servers look.
const VARIABLES: [&str; 16] = [
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONPATH",
    "NODE_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "GOPATH",
    "GOFLAGS",
    "GOOS",
    "GOARCH",
    "GOEXPERIMENT",
    "CGO_ENABLED",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "RUSTUP_TOOLCHAIN",
];

/// All of it in words.
#[expect(clippy::disallowed_methods, reason = "what is looked at here is no workspace file")]
pub(super) fn told(program: &Path, root: &Path) -> String {
    let mut text = String::new();
    for name in VARIABLES {
        let _to_a_string = writeln!(text, "{name} {:?}", env::var_os(name));
    }
    let active = env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let environments = [root.join(".venv"), root.join("venv")].into_iter().chain(active);
    let packages = environments.flat_map(|it| {
        let versions = fs::read_dir(it.join("lib")).into_iter().flatten().flatten();
        versions.map(|it| it.path().join("site-packages")).collect::<Vec<_>>()
    });
    let modules = root.join("node_modules");
    let fixed = [program.to_owned(), modules.join(".package-lock.json"), modules];
    let mut looked: Vec<_> = fixed.into_iter().chain(packages).map(|it| (stamp(&it), it)).collect();
    looked.sort_by(|a, b| a.1.cmp(&b.1));
    for (stamp, path) in looked {
        let _to_a_string = writeln!(text, "{} {stamp:?}", path.display());
    }
    text
}

/// The size of a file, and when it or a folder was modified.
fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}
