//! Entries of a layer that follow a message on the wire, each a length, a [`Header`] and its bytes.

use std::{
    collections::HashSet,
    io::{self, BufReader, BufWriter, Read, Write as _},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::wire::{Failure, Wire};
use crate::{
    Entry, Layer,
    layer::{Header, HeaderKind},
    warm::Warm,
};

/// Announcement of the entries that follow a message.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Announced {
    entries: u64,
    /// Bytes of all of them.
    bytes: u64,
}

/// Entries that are to be sent.
#[derive(Default)]
pub(super) struct Outgoing<'l> {
    /// Lengths and headers, one after the other.
    heads: Vec<u8>,
    /// End of each entry's head, and the bytes of the entry.
    entries: Vec<(usize, &'l [u8])>,
}

/// Bytes that are sent or read at once: most entries are small.
const BUFFER: usize = 64 << 10;

impl<'l> Outgoing<'l> {
    /// The entries of a layer, with the times that a plan gives them, and files of the disk that have another time.
    pub(super) fn of(layer: &'l Layer, warm: Option<&Warm>) -> io::Result<Self> {
        let mut all = Self::default();
        let time = |path: &str| warm.and_then(|it| it.plan.time_of(Path::new(path)));
        for entry in &layer.entries {
            let header = entry.header();
            all.add(&Header { modified: time(&header.path), ..header }, Entry::bytes(entry))?;
        }
        let Some(plan) = warm.map(|it| &it.plan) else { return Ok(all) };
        let named: HashSet<&str> = layer.entries.iter().map(|it| it.path.as_str()).collect();
        let others = [
            (HeaderKind::Restamped, plan.restamped().collect::<Vec<_>>()),
            (HeaderKind::Removed, plan.removed().collect()),
        ];
        for (kind, paths) in others {
            // Names that are not UTF-8 keep their time.
            let paths = paths.into_iter().filter_map(|(path, time)| Some((path.to_str()?, time)));
            for (path, time) in paths.filter(|(path, _)| !named.contains(path)) {
                let header = Header { path: path.to_owned(), kind: kind.clone(), modified: Some(time) };
                all.add(&header, &[])?;
            }
        }
        Ok(all)
    }

    fn add(&mut self, header: &Header, bytes: &'l [u8]) -> io::Result<()> {
        let header = postcard::to_stdvec(header).map_err(io::Error::other)?;
        let length = u32::try_from(header.len()).map_err(io::Error::other)?;
        self.heads.extend(length.to_le_bytes());
        self.heads.extend(header);
        self.entries.push((self.heads.len(), bytes));
        Ok(())
    }

    pub(super) fn announced(&self) -> Announced {
        let bytes: usize = self.entries.iter().map(|(_, bytes)| bytes.len()).sum();
        Announced { entries: self.entries.len() as u64, bytes: (self.heads.len() + bytes) as u64 }
    }

    pub(super) fn send(&self, wire: &Wire) -> io::Result<()> {
        let mut to = BufWriter::with_capacity(BUFFER, &wire.0);
        let mut start = 0;
        for (end, bytes) in &self.entries {
            to.write_all(&self.heads[start..*end])?;
            to.write_all(bytes)?;
            start = *end;
        }
        to.flush()
    }
}

/// Takes the entries from the wire; all of them, though one fails.
pub(super) fn each(
    wire: &Wire,
    announced: Announced,
    mut take: impl FnMut(&Header, &[u8]) -> io::Result<()>,
) -> Result<(), Failure> {
    let broken = |error: &io::Error| Failure::new("cannot read an entry", error);
    // Another message follows the entries, maybe with open files.
    let mut from = BufReader::with_capacity(BUFFER, (&wire.0).take(announced.bytes));
    let (mut head, mut bytes) = (Vec::new(), Vec::new());
    let mut result = Ok(());
    for _ in 0..announced.entries {
        let header = next(&mut from, &mut head, &mut bytes).map_err(|it| broken(&it))?;
        if result.is_ok() {
            let failure = |it| Failure::new(format!("cannot show {}", header.path), &it);
            result = take(&header, &bytes).map_err(failure);
        }
    }
    result
}

fn next(from: &mut impl Read, head: &mut Vec<u8>, bytes: &mut Vec<u8>) -> io::Result<Header> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    fill(from, u32::from_le_bytes(length).into(), head)?;
    let header: Header = postcard::from_bytes(head).map_err(io::Error::other)?;
    fill(from, header.size(), bytes)?;
    Ok(header)
}

fn fill(from: &mut impl Read, length: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    let read = from.take(length).read_to_end(buffer)?;
    if read as u64 == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
