//! Errors of shadow folders.

/// Error of opening a folder, or of an operation in it.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("this system does not let programs have namespaces of their own: {0}")]
    Namespaces(std::io::Error),
    #[error("{what}: {error}")]
    Overlayfs { what: String, error: std::io::Error },
    #[error("{what}: {error}")]
    Mounts { what: String, error: std::io::Error },
    #[error("a copy of the workspace has no place: no cache folder is known")]
    NoStorage,
    #[error("cannot make a copy of the workspace: {0}")]
    Copy(std::io::Error),
    #[error("cannot use the caches of earlier runs: {0}")]
    Caches(std::io::Error),
    #[error("the shadow folder broke off: {0}")]
    Broken(#[from] std::io::Error),
}
