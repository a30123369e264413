//! Entries of a zip archive, as wheels are: by the directory at its end, stored or deflated. What wheels have no use for, such as
//! encryption and archives in parts, is refused.
//!
//! Read here, since wheels need little of the format, and nothing of it may be written where its names say.

use std::io::Read;

use flate2::read::DeflateDecoder;

/// A file in an archive.
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    /// Permissions and kind, as Unix has them; zero if it was made elsewhere.
    pub(super) mode: u32,
    method: u16,
    packed: &'a [u8],
    size: u64,
}

/// Bytes of the records' fixed parts.
const END: usize = 22;
const HEADER: usize = 46;
const LOCAL: usize = 30;

const ENCRYPTED: u16 = 1;
const UNIX: u8 = 3;

type Damage = &'static str;

/// Reads the directory.
pub(super) fn entries(archive: &[u8]) -> Result<Vec<Entry<'_>>, Damage> {
    let end = archive.windows(4).rposition(|it| it == b"PK\x05\x06").ok_or("it has no directory")?;
    let end = archive.get(end..end + END).ok_or("its directory is cut off")?;
    let (count, mut at) = (number(end, 10, 2)?, number(end, 16, 4)?);
    let mut entries = Vec::new();
    for _ in 0..count {
        let header = archive.get(at..).ok_or("its directory is cut off")?;
        if !header.starts_with(b"PK\x01\x02") {
            return Err("its directory has no entry where one is to be");
        }
        let [name, extra, comment] = [28, 30, 32].map(|it| number(header, it, 2).unwrap_or_default());
        entries.push(entry(archive, header, name)?);
        at += HEADER + name + extra + comment;
    }
    Ok(entries)
}

fn entry<'a>(archive: &'a [u8], header: &'a [u8], name: usize) -> Result<Entry<'a>, Damage> {
    let name = header.get(HEADER..HEADER + name).and_then(|it| std::str::from_utf8(it).ok());
    if number(header, 8, 2)? & usize::from(ENCRYPTED) != 0 {
        return Err("it is encrypted");
    }
    let is_unix = header.get(5) == Some(&UNIX);
    let (packed, size, start) = (number(header, 20, 4)?, number(header, 24, 4)?, number(header, 42, 4)?);
    let local =
        archive.get(start..).filter(|it| it.starts_with(b"PK\x03\x04")).ok_or("an entry is missing")?;
    let skipped = LOCAL + number(local, 26, 2)? + number(local, 28, 2)?;
    Ok(Entry {
        name: name.ok_or("a name in it is not UTF-8")?,
        mode: if is_unix { u32::try_from(number(header, 38, 4)? >> 16).unwrap_or_default() } else { 0 },
        method: u16::try_from(number(header, 10, 2)?).unwrap_or_default(),
        packed: local.get(skipped..).and_then(|it| it.get(..packed)).ok_or("an entry is cut off")?,
        size: size as u64,
    })
}

/// A number of some bytes, the lowest first.
fn number(record: &[u8], at: usize, length: usize) -> Result<usize, Damage> {
    let bytes = record.get(at..at + length).ok_or("a record is cut off")?;
    Ok(bytes.iter().rev().fold(0, |number, it| number << 8 | usize::from(*it)))
}

impl<'a> Entry<'a> {
    pub(super) fn is_folder(&self) -> bool {
        self.name.ends_with('/')
    }

    /// Reader of its content, of no more than the size that it is said to have.
    pub(super) fn reader(&self) -> Result<Box<dyn Read + 'a>, Damage> {
        match self.method {
            0 => Ok(Box::new(self.packed)),
            8 => Ok(Box::new(DeflateDecoder::new(self.packed).take(self.size))),
            _ => Err("it is packed in a way that wheels are not"),
        }
    }
}
