//! Classifies a file: external edit, leftover of a crash, damage, or another session's part of a shared file.
//! The verdict follows only from leftoff's last write, the current content, and pending writes. Bytes and
//! hashes are compared, never times, and no file is read here.

mod backup;
pub mod backup_record;
#[cfg(test)]
mod tests;
mod what_is_known;

pub use crate::hash::sha256 as hash;
pub use backup::{Late, changed_backup, late, others_backup};
pub use backup_record::FileId;
pub use what_is_known::{Evidence, Noted, Own, Put, Role, There, Wrote};

/// The state of a file, compared with leftoff's last write to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    Same,
    /// The file has an earlier version of leftoff's, because a write did not finish. The file must be written
    /// again.
    Leftover,
    Missing,
    /// The file is in a place that the session has left. The session's files are in another place now.
    Moved,
    /// The file cannot be opened, is too large, or is not a regular file. Its content is unknown, and it
    /// stays as it is.
    Unreadable,
    /// Somebody left the file empty or unreadable. This is not adopted as an edit.
    Damaged,
    /// The file contains a part of the session, and leftoff has never been able to read it. It stays as it
    /// is.
    NeverRead,
    Edited,
    /// Several sessions share the file, and only other sessions' parts have changed.
    OfOthers,
    /// Several sessions share the file, and a write of this session's part did not finish.
    Behind,
}

/// An edit that no file contains any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplacedEdit {
    pub bytes: Vec<u8>,
    /// The content of the file before the edit.
    pub before: Vec<u8>,
}

/// The bytes that are taken as the content of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    There,
    /// The edit in the waiting file. leftoff's write replaced the edit without knowing it.
    Replaced,
}

/// The version with which an edit is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    Written,
    /// The version before leftoff's last write. That write had not reached the file when the edit was made.
    Previous,
}

/// The step that finishes a write. leftoff prepares a write in the waiting file beside the file; afterwards
/// the waiting file contains the content that the write replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    Nothing,
    Remove,
    BecomesBackup,
    /// The waiting file contains an edit, which the session with this id must adopt.
    TakeIn(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub state: FileState,
    pub counts: Counts,
    pub base: Base,
    /// Edits that no file contains any more, in the order in which they were made.
    pub displaced: Vec<DisplacedEdit>,
    pub waiting: Waiting,
}

impl Verdict {
    fn of(state: FileState) -> Self {
        Self {
            state,
            counts: Counts::There,
            base: Base::Written,
            displaced: Vec::new(),
            waiting: Waiting::Nothing,
        }
    }
}

/// Returns the verdict on one file.
pub fn verdict(evidence: &Evidence<'_>, own: &dyn Own) -> Verdict {
    let Some(wrote) = evidence.wrote else { return Verdict::of(state_of_new(evidence, own)) };
    if let Role::Marker { is_on } = evidence.role {
        return Verdict::of(state_of_marker(evidence.there, is_on, wrote.confirmed));
    }
    let replaced_edit = replaced_edit(evidence, &wrote);
    let judged = Judged {
        evidence,
        wrote,
        own,
        beside: beside(evidence, &wrote),
        counted: replaced_edit.map_or(evidence.there, There::Bytes),
    };
    let (state, base) = judged.state();
    Verdict {
        state,
        counts: if replaced_edit.is_some() { Counts::Replaced } else { Counts::There },
        base,
        displaced: judged.displaced(),
        waiting: waiting(evidence),
    }
}

/// The step that must be done with the waiting file, according to the record of leftoff's writes in the
/// evidence.
pub fn waiting(evidence: &Evidence<'_>) -> Waiting {
    let Some(wrote) = evidence.wrote else { return Waiting::Nothing };
    match beside(evidence, &wrote) {
        Beside::Nothing => Waiting::Nothing,
        Beside::Ours => Waiting::Remove,
        Beside::VersionBefore => Waiting::BecomesBackup,
        Beside::Replaced { by, .. } | Beside::KnownInPart { by, .. } => Waiting::TakeIn(by.to_owned()),
        // leftoff's own bytes. A crash left them, while they were written or before they replaced the file.
        Beside::Unknown(bytes) if hash(bytes) == wrote.hash || wrote.body.starts_with(bytes) => {
            Waiting::Remove
        }
        Beside::Unknown(bytes) if wrote.knows(bytes) => Waiting::BecomesBackup,
        Beside::Unknown(_) => Waiting::TakeIn(evidence.session.to_owned()),
    }
}

/// The content of the waiting file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside<'a> {
    Nothing,
    /// leftoff's new version. It is about to replace the file, or a crash left it before that.
    Ours,
    /// The version that the file had before leftoff's write.
    VersionBefore,
    /// An edit that the write of a session replaced. `is_edited_since` is true if the file has changed since
    /// that write.
    Replaced {
        by: &'a str,
        bytes: &'a [u8],
        is_edited_since: bool,
    },
    /// Content of a shared file, which a session's write replaced. That session has adopted its own part of
    /// the content, but lines of other sessions may be in no other file.
    KnownInPart {
        by: &'a str,
        bytes: &'a [u8],
    },
    /// Content that the write journal does not explain.
    Unknown(&'a [u8]),
}

