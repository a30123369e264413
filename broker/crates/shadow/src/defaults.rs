//! Parts of the home folder, and environment variables, that programs commonly need of the user's own, as data.

use std::{
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::{links::leads_through, secrets::Secrets};

/// Toolchains, what they have downloaded, and settings; below the home folder. Each is shown as it is,
/// and what is written there stays in memory. Of folders that hold secrets, too, only the parts that do not: beside those of `.cargo`,
/// `.dotnet`, `.local/share/uv` and `.pub-cache` are tokens and private keys.
pub(crate) const OF_HOME: [&str; 67] = [
    ".asdf",
    ".bun/bin",
    ".bun/install/cache",
    ".cache/go-build",
    ".cache/ms-playwright",
    ".cache/node",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/pre-commit",
    ".cache/pypoetry",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/bin",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".config/git/config",
    ".config/git/ignore",
    ".config/go",
    ".conda",
    ".deno",
    ".dotnet/dotnet",
    ".dotnet/host",
    ".dotnet/library-packs",
    ".dotnet/packs",
    ".dotnet/sdk",
    ".dotnet/sdk-manifests",
    ".dotnet/shared",
    ".dotnet/templates",
    ".dotnet/tools",
    ".elan",
    ".gem/ruby",
    ".local/share/gem/ruby",
    ".ghcup",
    ".gitconfig",
    ".gradle/wrapper",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/pypoetry",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".local/share/virtualenvs",
    ".m2/repository",
    ".m2/wrapper",
    ".nix-profile",
    ".npm/_cacache",
    ".nuget/packages",
    ".nvm",
    ".opam",
    ".pub-cache/bin",
    ".pub-cache/git",
    ".pub-cache/global_packages",
    ".pub-cache/hosted",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman",
    ".tool-versions",
    ".volta",
    "Android/Sdk",
    "go/bin",
    "go/pkg",
    "miniconda3",
];

/// Folders of Homebrew, which has a fixed place on Linux. Beside these it keeps what services write.
const OF_HOMEBREW: [&str; 11] = [
    "Cellar",
    "Frameworks",
    "bin",
    "etc/ca-certificates",
    "etc/openssl@3",
    "include",
    "lib",
    "libexec",
    "opt",
    "sbin",
    "share",
];
const HOMEBREW: &str = "/home/linuxbrew/.linuxbrew";

/// Variables that name such a folder where it is not in its usual place.
pub(crate) const FOLDERS: [&str; 23] = [
    "ANDROID_HOME",
    "ASDF_DATA_DIR",
    "CONDA_PREFIX",
    "CUDA_HOME",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_HOME",
    "JAVA_HOME",
    "M2_HOME",
    "MAVEN_HOME",
    "MISE_DATA_DIR",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "ROCM_PATH",
    "RUSTUP_HOME",
    "SDKMAN_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "DENO_DIR",
];

/// Caches that name what is in them by what it was made of, so that it fits any branch: the variable that says where one is, and its
/// usual place below the home folder.
const STORES: [(&str, &str); 1] = [("GOCACHE", ".cache/go-build")];

/// Parts of the folder that `CARGO_HOME` names; beside them is a file with secrets.
const OF_CARGO: [&str; 4] = ["bin", "env", "git", "registry"];

/// Variables that say who and where someone is, how programs are built and how they print. None is known for secrets.
const VARIABLES: [&str; 67] = [
    "CARGO_HOME",
    "AR",
    "ARFLAGS",
    "CARGO_BUILD_JOBS",
    "CARGO_INCREMENTAL",
    "CARGO_TERM_COLOR",
    "CC",
    "CFLAGS",
    "CGO_ENABLED",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CMAKE_GENERATOR",
    "COLORTERM",
    "COLUMNS",
    "CPATH",
    "CPPFLAGS",
    "CXX",
    "CXXFLAGS",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "DJANGO_SETTINGS_MODULE",
    "EDITOR",
    "FORCE_COLOR",
    "GOARCH",
    "GOFLAGS",
    "GOOS",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LD",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "LINES",
    "LOGNAME",
    "MAKEFLAGS",
    "NODE_ENV",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NO_COLOR",
    "PATH",
    "PERL5LIB",
    "PKG_CONFIG_PATH",
    "PYTEST_ADDOPTS",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "PYTHONWARNINGS",
    "RUBYLIB",
    "RUSTC_WRAPPER",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "SHELL",
    "SOURCE_DATE_EPOCH",
    "TERM",
    "TZ",
    "USER",
    "ZERO_AR_DATE",
];

/// Returns the paths of these folders for a user with this home folder and environment, for the workspace at `root`. Of folders
/// that variables name none would show the whole home folder or secrets, and none is found only through the workspace.
pub fn folders(
    home: Option<&Path>,
    root: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<PathBuf> {
    let cargo = variable("CARGO_HOME").map(PathBuf::from);
    let of_cargo = cargo.into_iter().flat_map(|folder| OF_CARGO.map(|it| folder.join(it)));
    let named = FOLDERS.iter().filter_map(|it| Some(PathBuf::from(variable(it)?)));
    // By links and `..` a name may lead to the whole home folder.
    let real = |it: PathBuf| fs::canonicalize(&it).unwrap_or(it);
    let is_plain = |it: &PathBuf| !it.components().any(|it| it == Component::ParentDir);
    let secrets = Secrets::of(home, &OF_HOME);
    let is_found = |it: &PathBuf| it.is_absolute() && !leads_through(it, root);
    let named = named.chain(of_cargo).filter(is_found).map(real).filter(is_plain);
    let named = named.filter(|it| home.is_none_or(|home| !home.starts_with(it)) && !secrets.touch(it));
    let of_home = home.into_iter().flat_map(|home| OF_HOME.iter().map(move |it| home.join(it)));
    let of_homebrew = OF_HOMEBREW.iter().map(|it| Path::new(HOMEBREW).join(it));
    let mut all: Vec<PathBuf> = of_home.chain(of_homebrew).chain(named).collect();
    all.sort();
    all.dedup();
    // A folder within one that is shown is shown with it.
    let shown = all.clone();
    all.retain(|it| !it.ancestors().skip(1).any(|above| shown.iter().any(|shown| shown == above)));
    all
}

/// Returns the paths of caches whose entries are named by what they were made of, whether the caches exist or not; none that
/// contains the home folder or secrets, and none that is found only through the workspace at `root`.
pub fn stores(home: Option<&Path>, root: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let place = |(name, usual): &(&str, &str)| match variable(name) {
        Some(named) => Some(PathBuf::from(named)),
        None => home.map(|home| home.join(usual)),
    };
    let is_plain = |it: &PathBuf| it.is_absolute() && !it.components().any(|it| it == Component::ParentDir);
    let is_found = |it: &PathBuf| is_plain(it) && !leads_through(it, root);
    let all = STORES.iter().filter_map(place).filter(is_found).map(|it| without_links(&it));
    let secrets = Secrets::of(home, &OF_HOME);
    let is_usable = |it: &PathBuf| it.parent().is_some() && home.is_none_or(|home| !home.starts_with(it));
    all.filter(|it| is_usable(it) && !secrets.touch(it)).collect()
}

/// A path that leads through no link, as far as it is there.
fn without_links(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => without_links(parent).join(name),
        _ => path.to_owned(),
    })
}

