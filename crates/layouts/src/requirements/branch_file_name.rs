//! Maps a branch to its file name. If two branches map to the same name, the second gets another one.

use crate::hash::hex;
use sha2::{Digest, Sha256};

/// The name of a branch's file, without extension.
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

/// The name for a branch whose own name is taken: distinct from every `file_stem`, and stable.
pub fn collision_name(branch: &str) -> String {
    let digest = Sha256::digest(branch.as_bytes());
    format!("{}.{}", file_stem(branch), hex(&digest[..4]))
}
