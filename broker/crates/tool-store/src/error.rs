//! Failures of an installation. Each names the package or the file that it is about, and shows no password.

use std::{io, path::PathBuf};

use download::Interruption;
use overlay::io_reason;

use crate::package::{Integrity, Package, Registry};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Interrupted(Interruption),

    #[error("cannot use {}: {why}", file.display())]
    Settings { file: PathBuf, why: String },

    #[error("no registry of {registry} is configured, and {program} cannot be asked for its own")]
    NoRegistry { registry: &'static str, program: &'static str, variable: &'static str },

    #[error("cannot fetch {package} from {host}: {why}")]
    Unreachable { package: Package, host: String, why: String },

    #[error("{host} has no {package}")]
    NotFound { package: Package, host: String },

    #[error("{host} does not let you fetch {package}: {status}")]
    Denied { package: Package, host: String, status: u16 },

    #[error("the download of {package} from {host} broke off: {received} of {size} bytes came")]
    BrokenOff { package: Package, host: String, received: u64, size: u64 },

    #[error("{package} from {host} is not what is expected: it has the digest {found}, not {expected}")]
    WrongDigest { package: Package, host: String, found: Box<Integrity>, expected: Box<Integrity> },

    #[error("cannot unpack {package}: {why}")]
    Archive { package: Package, why: String },

    #[error("the disk of {} is full: there is no room for {package}", folder.display())]
    NoSpace { package: Package, folder: PathBuf },

    #[error("cannot write to {}: {}", path.display(), io_reason(error))]
    Io { path: PathBuf, error: io::Error },

    #[error("{tool} {version} is not available for {target}")]
    NotForThis { tool: String, version: String, target: String },

    #[error(
        "{tool} {version} cannot be added, since it needs other packages, whose versions npm and pip choose: {}",
        shortened(others)
    )]
    NeedsOthers { tool: String, version: String, known: String, others: Vec<String> },

    #[error("{package} is for no platform that Broker knows, or laid out in another way than {known}")]
    OtherLayout { package: Package, known: String },

    #[error("{host} does not tell the digest of {package}")]
    NoDigest { package: Package, host: String },

    #[error("`{tool}` in broker.lock has two versions of {package}")]
    Twice { tool: String, package: Package },

    #[error("{tool} has no program `{program}` at {path}")]
    NoProgram { tool: String, program: String, path: String },
}

impl Error {
    /// Remedy, where there is one.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoRegistry { variable, .. } => format!("set {variable} to its URL"),
            Self::Unreachable { .. } => {
                "look at the network and at the registry, proxy and certificates that npm and pip are configured with".to_owned()
            }
            Self::Denied { package, .. } => match package.registry {
                Registry::Npm => "log in with `npm login`, or put a token into `~/.npmrc`".to_owned(),
                Registry::PyPi => "put the password into `~/.netrc` or the index's URL".to_owned(),
            },
            Self::NotFound { .. } => "a mirror may not have it: see which registry npm and pip are configured with".to_owned(),
            Self::WrongDigest { .. } => "it was changed in the registry or on the way; nothing of the tool was installed".to_owned(),
            Self::NoSpace { .. } => "make room, or set BROKER_DATA_DIR to a folder on another disk; nothing of the tool was installed".to_owned(),
            Self::NeedsOthers { tool, version, known, .. } => format!("`broker server add {tool}@{known}` adds the version that Broker knows the packages of; or install {version} in the project or in `PATH`"),
            Self::OtherLayout { known, .. } => format!("add {known}, or install that version in the project or in `PATH`"),
            Self::BrokenOff { .. } => "try again; nothing of the tool was installed".to_owned(),
            _ => return None,
        })
    }

    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}

/// The first names of many.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let first = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

impl From<Interruption> for Error {
    fn from(it: Interruption) -> Self {
        Self::Interrupted(it)
    }
}
