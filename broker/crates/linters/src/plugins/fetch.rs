//! Gets a plugin from where it comes from. Nothing but `broker plugin` asks for this: a check never touches the network.
//!
//! Signatures are fetched, not verified. Those of plugins in registries are not supported.

use std::{io, path::Path, time::Duration};

use bytes::Bytes;
use config::{Digest, SetupFailure, Source, is_encrypted_or_near, is_this_machine};
use lint::Cancel;
use oci_client::{
    Client, Reference,
    client::{ClientConfig, ClientProtocol},
    manifest::OciImageManifest,
    secrets::RegistryAuth,
};
use overlay::io_reason;
use reqwest::{Response, StatusCode, Url, redirect::Policy};
use signatures::{Signature, SignatureKind, Signers};
use tokio_stream::{Stream, StreamExt as _};

use super::store::{LARGEST, read_plugin, too_large};

/// A plugin's bytes, and in a registry the digest of the manifest that names them.
pub struct Fetched {
    pub bytes: Bytes,
    pub manifest: Option<Digest>,
}

/// Time that a server may take to answer at all, and between two pieces of an answer.
const HTTP_TIMEOUT: Duration = Duration::from_secs(30);

/// Media types of a component, as the layer of a registry's manifest.
const MEDIA_TYPES: [&str; 2] = ["application/wasm", "application/vnd.wasm.content.layer.v1+wasm"];

const AGENT: &str = concat!("broker/", env!("CARGO_PKG_VERSION"));

/// Gets the plugin. Paths are seen from `root`. From a registry it is the one with the manifest of this digest,
/// if one is given.
pub fn fetch(
    source: &Source,
    manifest: Option<&Digest>,
    root: &Path,
    cancel: &Cancel,
) -> Result<Fetched, SetupFailure> {
    let cannot = |error: String| SetupFailure::new(format!("cannot fetch {source}: {error}"));
    match source {
        Source::Path(path) => {
            let bytes = read_plugin(&root.join(path)).map_err(|error| cannot(io_reason(&error)))?;
            Ok(Fetched { bytes: bytes.into(), manifest: None })
        }
        Source::Url(url) => {
            let bytes = blocking(download(url), cancel).map_err(cannot)?;
            Ok(Fetched { bytes, manifest: None })
        }
        Source::Oci(reference) => {
            let reference = match manifest {
                Some(digest) => reference.clone_with_digest(digest.to_string()),
                None => reference.clone(),
            };
            blocking(pull(&reference), cancel).map_err(cannot)
        }
    }
}

/// Fetches the signatures beside the plugin that may be by one of the signers.
pub fn fetch_signatures(
    source: &Source,
    signers: &Signers,
    root: &Path,
    cancel: &Cancel,
) -> Result<Vec<Signature>, SetupFailure> {
    let cannot =
        |error: String| SetupFailure::new(format!("cannot fetch the signature of {source}: {error}"));
    if matches!(source, Source::Oci(_)) {
        let error = cannot("signatures of plugins in a registry are not supported".to_owned());
        return Err(error.hint("fetch it from an `https://` URL, or leave `signed-by` out"));
    }
    let kinds = signers.kinds().into_iter();
    let found = kinds.filter_map(|it| fetch_kind(source, it, root, cancel).transpose());
    found.collect::<Result<_, _>>().map_err(cannot)
}

/// The signature in the first file of its kind that is there; `None` if none is.
fn fetch_kind(
    source: &Source,
    kind: SignatureKind,
    root: &Path,
    cancel: &Cancel,
) -> Result<Option<Signature>, String> {
    for extension in kind.extensions() {
        if let Some(bytes) = fetch_beside(source, extension, root, cancel)? {
            return Signature::parse(kind, &String::from_utf8_lossy(&bytes)).map(Some);
        }
    }
    Ok(None)
}

/// The file whose name is the plugin's and this extension; `None` if it is not there.
fn fetch_beside(
    source: &Source,
    extension: &str,
    root: &Path,
    cancel: &Cancel,
) -> Result<Option<Bytes>, String> {
    match source {
        Source::Path(path) => match read_plugin(&root.join(format!("{path}{extension}"))) {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_reason(&error)),
        },
        Source::Url(url) => blocking(download_if_there(&url_beside(url, extension)?), cancel),
        Source::Oci(_) => Ok(None),
    }
}

/// A query stays what it is.
fn url_beside(url: &str, extension: &str) -> Result<String, String> {
    let mut url = Url::parse(url).map_err(|error| error.to_string())?;
    url.set_path(&format!("{}{extension}", url.path()));
    Ok(url.into())
}

/// Runs the one thing to do until it is done or the user has had enough.
fn blocking<T>(work: impl Future<Output = Result<T, String>>, cancel: &Cancel) -> Result<T, String> {
    // Fails if there is one already, which is as good.
    let _there = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        tokio::select! {
            done = work => done,
            () = cancel.cancelled() => Err("interrupted".to_owned()),
        }
    })
}

async fn download(url: &str) -> Result<Bytes, String> {
    body(answer(url).await?).await
}

async fn download_if_there(url: &str) -> Result<Option<Bytes>, String> {
    let answer = answer(url).await?;
    match answer.status() {
        StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
        _ => body(answer).await.map(Some),
    }
}

async fn answer(url: &str) -> Result<Response, String> {
    let client = reqwest::Client::builder()
        .redirect(Policy::custom(|it| match is_encrypted_or_near(it.url()) {
            true => Policy::default().redirect(it),
            false => it.error("it leads to what is not encrypted"),
        }))
        .user_agent(AGENT)
        .connect_timeout(HTTP_TIMEOUT)
        .read_timeout(HTTP_TIMEOUT)
        .build();
    client.map_err(|error| chain(&error))?.get(url).send().await.map_err(|error| chain(&error))
}

async fn body(answer: Response) -> Result<Bytes, String> {
    let answer = answer.error_for_status().map_err(|error| chain(&error))?;
    collect(answer.bytes_stream().map(|it| it.map_err(|error| chain(&error)))).await
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
    let bytes = collect(blob.stream.map(|it| it.map_err(|error| error.to_string()))).await?;
    Ok(Fetched { bytes, manifest: Some(digest.parse()?) })
}

fn layer(image: &OciImageManifest) -> Result<&oci_client::manifest::OciDescriptor, String> {
    match image.layers.as_slice() {
        [layer] if MEDIA_TYPES.contains(&layer.media_type.as_str()) => Ok(layer),
        [layer] => Err(format!("it holds `{}`, no WebAssembly component", layer.media_type)),
        layers => Err(format!("it has {} layers, and a component is one", layers.len())),
    }
}

async fn collect(pieces: impl Stream<Item = Result<Bytes, String>>) -> Result<Bytes, String> {
    let mut pieces = std::pin::pin!(pieces);
    let mut all = Vec::new();
    while let Some(piece) = pieces.next().await {
        all.extend_from_slice(&piece?);
        if too_large(all.len() as u64) {
            return Err(format!("it is larger than {} MiB", LARGEST >> 20));
        }
    }
    Ok(all.into())
}

/// An error with all that led to it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let inner = error.to_string();
        if !text.contains(&inner) {
            text = format!("{text}: {inner}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests;
