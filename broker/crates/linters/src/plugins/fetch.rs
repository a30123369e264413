//! Gets a plugin from where it comes from. Nothing but `broker plugin` asks for this: a check never touches the network.
//!
//! Signatures are fetched, not verified. Those of plugins in registries are not supported.

use std::{
    io,
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;
use config::{Digest, SetupFailure, Source};
use download::{
    AGENT, Connection, HTTP_TIMEOUT, Response, StatusCode, Url, blocking, body, chain, collect,
    is_this_machine, too_long,
};
use lint::Cancel;
use oci_client::{
    Client, Reference,
    client::{ClientConfig, ClientProtocol},
    manifest::OciImageManifest,
    secrets::RegistryAuth,
};
use overlay::{io_reason, read_regular};
use signatures::{Refusal, Signature, SignatureKind, Signers};
use tokio_stream::StreamExt as _;

use super::store::{LARGEST, read_plugin};

/// A plugin's bytes, and in a registry the digest of the manifest that names them.
pub struct Fetched {
    pub bytes: Bytes,
    pub manifest: Option<Digest>,
}

/// Time limit of a plugin's download, however steadily it comes.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Time limit of all signatures of a plugin together.
const SIGNATURES_TIMEOUT: Duration = Duration::from_secs(30);

/// Remedy for a signature that a server does not give.
const ON_SERVER: &str =
    "look at what the server has at this address; one that has no such file must answer with 404";

/// Remedy for a signature that is no file which can be read.
const IN_FOLDER: &str = "put the signature there as a file that you may read, or remove what is there";

/// Media types of a component, as the layer of a registry's manifest.
const MEDIA_TYPES: [&str; 2] = ["application/wasm", "application/vnd.wasm.content.layer.v1+wasm"];

/// Gets the plugin. Paths are seen from `root`. From a registry it is the one with the manifest of this digest,
/// if one is given.
pub fn fetch(
    source: &Source,
    manifest: Option<&Digest>,
    root: &Path,
    cancel: &Cancel,
) -> Result<Fetched, SetupFailure> {
    let cannot = |error: String| SetupFailure::new(format!("cannot fetch {source}: {error}"));
    let end = Instant::now() + DOWNLOAD_TIMEOUT;
    match source {
        Source::Path(path) => {
            let bytes = read_plugin(&root.join(path)).map_err(|error| cannot(io_reason(&error)))?;
            Ok(Fetched { bytes: bytes.into(), manifest: None })
        }
        Source::Url(url) => {
            let bytes = blocking(whole(url), end, cancel).map_err(cannot)?;
            Ok(Fetched { bytes, manifest: None })
        }
        Source::Oci(reference) => {
            let reference = match manifest {
                Some(digest) => reference.clone_with_digest(digest.to_string()),
                None => reference.clone(),
            };
            blocking(pull(&reference), end, cancel).map_err(cannot)
        }
    }
}

/// A signature beside a plugin, or the reason for which it cannot be used.
pub type FoundSignature = Result<Signature, Refusal>;

/// Fetches the signatures beside the plugin that may be by one of the signers. One of them that cannot be used does not keep the
/// others from being fetched.
pub fn fetch_signatures(
    source: &Source,
    signers: &Signers,
    root: &Path,
    cancel: &Cancel,
) -> Result<Vec<FoundSignature>, SetupFailure> {
    let cannot = |error: &str| SetupFailure::new(format!("cannot fetch the signature of {source}: {error}"));
    if matches!(source, Source::Oci(_)) {
        let error = cannot("signatures of plugins in a registry are not supported");
        return Err(error.hint("fetch it from an `https://` URL, or leave `signed-by` out"));
    }
    let beside = Beside { source, root, end: Instant::now() + SIGNATURES_TIMEOUT, cancel };
    let found = beside.signatures(signers);
    if cancel.is_cancelled() { Err(cannot("interrupted")) } else { Ok(found) }
}

/// Files beside a plugin.
struct Beside<'a> {
    source: &'a Source,
    root: &'a Path,
    end: Instant,
    cancel: &'a Cancel,
}

