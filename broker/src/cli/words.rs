//! Numbers and tables as people read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) use lint::counted;

/// Returns the time since a moment in milliseconds since the Unix epoch; zero if the moment is yet to come.
pub(super) fn since(moment_ms: u64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(Duration::from_millis(moment_ms))
}

/// `3 minutes ago`
pub(super) fn ago(moment_ms: u64) -> String {
    match since(moment_ms) {
        short if short < Duration::from_secs(1) => "just now".to_owned(),
        long => format!("{} ago", duration(long)),
    }
}

/// The largest unit that fits, rounded down.
pub(super) fn duration(it: Duration) -> String {
    let seconds = it.as_secs();
    let units = [(86_400, "day"), (3600, "hour"), (60, "minute")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1, "second"));
    counted(seconds / unit, name)
}

/// `1.5 ms`
pub(super) fn micros(micros: u64) -> String {
    match micros {
        0..1000 => format!("{micros} µs"),
        1000..1_000_000 => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
        _ => format!("{}.{} s", micros / 1_000_000, micros % 1_000_000 / 100_000),
    }
}

/// `12 MiB`
pub(super) fn bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => counted(bytes, "byte"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ if bytes.trailing_zeros() >= 30 => format!("{} GiB", bytes >> 30),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// A table whose columns are as wide as their widest cell.
pub(super) fn table<const N: usize>(heading: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<_> = std::iter::once(heading.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|it| it[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(duration(Duration::from_secs(61)), "1 minute");
        assert_eq!(duration(Duration::from_secs(7200)), "2 hours");
        assert_eq!(duration(Duration::ZERO), "0 seconds");
        assert_eq!(
            (micros(999), micros(1500), micros(2_340_000)),
            ("999 µs".into(), "1.5 ms".into(), "2.3 s".into())
        );
        assert_eq!(
            [1, 2048, 3 << 20, 2 << 30, (2 << 30) + (1 << 20)].map(bytes),
            ["1 byte", "2 KiB", "3 MiB", "2 GiB", "2049 MiB"].map(str::to_owned)
        );
        assert_eq!(ago(u64::MAX), "just now");
    }
}
