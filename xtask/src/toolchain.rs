//! Finds what compiles for WebAssembly, and installs it where that is possible.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    layout::{Layout, text},
    run::{self, Failed, fail, find_program},
    step::Invocation,
};

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Toolchain {
    /// The target is there or was added.
    Rustup,
    /// The standard library is built from the sources that Debian ships.
    Debian { component_ld: PathBuf, wasm_ld: PathBuf },
}

/// Flags that guests are compiled with. The stack stands below the data, so that running out of it traps.
const FLAGS: &str = "-C target-feature=+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext -C link-arg=-zstack-size=16777216 \
                     -C link-arg=--stack-first";

/// Folder of wasi-libc of Debian.
const SYSROOT: &str = "/usr/lib/wasm32-wasi";

/// Packages of Debian, and a file of each, whose version may differ.
const PACKAGES: [(&str, &str); 5] = [
    ("cargo-web", "/usr/bin/cargo"),
    ("rustc-web", "/usr/bin/rustc"),
    ("rust-web-src", "/usr/src/rustc-*/library"),
    ("lld-22", "/usr/bin/wasm-ld-*"),
    ("wasi-libc", "/usr/lib/wasm32-wasi/libc.a"),
];

impl Toolchain {
    pub(crate) fn find(layout: &Layout) -> Result<Toolchain, Failed> {
        // For trying the other way on a machine that has both.
        let is_debian = std::env::var("BROKER_WASM_TOOLCHAIN").is_ok_and(|it| it == "debian");
        if !is_debian && (has_target() || add_target()) {
            return Ok(Toolchain::Rustup);
        }
        let missing = missing(Path::new("/"));
        if !missing.is_empty() {
            install(&missing)?;
        }
        let wasm_ld =
            newest(Path::new("/"), PACKAGES[3].1).ok_or_else(|| fail("there is no wasm-ld", None))?;
        Ok(Toolchain::Debian { component_ld: component_ld(layout)?, wasm_ld })
    }

    /// Folder of the components that are built in a profile.
    pub(crate) fn folder(&self, layout: &Layout, profile: &str) -> PathBuf {
        layout.wasm.join(self.target()).join(profile)
    }

    fn target(&self) -> &'static str {
        match self {
            Toolchain::Rustup => "wasm32-wasip2",
            Toolchain::Debian { .. } => "wasm32-wasip1",
        }
    }

    /// Compiles the library of a cargo workspace to components.
    pub(crate) fn cargo(&self, layout: &Layout, folder: impl Into<PathBuf>, profile: &str) -> Invocation {
        let cargo = match self {
            Toolchain::Rustup => Invocation::of("cargo build --quiet").env("RUSTFLAGS", FLAGS),
            Toolchain::Debian { component_ld, wasm_ld } => debian(component_ld, wasm_ld),
        };
        let target = ["--profile", profile, "--target", self.target(), "--lib"];
        cargo.args(target).env("CARGO_TARGET_DIR", text(&layout.wasm)).folder(folder)
    }
}

fn debian(component_ld: &Path, wasm_ld: &Path) -> Invocation {
    let flags = format!(
        "{FLAGS} -C linker={} -C link-self-contained=no -C link-arg=--wasm-ld-path={} -C link-arg=-L{SYSROOT} -C link-arg=-lc",
        component_ld.display(),
        wasm_ld.display()
    );
    let path = std::env::var("PATH").unwrap_or_default();
    Invocation::of("/usr/bin/cargo build --quiet -Zbuild-std=std,panic_abort")
        .env("PATH", format!("/usr/bin:{path}"))
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", flags)
}

fn has_target() -> bool {
    let libraries = run::output(&Invocation::of("rustc --print target-libdir --target wasm32-wasip2"));
    libraries.is_ok_and(|it| Path::new(it.trim()).is_dir())
}

fn add_target() -> bool {
    find_program("rustup").is_some()
        && run::output(&Invocation::of("rustup target add wasm32-wasip2")).is_ok()
}

/// Packages that have no file below `root`.
fn missing(root: &Path) -> Vec<&'static str> {
    PACKAGES.iter().filter(|it| newest(root, it.1).is_none()).map(|it| it.0).collect()
}

