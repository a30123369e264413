//! Times and sizes as people write them.

use std::time::Duration;

/// `90`, `90s`, `10m`, `1h`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        _ => return Err(format!("`{unit}` is no unit of time; there are s, m and h")),
    };
    match number.checked_mul(seconds) {
        Some(0) => Err("that is no time at all".to_owned()),
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Err("that is too long".to_owned()),
    }
}

/// `100`, `512K`, `512M`, `4G`: bytes, and powers of 1024.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let shift = match unit.trim_end_matches(['B', 'b']).trim_end_matches('i') {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        "T" | "t" => 40,
        _ => return Err(format!("`{unit}` is no unit of size; there are K, M, G and T")),
    };
    match number.checked_mul(1 << shift) {
        Some(0) => Err("that is nothing at all".to_owned()),
        Some(bytes) => Ok(bytes),
        None => Err("that is too much".to_owned()),
    }
}

fn split(text: &str) -> Result<(u64, &str), String> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..end].parse().map_err(|_| "a number is missing".to_owned())?;
    Ok((number, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_read() {
        let seconds = |text| time(text).map(|it| it.as_secs());
        assert_eq!(["90", "90s", "10m", "2h"].map(seconds), [Ok(90), Ok(90), Ok(600), Ok(7200)]);
        assert!(
            time("0").is_err()
                && time("m").is_err()
                && time("5x").is_err()
                && time("99999999999999999999h").is_err()
        );
        assert_eq!(["7", "1K", "512M", "4GiB"].map(bytes), [Ok(7), Ok(1024), Ok(512 << 20), Ok(4 << 30)]);
        assert!(bytes("4Q").is_err() && bytes("").is_err() && bytes("99999999999T").is_err());
    }
}
