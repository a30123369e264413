//! The process's memory: how much there is, and what is free of it given back.

use workspaces::resident_bytes;

/// Bytes that are free and not given back, from which on it is worth the time.
const WORTH: u64 = 32 << 20;

/// Memory that the allocator keeps though nothing is in it.
#[derive(Default)]
pub(crate) struct FreeMemory {
    /// Resident bytes when memory was given back last.
    resident: u64,
}

impl FreeMemory {
    /// Gives it back to the system, if more memory is resident than when this was asked last. Allocations of other threads may
    /// have to wait meanwhile.
    pub(crate) fn give_back(&mut self) {
        let now = resident_bytes();
        if now > self.resident + WORTH {
            trim();
        }
        self.resident = resident_bytes().min(now);
    }
}

/// Keeps glibc from dividing the memory into more arenas than `threads` use at once. Each arena keeps what is freed in it, and
/// its default is eight per processor. To be called before threads start.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn limit_arenas(threads: usize) {
    let arenas = i32::try_from(threads).unwrap_or(i32::MAX);
    // SAFETY: it takes two numbers, and no other thread allocates yet.
    #[expect(unsafe_code, reason = "see above")]
    let _is_set = unsafe { libc::mallopt(libc::M_ARENA_MAX, arenas) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn limit_arenas(_: usize) {}

/// glibc keeps what was freed between things that are still in use.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    // SAFETY: it takes no pointer, may be called from any thread at any time, and leaves all that is in use as it is.
    #[expect(unsafe_code, reason = "see above")]
    let _given_back = unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}
