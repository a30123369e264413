//! The index of a git repository, in the versions 2 to 4: what it lists, and whether that is a commit's.

use std::collections::BTreeSet;

/// Entries and the state of an index.
pub(super) struct Index {
    /// Mode, object and stage of each path.
    pub(super) entries: BTreeSet<(Vec<u8>, u32, Vec<u8>, u16)>,
    /// Whether it is as git made it from a commit, or for one: with the object of its whole tree, which git drops when something is
    /// staged.
    pub(super) is_of_a_commit: bool,
}

/// Bytes of an entry before the name of its object.
const TIMES: usize = 40;

const MODE: usize = 24;

/// Bits of the stage in an entry's flags.
const STAGE: u16 = 0x3000;

/// Bit of the flags for two more bytes of them.
const EXTENDED: u16 = 0x4000;

impl Index {
    /// `None` for what is no such index, and for one that goes on in another file.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        [20, 32].into_iter().find_map(|hash| Reader { rest: bytes, whole: bytes.len(), hash }.index())
    }
}

struct Reader<'b> {
    rest: &'b [u8],
    whole: usize,
    /// Bytes of a hash.
    hash: usize,
}

impl<'b> Reader<'b> {
    fn index(mut self) -> Option<Index> {
        if self.take(4)? != b"DIRC" {
            return None;
        }
        let (version, count) = (self.number()?, self.number()?);
        let (mut entries, mut name) = (BTreeSet::new(), Vec::new());
        for _ in 0..count {
            entries.insert(self.entry(version, &mut name)?);
        }
        let mut is_of_a_commit = false;
        while self.rest.len() > self.hash {
            let (kind, length) = (self.take(4)?, self.number()?);
            let content = self.take(usize::try_from(length).ok()?)?;
            match kind {
                // The first tree is that of the root, without a name, and ends in its number of entries: -1 if it is not known.
                b"TREE" => is_of_a_commit = content.first() == Some(&0) && content.get(1) != Some(&b'-'),
                b"link" | b"sdir" => return None,
                _ => {}
            }
        }
        (self.rest.len() == self.hash).then_some(Index { entries, is_of_a_commit })
    }

    /// An entry after one with this name.
    fn entry(&mut self, version: u32, name: &mut Vec<u8>) -> Option<(Vec<u8>, u32, Vec<u8>, u16)> {
        let start = self.whole - self.rest.len();
        let fixed = self.take(TIMES)?;
        let mode = u32::from_be_bytes(fixed.get(MODE..MODE + 4)?.try_into().ok()?);
        let (object, flags) = (self.take(self.hash)?.to_vec(), self.short()?);
        if flags & EXTENDED != 0 {
            self.short()?;
        }
        match version {
            2 | 3 => {
                *name = self.until_nul()?.to_vec();
                // Filled up to a multiple of eight, with one NUL at least.
                let length = self.whole - self.rest.len() - start;
                self.take(length.next_multiple_of(8) - length)?;
            }
            4 => {
                let removed = self.variable()?;
                name.truncate(name.len().checked_sub(removed)?);
                name.extend_from_slice(self.until_nul()?);
            }
            _ => return None,
        }
        Some((name.clone(), mode, object, flags & STAGE))
    }

    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn until_nul(&mut self) -> Option<&'b [u8]> {
        let length = self.rest.iter().position(|it| *it == 0)?;
        let text = self.take(length)?;
        self.take(1)?;
        Some(text)
    }

    /// A number in groups of seven bits, as git writes offsets in packs.
    fn variable(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index with these files, in this version, and with the tree of a commit or without.
    fn index(version: u32, files: &[&str], is_of_a_commit: bool) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend((files.len() as u32).to_be_bytes());
        let mut before = "";
        for name in files {
            let start = bytes.len();
            bytes.extend([0; MODE]);
            bytes.extend(0o100_644_u32.to_be_bytes());
            bytes.extend([0; TIMES - MODE - 4]);
            bytes.extend([7; 20]);
            bytes.extend((name.len() as u16).to_be_bytes());
            let shared = name.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
            if version == 4 {
                bytes.push((before.len() - shared) as u8);
                bytes.extend(name[shared..].bytes().chain([0]));
            } else {
                bytes.extend(name.bytes().chain([0]));
                bytes.resize(start + (bytes.len() - start).next_multiple_of(8), 0);
            }
            before = name;
        }
        let tree: &[u8] = if is_of_a_commit { b"\x001 0\n01234567890123456789" } else { b"\x00-1 0\n" };
        bytes.extend(b"TREE".iter().chain(&(tree.len() as u32).to_be_bytes()).chain(tree));
        bytes.extend([9; 20]);
        bytes
    }

    #[test]
    fn all_versions_list_the_same() {
        let files = ["a", "dir/file", "dir/files", "e"];
        let read = |version, files: &[&str]| Index::read(&index(version, files, true)).unwrap();
        let entries = [2, 3, 4].map(|it| read(it, &files).entries);
        assert_eq!(entries[0].len(), 4);
        assert!(entries.iter().all(|it| *it == entries[0]));
        assert!(read(2, &files[1..]).entries != entries[0]);
        assert!(read(2, &[]).is_of_a_commit && !Index::read(&index(2, &[], false)).unwrap().is_of_a_commit);
    }

    #[test]
    fn damaged_ones_are_none() {
        let whole = index(2, &["a"], true);
        assert!(Index::read(&whole[..whole.len() - 1]).is_none() && Index::read(b"torn").is_none());
        assert!(Index::read(&index(5, &["a"], true)).is_none());
        let elsewhere = String::from_utf8_lossy(&whole).replace("TREE", "link").into_bytes();
        assert!(Index::read(&elsewhere).is_none());
    }
}
