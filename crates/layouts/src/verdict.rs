//! Tells an external edit of a file from a crash's leftover, from damage and from other sessions' parts of a shared
//! file. Pure: what we wrote last, what is there and what is on its way go in, a verdict comes out. It reads no file,
//! and compares bytes and hashes, never times.

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wholeness;

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// How a file stands to what was written there last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    Same,
    /// An earlier version of ours, because a write did not get there: to be written again.
    Leftover,
    Missing,
    /// It is in a place that the session has left: its files are read in another one.
    Moved,
    /// It cannot be opened, is too large, or is no file: nobody knows what is in it, and it is left alone.
    Unreadable,
    /// Somebody left it empty or unreadable: not an edit.
    Damaged,
    /// A part that could not be read before either: nobody knows what was in it, and it is left alone.
    NeverRead,
    Edited,
    /// Shared with other sessions, and only what is theirs has changed.
    OfOthers,
    /// Shared with other sessions, and a write of this session's part did not get there.
    Behind,
}

/// What a file is for, to the session that it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    State,
    /// One of several files that hold a session's items: somebody may add one.
    Part,
    /// Several sessions have a part in it.
    Shared,
    /// A new session's folder starts with it; from then on it is its users' own.
    Initial,
    /// It means something by existing: whether it is to exist.
    Marker {
        is_on: bool,
    },
}

/// What stands at a file's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum There<'a> {
    Bytes(&'a [u8]),
    Nothing,
    /// A folder above it cannot be looked into.
    Hidden,
    /// A folder, a link, too large, or not to be opened.
    Unusable,
}

/// What the journal has of our last write of a file.
#[derive(Debug, Clone, Copy)]
pub struct Wrote<'a> {
    pub hash: &'a str,
    /// Of a shared file that is confirmed: the session's part alone.
    pub body: &'a [u8],
    /// What an edit of the version before is told from; empty when nothing was there.
    pub previous: &'a [u8],
    /// Hashes of what was there before and is known, the newest last.
    pub earlier: &'a [String],
    /// It is known to have reached its place.
    pub confirmed: bool,
}

/// What a write was about to put into the file last, until what came out of it is dealt with.
#[derive(Debug, Clone, Copy)]
pub struct Put<'a> {
    pub hash: &'a str,
    /// The hash of what is to come out.
    pub expected: &'a str,
    /// The hash of what it was put for: in a shared file, other sessions' parts are added to it.
    pub row: &'a str,
    /// The session whose write it was.
    pub by: &'a str,
}

/// The backup as it was when it became that.
#[derive(Debug, Clone, Copy)]
pub struct Noted<'a> {
    pub length: usize,
    pub hash: &'a str,
    /// The file that is there now is the one that became the backup; None where the system cannot tell files apart.
    pub is_same_file: Option<bool>,
}

/// All that is known about one file.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub session: &'a str,
    pub role: Role,
    /// The file is in a place that the session has left.
    pub is_left: bool,
    /// The machine has not started anew since our last write.
    pub same_boot: bool,
    pub there: There<'a>,
    pub wrote: Option<Wrote<'a>>,
    /// What waits beside the file: ours on its way in, or what came out.
    pub waiting: Option<&'a [u8]>,
    pub put: Option<Put<'a>>,
    pub backup: Option<&'a [u8]>,
    pub noted: Option<Noted<'a>>,
}

/// How the file's format is read and merged.
pub trait Own {
    /// The session's part of a shared file; None for a file that is all its own.
    fn part(&self, bytes: &[u8]) -> Option<Vec<u8>>;
    /// It can be read at all.
    fn is_whole(&self, bytes: &[u8]) -> bool;
    /// `onto` with what differs between `base` and `theirs`.
    fn onto(&self, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8>;
}

/// An edit that is in no file any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slip {
    pub bytes: Vec<u8>,
    /// What its writer had before them.
    pub before: Vec<u8>,
}

/// Which bytes count as being in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    There,
    /// The edit that waits beside it: our own write, which did not know of it, took it out.
    CameOut,
}

/// What an edit is told from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    Written,
    /// Our last write had not arrived when the edit was made.
    Previous,
}

/// What is to become of the file that waits beside another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    Nothing,
    Remove,
    BecomesBackup,
    /// An edit, for this session to take in.
    TakeIn(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub state: FileState,
    pub counts: Counts,
    pub base: Base,
    /// The earlier first.
    pub slips: Vec<Slip>,
    pub waiting: Waiting,
}

impl Verdict {
    fn of(state: FileState) -> Self {
        Self {
            state,
            counts: Counts::There,
            base: Base::Written,
            slips: Vec::new(),
            waiting: Waiting::Nothing,
        }
    }
}

