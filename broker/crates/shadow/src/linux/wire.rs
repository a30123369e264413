//! Messages between the processes of a shadow folder: a length, then postcard. Open files travel with a message.

use std::{
    collections::BTreeSet,
    io::{self, IoSlice, IoSliceMut, Read as _, Write as _},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    entries::Announced,
    keep::{Size, Survey},
};
use crate::{Ended, Program, Sandbox, layer::Header};

/// Request to process 1.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Opens the folder, first of all. The entries follow.
    Open {
        root: std::path::PathBuf,
        sandbox: Sandbox,
        ground: Ground,
        /// Paths where services of the system have sockets.
        sockets: Vec<std::path::PathBuf>,
        entries: Announced,
    },
    /// Starts a program, with three open files: standard input, output and error; with none if it has a terminal. The folder of
    /// the control group of this name follows, if there is one.
    Run {
        run: u32,
        program: Program,
        group: Option<String>,
    },
    Signal {
        run: u32,
        signal: i32,
    },
    /// The entries follow.
    Apply {
        entries: Announced,
    },
    /// Asks which files were written.
    List,
    /// Asks what was written, and for the contents of these files.
    Harvest {
        files: BTreeSet<String>,
    },
    /// Asks for the caches that can be kept. While a program runs, and after one that did not come to its end, there are none.
    Survey,
    /// Keeps these caches, of the workspace or of a cache outside of it by its number; with the new layer, and the one that it is
    /// made of if there is one.
    Keep {
        store: Option<usize>,
        paths: Vec<String>,
    },
}

/// Parts that a folder is made of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Ground {
    /// The workspace under layers with caches, under one of entries, under one for what is written.
    Overlayfs {
        caches: Vec<std::path::PathBuf>,
        /// Caches outside of the workspace, each with the layer that lies over it.
        stores: Vec<(std::path::PathBuf, Option<std::path::PathBuf>)>,
    },
    /// A copy of the workspace, which is shown in its place.
    Shown(std::path::PathBuf),
    /// A copy of the workspace, where it is: there are no namespaces. The folder's root is the copy's.
    Plain,
    /// The workspace as it is on the disk, which cannot be written to.
    ReadOnly,
    /// The workspace under entries, merged by FUSE where the folder's root is. What is written is stored in `kept`.
    Merged { workspace: std::path::PathBuf, kept: std::path::PathBuf },
}

/// Event that process 1 reports.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Event {
    Ready,
    /// The folder cannot be made.
    Failed(Failure),
    /// Start of a run, with the terminal's other side if it was asked for.
    Started {
        run: u32,
    },
    Ended {
        run: u32,
        ended: Ended,
    },
    Applied(Option<Failure>),
    /// A file that was written.
    Listed {
        path: String,
        size: u64,
    },
    /// A part of what was written; the bytes of a file follow.
    Written(Header),
    Harvested(Option<Failure>),
    Surveyed(Result<Option<Survey>, Failure>),
    Kept(Result<Size, Failure>),
}

/// Action that failed, and the system's error.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Failure {
    pub(super) what: String,
    pub(super) error: Option<i32>,
    /// Whether another backend may do.
    pub(super) is_overlayfs: bool,
}

impl Failure {
    pub(super) fn new(what: impl Into<String>, error: &io::Error) -> Self {
        let what = what.into();
        match error.raw_os_error() {
            Some(error) => Self { what, error: Some(error), is_overlayfs: false },
            None => Self { what: format!("{what}: {error}"), error: None, is_overlayfs: false },
        }
    }

    /// The same, where overlayfs is what cannot be had.
    pub(super) fn of_overlayfs(self) -> Self {
        Self { is_overlayfs: true, ..self }
    }
}

/// Limit of files that travel with one message.
const MAX_FILES: usize = 4;

/// End of a socket between two of the processes.
#[derive(Debug)]
pub(super) struct Wire(pub(super) UnixStream);

impl Wire {
    pub(super) fn send(&self, message: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let bytes = postcard::to_stdvec(message).map_err(io::Error::other)?;
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?.to_le_bytes();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(files));
        }
        let parts = [IoSlice::new(&length), IoSlice::new(&bytes)];
        let sent = sendmsg(self.0.as_fd(), &parts, &mut ancillary, SendFlags::NOSIGNAL)?;
        let rest = sent.saturating_sub(length.len());
        if sent < length.len() {
            self.write(&length[sent..])?;
        }
        self.write(&bytes[rest..])
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.0).write_all(bytes)
    }

    /// `None` when the other end is closed.
    pub(super) fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        let mut length = [0; 4];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut length)];
        let received = rustix::io::retry_on_intr(|| {
            recvmsg(self.0.as_fd(), &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        })?;
        let files = ancillary.drain().filter_map(|it| match it {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        let files: Vec<_> = files.flatten().collect();
        if received.bytes == 0 {
            return Ok(None);
        }
        (&self.0).read_exact(&mut length[received.bytes..])?;
        let bytes = self.read(u64::from(u32::from_le_bytes(length)))?;
        Ok(Some((postcard::from_bytes(&bytes).map_err(io::Error::other)?, files)))
    }

    pub(super) fn read(&self, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = (&self.0).take(length).read_to_end(&mut bytes)?;
        if read as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
