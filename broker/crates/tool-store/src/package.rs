//! Files of package registries, as `broker.lock` and the catalogue have them: a line each.

use std::{fmt, path::Path, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256, Sha512};

/// Bytes of the largest file that is downloaded.
pub(crate) const LARGEST: u64 = 400 << 20;

/// A file of a package: `npm:pyright@1.1.414 sha512-… 5123456`, after which may stand the place of a package of npm in the folder
/// (`at:…`), the name of a wheel (`file:…`), a platform, and a version of Python (`python:3.12`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct PackageFile {
    pub package: Package,
    pub integrity: Integrity,
    pub size: u64,
    pub origin: Origin,
    /// `None` if it is for all.
    pub platform: Option<Platform>,
    pub python: Option<String>,
}

/// A package and its version: `npm:pyright@1.1.414`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Package {
    pub registry: Registry,
    pub name: String,
    pub version: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Registry {
    Npm,
    PyPi,
}

/// Form in which a registry has a package, and the place of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The package's tarball, unpacked at this path.
    Tarball { at: String },
    /// A wheel of this name.
    Wheel { file: String },
}

/// A platform that tools are there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Platform {
    LinuxX64,
    LinuxArm64,
    DarwinArm64,
}

/// Digest of a file, as in `integrity` of npm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Integrity {
    Sha256(Vec<u8>),
    Sha512(Vec<u8>),
}

impl Platform {
    pub const ALL: [Self; 3] = [Self::LinuxX64, Self::LinuxArm64, Self::DarwinArm64];

    /// The platform of this machine; `None` if no tools are there for it.
    pub fn here() -> Option<Self> {
        match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") => Some(Self::LinuxX64),
            ("linux", "aarch64") => Some(Self::LinuxArm64),
            ("macos", "aarch64") => Some(Self::DarwinArm64),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::LinuxX64 => "linux-x64",
            Self::LinuxArm64 => "linux-arm64",
            Self::DarwinArm64 => "darwin-arm64",
        }
    }
}

impl Integrity {
    /// Whether these are the bytes.
    pub fn holds(&self, bytes: &[u8]) -> bool {
        *self == self.of(bytes)
    }

    /// Digest of other bytes by the same algorithm.
    pub fn of(&self, bytes: &[u8]) -> Self {
        match self {
            Self::Sha256(_) => Self::Sha256(Sha256::digest(bytes).to_vec()),
            Self::Sha512(_) => Self::Sha512(Sha512::digest(bytes).to_vec()),
        }
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sha256(it) => write!(f, "sha256-{}", STANDARD.encode(it)),
            Self::Sha512(it) => write!(f, "sha512-{}", STANDARD.encode(it)),
        }
    }
}

impl FromStr for Integrity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no digest: it is `sha512-` or `sha256-`, and the digest in base64");
        let (algorithm, digest) = text.split_once('-').ok_or_else(wrong)?;
        let digest = STANDARD.decode(digest).map_err(|_not_base64| wrong())?;
        match (algorithm, digest.len()) {
            ("sha256", 32) => Ok(Self::Sha256(digest)),
            ("sha512", 64) => Ok(Self::Sha512(digest)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let registry = match self.registry {
            Registry::Npm => "npm",
            Registry::PyPi => "pypi",
        };
        write!(f, "{registry}:{}@{}", self.name, self.version)
    }
}

impl FromStr for Package {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no package: it is `npm:` or `pypi:`, a name, `@` and a version");
        let (registry, rest) = text.split_once(':').ok_or_else(wrong)?;
        let registry = match registry {
            "npm" => Registry::Npm,
            "pypi" => Registry::PyPi,
            _ => return Err(wrong()),
        };
        let (name, version) = rest.rsplit_once('@').ok_or_else(wrong)?;
        let names: Vec<_> = name.strip_prefix('@').map_or(vec![name], |it| it.split('/').collect());
        let scoped = name.starts_with('@');
        let is_whole = names.len() == 1 + usize::from(scoped) && names.iter().all(|it| is_plain(it));
        match is_whole && is_plain(version) {
            true => Ok(Self { registry, name: name.to_owned(), version: version.to_owned() }),
            false => Err(wrong()),
        }
    }
}

/// Whether a name or a version can be a part of a URL.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|it| it.is_ascii_alphanumeric() || "._-+!".contains(it))
        && !text.starts_with('.')
}

impl fmt::Display for PackageFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.package, self.integrity, self.size)?;
        match &self.origin {
            Origin::Tarball { at } if *at == usual_place(&self.package) => {}
            Origin::Tarball { at } => write!(f, " at:{at}")?,
            Origin::Wheel { file } => write!(f, " file:{file}")?,
        }
        if let Some(platform) = self.platform {
            write!(f, " {}", platform.name())?;
        }
        self.python.iter().try_for_each(|it| write!(f, " python:{it}"))
    }
}

