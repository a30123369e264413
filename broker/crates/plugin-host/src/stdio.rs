//! Standard output and error of a guest: the last few kilobytes, kept to explain a crash.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use wasmtime_wasi::{
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

/// Bytes that a panic message with a backtrace needs.
const KEPT: usize = 8 << 10;

/// The newest [`KEPT`] bytes that were written. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    /// The last words of a guest that crashed: its panic message, or else its last line.
    pub(crate) fn last_words(&self) -> Option<String> {
        let kept = self.0.lock();
        let text = String::from_utf8_lossy(&kept).into_owned();
        let lines: Vec<_> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        let panic = lines.iter().rposition(|it| it.contains("panicked at"));
        let words = match panic {
            Some(at) => {
                let told = lines[at..].iter().take(2).copied().collect::<Vec<_>>().join(" ");
                // Which thread it was says nothing: there is one.
                without_registry(told.find("panicked at").map_or(told.as_str(), |it| &told[it..]))
            }
            None => (*lines.last()?).to_owned(),
        };
        Some(words)
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock();
        kept.extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
}

/// The message without the folder in which the plugin's builder keeps dependencies: `panicked at a-1.0.0/src/lib.rs:1:2:`.
fn without_registry(told: &str) -> String {
    let cut = || {
        let (place, rest) = told.split_once(".rs:")?;
        let place = place.replace('\\', "/");
        let (_, place) = place.split_once("/registry/src/")?.1.split_once('/')?;
        Some(format!("panicked at {place}.rs:{rest}"))
    };
    cut().unwrap_or_else(|| told.to_owned())
}

impl IsTerminal for Tail {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Tail {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Tail {
    async fn ready(&mut self) {}
}

impl OutputStream for Tail {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(KEPT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end() {
        let tail = Tail::default();
        tail.push(&b"x".repeat(3 * KEPT));
        tail.push(b"\nthread '<unnamed>' panicked at src/lib.rs:1:2:\nindex out of bounds\nnote: more\n");
        assert_eq!(tail.0.lock().len(), KEPT);
        let words = tail.last_words().unwrap();
        assert_eq!(words, "panicked at src/lib.rs:1:2: index out of bounds");
        tail.push(b"thread 'main' panicked at /home/a/.cargo/registry/src/index-1f/b-1.0.0/src/lib.rs:1:2:\nno x.rs:\n");
        assert_eq!(tail.last_words().unwrap(), "panicked at b-1.0.0/src/lib.rs:1:2: no x.rs:");
        tail.push(b"panicked at C:\\c\\registry\\src\\index-1f\\b-1.0.0\\src\\lib.rs:1:2:\nno\n");
        assert_eq!(tail.last_words().unwrap(), "panicked at b-1.0.0/src/lib.rs:1:2: no");
        tail.push(b"panicked at src/lib.rs:1:2:\nno /registry/src/index/x.rs:1\n");
        assert_eq!(tail.last_words().unwrap(), "panicked at src/lib.rs:1:2: no /registry/src/index/x.rs:1");
    }
}
