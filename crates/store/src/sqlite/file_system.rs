//! Distinguishes local file systems from shared ones. Only looks: the code that creates a database uses the result.

use std::path::Path;

/// The kind of file system that contains a database, as far as it affects locks and shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A local file system. A single kernel serves all readers and writers.
    Local,
    /// A file system in which other machines or a server in user space may take part. A write-ahead log is unsafe on
    /// it.
    Shared(&'static str),
    /// A local file system whose blocks are smaller than the pages of SQLite's shared memory. A page can then have
    /// holes, and writing into a hole on a full disk ends the process (SIGBUS).
    SmallBlocks,
}

/// Returns the kind of file system. An unknown file system counts as local, as in SQLite itself.
pub(super) fn place_of(folder: &Path) -> Place {
    classify(folder).unwrap_or(Place::Local)
}

#[cfg(target_os = "linux")]
fn classify(folder: &Path) -> Option<Place> {
    let found = rustix::fs::statfs(folder).ok()?;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "magic numbers have 32 bits, whatever the width and sign of the platform's field"
    )]
    let magic = found.f_type as u32;
    let block = u64::try_from(found.f_frsize).unwrap_or(u64::MAX);
    Some(from_linux_magic(magic, block))
}

#[cfg(target_os = "macos")]
fn classify(folder: &Path) -> Option<Place> {
    let found = rustix::fs::statfs(folder).ok()?;
    let name: Vec<u8> = found
        .f_fstypename
        .iter()
        .map(|letter| letter.cast_unsigned())
        .take_while(|letter| *letter != 0)
        .collect();
    Some(from_macos_name(std::str::from_utf8(&name).ok()?))
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn classify(_folder: &Path) -> Option<Place> {
    None
}

/// The number of bytes by which SQLite extends its shared memory. SQLite writes only one byte into each new page.
#[cfg(any(target_os = "linux", test))]
const SHARED_MEMORY_PAGE: u64 = 4096;

/// Returns the kind of file system for a magic number. `block` is the size of a block in bytes.
#[cfg(any(target_os = "linux", test))]
fn from_linux_magic(magic: u32, block: u64) -> Place {
    match magic {
        // ext2 to ext4, and XFS. Other file systems, such as ZFS, report a block size that differs from the unit in
        // which they allocate space.
        0xef53 | 0x5846_5342 if block < SHARED_MEMORY_PAGE => Place::SmallBlocks,
        0x6969 => Place::Shared("NFS"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Place::Shared("SMB"),
        0x0102_1997 => Place::Shared("9p"),
        // FUSE and virtiofs report the same number.
        0x6573_5546 => Place::Shared("FUSE"),
        0x5346_414f | 0x6b41_4653 => Place::Shared("AFS"),
        0x7375_7245 => Place::Shared("Coda"),
        0x00c3_6400 => Place::Shared("Ceph"),
        0x0bd0_0bd0 => Place::Shared("Lustre"),
        0x0116_1970 => Place::Shared("GFS2"),
        0x7461_636f => Place::Shared("OCFS2"),
        0x786f_4256 => Place::Shared("VirtualBox's shared folder"),
        0x7c7c_6673 => Place::Shared("Parallels' shared folder"),
        _ => Place::Local,
    }
}

#[cfg(any(target_os = "macos", test))]
fn from_macos_name(name: &str) -> Place {
    match name {
        "nfs" => Place::Shared("NFS"),
        "smbfs" | "cifs" => Place::Shared("SMB"),
        "afpfs" => Place::Shared("AFP"),
        "webdav" => Place::Shared("WebDAV"),
        "9p" => Place::Shared("9p"),
        "AppleVirtIOFS" | "virtiofs" => Place::Shared("virtiofs"),
        name if name.contains("fuse") => Place::Shared("FUSE"),
        _ => Place::Local,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_and_user_space_file_systems_are_shared() {
        for (magic, name) in [
            (0x6969, "NFS"),
            (0xff53_4d42, "SMB"),
            (0xfe53_4d42, "SMB"),
            (0x0102_1997, "9p"),
            (0x6573_5546, "FUSE"),
        ] {
            assert_eq!(from_linux_magic(magic, 4096), Place::Shared(name));
        }
        for (spelling, name) in [("nfs", "NFS"), ("smbfs", "SMB"), ("macfuse", "FUSE"), ("osxfuse", "FUSE")] {
            assert_eq!(from_macos_name(spelling), Place::Shared(name));
        }
    }

    #[test]
    fn disks_are_local() {
        // The following file systems, in this order: ext4, xfs, btrfs, tmpfs, overlay, zfs.
        for magic in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
            assert_eq!(from_linux_magic(magic, 4096), Place::Local);
        }
        for name in ["apfs", "hfs", "exfat"] {
            assert_eq!(from_macos_name(name), Place::Local);
        }
    }

    #[test]
    fn small_blocks_are_told_apart() {
        assert_eq!(from_linux_magic(0xef53, 1024), Place::SmallBlocks);
        assert_eq!(from_linux_magic(0x5846_5342, 512), Place::SmallBlocks);
        // ZFS reports a block size of 512, but allocates larger blocks.
        assert_eq!(from_linux_magic(0x2fc1_2fc1, 512), Place::Local);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_is_asked() {
        assert_eq!(classify(Path::new("/proc")), Some(Place::Local));
        assert_eq!(classify(Path::new("/nowhere at all")), None);
    }
}
