//! Files that no linter is asked about: those that are too large, in another encoding than UTF-8, or pointers of Git LFS.

use std::sync::Arc;

use lint::{Completeness, Unit};
use overlay::{ContentHash, FileKind, Traced, View};

use super::{Answer, Computed};

/// Byte order marks of the encodings that linters do not read, longer ones first.
const MARKS: [(&[u8], &str); 4] = [
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
];

/// First lines of the pointers of Git LFS, by its specification.
const POINTERS: [&[u8]; 2] =
    [b"version https://git-lfs.github.com/spec/v1\n", b"version https://hawser.github.com/spec/v1\n"];

/// Bytes from which on a file is no pointer.
const LONGEST_POINTER: usize = 1024;

/// The answer of every linter for such a file; `None` if the linter is to be asked.
pub(super) fn unread(view: &Arc<dyn View>, unit: &Unit, largest: u64) -> Option<Computed> {
    let own = view.metadata(&unit.path).ok().filter(|it| it.kind == FileKind::File);
    let followed = || view.resolve(&unit.path).and_then(|it| view.metadata(&it)).ok();
    // The linter reports a file that cannot be opened.
    if own.or_else(followed).is_some_and(|it| it.size > largest) {
        return Some(Computed::too_large());
    }
    let (bytes, reads) = match own {
        Some(_) => (view.read(&unit.path), Arc::default()),
        None => {
            let traced = Traced::new(Arc::clone(view));
            (traced.open(&unit.path), traced.read_set())
        }
    };
    let bytes = bytes.ok()?;
    let why = no_text(&bytes)?;
    let answer = Answer {
        content: Some(ContentHash::of(&bytes)),
        left_out: Some(why.into()),
        ..Answer::without_findings(Completeness::Excluded)
    };
    Some(Computed { answer: Arc::new(answer), reads, ..Computed::without_findings(Completeness::Excluded) })
}

/// Returns why bytes are not the text that linters read.
fn no_text(bytes: &[u8]) -> Option<String> {
    if let Some((_, name)) = MARKS.iter().find(|it| bytes.starts_with(it.0)) {
        return Some(format!("it is encoded in {name}; linters read UTF-8"));
    }
    let is_pointer = bytes.len() < LONGEST_POINTER && POINTERS.iter().any(|it| bytes.starts_with(it));
    is_pointer.then(|| "it is a pointer of Git LFS; `git lfs pull` brings the file itself".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_and_pointers_are_told() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
        for (bytes, want) in [
            (&b"\xff\xfea\0"[..], Some("it is encoded in UTF-16; linters read UTF-8")),
            (b"\xfe\xff\0a", Some("it is encoded in UTF-16; linters read UTF-8")),
            (b"\xff\xfe\0\0a\0\0\0", Some("it is encoded in UTF-32; linters read UTF-8")),
            (b"\0\0\xfe\xff\0\0\0a", Some("it is encoded in UTF-32; linters read UTF-8")),
            (pointer.as_bytes(), Some("it is a pointer of Git LFS; `git lfs pull` brings the file itself")),
            (b"\xef\xbb\xbfa", None),
            (b"a\0", None),
            (b"version https://git-lfs.github.com/spec/v1 is what pointers begin with", None),
            (b"", None),
        ] {
            assert_eq!(no_text(bytes).as_deref(), want, "{bytes:?}");
        }
    }
}