fn beside<'a>(evidence: &Evidence<'a>, wrote: &Wrote<'_>) -> Beside<'a> {
    let Some(bytes) = evidence.waiting else { return Beside::Nothing };
    let pending = evidence.put.and_then(|put| Some((put, put.expected?)));
    let Some((put, expected)) = pending else { return Beside::Unknown(bytes) };
    let own = hash(bytes);
    if own == put.hash {
        return Beside::Ours;
    }
    let is_edited_since = match evidence.there {
        There::Bytes(there) => hash(there) != put.hash,
        There::Nothing | There::Hidden | There::Unusable => true,
    };
    if own == expected {
        return Beside::VersionBefore;
    }
    match (wrote.earlier.contains(&own), evidence.role) {
        (false, _) => Beside::Replaced { by: put.by, bytes, is_edited_since },
        // Somebody who edited the file after leftoff's write has seen that the other lines are missing, so
        // they need not be restored.
        (true, Role::Shared) if !is_edited_since => Beside::KnownInPart { by: put.by, bytes },
        // The edit was adopted, and this content is about to become the backup.
        (true, Role::State | Role::Part | Role::Shared | Role::Initial | Role::Marker { .. }) => {
            Beside::VersionBefore
        }
    }
}

/// The edit that leftoff's write replaced, unless somebody has changed the file since then.
fn replaced_edit<'a>(evidence: &Evidence<'a>, wrote: &Wrote<'_>) -> Option<&'a [u8]> {
    match beside(evidence, wrote) {
        Beside::Replaced { by, bytes, is_edited_since: false } if by == evidence.session => Some(bytes),
        Beside::Replaced { .. }
        | Beside::KnownInPart { .. }
        | Beside::Nothing
        | Beside::Ours
        | Beside::VersionBefore
        | Beside::Unknown(_) => None,
    }
}

fn state_of_marker(there: There<'_>, is_on: bool, confirmed: bool) -> FileState {
    if (there != There::Nothing) == is_on {
        FileState::Same
    } else if confirmed {
        FileState::Edited
    } else {
        FileState::Leftover
    }
}

/// The state of a file that leftoff never wrote.
fn state_of_new(evidence: &Evidence<'_>, own: &dyn Own) -> FileState {
    match (evidence.role, evidence.there) {
        (Role::Part, There::Bytes(bytes)) if !own.is_whole(bytes) => {
            if evidence.backup.is_some_and(|backup| own.is_whole(backup)) {
                FileState::Damaged
            } else {
                FileState::NeverRead
            }
        }
        (Role::State | Role::Part | Role::Shared | Role::Initial | Role::Marker { .. }, _) => {
            FileState::Edited
        }
    }
}

/// A file that leftoff wrote, with its waiting file and the content that is taken as its own.
struct Judged<'a> {
    evidence: &'a Evidence<'a>,
    wrote: Wrote<'a>,
    own: &'a dyn Own,
    beside: Beside<'a>,
    counted: There<'a>,
}

