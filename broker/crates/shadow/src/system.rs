//! Parts of the system that programs see, as data: toolchains, libraries and the configuration that they read. All else does not
//! exist for them, unless a sandbox names it.

use std::path::Path;

/// Folders that are there as a whole, read-only.
pub(crate) const SHOWN: [&str; 26] = [
    "/bin",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/nix/var/nix/profiles",
    "/sbin",
    "/sys",
    "/usr",
    "/var/cache/fontconfig",
    "/var/guix/profiles",
    "/var/lib/alternatives",
    "/var/lib/aspell",
    "/var/lib/dictionaries-common",
    "/var/lib/dpkg",
    "/var/lib/gems",
    "/var/lib/ghc",
    "/var/lib/ispell",
    "/var/lib/python",
    "/var/lib/rpm",
    "/var/lib/sgml-base",
    "/var/lib/texmf",
    "/var/lib/xkb",
    "/var/lib/xml-core",
];

/// Folders of configuration, of which only the names of [`SETTINGS`] are there.
pub(crate) const SETTINGS_FOLDERS: [&str; 2] = ["/etc", "/usr/local/etc"];

/// Configuration that libraries and toolchains read, as far as anyone may read it. A star stands for any end of a name.
///
/// Left out though programs would read them are files that may hold passwords: `environment`, `fstab`, `maven/settings.xml`, `npmrc`,
/// `pip.conf`, `wgetrc`, `gemrc`, `condarc`, `apt`.
pub(crate) const SETTINGS: [&str; 111] = [
    "DIR_COLORS",
    "ImageMagick*",
    "OpenCL",
    "R",
    "SuSE-release",
    "X11",
    "alpine-release",
    "alternatives",
    "arch-release",
    "bash.bashrc",
    "bash_completion*",
    "bashrc",
    "ca-certificates*",
    "centos-release",
    "common-lisp",
    "crypto-policies",
    "debian_version",
    "debuginfod",
    "dictionaries-common",
    "dotnet",
    "dpkg",
    "drirc",
    "egl",
    "emacs",
    "ethertypes",
    "fedora-release",
    "fish",
    "fonts",
    "gai.conf",
    "gcrypt",
    "gdb",
    "gentoo-release",
    "ghostscript",
    "gitattributes",
    "gitconfig",
    "glvnd",
    "gnutls",
    "gprofng.rc",
    "groff",
    "group",
    "gtk-*",
    "guile*",
    "host.conf",
    "hostname",
    "hosts",
    "inputrc",
    "ipython",
    "issue",
    "java*",
    "jvm*",
    "ld-musl-*",
    "ld.so.*",
    "libpaper.d",
    "locale*",
    "localtime",
    "login.defs",
    "lsb-release",
    "magic",
    "magic.mime",
    "mailcap",
    "man_db.conf",
    "manpath.config",
    "maven/logging",
    "maven/m2.conf",
    "mime.types",
    "mke2fs.conf",
    "mono",
    "mpi*",
    "mtab",
    "nanorc",
    "netconfig",
    "networks",
    "nsswitch.conf",
    "octave*",
    "openmpi",
    "os-release",
    "papersize",
    "passwd",
    "perl",
    "php*",
    "pki/ca-trust/extracted",
    "pki/java",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "profile",
    "profile.d",
    "protocols",
    "python*",
    "redhat-release",
    "resolv.conf",
    "rpc",
    "rpm",
    "services",
    "sgml",
    "shells",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "static",
    "system-release*",
    "terminfo",
    "texmf",
    "timezone",
    "vim",
    "vulkan",
    "xattr.conf",
    "xdg",
    "xml",
    "zprofile",
    "zsh*",
];

/// Made anew and empty inside, in memory.
pub(crate) const EMPTY: [&str; 5] = ["/tmp", "/var/tmp", "/run", "/home", "/root"];

/// Places of people and services: a folder there that a variable names is no toolchain just because of that.
const PRIVATE: [&str; 15] = [
    "/boot",
    "/data",
    "/dev",
    "/etc",
    "/export",
    "/media",
    "/mnt",
    "/net",
    "/nfs",
    "/proc",
    "/srv",
    "/sys",
    "/usr/local/etc",
    "/var",
    "/workspaces",
];

/// Whether a path is there for every program.
pub(crate) fn shows(path: &Path) -> bool {
    let settings = SETTINGS_FOLDERS.iter().find_map(|it| path.strip_prefix(it).ok());
    match settings {
        Some(name) => SETTINGS.iter().any(|it| is_within(name, it)),
        None => SHOWN.iter().any(|it| path.starts_with(it)),
    }
}

/// Whether a path is in a place of people or services.
pub(crate) fn is_private(path: &Path) -> bool {
    EMPTY.iter().chain(&PRIVATE).any(|it| path.starts_with(it))
}

/// Whether a path below a folder of configuration is of this name, or within it.
fn is_within(path: &Path, name: &str) -> bool {
    match name.strip_suffix('*') {
        None => path.starts_with(name),
        Some(start) => {
            let first = path.components().next().and_then(|it| it.as_os_str().to_str());
            first.is_some_and(|it| it.starts_with(start))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toolchains_and_settings_are_there_and_nothing_else() {
        let shown = |path: &str| shows(Path::new(path));
        for path in [
            "/usr/bin/cc",
            "/bin/sh",
            "/nix/store/x",
            "/etc/ld.so.cache",
            "/etc/java-17-openjdk/security",
            "/etc/ssl/certs/ca-certificates.crt",
            "/var/lib/dpkg/status",
        ] {
            assert!(shown(path), "{path}");
        }
        for path in [
            "/",
            "/etc",
            "/etc/shadow",
            "/etc/ssl/private/key.pem",
            "/etc/ssh/ssh_host_rsa_key",
            "/etc/maven/settings.xml",
            "/usr/local/etc/app.conf",
            "/var/lib/postgresql",
            "/opt/app/.env",
            "/mnt/c/Users",
            "/old_root",
            "/srv",
        ] {
            assert!(!shown(path), "{path}");
        }
    }
}
