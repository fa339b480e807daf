//! The file name of a branch. If the names of two branches give the same file name, the second branch gets
//! another one.

use crate::hash::hex;
use sha2::{Digest, Sha256};

/// The file name of a branch, without its extension.
pub fn file_stem(branch: &str) -> String {
    branch
        .chars()
        .map(|c| match c {
            '/' | '\\' => '-',
            c if c.is_alphanumeric() || matches!(c, '-' | '_') => c,
            _ => '_',
        })
        .collect()
}

/// The file name of a branch whose usual file name another branch already uses. It differs from every usual
/// name, and is always the same for a branch.
pub fn collision_name(branch: &str) -> String {
    let digest = Sha256::digest(branch.as_bytes());
    format!("{}.{}", file_stem(branch), hex(&digest[..4]))
}