impl Judged<'_> {
    fn state(&self) -> (FileState, Base) {
        // Another session of the same name may be in the old place by now.
        if self.evidence.is_left {
            return (FileState::Moved, Base::Written);
        }
        match self.counted {
            There::Bytes(bytes) => self.state_of(bytes),
            There::Hidden | There::Unusable => (FileState::Unreadable, Base::Written),
            There::Nothing if self.evidence.role == Role::Initial => (FileState::Leftover, Base::Written),
            There::Nothing => (FileState::Missing, Base::Written),
        }
    }

    fn state_of(&self, bytes: &[u8]) -> (FileState, Base) {
        let own = hash(bytes);
        if own == self.wrote.hash {
            return (FileState::Same, Base::Written);
        }
        let is_early = self.is_on_its_way();
        let base = if is_early { Base::Previous } else { Base::Written };
        // The previous content was adopted before leftoff's write was decided, so it is not a new edit. The
        // write will replace it.
        if is_early && bytes == self.wrote.previous {
            return (FileState::Leftover, Base::Written);
        }
        if self.is_same_part(bytes, self.wrote.body) {
            return (FileState::OfOthers, base);
        }
        if !self.wrote.confirmed && self.is_same_part(bytes, self.wrote.previous) {
            return (FileState::Behind, base);
        }
        let may_be_leftover = !self.wrote.confirmed || !self.evidence.same_boot;
        if may_be_leftover && self.wrote.earlier.contains(&own) {
            return (FileState::Leftover, Base::Written);
        }
        if !self.own.is_whole(bytes) {
            return (FileState::Damaged, Base::Written);
        }
        (FileState::Edited, base)
    }

    fn is_same_part(&self, one: &[u8], other: &[u8]) -> bool {
        self.own.part(one).is_some_and(|one| Some(one) == self.own.part(other))
    }

    /// True if leftoff's last write has not reached the file, and must still replace older content.
    fn is_on_its_way(&self) -> bool {
        !self.wrote.confirmed && !self.wrote.previous.is_empty() && !self.has_arrived()
    }

    /// True if leftoff's last write has reached the file, although the row does not confirm it. The content
    /// that the write replaced proves this: it is in the waiting file or has become the backup. A backup that
    /// only has the same content proves nothing, because another session's write of a shared file, or an
    /// earlier write, can have left it.
    fn has_arrived(&self) -> bool {
        let put = self.evidence.put.filter(|put| put.is_this && put.by == self.evidence.session);
        match self.beside {
            Beside::Ours | Beside::Replaced { is_edited_since: false, .. } => false,
            Beside::VersionBefore
            | Beside::KnownInPart { .. }
            | Beside::Replaced { is_edited_since: true, .. } => put.is_some(),
            Beside::Unknown(bytes) => bytes == self.wrote.previous,
            Beside::Nothing => {
                put.is_some_and(|put| put.expected.is_none_or(|expected| self.became_backup(expected)))
            }
        }
    }

    /// True if the backup has this content, and is not the file that the journal records as the backup.
    fn became_backup(&self, expected: &str) -> bool {
        let is_new = self.evidence.noted.is_none_or(|noted| noted.is_same_file == Some(false));
        is_new && self.evidence.backup.is_some_and(|backup| hash(backup) == expected)
    }

    fn is_shared(&self) -> bool {
        self.evidence.role == Role::Shared
    }

    /// Edits that were replaced, or were made to the backup, and that no later version contains.
    fn displaced(&self) -> Vec<DisplacedEdit> {
        let had_one_before =
            !self.wrote.previous.is_empty() || (self.is_shared() && !self.wrote.earlier.is_empty());
        let found = self.written_on().into_iter().chain(self.replaced_edit());
        let found = found.filter(|bytes| had_one_before && self.counted != There::Bytes(bytes));
        let edit = |bytes: &[u8]| DisplacedEdit { bytes: bytes.to_vec(), before: self.before_waiting() };
        let displaced: Vec<DisplacedEdit> = found.map(edit).collect();
        if displaced.is_empty() { self.late_edit().into_iter().collect() } else { displaced }
    }

    /// The edit in the waiting file, if this session must adopt it. An edit that another session's write
    /// replaced is left to that session, because only that session knows the previous content of the file.
    fn replaced_edit(&self) -> Option<&[u8]> {
        match self.beside {
            Beside::Replaced { by, bytes, is_edited_since: true } | Beside::KnownInPart { by, bytes }
                if by == self.evidence.session =>
            {
                Some(bytes)
            }
            Beside::Unknown(bytes) if !self.wrote.confirmed && self.wrote.body.starts_with(bytes) => None,
            Beside::Unknown(bytes) if !self.wrote.is_ours(bytes) => Some(bytes),
            Beside::Replaced { .. }
            | Beside::KnownInPart { .. }
            | Beside::Unknown(_)
            | Beside::Nothing
            | Beside::Ours
            | Beside::VersionBefore => None,
        }
    }

    /// The backup, if a program that still had the file open wrote to it. The backup of a shared file is
    /// ignored, because it may belong to any session.
    fn written_on(&self) -> Option<&[u8]> {
        let is_same_file = self.evidence.noted.is_some_and(|noted| noted.is_same_file == Some(true));
        let bytes = changed_backup(self.evidence).filter(|_| is_same_file && !self.is_shared())?;
        Some(bytes).filter(|bytes| self.own.is_whole(bytes) && !self.wrote.is_ours(bytes))
    }

    /// The version with which the edit in the waiting file is compared.
    fn before_waiting(&self) -> Vec<u8> {
        // Apart from the session's own part, every difference between the file and leftoff's write existed
        // before that write.
        if let (Beside::KnownInPart { bytes, .. }, There::Bytes(there)) = (self.beside, self.evidence.there) {
            return self.own.onto(&[], &self.own.part(bytes).unwrap_or_default(), there);
        }
        let is_known_in_part = self.wrote.confirmed && self.is_shared();
        let before = if is_known_in_part { self.evidence.backup } else { Some(self.wrote.previous) };
        before.unwrap_or_default().to_vec()
    }

    /// Lines that were added to the backup of a shared file, as an edit of the version that leftoff knows.
    fn late_edit(&self) -> Option<DisplacedEdit> {
        let late = late(self.evidence)?;
        let there = match self.counted {
            There::Bytes(bytes) => bytes,
            There::Nothing | There::Hidden | There::Unusable => &[],
        };
        if self.own.onto(&[], &late.lines, there) == there {
            return None;
        }
        let before = self.wrote.previous;
        let end: &[u8] = if before.ends_with(b"\n") { b"" } else { b"\n" };
        Some(DisplacedEdit { bytes: [before, end, &late.lines].concat(), before: before.to_vec() })
    }
}
