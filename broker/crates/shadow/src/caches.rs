//! Folders and files in which tools keep what spares them work, as data. They may be missing or old: a tool looks at what it
//! finds in them before it trusts it.

use std::path::Path;

/// Folders that are caches wherever they are.
const FOLDERS: [&str; 16] = [
    "__pycache__",
    ".angular",
    ".dart_tool",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".nx",
    ".parcel-cache",
    ".pyre",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".terraform",
    ".turbo",
    "zig-cache",
];

/// Folders that are caches beside one of these files, or in a folder of this name.
const FOLDERS_BESIDE: [(&str, &[&str]); 6] = [
    ("target", &["Cargo.toml", "pom.xml", "build.sbt"]),
    ("build", &["build.gradle", "build.gradle.kts"]),
    ("_build", &["mix.exs", "dune-project", "rebar.config"]),
    (".build", &["Package.swift"]),
    ("dist-newstyle", &["cabal.project"]),
    ("obj", &["Directory.Build.props"]),
];

/// Files that mark their folder as a cache: the tag that tools agreed on, and files that CMake and ninja leave.
const MARKS: [&str; 3] = ["CACHEDIR.TAG", "CMakeCache.txt", ".ninja_log"];

/// Files that are caches. What else a run wrote beside them may be missing from the next one, of which they know nothing: they are
/// kept of runs that wrote nothing but caches.
const FILES: [&str; 3] = [".tsbuildinfo", ".eslintcache", ".stylelintcache"];

/// Caches in which times are compared by whole seconds, so that two texts of the same second and size seem equal.
const BY_SECONDS: [&str; 2] = ["__pycache__", ".mypy_cache"];

/// Whether the folder of this name in `parent` is a cache.
pub(crate) fn is_folder(parent: &Path, name: &str) -> bool {
    is_cache_folder(parent, name, |it| it.symlink_metadata().is_ok())
}

/// Like `is_folder`, for a folder of a view; `is_there` returns whether the view has a path.
pub fn is_cache_folder(parent: &Path, name: &str, is_there: impl Fn(&Path) -> bool) -> bool {
    let is_beside = |it: &&str| is_there(&parent.join(it));
    let is_marked = || MARKS.iter().any(|it| is_there(&parent.join(name).join(it)));
    FOLDERS.contains(&name)
        || (name == ".cache" && parent.ends_with("node_modules"))
        || FOLDERS_BESIDE.iter().any(|(it, beside)| *it == name && beside.iter().any(is_beside))
        || is_marked()
}

/// Whether the file of this name is a cache.
pub(crate) fn is_file(name: &str) -> bool {
    is_cache_file(name)
}

/// Like `is_file`, for a file of a view.
pub fn is_cache_file(name: &str) -> bool {
    FILES.iter().any(|it| name.ends_with(it))
}

/// Whether a file of this name marks the folder around it as a cache.
pub fn is_cache_mark(name: &str) -> bool {
    MARKS.contains(&name)
}

/// Whether the tool that uses this cache may miss a change within one second.
pub(crate) fn is_by_seconds(name: &str) -> bool {
    BY_SECONDS.contains(&name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::fs;

    use super::*;

    #[test]
    fn a_name_that_may_be_another_things_needs_a_sign() {
        let folder = tempfile::tempdir().unwrap();
        let it = folder.path();
        for name in ["target", "build", "own", "node_modules/.cache"] {
            fs::create_dir_all(it.join(name)).unwrap();
        }
        assert!(is_folder(it, "__pycache__") && is_folder(&it.join("node_modules"), ".cache"));
        assert!(!is_folder(it, "target") && !is_folder(it, ".cache"));
        fs::write(it.join("Cargo.toml"), "").unwrap();
        fs::write(it.join("own/CACHEDIR.TAG"), "").unwrap();
        assert!(is_folder(it, "target") && is_folder(it, "own") && !is_folder(it, "build"));
        assert!(is_file("tsconfig.tsbuildinfo") && !is_file("a.ts"));
    }
}
