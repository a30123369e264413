//! Parts of a hidden place that must be shown for a program to run.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Sandbox,
    defaults::OF_HOME,
    links::{leads_through, links_to},
    secrets::Secrets,
    toolchains::{PROGRAMS, outermost},
};

/// Parts of an installation in which programs and what they load are.
const INSTALLATION_PARTS: [&str; 6] = ["bin", "lib", "lib64", "libexec", "node_modules", "pyvenv.cfg"];

/// Parts of the user's own `~/.local` in which an installer keeps each program apart, with as many folders below as name one.
const ISOLATED_INSTALLATIONS: [(&str, usize); 4] = [
    (".local/share/uv/tools", 1),
    (".local/share/pipx/venvs", 1),
    (".local/pipx/venvs", 1),
    (".local/share/pnpm", 0),
];

impl Sandbox {
    /// The same with these programs shown to those that run for the workspace at `root`, and what they need of places that are
    /// hidden otherwise; but for what is found only through the workspace.
    #[must_use]
    pub fn with_programs(&self, programs: &[PathBuf], root: &Path) -> Self {
        let home = self.home.as_deref();
        let outside: Vec<_> = programs.iter().filter(|it| !leads_through(it, root)).collect();
        let links = outside.iter().flat_map(|it| links_to(it)).filter(|it| self.hides(it));
        let links: BTreeSet<_> = self.links.iter().cloned().chain(links).collect();
        let links = links.into_iter().filter(|it| !it.starts_with(root)).collect();
        let parts = programs.iter().flat_map(|it| parts(it, home, root)).filter(|it| self.hides(it));
        Self { read: outermost(self.read.iter().cloned().chain(parts)), links, ..self.clone() }
    }
}

/// Returns the paths that have to be shown so that a program runs, which may be in a place that is hidden otherwise: the folder
/// where it is and where it leads to, and of what was installed in the same place the parts that programs load. Beside them may
/// be files with secrets, as in `~/.cargo` and `~/.local`: of a place of secrets, or one around it, only the program itself is
/// shown. Never the home folder, or one around it or the root.
fn parts(program: &Path, home: Option<&Path>, root: &Path) -> Vec<PathBuf> {
    let leads_out = |it: &PathBuf| !leads_through(it, root);
    let real = fs::canonicalize(program).ok().filter(|_| leads_out(&program.to_owned()));
    let is_private = |it: &Path| {
        let holds = |of: &Path| of.starts_with(it);
        it.parent().is_none() || it.components().count() < 3 || home.is_some_and(holds) || holds(root)
    };
    let secrets = Secrets::of(home, &OF_HOME);
    let parts = |program: &Path| {
        let all = parts_of(program, home).into_iter().filter(leads_out);
        let all: Vec<_> = all.filter_map(|it| fs::canonicalize(it).ok()).collect();
        let is_secret = |it: &PathBuf| is_private(it) || secrets.touch(it);
        let itself = all.iter().any(is_secret).then(|| program.to_owned()).filter(leads_out);
        all.into_iter().filter(|it| !is_secret(it)).chain(itself).collect::<Vec<_>>()
    };
    let all = [Some(program), real.as_deref()].into_iter().flatten().flat_map(parts);
    outermost(all.filter(|it| !it.starts_with(root)))
}

fn parts_of(program: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Some(folder) = program.parent() else { return Vec::new() };
    if let Some(own) = home.and_then(|home| apart(program, home)) {
        return vec![own];
    }
    match (folder.parent(), folder.file_name().and_then(|it| it.to_str())) {
        // All packages of a project.
        (Some(packages), Some(".bin")) if packages.ends_with("node_modules") => vec![packages.to_owned()],
        (Some(prefix), Some("bin")) if home.is_none_or(|home| prefix != home) => {
            INSTALLATION_PARTS.iter().map(|it| prefix.join(it)).collect()
        }
        // Any folder of a home folder may be in `PATH`, such as one of downloads.
        (_, name) if home.is_some_and(|it| program.starts_with(it)) && !name.is_some_and(is_of_programs) => {
            let packages = program.ancestors().filter(|it| it.ends_with("node_modules")).last();
            vec![packages.unwrap_or(program).to_owned()]
        }
        _ => vec![folder.to_owned()],
    }
}

/// Whether a folder of this name is for programs.
fn is_of_programs(name: &str) -> bool {
    PROGRAMS.contains(&name) || name == ".bin"
}

