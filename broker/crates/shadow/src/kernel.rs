//! Features of this system's kernel that decide what is promised.

/// The version of landlock; 0 where there is none.
#[cfg(target_os = "linux")]
pub fn landlock_version() -> u32 {
    const TELL_VERSION: libc::c_ulong = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call reads no memory, and makes nothing.
    #[expect(unsafe_code, reason = "no crate tells it")]
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, TELL_VERSION) };
    u32::try_from(version).unwrap_or(0)
}

#[cfg(not(target_os = "linux"))]
pub fn landlock_version() -> u32 {
    0
}
