//! Toolchains that are no part of the system: those that variables name, that the folders of `PATH` lead to, and that the linker
//! is told of.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::{
    Sandbox,
    defaults::{FOLDERS, OF_HOME, folders},
    links::{leads_through, links_to},
    secrets::Secrets,
};

/// Names of folders with programs. Beside one is what the programs need.
pub(crate) const PROGRAMS: [&str; 4] = ["bin", "sbin", "shims", "libexec"];

/// Parts of an installation in a home folder, beside which may be anything of the user's.
const PARTS: [&str; 6] = ["include", "lib", "lib64", "libexec", "node_modules", "pyvenv.cfg"];

/// Files that name folders of libraries for the linker, one a line.
const LINKER: &str = "/etc/ld.so.conf.d";

/// Paths that programs are shown besides the system.
#[derive(Debug, Default)]
pub struct Toolchains {
    /// Files and folders that are there, by paths free of links; none within another.
    pub read: Vec<PathBuf>,
    /// Links by which they are known.
    pub links: Vec<PathBuf>,
}

/// Returns the toolchains of a user with this home folder and environment, for the workspace at `root`; both paths are free of
/// links. A path that is found only through the workspace is none: its files may lead anywhere.
pub fn toolchains(
    home: Option<&Path>,
    root: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Toolchains {
    let sandbox = Sandbox { home: home.map(Path::to_owned), ..Sandbox::default() };
    let is_outside = |it: &PathBuf| it.is_absolute() && !leads_through(it, root);
    let path = variable("PATH").unwrap_or_default();
    let in_path: Vec<PathBuf> = env::split_paths(&path).filter(is_outside).collect();
    let usual: Vec<_> = folders(home, root, &variable).into_iter().filter(is_outside).collect();
    let named = FOLDERS.iter().filter_map(|it| variable(it)).map(PathBuf::from).filter(is_outside);
    let targets = in_path.iter().filter_map(|it| fs::canonicalize(it).ok());
    let targets: BTreeSet<_> =
        targets.collect::<BTreeSet<_>>().iter().flat_map(|it| links_in(it, root)).collect();
    let known: BTreeSet<PathBuf> =
        usual.iter().cloned().chain(named).chain(in_path.iter().cloned()).chain(targets.clone()).collect();
    let links = known.iter().flat_map(|it| links_to(it)).filter(|it| sandbox.hides(it));
    let links: BTreeSet<_> = links.collect();
    let programs = in_path.into_iter().chain(targets.iter().filter_map(|it| it.parent().map(Path::to_owned)));
    let programs: BTreeSet<_> = programs.filter_map(|it| fs::canonicalize(it).ok()).collect();
    let installed = programs.iter().flat_map(|it| installed(it, &sandbox, root)).chain(libraries(&sandbox));
    let secrets = Secrets::of(home, &OF_HOME);
    let all =
        usual.into_iter().chain(installed).filter(is_outside).filter_map(|it| fs::canonicalize(it).ok());
    Toolchains { read: outermost(all.filter(|it| !secrets.touch(it))), links: links.into_iter().collect() }
}

/// Returns the paths that have to be shown so that the programs of a folder run.
fn installed(folder: &Path, sandbox: &Sandbox, root: &Path) -> Vec<PathBuf> {
    let is_for_programs =
        folder.file_name().and_then(|it| it.to_str()).is_some_and(|it| PROGRAMS.contains(&it));
    let (Some(prefix), true) = (folder.parent(), sandbox.hides(folder)) else { return Vec::new() };
    let home = sandbox.home.as_deref();
    let holds = |it: &Path| root.starts_with(it) || home.is_some_and(|home| home.starts_with(it));
    let parts = || PARTS.iter().map(|it| prefix.join(it)).chain([folder.to_owned()]).collect();
    let whole = |it: &Path| if depth(it) < 2 { Vec::new() } else { vec![it.to_owned()] };
    if folder.starts_with(root) || holds(folder) {
        Vec::new()
    } else if home.is_some_and(|it| folder.starts_with(it)) {
        // Any folder may be named by a variable.
        match is_for_programs {
            true if holds(prefix) => vec![folder.to_owned()],
            true => parts(),
            false => Vec::new(),
        }
    } else if sandbox.is_private(folder) {
        Vec::new()
    } else if is_for_programs && holds(prefix) {
        parts()
    } else {
        whole(if is_for_programs && depth(prefix) >= 2 { prefix } else { folder })
    }
}

fn depth(path: &Path) -> usize {
    path.components().filter(|it| matches!(it, Component::Normal(_))).count()
}

/// Returns the targets of links in a folder of programs, as named and as resolved, but for those that are there for every
/// program; none that is found only through the workspace at `root`.
fn links_in(folder: &Path, root: &Path) -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a folder of the system or of a toolchain")]
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_symlink()));
    let targets = links.filter_map(|it| Some(folder.join(fs::read_link(it.path()).ok()?)));
    // Most links of the system's own lead to a file beside them.
    let targets = targets.filter(|it| it.parent() != Some(folder) && !is_plainly_shown(it));
    let targets = targets.filter(|it| !leads_through(it, root));
    targets.flat_map(|it| [fs::canonicalize(&it).ok(), Some(it)]).flatten().collect()
}

/// Whether a path is there for every program, links or not.
fn is_plainly_shown(path: &Path) -> bool {
    let goes_up = path.components().any(|it| it == Component::ParentDir);
    path.starts_with("/usr") && !goes_up
}

