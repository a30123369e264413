//! The files of a tool at another version than the catalogue's, as the registries tell them: its own package and, of npm, the packages
//! with its programs for one platform. A version that needs more is refused: choosing versions of dependencies is left to npm and pip.

use std::time::{Duration, Instant};

use download::Response;
use futures_util::future::try_join_all;
use lint::Cancel;
use serde_json::Value;

use super::{Listed, Registries, Request, host};
use crate::{
    Error,
    catalogue::{LockedTool, Tool},
    package::{Integrity, LARGEST, Package, PackageFile, Platform, Registry, is_plain},
    plan::{Plan, Target},
};

/// Time limit of all questions about a version.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The newest glibc that a wheel may need, as minor version, and the newest macOS.
const GLIBC: u32 = 28;
const MACOS: u32 = 13;

impl Registries {
    /// The tool whose package is `known` in the catalogue, at another version. Blocks.
    pub fn at_version(
        &self,
        tool: &Tool,
        known: &Package,
        version: &str,
        cancel: &Cancel,
    ) -> Result<LockedTool, Error> {
        let refusal = |others| Error::NeedsOthers {
            tool: tool.name.clone(),
            version: version.to_owned(),
            known: known.version.clone(),
            others,
        };
        let others = tool.other_packages();
        if !others.is_empty() {
            return Err(refusal(others.into_iter().collect()));
        }
        let package = Package { version: version.to_owned(), ..known.clone() };
        self.prepare([&package])?;
        let files = async {
            match package.registry {
                Registry::Npm => self.of_npm(&package, &refusal).await,
                Registry::PyPi => self.of_python(&package).await,
            }
        };
        let files = download::blocking(files, Instant::now() + TIMEOUT, cancel)?;
        let locked = LockedTool { name: tool.name.clone(), version: version.to_owned(), exact: false, files };
        let plan = |platform| Plan::new(tool, &locked, &Target { platform, python: None });
        match Platform::ALL.into_iter().any(|it| plan(it).is_ok()) {
            true => Ok(locked),
            false => Err(Error::OtherLayout { package, known: known.version.clone() }),
        }
    }

    async fn of_npm(
        &self,
        package: &Package,
        refusal: &impl Fn(Vec<String>) -> Error,
    ) -> Result<Vec<PackageFile>, Error> {
        let own = self.manifest(package, refusal).await?;
        // Ranges name packages that the tool works without.
        let parts = entries(&own["optionalDependencies"]).filter_map(|(name, version)| {
            let version = version.as_str().filter(|it| is_plain(it))?;
            format!("npm:{name}@{version}").parse().ok()
        });
        let parts: Vec<Package> = parts.collect();
        let parts = parts.iter().map(|part| async move {
            let manifest = match self.manifest(part, refusal).await {
                // Optional for npm as well. A missing program is noticed on its platform.
                Err(Error::NotFound { .. }) => return Ok(Vec::new()),
                other => other?,
            };
            match platforms_of(&manifest).is_empty() {
                true => Ok(Vec::new()),
                false => self.files_of_npm(part, &manifest).await,
            }
        });
        let parts = try_join_all(parts).await?;
        let own = self.files_of_npm(package, &own).await?;
        Ok(own.into_iter().chain(parts.into_iter().flatten()).collect())
    }

    /// Manifest of one version, which must not need other packages.
    async fn manifest(
        &self,
        package: &Package,
        refusal: &impl Fn(Vec<String>) -> Error,
    ) -> Result<Value, Error> {
        let mut document = self.document(package).await?;
        let manifest = document["versions"][&package.version].take();
        if manifest.is_null() {
            let host = host(self.npm()?.0.registry_of(&package.name));
            return Err(Error::NotFound { package: package.clone(), host });
        }
        let others: Vec<_> = entries(&manifest["dependencies"]).map(|(name, _)| name.clone()).collect();
        if others.is_empty() { Ok(manifest) } else { Err(refusal(others)) }
    }

    /// The tarball of a package, once for each platform unless it is for all.
    async fn files_of_npm(&self, package: &Package, manifest: &Value) -> Result<Vec<PackageFile>, Error> {
        let (request, answer) = self.tarball(package).await?;
        let named = manifest["dist"]["integrity"].as_str().unwrap_or_default();
        let integrity = named.split_whitespace().find_map(|it| it.parse::<Integrity>().ok());
        let integrity = integrity.ok_or_else(|| request.no_digest())?;
        let size = request.size(answer).await?;
        let file = |platform: &str| request.checked(format!("{package} {integrity} {size}{platform}"));
        ends(&platforms_of(manifest)).iter().map(|it| file(it)).collect()
    }

