//! File systems that only this machine changes, so that its kernel sees every change.

/// Whether a file system of this kind, as `statfs(2)` has it, is local.
pub(crate) fn is_local(kind: rustix::fs::FsWord) -> bool {
    /// ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, bcachefs, ZFS: the numbers of `statfs(2)`.
    const LOCAL: [u32; 8] =
        [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0xCA45_1A4E, 0x2FC1_2FC1];
    LOCAL.contains(&(kind as u32))
}
