//! The last part of what a command printed, for `--json`.

use std::collections::VecDeque;

/// Bytes of each output that are kept.
const KEPT: usize = 64 << 10;

#[derive(Default)]
pub(super) struct Printed {
    last: VecDeque<u8>,
    /// Bytes before that.
    pub(super) omitted: u64,
}

impl Printed {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.last.extend(bytes);
        let more = self.last.len().saturating_sub(KEPT);
        self.last.drain(..more);
        self.omitted += more as u64;
    }

    pub(super) fn text(&self) -> String {
        let (first, second) = self.last.as_slices();
        String::from_utf8_lossy(&[first, second].concat()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_is_kept() {
        let mut printed = Printed::default();
        printed.add(&[b'a'; KEPT]);
        printed.add(b"end");
        assert_eq!((printed.omitted, printed.text().len()), (3, KEPT));
        assert!(printed.text().ends_with("aend"));
    }
}
