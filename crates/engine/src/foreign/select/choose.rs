//! Chooses the session that a command uses. Pure: a list of rules, in order of precedence, over candidates. The caller
//! looks up a candidate only when a rule needs it, because some require reading files.

use crate::engine::Want;
use model::id::SessionId;
use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

/// Where a candidate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The session that the command line names.
    Flag,
    /// The session on which the asking agent works.
    Binding,
    /// The session of this worktree according to the log: the active one, or else the one used last.
    Worktree,
    /// The session of this worktree that is active according to the log.
    ActiveHere,
    /// The session that is active according to files, although the log says otherwise.
    ActiveInFiles,
    /// A session that is known only from files, which call it active.
    ForeignActive,
    /// The session with which a tool continued after the worktree's session was last used.
    ContinuedInFiles,
    /// A session that is unfinished according to its files.
    UnfinishedInFiles,
    /// The session that was paused or failed last, in the log or only in files.
    Waiting,
    /// A session that is active in the log but paused in its files.
    WaitingInFiles,
}

impl Source {
    /// True if sessions from this source wait to be resumed.
    pub(crate) fn waits(self) -> bool {
        matches!(self, Self::Waiting | Self::WaitingInFiles | Self::UnfinishedInFiles)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) id: SessionId,
    /// True if the session is unfinished.
    pub(crate) is_open: bool,
}

/// The candidates that were looked up. `None` means that the source has no session.
pub(crate) type Candidates = BTreeMap<Source, Option<Candidate>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Meant(SessionId, Source),
    Nobody,
    /// The source of the next candidate that the caller must look up.
    Ask(Source),
}

/// When a source is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// Only if the source's session is unfinished.
    Open,
    /// Only if the worktree's session is unfinished.
    WorktreeOpen,
    /// Only if the worktree has no session, or a finished one.
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

/// The rules for commands that need an unfinished session. Even if the last session is finished, older paused sessions
/// are not used.
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
