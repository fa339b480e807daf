//! From a branch to the name of its file. Two branches can have the same one: the second gets a name of its own.

use sha2::{Digest, Sha256};

/// The name of a branch's file, without its ending.
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

/// The name for a branch whose own name is another branch's file: unlike any that `file_stem` makes of a branch, and
/// the same each time.
pub fn collision_name(branch: &str) -> String {
    let digest = Sha256::digest(branch.as_bytes());
    let hex: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}.{hex}", file_stem(branch))
}