/// Whether a path is git's configuration, which may hold tokens.
pub fn is_of_git(path: &Path) -> bool {
    path.ends_with(".gitconfig") || path.ends_with(".config/git/config")
}

/// Whether programs get the variable of this name unasked.
pub fn is_told(name: &str) -> bool {
    let is_of_git = || GIT.iter().any(|(it, _)| *it == name);
    name == "TMPDIR" || VARIABLES.contains(&name) || FOLDERS.contains(&name) || is_of_git()
}

/// Variables by which git writes to its repository only what it was asked for, and leaves no processes behind.
const GIT: [(&str, &str); 6] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "gc.auto"),
    ("GIT_CONFIG_VALUE_0", "0"),
    ("GIT_CONFIG_KEY_1", "maintenance.auto"),
    ("GIT_CONFIG_VALUE_1", "false"),
];

/// Returns the environment variables that programs get. Temporary files have their usual place inside.
pub fn environment(variable: impl Fn(&str) -> Option<OsString>) -> Vec<(OsString, OsString)> {
    let names = VARIABLES.iter().chain(&FOLDERS);
    let told = names.filter_map(|it| Some(((*it).into(), variable(it)?)));
    let fixed = GIT.iter().chain(&[("TMPDIR", "/tmp")]);
    told.chain(fixed.map(|(name, value)| ((*name).into(), (*value).into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variable_shows_the_whole_home_folder() {
        let variable = |name: &str| match name {
            "GOPATH" => Some("/home/a".into()),
            "CARGO_HOME" => Some("/opt/cargo".into()),
            "JAVA_HOME" => Some("relative".into()),
            _ => None,
        };
        let folders = folders(Some(Path::new("/home/a")), Path::new("/w"), variable);
        assert!(
            folders.contains(&"/home/a/.rustup".into())
                && folders.contains(&"/opt/cargo/bin".into())
                && !folders.contains(&"/opt/cargo".into())
        );
        assert!(!folders.contains(&"/home/a".into()) && !folders.contains(&"relative".into()));
        assert_eq!(folders.iter().filter(|it| it.ends_with(".ssh")).count(), 0);
    }

    /// Files below the home folder in which tools keep tokens, passwords and private keys.
    const SECRETS: [&str; 32] = [
        ".aws/credentials",
        ".cargo/credentials",
        ".cargo/credentials.toml",
        ".config/containers/auth.json",
        ".config/gcloud/credentials.db",
        ".config/gh/hosts.yml",
        ".config/glab-cli/config.yml",
        ".config/hub",
        ".config/pypoetry/auth.toml",
        ".config/pip/pip.conf",
        ".config/rclone/rclone.conf",
        ".docker/config.json",
        ".dotnet/corefx/cryptography/x509stores/my/key.pfx",
        ".gem/credentials",
        ".git-credentials",
        ".gnupg/private-keys-v1.d/key",
        ".gradle/gradle.properties",
        ".kube/config",
        ".local/share/keyrings/login.keyring",
        ".local/share/uv/credentials/credentials.toml",
        ".m2/settings.xml",
        ".m2/settings-security.xml",
        ".netrc",
        ".npmrc",
        ".nuget/NuGet/NuGet.Config",
        ".pub-cache/credentials.json",
        ".pypirc",
        ".ssh/id_ed25519",
        ".vault-token",
        ".yarnrc.yml",
        ".bash_history",
        ".python_history",
    ];

    #[test]
    fn places_of_secrets_are_not_shown() {
        let home = Path::new("/home/a");
        let folders = folders(Some(home), Path::new("/w"), |_| None);
        for secret in SECRETS {
            let secret = home.join(secret);
            assert!(!folders.iter().any(|it| secret.starts_with(it)), "{}", secret.display());
        }
    }

    #[test]
    fn stores_are_where_they_are_named() {
        let home = Some(Path::new("/home/a"));
        let named = |it: &'static str| {
            stores(home, Path::new("/w"), move |name| (name == "GOCACHE").then(|| it.into()))
        };
        assert_eq!(stores(home, Path::new("/w"), |_| None), [PathBuf::from("/home/a/.cache/go-build")]);
        assert_eq!(named("/nowhere/b"), [PathBuf::from("/nowhere/b")]);
        for wrong in ["off", "/home/a", "/home", "/", "/home/a/../b"] {
            assert!(named(wrong).is_empty(), "{wrong}");
        }
        assert!(stores(None, Path::new("/w"), |_| None).is_empty());
    }

    #[test]
    fn secrets_are_not_told() {
        let environment = environment(|name| Some(name.into()));
        let names: Vec<_> = environment.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert!(
            names.contains(&"PATH")
                && names.contains(&"CARGO_HOME")
                && !names.contains(&"AWS_SECRET_ACCESS_KEY")
        );
    }
}
