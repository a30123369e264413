//! Output of a command as a model reads it: its beginning and its end, without sequences for terminals.

use std::collections::VecDeque;

use crate::limits;

/// Bytes of the beginning that are kept: what a command says first is often why the rest failed.
const HEAD: usize = limits::OUTPUT / 4;

/// Bytes of the end.
const TAIL: usize = limits::OUTPUT - HEAD;

/// The first and the last bytes of an output.
#[derive(Default)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: usize,
}

impl Output {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend(&bytes[room..]);
        let more = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..more);
        self.dropped += more;
    }

    /// The text, and how many bytes are missing in its middle.
    pub(super) fn finish(self) -> (String, usize) {
        let tail: Vec<u8> = self.tail.into();
        let text = match self.dropped {
            0 => plain(&[self.head, tail].concat()),
            dropped => {
                let (head, tail) = (plain(&self.head), plain(&tail));
                format!("{}\n… {dropped} bytes are left out here …\n{}", head.trim_end(), tail.trim_start())
            }
        };
        (text, self.dropped)
    }
}

/// The text without sequences that color it or move the cursor.
fn plain(bytes: &[u8]) -> String {
    anstream::adapter::strip_str(&String::from_utf8_lossy(bytes)).to_string()
}

/// Words by which programs report that they reached no other machine.
const UNREACHED: [&str; 11] = [
    "Could not resolve host",
    "Could not resolve hostname",
    "Temporary failure in name resolution",
    "Temporary failure resolving",
    "Name or service not known",
    "Network is unreachable",
    "NameResolutionError",
    "getaddrinfo",
    "ENETUNREACH",
    "dns error",
    "dial tcp: lookup",
];

/// Whether a command reported that it has no network.
pub(super) fn lacks_network(output: &str) -> bool {
    UNREACHED.iter().any(|it| output.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let mut output = Output::default();
        output.add(b"begin\n");
        for _ in 0..5 {
            output.add(&[b'a'; limits::OUTPUT]);
        }
        output.add(b"end");
        let (text, left_out) = output.finish();
        assert!(text.starts_with("begin\naaa") && text.ends_with("aend"), "{}", &text[..20]);
        assert!(text.contains("… 32777 bytes are left out here …"));
        assert_eq!(left_out, limits::OUTPUT * 4 + 9);
    }

    #[test]
    fn short_output_is_whole_and_plain() {
        let mut output = Output::default();
        output.add(b"\x1b[31mred\x1b[0m\n");
        output.add("ü".as_bytes());
        assert_eq!(output.finish(), ("red\nü".to_owned(), 0));
    }

    #[test]
    fn what_reached_no_machine_says_so() {
        assert!(lacks_network("curl: (6) Could not resolve host: x.y"));
        assert!(!lacks_network("error: the host is wrong"));
    }
}
