//! Chooses the session. Pure: rules in order of precedence, over candidates that the caller looks up. Each
//! candidate is requested only when needed, because some require reading files.

use crate::engine::Want;
use model::id::SessionId;
use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

/// The source of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Named on the command line.
    Flag,
    /// Bound to the asking agent.
    Binding,
    /// The active one of this worktree in the log, or else the most recently used.
    Worktree,
    /// The active one of this worktree in the log.
    ActiveHere,
    /// Active according to files, against the log.
    ActiveInFiles,
    /// Known only from files, which call it active.
    ForeignActive,
    /// The session to which its tool moved on since the worktree's was last used.
    ContinuedInFiles,
    /// Unfinished according to its files.
    UnfinishedInFiles,
    /// Last paused or failed, in the log or only in files.
    Waiting,
    /// Active in the log, but paused in its files.
    WaitingInFiles,
}

impl Source {
    /// True if such a session waits to be resumed.
    pub(crate) fn waits(self) -> bool {
        matches!(self, Self::Waiting | Self::WaitingInFiles | Self::UnfinishedInFiles)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) id: SessionId,
    /// It is unfinished.
    pub(crate) is_open: bool,
}

/// The candidates so far.
pub(crate) type Candidates = BTreeMap<Source, Option<Candidate>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Meant(SessionId, Source),
    Nobody,
    /// This candidate is needed and not looked up yet.
    Ask(Source),
}

/// The condition of a source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// Its session is unfinished.
    Open,
    /// The worktree's session is unfinished.
    WorktreeOpen,
    /// There is none, or it is finished.
    WorktreeOver,
}

const LATEST: &[(Source, When)] = &[
    (Source::Flag, When::Always),
    (Source::Binding, When::Open),
    (Source::ActiveInFiles, When::Always),
    (Source::ContinuedInFiles, When::WorktreeOpen),
    (Source::UnfinishedInFiles, When::WorktreeOver),
    (Source::Worktree, When::Always),
    (Source::Binding, When::Always),
];

/// If the last session is finished, an older waiting one is not meant.
const UNFINISHED: &[(Source, When)] = &[
    (Source::Flag, When::Always),
    (Source::Binding, When::Open),
    (Source::ActiveInFiles, When::Always),
    (Source::ContinuedInFiles, When::WorktreeOpen),
    (Source::UnfinishedInFiles, When::WorktreeOver),
    (Source::Worktree, When::Open),
];

const RESUMABLE: &[(Source, When)] = &[
    (Source::Flag, When::Always),
    (Source::Binding, When::Open),
    (Source::ActiveHere, When::Always),
    (Source::ForeignActive, When::Always),
    (Source::Waiting, When::Always),
    (Source::WaitingInFiles, When::Always),
    (Source::UnfinishedInFiles, When::Always),
];

pub(crate) fn choose(want: Want, known: &Candidates) -> Choice {
    let rules = match want {
        Want::Latest => LATEST,
        Want::Unfinished => UNFINISHED,
        Want::Resumable => RESUMABLE,
    };
    for (source, when) in rules {
        if matches!(when, When::WorktreeOpen | When::WorktreeOver) {
            let Some(worktree) = known.get(&Source::Worktree) else { return Choice::Ask(Source::Worktree) };
            let is_open = worktree.as_ref().is_some_and(|worktree| worktree.is_open);
            if is_open != (*when == When::WorktreeOpen) {
                continue;
            }
        }
        let Some(found) = known.get(source) else { return Choice::Ask(*source) };
        if let Some(found) = found.as_ref().filter(|found| *when != When::Open || found.is_open) {
            return Choice::Meant(found.id.clone(), *source);
        }
    }
    Choice::Nobody
}
