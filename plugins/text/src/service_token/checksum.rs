//! Checksums that vendors put into their tokens, each a CRC-32 (IEEE) of what comes before it.

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// GitHub's and npm's: the last six characters, of those behind the prefix.
/// <https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/>
pub(super) fn is_base62(secret: &[u8]) -> bool {
    secret.split_last_chunk::<6>().is_some_and(|(text, sum)| decode(sum, BASE62) == Some(crc(text)))
}

/// GitLab's in routable tokens: the last seven characters, of the whole token before them.
/// <https://handbook.gitlab.com/handbook/engineering/architecture/design-documents/cells/routable_tokens/>
pub(super) fn is_base36(token: &[u8]) -> bool {
    token.split_last_chunk::<7>().is_some_and(|(text, sum)| decode(sum, BASE36) == Some(crc(text)))
}

/// Grafana's: the last eight characters are the bytes in little-endian order, of what is before the last `_`.
pub(super) fn is_hex(token: &[u8]) -> bool {
    let Some((text, sum)) = token.split_last_chunk::<8>() else { return false };
    let text = text.strip_suffix(b"_").unwrap_or(text);
    decode(&sum.map(|it| it.to_ascii_lowercase()), &BASE36[..16]) == Some(crc(text).swap_bytes())
}

fn crc(text: &[u8]) -> u32 {
    crc32fast::hash(text)
}

/// A number in the given digits, if it is one of 32 bits.
fn decode(text: &[u8], digits: &[u8]) -> Option<u32> {
    text.iter().try_fold(0u32, |number, byte| {
        let digit = digits.iter().position(|it| it == byte)?;
        number.checked_mul(u32::try_from(digits.len()).ok()?)?.checked_add(u32::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes() {
        assert_eq!(decode(b"000010", BASE62), Some(62));
        assert_eq!(decode(b"4gfFC3", BASE62), Some(u32::MAX));
        assert_eq!(decode(b"4gfFC4", BASE62), None, "33 bits");
        assert_eq!(decode(b"a-b", BASE36), None);
    }
}