/// Judges one file.
pub fn verdict(evidence: &Evidence<'_>, own: &dyn Own) -> Verdict {
    let Some(wrote) = evidence.wrote else { return Verdict::of(state_of_new(evidence, own)) };
    if let Role::Marker { is_on } = evidence.role {
        return Verdict::of(state_of_marker(evidence.there, is_on, wrote.confirmed));
    }
    let came_out = came_out(evidence, &wrote);
    let judged = Judged {
        evidence,
        wrote,
        own,
        beside: beside(evidence, &wrote),
        counted: came_out.map_or(evidence.there, There::Bytes),
    };
    let (state, base) = judged.state();
    Verdict {
        state,
        counts: if came_out.is_some() { Counts::CameOut } else { Counts::There },
        base,
        slips: judged.slips(),
        waiting: waiting(evidence),
    }
}

/// What is to become of the file that waits beside this one. The evidence has what we wrote.
pub fn waiting(evidence: &Evidence<'_>) -> Waiting {
    let Some(wrote) = evidence.wrote else { return Waiting::Nothing };
    match beside(evidence, &wrote) {
        Beside::Nothing => Waiting::Nothing,
        Beside::Ours => Waiting::Remove,
        Beside::VersionBefore => Waiting::BecomesBackup,
        Beside::CameOut { by, .. } => Waiting::TakeIn(by.to_owned()),
        // Cut off while we wrote it, or left by a crash before the exchange.
        Beside::Unknown(bytes) if hash(bytes) == wrote.hash || wrote.body.starts_with(bytes) => {
            Waiting::Remove
        }
        Beside::Unknown(bytes) if wrote.knows(bytes) => Waiting::BecomesBackup,
        Beside::Unknown(_) => Waiting::TakeIn(evidence.session.to_owned()),
    }
}

/// Lines that came to the backup of a shared file since it became that: its writer had it open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Late {
    pub lines: Vec<u8>,
    /// How the first of them began at that time; empty where it is a new one.
    cut_off: Vec<u8>,
}

impl Late {
    /// A file without the beginning of a line that is complete by now.
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
    // Its writer may have been in the middle of a line.
    let from = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    Some(Late { lines: bytes[from..].to_vec(), cut_off: before[from..].to_vec() })
}

/// The backup, if somebody wrote into it since it became that.
pub fn changed_backup<'a>(evidence: &Evidence<'a>) -> Option<&'a [u8]> {
    let (noted, bytes) = (evidence.noted?, evidence.backup?);
    (hash(bytes) != noted.hash).then_some(bytes)
}

/// A backup that somebody else made. Where files cannot be told apart, what is in it tells.
pub fn others_backup<'a>(evidence: &Evidence<'a>) -> Option<&'a [u8]> {
    let bytes = evidence.backup.filter(|bytes| !bytes.is_empty())?;
    let is_noted =
        evidence.noted.is_some_and(|noted| noted.hash == hash(bytes) || noted.is_same_file == Some(true));
    let is_ours = is_noted || evidence.wrote.is_some_and(|wrote| wrote.is_ours(bytes));
    (!is_ours).then_some(bytes)
}

pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl Wrote<'_> {
    /// It was there before what we wrote.
    fn knows(&self, bytes: &[u8]) -> bool {
        bytes == self.previous || self.earlier.contains(&hash(bytes))
    }

    fn is_ours(&self, bytes: &[u8]) -> bool {
        self.knows(bytes) || hash(bytes) == self.hash
    }
}

/// What waits beside a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside<'a> {
    Nothing,
    /// Our bytes: about to be put there, or left by a crash before they were.
    Ours,
    /// What was there before them.
    VersionBefore,
    /// Somebody's edit that came out by this session's write. Nobody has changed the file since, or somebody has.
    CameOut {
        by: &'a str,
        bytes: &'a [u8],
        is_edited_since: bool,
    },
    /// The journal has nothing about it.
    Unknown(&'a [u8]),
}

fn beside<'a>(evidence: &Evidence<'a>, wrote: &Wrote<'_>) -> Beside<'a> {
    let Some(bytes) = evidence.waiting else { return Beside::Nothing };
    let Some(put) = evidence.put else { return Beside::Unknown(bytes) };
    let own = hash(bytes);
    if own == put.hash {
        return Beside::Ours;
    }
    // An edit that was taken in is about to become the backup.
    if own == put.expected || wrote.earlier.contains(&own) {
        return Beside::VersionBefore;
    }
    let is_edited_since = match evidence.there {
        There::Bytes(there) => hash(there) != put.hash,
        There::Nothing | There::Hidden | There::Unusable => true,
    };
    Beside::CameOut { by: put.by, bytes, is_edited_since }
}