/// Place of a package of npm that no other version is in the way of.
fn usual_place(package: &Package) -> String {
    format!("node_modules/{}", package.name)
}

impl FromStr for PackageFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("`{text}` is no file of a package: {why}");
        let mut words = text.split(' ');
        let mut word = || words.next().ok_or_else(|| wrong("it has a package, a digest and a size"));
        let package: Package = word()?.parse()?;
        let integrity = word()?.parse()?;
        let size = word()?.parse().ok().filter(|it| *it <= LARGEST);
        let size = size.ok_or_else(|| wrong("its size is no number, or too large"))?;
        let (mut place, mut file, mut platform, mut python) = (None, None, None, None);
        for word in words {
            match word.split_once(':') {
                Some(("at", it)) => place = Some(it.to_owned()),
                Some(("file", it)) => file = Some(it.to_owned()),
                Some(("python", it)) if it.chars().all(|it| it.is_ascii_digit() || it == '.') => {
                    python = Some(it.to_owned());
                }
                _ => {
                    let known = Platform::ALL.into_iter().find(|it| it.name() == word);
                    platform = Some(known.ok_or_else(|| wrong(&format!("`{word}` is unknown")))?);
                }
            }
        }
        let origin = match (package.registry, place, file) {
            (Registry::Npm, place, None) => {
                let at = place.unwrap_or_else(|| usual_place(&package));
                let usual = usual_place(&package);
                let is_own = at == usual || at.ends_with(&format!("/{usual}"));
                let is_inside = is_own && at.starts_with("node_modules/") && is_relative(Path::new(&at));
                is_inside.then_some(Origin::Tarball { at }).ok_or_else(|| wrong("`at` leads elsewhere"))?
            }
            (Registry::PyPi, None, Some(file)) if file.ends_with(".whl") && !file.contains('/') => {
                Origin::Wheel { file }
            }
            _ => return Err(wrong("a tarball has a place, and a wheel a name")),
        };
        Ok(Self { package, integrity, size, origin, platform, python })
    }
}

/// Whether a path leads to something below where it is seen from.
pub(crate) fn is_relative(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|it| matches!(it, std::path::Component::Normal(_)))
}

/// Reading and writing as text.
macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl TryFrom<String> for $type {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(it: $type) -> Self {
                it.to_string()
            }
        }
    )*};
}

as_text!(Package, PackageFile);

#[cfg(test)]
mod tests {
    //! Lines of files.

    use super::*;

    fn digest() -> String {
        Integrity::Sha256(vec![]).of(b"a").to_string()
    }

    #[test]
    fn what_is_written_is_read() {
        for rest in [
            "npm:a@1.0.0 DIGEST 12",
            "npm:@a/b@1.0.0-rc.1 DIGEST 12 at:node_modules/c/node_modules/@a/b darwin-arm64",
            "pypi:a@1!2.0+local DIGEST 12 file:a-1-py3-none-any.whl linux-x64 python:3.12",
        ] {
            let line = rest.replace("DIGEST", &digest());
            assert_eq!(line.parse::<PackageFile>().unwrap().to_string(), line);
        }
        let sha512 = Integrity::Sha512(vec![]).of(b"a");
        assert!(sha512.to_string().parse::<Integrity>().unwrap().holds(b"a") && !sha512.holds(b"b"));
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for wrong in [
            "npm:a@1 DIGEST",
            "npm:a@1 DIGEST -1",
            "npm:a@1 DIGEST 999999999999",
            "npm:../a@1 DIGEST 1",
            "npm:a/b@1 DIGEST 1",
            "npm:@a@1 DIGEST 1",
            "npm:a@1?x DIGEST 1",
            "npm:a@1 DIGEST 1 at:node_modules/../../node_modules/a",
            "npm:a@1 DIGEST 1 at:node_modules/b",
            "npm:a@1 DIGEST 1 at:node_modules/b-node_modules/a",
            "npm:a@1 DIGEST 1 at:/node_modules/a",
            "npm:a@1 DIGEST 1 at:bin",
            "npm:a@1 DIGEST 1 windows-x64",
            "npm:a@1 DIGEST 1 python:3;rm",
            "pypi:a@1 DIGEST 1",
            "pypi:a@1 DIGEST 1 file:../a.whl",
            "pypi:a@1 DIGEST 1 file:a.tar.gz",
            "gem:a@1 DIGEST 1",
            "npm:a@1 sha1-YWFhYWFhYWFhYWFhYWFhYWFhYWE= 1",
        ] {
            let line = wrong.replace("DIGEST", &digest());
            assert!(line.parse::<PackageFile>().is_err(), "{line}");
        }
    }
}
