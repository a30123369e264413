//! The generated types of `broker.v1`, for servers and clients. Has no code of its own.

/// Encoding and decoding of every message.
pub use prost::Message;

/// The messages, clients and servers.
pub mod v1 {
    #![allow(missing_docs, clippy::all, reason = "generated")]
    tonic::include_proto!("broker.v1");
}

/// The files of `broker.v1` as reflection serves them: an encoded `google.protobuf.FileDescriptorSet`.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
