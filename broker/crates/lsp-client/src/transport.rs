//! Messages in a stream of bytes: a header that says how long, then so many bytes. Knows nothing of what is
//! in them.

use std::io::{self, BufRead, Read};

use crate::ProtocolError;

/// Limit of all header lines of a message together, in bytes.
const HEADER_LIMIT: usize = 8 << 10;

/// Maximum number of bytes reserved before the body has come: a header is cheap to write.
const RESERVED: usize = 1 << 20;

/// The next message's bytes, or `None` if the stream ended between two messages.
pub fn read_frame(input: &mut impl BufRead, limit: usize) -> Result<Option<Vec<u8>>, ProtocolError> {
    let Some(size) = read_header(input)? else { return Ok(None) };
    let length = usize::try_from(size).ok().filter(|it| *it <= limit);
    let length = length.ok_or(ProtocolError::TooLarge { size, limit })?;
    let mut body = Vec::with_capacity(length.min(RESERVED));
    input.by_ref().take(size).read_to_end(&mut body).map_err(unreadable)?;
    if body.len() < length { Err(ProtocolError::Truncated) } else { Ok(Some(body)) }
}

/// Returns the bytes to write for a message.
pub fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

/// Returns the length it tells of.
fn read_header(input: &mut impl BufRead) -> Result<Option<u64>, ProtocolError> {
    let mut left = HEADER_LIMIT;
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(left as u64).read_until(b'\n', &mut line).map_err(unreadable)?;
        let is_first = left == HEADER_LIMIT;
        left -= read;
        match line.strip_suffix(b"\n") {
            Some(line) => match line.strip_suffix(b"\r").unwrap_or(line) {
                b"" => return length.map(Some).ok_or(ProtocolError::NoLength),
                line => length = content_length(line)?.or(length),
            },
            None if left == 0 => return Err(ProtocolError::LongHeader { limit: HEADER_LIMIT }),
            None if is_first && read == 0 => return Ok(None),
            None => return Err(ProtocolError::Truncated),
        }
    }
}

/// `None`: another header, which is none of our business.
fn content_length(line: &[u8]) -> Result<Option<u64>, ProtocolError> {
    let text = String::from_utf8_lossy(line);
    let bad = || ProtocolError::BadHeader { line: text.chars().take(80).collect() };
    let (name, value) = text.split_once(':').ok_or_else(bad)?;
    if !name.eq_ignore_ascii_case("content-length") {
        return Ok(None);
    }
    value.trim().parse().map(Some).map_err(|_| bad())
}

fn unreadable(error: io::Error) -> ProtocolError {
    ProtocolError::Unreadable { reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// The messages of a stream and how it ended, read in pieces of each size.
    #[track_caller]
    fn check(stream: &str, want: &[&str], end: Result<(), ProtocolError>) {
        for piece in [1, 2, 7, 64 << 10] {
            let mut input = BufReader::with_capacity(piece, stream.as_bytes());
            let mut messages = Vec::new();
            let ended = loop {
                match read_frame(&mut input, 100) {
                    Ok(Some(body)) => messages.push(String::from_utf8(body).unwrap()),
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            assert_eq!(messages, want, "in pieces of {piece}");
            assert_eq!(ended, end, "in pieces of {piece}");
        }
    }

    #[test]
    fn whole_messages() {
        check("", &[], Ok(()));
        check("Content-Length: 2\r\n\r\n{}", &["{}"], Ok(()));
        check("content-length:2\r\n\r\n{}Content-Length: 0\r\n\r\n", &["{}", ""], Ok(()));
        let typed = "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 1\r\n\r\n1";
        check(typed, &["1"], Ok(()));
        check("Content-Length: 3\n\n\"é", &["\"é"], Ok(()));
    }

    #[test]
    fn what_was_written_is_read() {
        let text = "{\"a\":\"𐐀\r\n\"}";
        let stream = frame(text.as_bytes());
        assert_eq!(read_frame(&mut &*stream, 100), Ok(Some(text.as_bytes().to_vec())));
    }

    #[test]
    fn half_messages() {
        for stream in
            ["C", "Content-Length: 2\r\n", "Content-Length: 2\r\n\r\n", "Content-Length: 2\r\n\r\n{"]
        {
            check(stream, &[], Err(ProtocolError::Truncated));
        }
    }

    #[test]
    fn what_is_no_header() {
        let bad = |line: &str| Err(ProtocolError::BadHeader { line: line.to_owned() });
        check("Debugger listening\n", &[], bad("Debugger listening"));
        check("Content-Length: -1\r\n\r\n", &[], bad("Content-Length: -1"));
        check("Content-Length: 2\r\n\r\n{}{}\n", &["{}"], bad("{}"));
        check("\r\n", &[], Err(ProtocolError::NoLength));
        check("A: b\r\n\r\n", &[], Err(ProtocolError::NoLength));
        let long = "x".repeat(HEADER_LIMIT + 1);
        check(&long, &[], Err(ProtocolError::LongHeader { limit: HEADER_LIMIT }));
    }

    #[test]
    fn what_is_too_large() {
        let at_limit = format!("Content-Length: 100\r\n\r\n{}", "x".repeat(100));
        check(&at_limit, &[&"x".repeat(100)], Ok(()));
        let too_large = |size| Err(ProtocolError::TooLarge { size, limit: 100 });
        check("Content-Length: 101\r\n\r\n", &[], too_large(101));
        check("Content-Length: 18446744073709551615\r\n\r\n", &[], too_large(u64::MAX));
    }
}