impl Beside<'_> {
    fn signatures(&self, signers: &Signers) -> Vec<FoundSignature> {
        let kinds = signers.kinds().into_iter();
        let files = kinds.flat_map(|kind| kind.extensions().iter().map(move |it| (kind, *it)));
        files.filter_map(|(kind, extension)| self.signature(kind, extension)).collect()
    }

    /// The signature in the file with this extension; `None` if there is no such file.
    fn signature(&self, kind: SignatureKind, extension: &str) -> Option<FoundSignature> {
        let (place, bytes) = match self.source {
            Source::Path(path) => {
                let file = format!("{path}{extension}");
                let bytes = self.read(&file, kind);
                (file, bytes)
            }
            Source::Url(url) => {
                let url = url_beside(url, extension);
                let bytes = self.download(&url, kind);
                (url, bytes)
            }
            Source::Oci(_) => return None,
        };
        let refused = |(reason, remedy): (String, _)| Refusal::Invalid {
            found: format!("has a signature that cannot be used, {place}: {reason}"),
            remedy,
        };
        let parsed =
            |bytes: Bytes| Signature::parse(kind, &bytes).map_err(|reason| refused((reason, kind.remedy())));
        bytes.transpose().map(|it| it.map_err(refused).and_then(parsed))
    }

    fn read(&self, file: &str, kind: SignatureKind) -> Result<Option<Bytes>, (String, &'static str)> {
        match read_regular(&self.root.join(file), kind.max_bytes()) {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                Err((too_long(kind.max_bytes()), kind.remedy()))
            }
            Err(error) => Err((io_reason(&error), IN_FOLDER)),
        }
    }

    fn download(&self, url: &str, kind: SignatureKind) -> Result<Option<Bytes>, (String, &'static str)> {
        let download = download_if_there(url, kind.max_bytes());
        blocking(download, self.end, self.cancel).map_err(|error| (error, ON_SERVER))
    }
}

/// A query stays what it is.
fn url_beside(url: &str, extension: &str) -> String {
    match Url::parse(url) {
        Ok(mut url) => {
            url.set_path(&format!("{}{extension}", url.path()));
            url.into()
        }
        // The plugin itself was fetched from it.
        Err(_) => format!("{url}{extension}"),
    }
}

async fn whole(url: &str) -> Result<Bytes, String> {
    body(answer(url).await?, LARGEST).await
}

async fn download_if_there(url: &str, max_bytes: u64) -> Result<Option<Bytes>, String> {
    let answer = answer(url).await?;
    match answer.status() {
        StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
        _ => body(answer, max_bytes).await.map(Some),
    }
}

async fn answer(url: &str) -> Result<Response, String> {
    let client = download::client(&Connection::default())?;
    client.get(url).send().await.map_err(|error| chain(&error))
}

/// A component as `wkg` stores it: the only layer of an image.
async fn pull(reference: &Reference) -> Result<Fetched, String> {
    let registry = reference.resolve_registry();
    let host = registry.rsplit_once(':').map_or(registry, |(host, _port)| host);
    let protocol = match is_this_machine(host) {
        true => ClientProtocol::Http,
        false => ClientProtocol::Https,
    };
    let client = Client::new(ClientConfig {
        protocol,
        connect_timeout: Some(HTTP_TIMEOUT),
        read_timeout: Some(HTTP_TIMEOUT),
        user_agent: AGENT,
        ..ClientConfig::default()
    });
    let pulled = client.pull_image_manifest(reference, &RegistryAuth::Anonymous).await;
    let (image, digest) = pulled.map_err(|error| chain(&error))?;
    let layer = layer(&image)?;
    let blob = client.pull_blob_stream(reference, layer).await.map_err(|error| chain(&error))?;
    // Reading to its end compares it with what the manifest names.
    let bytes = collect(blob.stream.map(|it| it.map_err(|error| error.to_string())), LARGEST).await?;
    Ok(Fetched { bytes, manifest: Some(digest.parse()?) })
}

fn layer(image: &OciImageManifest) -> Result<&oci_client::manifest::OciDescriptor, String> {
    match image.layers.as_slice() {
        [layer] if MEDIA_TYPES.contains(&layer.media_type.as_str()) => Ok(layer),
        [layer] => Err(format!("it holds `{}`, no WebAssembly component", layer.media_type)),
        layers => Err(format!("it has {} layers, and a component is one", layers.len())),
    }
}

#[cfg(test)]
mod tests;