/// The edit that our own write took out of the file, if nobody has changed the file since.
fn came_out<'a>(evidence: &Evidence<'a>, wrote: &Wrote<'_>) -> Option<&'a [u8]> {
    match beside(evidence, wrote) {
        Beside::CameOut { by, bytes, is_edited_since: false } if by == evidence.session => Some(bytes),
        Beside::CameOut { .. }
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

/// A file that we never wrote.
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

/// A file that we wrote, with what waits beside it and what counts as being in it.
struct Judged<'a> {
    evidence: &'a Evidence<'a>,
    wrote: Wrote<'a>,
    own: &'a dyn Own,
    beside: Beside<'a>,
    counted: There<'a>,
}

impl Judged<'_> {
    fn state(&self) -> (FileState, Base) {
        // Where it once was, another session of that name may be by now.
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
        // It was looked at and taken in when ours was decided: it only waits to be written over.
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

    /// Something was there before our last write, and is to be written over still.
    fn is_on_its_way(&self) -> bool {
        !self.wrote.confirmed && !self.wrote.previous.is_empty() && !self.has_arrived()
    }

    /// Our bytes have been in the file's place, though nothing confirms it: what was there before them waits to become
    /// the backup, or is that, or somebody changed ours there. Judged by what this very write was to take the place of:
    /// the traces of an earlier write say nothing about this one.
    fn has_arrived(&self) -> bool {
        let was_put = self.evidence.put.is_some_and(|put| put.row == self.wrote.hash);
        match self.beside {
            Beside::Ours | Beside::CameOut { is_edited_since: false, .. } => false,
            Beside::VersionBefore | Beside::CameOut { is_edited_since: true, .. } => was_put,
            Beside::Unknown(bytes) => bytes == self.wrote.previous,
            Beside::Nothing => {
                self.evidence.noted.is_some_and(|noted| noted.hash == hash(self.wrote.previous))
            }
        }
    }

    fn is_shared(&self) -> bool {
        self.evidence.role == Role::Shared
    }

    /// Edits that came out of the file, or went into its backup, and are in neither's successor.
    fn slips(&self) -> Vec<Slip> {
        let had_one_before =
            !self.wrote.previous.is_empty() || (self.is_shared() && !self.wrote.earlier.is_empty());
        let found = self.written_on().into_iter().chain(self.slipped());
        let found = found.filter(|bytes| had_one_before && self.counted != There::Bytes(bytes));
        let slip = |bytes: &[u8]| Slip { bytes: bytes.to_vec(), before: self.before_waiting() };
        let slips: Vec<Slip> = found.map(slip).collect();
        if slips.is_empty() { self.late_slip().into_iter().collect() } else { slips }
    }

    /// What waits and is an edit. One that came out by another session's write is that session's to take in: it knows
    /// what was there before.
    fn slipped(&self) -> Option<&[u8]> {
        match self.beside {
            Beside::CameOut { by, bytes, is_edited_since: true } if by == self.evidence.session => {
                Some(bytes)
            }
            Beside::Unknown(bytes) if !self.wrote.confirmed && self.wrote.body.starts_with(bytes) => None,
            Beside::Unknown(bytes) if !self.wrote.is_ours(bytes) => Some(bytes),
            Beside::CameOut { .. }
            | Beside::Unknown(_)
            | Beside::Nothing
            | Beside::Ours
            | Beside::VersionBefore => None,
        }
    }

    /// The backup, if somebody who had it open wrote into it. That of a shared file may be any session's.
    fn written_on(&self) -> Option<&[u8]> {
        let is_same_file = self.evidence.noted.is_some_and(|noted| noted.is_same_file == Some(true));
        let bytes = changed_backup(self.evidence).filter(|_| is_same_file && !self.is_shared())?;
        Some(bytes).filter(|bytes| self.own.is_whole(bytes) && !self.wrote.is_ours(bytes))
    }

    /// What somebody had before them who wrote what now waits beside the file.
    fn before_waiting(&self) -> Vec<u8> {
        let is_known_in_part = self.wrote.confirmed && self.is_shared();
        let before = if is_known_in_part { self.evidence.backup } else { Some(self.wrote.previous) };
        before.unwrap_or_default().to_vec()
    }

    /// What somebody added to the backup of a shared file, as if they had added it to what we know.
    fn late_slip(&self) -> Option<Slip> {
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
        Some(Slip { bytes: [before, end, &late.lines].concat(), before: before.to_vec() })
    }
}
