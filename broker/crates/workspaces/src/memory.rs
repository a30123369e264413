//! Memory of the process.

/// Resident memory as Linux counts it; 0 elsewhere.
#[expect(clippy::disallowed_methods, reason = "the process's own state is no workspace file")]
pub fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|it| it.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}