/// The folder of one program below [`ISOLATED_INSTALLATIONS`].
fn apart(program: &Path, home: &Path) -> Option<PathBuf> {
    ISOLATED_INSTALLATIONS.iter().find_map(|(place, below)| {
        let place = home.join(place);
        let mut names = program.strip_prefix(&place).ok()?.components();
        (0..*below).try_fold(place, |at, _| Some(at.join(names.next()?)))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn no_program_shows_the_home_folder() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        for path in ["bin", "tools/bin"] {
            fs::create_dir_all(home.join(path)).unwrap();
            fs::write(home.join(path).join("x"), "").unwrap();
        }
        let shown = |program: &str| parts(&home.join(program), Some(&home), Path::new("/w"));
        assert_eq!(shown("bin/x"), [home.join("bin")]);
        assert_eq!(shown("tools/bin/x"), [home.join("tools/bin")]);
        assert!(
            super::parts(Path::new("/bin/sh"), Some(&home), Path::new("/w"))
                .iter()
                .all(|it| it.starts_with("/usr") || it.starts_with("/bin"))
        );
    }

    #[test]
    fn a_link_in_the_workspace_shows_nothing_outside() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        for path in ["proj/.venv/bin", "secret/bin"] {
            fs::create_dir_all(top.join(path)).unwrap();
        }
        fs::write(top.join("secret/bin/mypy"), "").unwrap();
        let link = top.join("proj/.venv/bin/mypy");
        std::os::unix::fs::symlink(top.join("secret/bin/mypy"), &link).unwrap();
        assert!(parts(&link, None, &top.join("proj")).is_empty());
    }

    #[test]
    fn programs_are_shown_once_and_those_of_the_workspace_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        for path in ["proj/bin", "tools/bin", "tools/lib"] {
            fs::create_dir_all(top.join(path)).unwrap();
        }
        for path in ["proj/bin/own", "tools/bin/own"] {
            fs::write(top.join(path), "").unwrap();
        }
        std::os::unix::fs::symlink("own", top.join("tools/bin/link")).unwrap();
        let sandbox = Sandbox { read: vec![top.join("tools")], ..Sandbox::default() };
        let programs = ["tools/bin/link", "proj/bin/own"].map(|it| top.join(it));
        let shown = |it: &Sandbox| {
            let it = it.with_programs(&programs, &top.join("proj"));
            (it.read, it.links)
        };
        let link = vec![top.join("tools/bin/link")];
        assert_eq!(
            shown(&Sandbox::default()),
            (["tools/bin", "tools/lib"].map(|it| top.join(it)).to_vec(), link.clone())
        );
        assert_eq!(shown(&sandbox), (vec![top.join("tools")], link));
    }

    #[test]
    fn what_lies_beside_an_installation_stays_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        let file = |path: &str| {
            fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
            fs::write(home.join(path), "").unwrap();
        };
        for path in [
            ".cargo/bin/cargo",
            ".cargo/credentials.toml",
            ".local/bin/own",
            ".local/lib/python/own.py",
            ".local/share/keyrings/login.keyring",
            ".local/share/uv/credentials/credentials.toml",
            ".local/share/uv/tools/ruff/bin/ruff",
            ".local/share/uv/tools/ruff/lib/ruff.py",
            ".venv/bin/mypy",
            ".venv/lib/mypy.py",
            ".venv/pyvenv.cfg",
            "node/node_modules/.bin/tsc",
            ".local/share/own",
            ".config/x/own",
            ".ssh/own",
            "own",
            "Downloads/own",
            "Downloads/tax.txt",
            "packages/node_modules/own/main.js",
        ] {
            file(path);
        }
        std::os::unix::fs::symlink(
            home.join(".local/share/uv/tools/ruff/bin/ruff"),
            home.join(".local/bin/ruff"),
        )
        .unwrap();
        let shown = |program: &str| {
            let all = parts(&home.join(program), Some(&home), Path::new("/w"));
            all.iter().map(|it| it.strip_prefix(&home).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(shown(".cargo/bin/cargo"), [".cargo/bin"]);
        assert_eq!(shown(".local/bin/own"), [".local/bin", ".local/lib"]);
        assert_eq!(shown(".local/bin/ruff"), [".local/bin", ".local/lib", ".local/share/uv/tools/ruff"]);
        assert_eq!(shown(".venv/bin/mypy"), [".venv/bin", ".venv/lib", ".venv/pyvenv.cfg"]);
        assert_eq!(shown("node/node_modules/.bin/tsc"), ["node/node_modules"]);
        assert_eq!(shown("packages/node_modules/own/main.js"), ["packages/node_modules"]);
        for alone in [".local/share/own", ".config/x/own", ".ssh/own", "own", "Downloads/own"] {
            assert_eq!(shown(alone), [alone]);
        }
    }
}
