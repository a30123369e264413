//! Variables in small letters that the environment sets by convention, so that a script need not.

/// Proxies, which curl, wget, git, Python and others read in small letters; and variables of containers, of systemd and podman, and
/// of Debian's prompt.
const NAMES: [&str; 20] = [
    "all_proxy",
    "auto_proxy",
    "container",
    "container_uuid",
    "debian_chroot",
    "ftp_proxy",
    "ftps_proxy",
    "git_proxy",
    "gopher_proxy",
    "grpc_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "rsync_proxy",
    "socks5_proxy",
    "socks_proxy",
    "ssl_proxy",
    "wais_proxy",
    "ws_proxy",
    "wss_proxy",
];

/// Beginning of the names that npm gives the scripts it runs: `npm_package_version`, `npm_lifecycle_event`.
const OF_NPM: &str = "npm_";

/// Whether a variable may come from the environment by its name.
pub(crate) fn sets(name: &str) -> bool {
    NAMES.contains(&name) || name.starts_with(OF_NPM)
}