/// The file of the highest version.
fn newest(root: &Path, pattern: &str) -> Option<PathBuf> {
    let pattern = root.join(pattern.trim_start_matches('/'));
    let found = glob::glob(pattern.to_str()?).ok()?.flatten();
    // `wasm-ld-9` comes before `wasm-ld-22`.
    found.max_by_key(|it| (it.as_os_str().len(), it.clone()))
}

fn install(missing: &[&str]) -> Result<(), Failed> {
    let missing = missing.join(" ");
    let target = "rustup target add wasm32-wasip2";
    if find_program("apt-get").is_none() {
        return Err(fail("there is no Rust target wasm32-wasip2", Some(target)));
    }
    if run::output(&Invocation::of("id -u")).is_ok_and(|it| it.trim() != "0") {
        let hint = format!("{target}, or as root: apt-get install {missing}");
        return Err(fail("there is no Rust target wasm32-wasip2", Some(&hint)));
    }
    run::say(&format!("installing {missing} (the Rust target wasm32-wasip2 cannot be downloaded here)"));
    let update = run::output(&Invocation::of("apt-get update -qq"));
    let install = Invocation::of("apt-get install -y -qq --no-install-recommends").args(missing.split(' '));
    let installed = update.and_then(|_| run::output(&install));
    installed
        .map(drop)
        .map_err(|_| fail(&format!("apt-get could not install {missing}"), Some("run it by hand to see why")))
}

/// Linker of components, which cargo installs where it is missing.
fn component_ld(layout: &Layout) -> Result<PathBuf, Failed> {
    const NAME: &str = "wasm-component-ld";
    if let Some(found) = find_program(NAME) {
        return Ok(found);
    }
    run::say("installing wasm-component-ld");
    let tools = text(&layout.wasm.join("tools"));
    let install = Invocation::of("cargo install --quiet --locked").arg(NAME).env("CARGO_TARGET_DIR", tools);
    run::output(&install).map_err(|_| fail("cargo could not install wasm-component-ld", None))?;
    find_program(NAME).ok_or_else(|| fail("wasm-component-ld was installed outside of PATH", None))
}

/// Names of the guests in a cargo workspace, which are its folders with a manifest.
pub(crate) fn members(workspace: &Path) -> Vec<String> {
    let entries = fs::read_dir(workspace).into_iter().flatten().flatten();
    let folders = entries.filter(|it| it.path().join("Cargo.toml").is_file());
    let mut names: Vec<_> = folders.filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout { root: "/r".into(), target: "/t".into(), wasm: "/w".into() }
    }

    #[test]
    fn a_guest_is_compiled_by_either_toolchain() {
        let rustup = Toolchain::Rustup.cargo(&layout(), "plugins", "quick").to_string();
        assert_eq!(
            rustup,
            format!(
                "cd plugins; RUSTFLAGS='{FLAGS}' CARGO_TARGET_DIR=/w cargo build --quiet --profile quick --target wasm32-wasip2 \
                 --lib"
            )
        );
        let debian =
            Toolchain::Debian { component_ld: "/c/ld".into(), wasm_ld: "/usr/bin/wasm-ld-22".into() };
        let built = debian.cargo(&layout(), "plugins", "release");
        assert!(built.env.iter().any(|it| it.0 == "RUSTC_BOOTSTRAP"), "{built}");
        let built = built.to_string();
        assert!(built.contains("-C linker=/c/ld "), "{built}");
        assert!(
            built.contains("/usr/bin/cargo build --quiet '-Zbuild-std=std,panic_abort' --profile release"),
            "{built}"
        );
        assert_eq!(debian.folder(&layout(), "release"), Path::new("/w/wasm32-wasip1/release"));
    }

    #[test]
    fn packages_are_missing_whose_files_are() {
        let root = std::env::temp_dir().join(format!("xtask-toolchain-{}", std::process::id()));
        let all: Vec<_> = PACKAGES.iter().map(|it| it.0).collect();
        assert_eq!(missing(&root), all);
        for file in
            ["usr/bin/cargo", "usr/bin/wasm-ld-9", "usr/bin/wasm-ld-22", "usr/src/rustc-1.95/library/x"]
        {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        assert_eq!(missing(&root), ["rustc-web", "wasi-libc"]);
        assert_eq!(newest(&root, PACKAGES[3].1), Some(root.join("usr/bin/wasm-ld-22")));
        fs::remove_dir_all(root).unwrap();
    }
}
