//! Folders that things are built into.

use std::path::{Path, PathBuf};

/// Folders of a checkout. A cache folder outside of it, where there is one, saves building wasmtime and ruff once per clone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) wasm: PathBuf,
}

/// The quick build is for `check`, `test` and CI, the shipping build for what is measured and given away. Each has its own
/// folder, so that none is built anew for the sake of the other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Build {
    Quick,
    Shipping,
}

impl Layout {
    /// Folders as the variables name them; an empty one counts as none.
    pub(crate) fn new(root: &Path, variable: impl Fn(&str) -> Option<String>) -> Layout {
        let variable = |name: &str| variable(name).filter(|it| !it.is_empty()).map(|it| root.join(it));
        let caches = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
        let cache = variable("BROKER_DEV_CACHE").or_else(|| Some(caches?.join("broker-dev")));
        let cache = cache.filter(|it| it.is_dir());
        let target = variable("CARGO_TARGET_DIR")
            .unwrap_or_else(|| cache.as_ref().map_or_else(|| root.join("target"), |it| it.join("target")));
        let wasm = cache.map_or_else(|| target.join("wasm"), |it| it.join("wasm"));
        Layout { root: root.to_owned(), target, wasm }
    }

    /// Programs of a build. Cargo's profile `dev` lies in `debug`.
    pub(crate) fn out(&self, build: Build) -> PathBuf {
        self.target.join(match build {
            Build::Quick => "debug",
            Build::Shipping => "release",
        })
    }

    /// Machine code of the plugins, which the program carries.
    pub(crate) fn bundle(&self, build: Build) -> PathBuf {
        self.target.join(match build {
            Build::Quick => "bundle",
            Build::Shipping => "bundle-shipping",
        })
    }

    pub(crate) fn broker(&self, build: Build) -> String {
        text(&self.out(build).join("broker"))
    }

    /// Components of the tests and the examples.
    pub(crate) fn guests(&self) -> PathBuf {
        self.target.join("guests")
    }

    pub(crate) fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }
}

impl Build {
    pub(crate) fn profile(self) -> &'static str {
        match self {
            Build::Quick => "dev",
            Build::Shipping => "release",
        }
    }

    pub(crate) fn guest_profile(self) -> &'static str {
        match self {
            Build::Quick => "quick",
            Build::Shipping => "release",
        }
    }
}

pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(variables: &[(&str, &str)]) -> [String; 2] {
        let variable = |name: &str| Some(variables.iter().find(|it| it.0 == name)?.1.to_owned());
        let layout = Layout::new(Path::new("/clone"), variable);
        [text(&layout.target), text(&layout.wasm)]
    }

    #[test]
    fn without_a_cache_all_is_in_the_clone() {
        assert_eq!(layout(&[("HOME", "/none")]), ["/clone/target", "/clone/target/wasm"]);
        assert_eq!(layout(&[("CARGO_TARGET_DIR", "/t")]), ["/t", "/t/wasm"]);
        assert_eq!(layout(&[("CARGO_TARGET_DIR", "")]), ["/clone/target", "/clone/target/wasm"]);
        assert_eq!(layout(&[("CARGO_TARGET_DIR", "t")]), ["/clone/t", "/clone/t/wasm"]);
    }

    #[test]
    fn a_cache_that_is_there_is_used() {
        let cache = std::env::temp_dir();
        let named = cache.to_str().expect("text");
        let inside = |it: &str| text(&cache.join(it));
        assert_eq!(layout(&[("BROKER_DEV_CACHE", named)]), [inside("target"), inside("wasm")]);
        let variables = [("BROKER_DEV_CACHE", named), ("CARGO_TARGET_DIR", "/t")];
        assert_eq!(layout(&variables), ["/t".to_owned(), inside("wasm")]);
        assert_eq!(layout(&[("BROKER_DEV_CACHE", "/none")]), ["/clone/target", "/clone/target/wasm"]);
    }
}
