//! Maps a branch to its file name. If two branches map to the same name, the second branch gets another name.

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

/// The name of the file of a branch, if another branch has taken its own name. It differs from every
/// `file_stem`, and is always the same for the branch.
pub fn collision_name(branch: &str) -> String {
    let digest = Sha256::digest(branch.as_bytes());
    format!("{}.{}", file_stem(branch), hex(&digest[..4]))
}