/// Folders of libraries that the linker looks into.
fn libraries(sandbox: &Sandbox) -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the linker's configuration")]
    let files = fs::read_dir(LINKER).into_iter().flatten().flatten();
    let texts = files.filter_map(|it| overlay::read_regular(&it.path(), LARGEST_LIST).ok());
    let folders = texts.flat_map(|it| listed(&String::from_utf8_lossy(&it)));
    let real = folders.filter_map(|it| fs::canonicalize(it).ok());
    real.filter(|it| sandbox.hides(it) && !sandbox.is_private(it) && depth(it) >= 2).collect()
}

/// Bytes of a file that names folders.
const LARGEST_LIST: u64 = 64 << 10;

fn listed(text: &str) -> Vec<PathBuf> {
    text.lines().map(str::trim).filter(|it| it.starts_with('/')).map(PathBuf::from).collect()
}

/// Returns the paths that lie in no other.
pub(crate) fn outermost(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let all: BTreeSet<PathBuf> = paths.collect();
    let is_within = |it: &&PathBuf| it.ancestors().skip(1).any(|above| all.contains(above));
    all.iter().filter(|it| !is_within(it)).cloned().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn programs_are_shown_with_what_they_need_and_homes_in_parts() {
        let sandbox = Sandbox { home: Some("/home/a".into()), ..Sandbox::default() };
        let shown = |folder: &str| {
            let all = installed(Path::new(folder), &sandbox, Path::new("/work/project/app"));
            all.iter().map(|it| it.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(shown("/opt/node/bin"), ["/opt/node"]);
        assert_eq!(shown("/opt/bin"), ["/opt/bin"]);
        assert_eq!(shown("/apps/tools/x"), ["/apps/tools/x"]);
        assert_eq!(shown("/home/a/bin"), ["/home/a/bin"]);
        assert!(!shown("/work/project/bin").contains(&"/work/project".to_owned()));
        assert!(shown("/home/a/node/bin").contains(&"/home/a/node/lib".to_owned()));
        for none in [
            "/usr/bin",
            "/bin",
            "/home/a/.ssh",
            "/home/a",
            "/home/b/bin",
            "/mnt/c/bin",
            "/data/x/bin",
            "/etc/x/bin",
            "/srv",
            "/work/project/app/bin",
        ] {
            assert!(shown(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn links_lead_to_programs_by_all_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("node-20/bin")).unwrap();
        fs::create_dir(root.join("bin")).unwrap();
        fs::write(root.join("node-20/bin/node"), "").unwrap();
        std::os::unix::fs::symlink("node-20", root.join("node")).unwrap();
        std::os::unix::fs::symlink("../node/bin/node", root.join("bin/node")).unwrap();
        let targets = links_in(&root.join("bin"), Path::new("/w"));
        assert!(targets.contains(&root.join("node-20/bin/node")));
        assert_eq!(links_to(&root.join("bin/node")), [root.join("bin/node"), root.join("node")]);
        assert!(links_to(&root.join("node-20/bin")).is_empty());
    }

    #[test]
    fn what_is_found_only_through_the_workspace_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| fs::canonicalize(folder.path()).unwrap().join(path);
        let (home, root) = (at("home"), at("proj"));
        for it in ["home/.ssh/bin", "home/.pyenv/bin", "proj/bin", "home/secret/bin", "tools/bin"] {
            fs::create_dir_all(at(it)).unwrap();
        }
        for it in ["home/.ssh/bin/x", "home/.pyenv/bin/python", "home/secret/bin/env"] {
            fs::write(at(it), "").unwrap();
        }
        let link = |to: &str, from: &str| std::os::unix::fs::symlink(at(to), at(from)).unwrap();
        link("home/secret/bin/env", "proj/bin/t");
        link("home/.pyenv/bin/python", "proj/bin/python");
        link("home/.ssh", "proj/.venv");
        link("home/secret", "proj/out");
        // An installed link that leads into the workspace, and on.
        link("proj/bin/t", "tools/bin/t");
        link("proj/out", "tools/way");
        let shown = |all: &[(&str, &str)]| {
            let path = |it: &str| env::join_paths(it.split(':').map(at)).unwrap();
            let variable = |name: &str| Some(path(all.iter().find(|it| it.0 == name)?.1));
            let read = toolchains(Some(&home), &root, variable).read;
            let stores = crate::stores(Some(&home), &root, variable);
            let all = read.into_iter().chain(stores);
            all.filter_map(|it| Some(it.strip_prefix(at("")).ok()?.display().to_string())).collect::<Vec<_>>()
        };
        let usual = ["home/.pyenv", "home/.cache/go-build"];
        assert_eq!(shown(&[("PATH", "proj/bin:proj/.venv/bin:proj/out/bin:tools/bin:tools/way/bin")]), usual);
        let named = [("VIRTUAL_ENV", "proj/.venv"), ("JAVA_HOME", "tools/way"), ("CARGO_HOME", "proj/out")];
        assert_eq!(shown(&named), usual);
        assert_eq!(shown(&[("GOCACHE", "proj/out")]), ["home/.pyenv"]);
        let secrets = [("VIRTUAL_ENV", "home/.ssh"), ("GOCACHE", "home/.ssh"), ("PATH", "home/.ssh/bin")];
        assert_eq!(shown(&secrets), ["home/.pyenv"], "whatever leads there");
        let from_outside = shown(&[("PATH", "home/secret/bin")]);
        assert_eq!(from_outside, ["home/.pyenv", "home/secret/bin", "home/.cache/go-build"]);
    }

    #[test]
    fn what_lies_in_another_is_shown_with_it() {
        let all = ["/a", "/a/b", "/c/d", "/c-d"].map(PathBuf::from);
        assert_eq!(outermost(all.into_iter()), ["/a", "/c/d", "/c-d"].map(PathBuf::from));
        assert_eq!(listed("# comment\n/opt/rocm/lib\n include x\n"), [PathBuf::from("/opt/rocm/lib")]);
    }
}
