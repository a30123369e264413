//! Places of secrets below home folders, as data: what leads there, be it a variable, a link or `PATH`, shows nothing of them.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders and files with tokens, passwords and private keys, in any home folder.
pub(crate) const SECRETS: [&str; 44] = [
    ".aws",
    ".azure",
    ".bash_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config",
    ".docker",
    ".dotnet/corefx",
    ".electrum",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".kube",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/password-store",
    ".local/share/uv/credentials",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".minikube",
    ".mozilla",
    ".netrc",
    ".node_repl_history",
    ".npmrc",
    ".nuget/NuGet",
    ".oci",
    ".password-store",
    ".pgpass",
    ".pki",
    ".psql_history",
    ".pub-cache/credentials.json",
    ".pypirc",
    ".python_history",
    ".snowflake",
    ".ssh",
    ".subversion",
    ".terraform.d",
    ".thunderbird",
    ".vault-token",
    ".wallet",
    ".yarnrc.yml",
    ".zsh_history",
    "Library/Keychains",
];

/// Toolchains within places of secrets, where variables or `PATH` name them.
const TOOLCHAINS: [&str; 3] = [".config/composer/vendor", ".config/nvm", ".config/yarn/global"];

/// Places of secrets, and what is open within them, for someone with this home folder.
pub(crate) struct Secrets {
    places: Vec<PathBuf>,
    open: Vec<PathBuf>,
}

impl Secrets {
    /// Places of secrets of a home folder, in which `shown` is open.
    pub(crate) fn of(home: Option<&Path>, shown: &[&str]) -> Self {
        let named = |names: &[&str]| -> Vec<PathBuf> {
            let paths = home.iter().flat_map(|home| names.iter().map(|it| home.join(it)));
            // Most are not there, which costs one call; to resolve a path costs one for each of its folders.
            let real = |it: &PathBuf| it.symlink_metadata().and_then(|_| fs::canonicalize(it)).ok();
            paths.flat_map(|it| [real(&it), Some(it)]).flatten().collect()
        };
        Self { places: named(&SECRETS), open: [named(shown), named(&TOOLCHAINS)].concat() }
    }

    /// Whether a path free of links lies in a place of secrets, or around one.
    pub(crate) fn touch(&self, path: &Path) -> bool {
        let is_named = |it: &Path| SECRETS.iter().any(|name| it.ends_with(name));
        let is_place = |it: &PathBuf| it.starts_with(path) || path.starts_with(it);
        let is_open = self.open.iter().any(|it| path.starts_with(it));
        !is_open && (path.ancestors().any(is_named) || self.places.iter().any(is_place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_secrets_are_told_from_what_is_open_in_them() {
        let secrets = Secrets::of(Some(Path::new("/home/a")), &[".config/go", ".pyenv"]);
        for secret in ["/home/a/.ssh", "/home/a/.ssh/x", "/home/a", "/home/a/.local", "/home/b/.config/gh"] {
            assert!(secrets.touch(Path::new(secret)), "{secret}");
        }
        for open in [
            "/home/a/.config/go",
            "/home/a/.config/nvm/v",
            "/home/a/.pyenv/versions",
            "/home/a/tools",
            "/opt/x/.sshd",
        ] {
            assert!(!secrets.touch(Path::new(open)), "{open}");
        }
    }
}
