//! The backup beside a file: who made it, and how it has changed since then.

use super::what_is_known::{Evidence, Role};
use crate::hash::sha256 as hash;

/// Lines that were added to a shared file after it became the backup, by a program that still had it open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Late {
    pub lines: Vec<u8>,
    /// The start of the first line, if that line was incomplete when the file became the backup. Empty if the
    /// whole line was added later.
    cut_off: Vec<u8>,
}

impl Late {
    /// The content of a file without the incomplete start of a line that is complete by now.
    pub fn completed_in(&self, body: &[u8]) -> Vec<u8> {
        let is_cut_off =
            |line: &&[u8]| !self.cut_off.is_empty() && line.trim_ascii_end() == self.cut_off.trim_ascii_end();
        let lines = body.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_cut_off(line));
        lines.collect::<Vec<_>>().concat()
    }
}

pub fn late(evidence: &Evidence<'_>) -> Option<Late> {
    let (noted, bytes) = (evidence.noted.filter(|_| evidence.role == Role::Shared)?, evidence.backup?);
    let (before, late) = bytes.split_at_checked(noted.length)?;
    if late.is_empty() || hash(before) != noted.hash {
        return None;
    }
    // The program may have written only a part of a line by then.
    let from = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    Some(Late { lines: bytes[from..].to_vec(), cut_off: before[from..].to_vec() })
}

/// The backup, if somebody wrote to it after it became the backup.
pub fn changed_backup<'a>(evidence: &Evidence<'a>) -> Option<&'a [u8]> {
    let (noted, bytes) = (evidence.noted?, evidence.backup?);
    (hash(bytes) != noted.hash).then_some(bytes)
}

/// The backup, if somebody other than leftoff made it. Where the operating system gives files no identity, the contents
/// are compared.
pub fn others_backup<'a>(evidence: &Evidence<'a>) -> Option<&'a [u8]> {
    let bytes = evidence.backup.filter(|bytes| !bytes.is_empty())?;
    let is_noted =
        evidence.noted.is_some_and(|noted| noted.hash == hash(bytes) || noted.is_same_file == Some(true));
    let is_ours = is_noted || evidence.wrote.is_some_and(|wrote| wrote.is_ours(bytes));
    (!is_ours).then_some(bytes)
}