    /// For each platform the wheel that pip would take there.
    async fn of_python(&self, package: &Package) -> Result<Vec<PackageFile>, Error> {
        let is_wanted = |it: &Listed| Wheel::parse(&it.file).is_some_and(|it| it.version == package.version);
        let (request, listed) = self.listed(package, is_wanted).await?;
        let mut files = Vec::new();
        for it in &listed {
            let is_best = |platform: &Platform| best(&listed, *platform).is_some_and(|best| best == it);
            let platforms: Vec<_> = Platform::ALL.into_iter().filter(is_best).collect();
            if platforms.is_empty() {
                continue;
            }
            let sha256 = it.sha256.as_deref().and_then(from_hex).map(Integrity::Sha256);
            let integrity = sha256.ok_or_else(|| request.no_digest())?;
            let size = match it.size {
                Some(size) => size,
                None => {
                    let (request, answer) = self.file_of_index(request.clone(), it.url.clone()).await?;
                    request.size(answer).await?
                }
            };
            let line = format!("{package} {integrity} {size} file:{}", it.file);
            let lines = ends(&platforms).into_iter().map(|it| request.checked(format!("{line}{it}")));
            files.extend(lines.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(files)
    }
}

impl Request<'_> {
    /// Size of a file that is asked for, and of which as little as possible is received.
    async fn size(&self, answer: Response) -> Result<u64, Error> {
        if let Some(size) = answer.content_length() {
            return Ok(size);
        }
        let unreachable =
            |why| Error::Unreachable { package: self.package.clone(), host: host(&self.url), why };
        download::body(answer, LARGEST).await.map(|it| it.len() as u64).map_err(unreachable)
    }

    /// Reads a line that is made of what the registry says, as one of `broker.lock` is read.
    fn checked(&self, line: String) -> Result<PackageFile, Error> {
        let wrong = |why| Error::Unreachable { package: self.package.clone(), host: host(&self.url), why };
        line.parse().map_err(wrong)
    }

    fn no_digest(&self) -> Error {
        Error::NoDigest { package: self.package.clone(), host: host(&self.url) }
    }
}

fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

/// The platforms that a package of npm is for.
fn platforms_of(manifest: &Value) -> Vec<Platform> {
    let lists = |key: &str, value: &str| {
        let named = manifest[key].as_array();
        named.is_none_or(|it| it.iter().any(|it| *it == value))
    };
    let is_for = |it: &Platform| {
        let (system, processor) = it.name().split_once('-').unwrap_or_default();
        lists("os", system) && lists("cpu", processor) && lists("libc", "glibc")
    };
    Platform::ALL.into_iter().filter(is_for).collect()
}

/// Ends of the lines of a file for these platforms.
fn ends(platforms: &[Platform]) -> Vec<String> {
    match platforms.len() == Platform::ALL.len() {
        true => vec![String::new()],
        false => platforms.iter().map(|it| format!(" {}", it.name())).collect(),
    }
}

fn best(listed: &[Listed], platform: Platform) -> Option<&Listed> {
    let ranked = listed.iter().filter_map(|it| Some((Wheel::parse(&it.file)?.rank(platform)?, it)));
    ranked.max_by_key(|(rank, _)| *rank).map(|(_, it)| it)
}

/// The parts of a wheel's name that say what it is for.
struct Wheel<'n> {
    version: &'n str,
    python: &'n str,
    abi: &'n str,
    platforms: &'n str,
}

impl<'n> Wheel<'n> {
    fn parse(file: &'n str) -> Option<Self> {
        let parts: Vec<_> = file.strip_suffix(".whl")?.split('-').collect();
        // A build number may stand after the version.
        let ([_, version, python, abi, platforms] | [_, version, _, python, abi, platforms]) = parts[..]
        else {
            return None;
        };
        Some(Self { version, python, abi, platforms })
    }

    /// Preference among the wheels for a platform, the highest first; `None` if it is not for it. Programs need no version of Python.
    fn rank(&self, platform: Platform) -> Option<u32> {
        let is_for_any = self.abi == "none" && self.python.split('.').any(|it| it == "py3");
        self.platforms.split('.').filter_map(|it| rank(it, platform)).max().filter(|_| is_for_any)
    }
}

/// Rank of a platform's tag: the newest system that is old enough.
fn rank(tag: &str, platform: Platform) -> Option<u32> {
    let glibc = |processor: &str| {
        let minor = match tag.strip_suffix(processor)?.strip_suffix('_')? {
            "linux" => 1,
            "manylinux1" => 5,
            "manylinux2010" => 12,
            "manylinux2014" => 17,
            other => other.strip_prefix("manylinux_2_")?.parse().ok()?,
        };
        (minor <= GLIBC).then_some(minor)
    };
    let macos = || {
        let (major, rest) = tag.strip_prefix("macosx_")?.split_once('_')?;
        let (_minor, processor) = rest.split_once('_')?;
        let major = major.parse::<u32>().ok().filter(|it| *it <= MACOS)?;
        ["universal2", "arm64"].iter().position(|it| *it == processor).map(|it| 2 * major + it as u32)
    };
    match platform {
        _ if tag == "any" => Some(0),
        Platform::LinuxX64 => glibc("x86_64"),
        Platform::LinuxArm64 => glibc("aarch64"),
        Platform::DarwinArm64 => macos(),
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<_>> = text.chars().map(|it| it.to_digit(16)).collect();
    digits?.chunks(2).map(|it| u8::try_from(it[0] * 16 + *it.get(1)?).ok()).collect()
}

#[cfg(test)]
mod tests;
