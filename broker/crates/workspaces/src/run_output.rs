//! Output of a command as it is told: its beginning and its end, without sequences for terminals.

use std::collections::VecDeque;

/// The first and the last bytes of an output.
pub struct RunOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: usize,
    /// Bytes of the beginning that are kept: what a command says first is often why the rest failed.
    largest_head: usize,
    /// Bytes of the end that are kept.
    largest_tail: usize,
}

impl RunOutput {
    /// Keeps `bytes` of the output.
    pub fn within(bytes: usize) -> Self {
        let largest_head = bytes / 4;
        let largest_tail = bytes - largest_head;
        Self { head: Vec::new(), tail: VecDeque::new(), dropped: 0, largest_head, largest_tail }
    }

    pub fn add(&mut self, bytes: &[u8]) {
        let room = self.largest_head.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend(&bytes[room..]);
        let more = self.tail.len().saturating_sub(self.largest_tail);
        self.tail.drain(..more);
        self.dropped += more;
    }

    /// The text, and how many bytes are missing in its middle.
    pub fn finish(self) -> (String, usize) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: usize = 8 << 10;

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let mut output = RunOutput::within(KEPT);
        output.add(b"begin\n");
        for _ in 0..5 {
            output.add(&[b'a'; KEPT]);
        }
        output.add(b"end");
        let (text, left_out) = output.finish();
        assert!(text.starts_with("begin\naaa") && text.ends_with("aend"), "{}", &text[..20]);
        assert!(text.contains("… 32777 bytes are left out here …"));
        assert_eq!(left_out, KEPT * 4 + 9);
    }

    #[test]
    fn short_output_is_whole_and_plain() {
        let mut output = RunOutput::within(KEPT);
        output.add(b"\x1b[31mred\x1b[0m\n");
        output.add("ü".as_bytes());
        assert_eq!(output.finish(), ("red\nü".to_owned(), 0));
    }
}
