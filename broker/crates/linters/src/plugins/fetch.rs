//! Gets a plugin from where it comes from. Nothing but `broker plugin` asks for this: a check never touches the network.
//!
//! Signatures are not looked at yet. They belong in [`fetch`], on what it returns: a registry's signature is of
//! [`Fetched::manifest`], whose digest `broker.lock` keeps.

use std::{path::Path, time::Duration};

use bytes::Bytes;
use checker::flagged;
use config::{Digest, SetupFailure, Source, is_encrypted_or_near, is_this_machine};
use lint::Cancel;
use oci_client::{
    Client, Reference,
    client::{ClientConfig, ClientProtocol},
    manifest::OciImageManifest,
    secrets::RegistryAuth,
};
use overlay::io_reason;
use reqwest::redirect::Policy;
use tokio_stream::{Stream, StreamExt as _};

use super::store::{LARGEST, read_plugin, too_large};

/// A plugin's bytes, and in a registry the digest of the manifest that names them.
pub struct Fetched {
    pub bytes: Bytes,
    pub manifest: Option<Digest>,
}

/// How long a server may take to answer at all, and between two pieces of an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the layer of a registry's manifest says that a component is.
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

/// Runs the one thing to do until it is done or the user has had enough.
fn blocking<T>(work: impl Future<Output = Result<T, String>>, cancel: &Cancel) -> Result<T, String> {
    // Fails if there is one already, which is as good.
    let _there = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        tokio::select! {
            done = work => done,
            () = flagged(Some(cancel)) => Err("interrupted".to_owned()),
        }
    })
}

async fn download(url: &str) -> Result<Bytes, String> {
    let client = reqwest::Client::builder()
        .redirect(Policy::custom(|it| match is_encrypted_or_near(it.url()) {
            true => Policy::default().redirect(it),
            false => it.error("it leads to what is not encrypted"),
        }))
        .user_agent(AGENT)
        .connect_timeout(PATIENCE)
        .read_timeout(PATIENCE)
        .build();
    let answer = client.map_err(|error| chain(&error))?.get(url).send().await;
    let answer = answer.and_then(reqwest::Response::error_for_status).map_err(|error| chain(&error))?;
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
        connect_timeout: Some(PATIENCE),
        read_timeout: Some(PATIENCE),
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
