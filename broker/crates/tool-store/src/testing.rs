//! Archives and a registry for tests.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder},
};
use tar::{EntryType, Header};

/// A package of npm with these entries: name, kind, permissions, and content, which is a link's target.
pub(crate) fn tarball(entries: &[(&str, EntryType, u32, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (name, kind, mode, content) in entries {
        let mut header = Header::new_gnu();
        // Past what keeps a writer from making such a name.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(*mode);
        let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
        if is_link {
            header.set_link_name(content).unwrap();
        }
        let content = if *kind == EntryType::Regular { content.as_bytes() } else { b"" };
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive.append(&header, content).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

/// A package of npm with these files.
pub(crate) fn package(files: &[(&str, &str)]) -> Vec<u8> {
    let names: Vec<_> = files.iter().map(|(name, content)| (format!("package/{name}"), *content)).collect();
    let entries: Vec<_> =
        names.iter().map(|(name, it)| (name.as_str(), EntryType::Regular, 0o644, *it)).collect();
    tarball(&entries)
}

/// A wheel with these entries: name, mode, and content.
pub(crate) fn wheel(entries: &[(&str, u32, &str)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, mode, content) in entries {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
        packed.write_all(content.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        // Flags, method, time, checksum, sizes, lengths of the name and of more.
        let mut common = [0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0].to_vec();
        common.extend([packed.len(), content.len()].map(|it| (it as u32).to_le_bytes()).concat());
        common.extend((name.len() as u32).to_le_bytes());
        directory.extend([b"PK\x01\x02", &[20, 3, 20, 0][..], &common, &[0; 6]].concat());
        directory.extend([mode << 16, bytes.len() as u32].map(u32::to_le_bytes).concat());
        directory.extend(name.as_bytes());
        bytes.extend([b"PK\x03\x04", &[20, 0][..], &common, name.as_bytes(), &packed].concat());
    }
    let count = (entries.len() as u16).to_le_bytes();
    let place = [directory.len() as u32, bytes.len() as u32].map(u32::to_le_bytes).concat();
    let end = [b"PK\x05\x06", &[0; 4][..], &count, &count, &place, &[0; 2]].concat();
    [bytes, directory, end].concat()
}

/// An answer of a registry.
#[derive(Clone)]
pub(crate) enum Answer {
    Body(Vec<u8>),
    Json(String),
    /// A connection that ends after this part of a body of this size.
    Cut(Vec<u8>, usize),
    Status(u16),
    /// Only with this `Authorization`.
    Private(String, Vec<u8>),
}

/// A registry, as long as the test runs.
pub(crate) struct Registry {
    pub(crate) url: String,
    answers: Arc<Mutex<BTreeMap<String, Answer>>>,
    /// Paths that were asked for.
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
}

impl Registry {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let it = Self { url, answers: Arc::default(), asked: Arc::default() };
        let (answers, asked) = (Arc::clone(&it.answers), Arc::clone(&it.asked));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let head: Vec<_> = lines.take_while(|it| !it.is_empty()).collect();
                let path = head.first().and_then(|it| it.split(' ').nth(1)).unwrap_or_default().to_owned();
                let answer = answers.lock().unwrap().get(&path).cloned().unwrap_or(Answer::Status(404));
                asked.lock().unwrap().push(path);
                // A client that left has its reasons.
                let _left = stream.write_all(&answered(answer, &head));
            }
        });
        it
    }

    pub(crate) fn put(&self, path: &str, answer: Answer) {
        self.answers.lock().unwrap().insert(path.to_owned(), answer);
    }
}

fn answered(answer: Answer, head: &[String]) -> Vec<u8> {
    let said =
        head.iter().find_map(|it| it.to_ascii_lowercase().starts_with("authorization: ").then(|| &it[15..]));
    let (status, kind, size, body) = match answer {
        Answer::Body(body) => (200, "application/octet-stream", body.len(), body),
        Answer::Json(text) => (200, "application/vnd.pypi.simple.v1+json", text.len(), text.into_bytes()),
        Answer::Cut(part, size) => (200, "application/octet-stream", size, part),
        Answer::Private(needed, body) if said == Some(&*needed) => {
            (200, "application/octet-stream", body.len(), body)
        }
        Answer::Private(..) => (401, "text/plain", 0, Vec::new()),
        Answer::Status(status) => (status, "text/plain", 0, Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status} \r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n\r\n"
    );
    [head.into_bytes(), body].concat()
}
