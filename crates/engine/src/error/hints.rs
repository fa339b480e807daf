//! What to do next, for everything that can go wrong.

use super::{Choice, Error, WorkflowPlace};
use model::refusal::WayOn;

impl Error {
    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::RefusedInOwnWords { refusal, .. } => refusal.hint(),
            Self::NoProject { .. } => {
                "begin here with: leftoff start, or name a project: --project DIR".to_owned()
            }
            Self::NoStore { .. } => "begin with: leftoff start".to_owned(),
            Self::NoSession { .. } => {
                "begin with: leftoff start; go on with one that waits: leftoff resume; or name one: --session ID".to_owned()
            }
            Self::NothingPaused { .. } => {
                "see what there is: leftoff list --all; begin with: leftoff start".to_owned()
            }
            Self::NothingActive { paused, .. } => nothing_active_hint(paused),
            Self::UnknownSession { nearest, .. } => unknown_session_hint(nearest.as_deref()),
            Self::AmbiguousSession { candidates, .. } => ambiguous_session_hint(candidates),
            Self::InvalidSessionId { .. } => {
                "leave --id out to be given one, or use letters, digits, '-', '_' and '.'".to_owned()
            }
            Self::InvalidWorkflowName { asked, .. } => invalid_workflow_hint(asked),
            Self::IdTaken { existing, way_on } => id_taken_hint(existing, *way_on),
            Self::StillInFiles { .. } => "take it out of them by hand, then purge again".to_owned(),
            Self::UnknownWorkflow { asked, nearest, known, place } => {
                unknown_workflow_hint(asked, nearest.as_deref(), known, *place)
            }
            Self::NoWorkflowsOf { asked, file, folders, .. } => format!(
                "one is a folder {} with a {file} in it; it was looked for in {}",
                asked.as_deref().unwrap_or("NAME"),
                folders.join(", ")
            ),
            Self::NeedsTarget { workflow, layout, .. } => format!(
                "name what it is about, below the project: leftoff start {workflow} --layout {layout} --target PATH"
            ),
            Self::BadDefinition { .. } => "mend the definition, then see: leftoff workflow check".to_owned(),
            Self::AlreadyThere { .. } => "edit it, or choose another name".to_owned(),
            Self::ListedAlready { .. } => "nothing was written; choose another folder".to_owned(),
            Self::BadConfig { .. } => "mend the file; leftoff doctor checks it".to_owned(),
            Self::KeyUsed { .. } => "use a new key for a new command".to_owned(),
            Self::TooLong { .. } => "put long text into a file and name the file".to_owned(),
            Self::FileTooLong { .. } => FILE_TOO_LONG_HINT.to_owned(),
            Self::NothingFinished { elsewhere, .. } if elsewhere.is_empty() => {
                "nothing is there to reopen; what goes on: leftoff list; begin with: leftoff start".to_owned()
            }
            Self::NothingFinished { elsewhere, .. } => {
                format!("finished in other worktrees: {}; name one: leftoff reopen ID", elsewhere.join(", "))
            }
            Self::NotASession { instead: hint, .. }
            | Self::WrongUsage { hint, .. }
            | Self::NotSupported { hint, .. }
            | Self::NeedsAnswer { hint, .. }
            | Self::FolderGone { hint, .. }
            | Self::BadBundle { hint, .. } => hint.clone(),
            Self::NeedsChoice { choices, .. } => choose(choices),
            Self::ActiveAlready { session, active, .. } => format!(
                "undoing changes one session and pauses no other; go on with it: leftoff switch {session}, or pause {active} first"
            ),
            Self::NotPurgeable { .. } => "name a longer part of the text around it".to_owned(),
            Self::Diverged { session, .. } => format!(
                "nothing was changed; work went on in both places: see leftoff log {session} and go on with one of them"
            ),
            Self::FilesElsewhere { session, worktree } => files_elsewhere_hint(session, worktree),
            Self::CameAlong { session, worktree, is_here } => came_along_hint(session, worktree, *is_here),
            Self::ActiveElsewhere { session, agent, .. } => format!(
                "{agent} works on it there; pause it first (leftoff pause --session {session}), or begin your own: leftoff start"
            ),
            Self::NeedsAPerson { has_policy: false, .. } => {
                "ask a person to run this command in a terminal".to_owned()
            }
            Self::NeedsAPerson { has_policy: true, .. } => {
                "ask a person to run this command in a terminal; `[policy]` in .leftoff/config.toml can allow it to anyone".to_owned()
            }
            Self::MovedMeanwhile { .. } => {
                "nothing was changed; see where it stands: leftoff status".to_owned()
            }
            Self::NothingFailed { phase } => format!("complete it with: leftoff advance --phase {phase}"),
            Self::UnknownCheck { known, .. } if known.is_empty() => {
                "nothing in it waits for approval now; what does: leftoff gate".to_owned()
            }
            Self::UnknownCheck { known, .. } => format!("these wait for it: {}", known.join(", ")),
            Self::Contended | Self::FileBusy { .. } => {
                "nothing was changed; run the command again".to_owned()
            }
            Self::Store(error) => store_hint(error),
            Self::Io { source, .. } => io_hint(source).to_owned(),
            Self::BrokenLog { .. } => "see what is wrong: leftoff doctor".to_owned(),
            Self::BrokenFile { .. } => BROKEN_FILE_HINT.to_owned(),
            Self::NoOverride { .. } => "meet what it asks for: leftoff gate".to_owned(),
            Self::NothingKnown { path, .. } => nothing_known_hint(path),
            Self::UnknownRequirement { nearest, known, .. } => {
                unknown_requirement_hint(nearest.as_deref(), known)
            }
            Self::NoAgentSession => {
                "name one: --agent-session ID; those that were seen: leftoff list --agents".to_owned()
            }
            Self::NoRequirementsHere { .. } => {
                "requirements are kept for a branch of a git repository: check one out".to_owned()
            }
        };
        Some(hint)
    }
}

fn invalid_workflow_hint(asked: &str) -> String {
    if asked.contains(' ') {
        format!("what is to be reached is the goal: leftoff start --goal {asked:?}")
    } else {
        "use letters, digits, '-' and '_'".to_owned()
    }
}

fn id_taken_hint(existing: &str, way_on: WayOn) -> String {
    match way_on {
        WayOn::Resume => format!("go on with it: leftoff resume {existing}, or choose another --id"),
        WayOn::NextRun => {
            format!("begin its next round: leftoff round --session {existing}, or choose another --id")
        }
        WayOn::NewSession => "choose another --id".to_owned(),
    }
}

fn nothing_active_hint(paused: &[String]) -> String {
    match paused.first() {
        Some(first) => format!(
            "go on with one: leftoff resume {first}; or say more about why it waits: leftoff pause --session {first} --reason TEXT"
        ),
        None => "see what there is: leftoff list --all".to_owned(),
    }
}

const FILE_TOO_LONG_HINT: &str = "nothing was changed; put long text into files of their own and name them";
const BROKEN_FILE_HINT: &str =
    "look at the file; the next change keeps it under another name and begins a new one";

fn nothing_known_hint(path: &str) -> String {
    format!("nothing was written: mend the file or put a copy of it back, or move {path} away")
}

fn unknown_session_hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(name) => format!("did you mean '{name}'? See what there is: leftoff list --all"),
        None => "see what there is: leftoff list --all".to_owned(),
    }
}

fn ambiguous_session_hint(candidates: &[String]) -> String {
    match candidates.first() {
        Some(first) => format!("give more letters of the id, for example: --session {first}"),
        None => "give more letters of the id: leftoff list --all".to_owned(),
    }
}

fn unknown_workflow_hint(
    asked: &str,
    nearest: Option<&str>,
    known: &[String],
    place: WorkflowPlace,
) -> String {
    let known = known.join(", ");
    let new = match place {
        WorkflowPlace::OursAndDefinedFor(layout) => {
            return format!("another tool's sessions follow it: leftoff start {asked} --layout {layout}");
        }
        WorkflowPlace::Ours => "leftoff workflow new NAME".to_owned(),
        WorkflowPlace::Theirs(folder) => format!("{folder}/NAME"),
    };
    match nearest {
        Some(name) => format!("did you mean '{name}'? There are {known}"),
        None => format!("there are {known}; write your own: {new}"),
    }
}

/// What stands in the way is the system's to say; what a person can do about it follows from its kind.
fn io_hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "make it readable and writable for this user, then run the command again"
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "make room, then run the command again"
        }
        std::io::ErrorKind::NotFound => "make sure that it is there, then run the command again",
        // The system's kinds are not ours to name one by one.
        _ => "see what is wrong: leftoff doctor; then run the command again",
    }
}

/// A command for each, on a line of its own.
fn choose(choices: &[Choice]) -> String {
    let commands = choices.iter().map(|choice| format!("\n  {}", choice.command));
    format!("choose one:{}", commands.collect::<String>())
}

fn store_hint(error: &store::Error) -> String {
    match error {
        store::Error::Conflict { .. }
        | store::Error::ActiveTaken { .. }
        | store::Error::KeyTaken
        | store::Error::IdTaken { .. } => "nothing was changed; run the command again".to_owned(),
        store::Error::Busy { .. } => {
            "nothing was changed; see who holds the lock (fuser -v on the .lock file beside the database), then run the command again".to_owned()
        }
        store::Error::Missing { .. } => "begin with: leftoff start".to_owned(),
        store::Error::NotADatabase { .. } => {
            "nothing was changed; move the file away, or take a copy back that leftoff store backup made".to_owned()
        }
        store::Error::Newer { .. } => "nothing was changed; use the newer leftoff".to_owned(),
        store::Error::ReadOnly { .. } => {
            "nothing was changed; queries still work; make the folder writable for this user".to_owned()
        }
        store::Error::Full { .. } => "nothing was changed; make room, then run the command again".to_owned(),
        store::Error::Unknown { .. } => {
            "look before you repeat it: leftoff log; with --key the same command can be run again safely".to_owned()
        }
        store::Error::Io { .. } | store::Error::Engine { .. } => "see what is wrong: leftoff doctor".to_owned(),
    }
}

fn files_elsewhere_hint(session: &str, worktree: &str) -> String {
    let there = crate::words::shell_word(worktree);
    format!(
        "go on with it there: leftoff resume {session} --project {there}; or begin one here: leftoff start"
    )
}

fn came_along_hint(session: &str, worktree: &str, is_here: bool) -> String {
    if is_here {
        format!("nothing was changed; its files are here: go on with it here with leftoff resume {session}")
    } else {
        format!("nothing was changed; bring them back, or work on it where they are: {worktree}")
    }
}

fn unknown_requirement_hint(nearest: Option<&str>, known: &[String]) -> String {
    match (nearest, known) {
        (Some(name), _) => format!("did you mean '{name}'? See what there is: leftoff req list"),
        (None, []) => {
            "nothing is required here: see .claude/requirements.yaml and `[requirement.*]` of the workflow"
                .to_owned()
        }
        (None, known) => format!("there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn whatever_the_system_refuses_there_is_something_to_do() {
        for (kind, expected) in [
            (ErrorKind::PermissionDenied, "make it readable and writable"),
            (ErrorKind::StorageFull, "make room"),
            (ErrorKind::NotFound, "make sure that it is there"),
            (ErrorKind::Other, "leftoff doctor"),
        ] {
            let hint = Error::io("reading x", kind.into()).hint().unwrap_or_default();
            assert!(hint.contains(expected), "{kind}: {hint}");
        }
    }

    #[test]
    fn an_id_that_could_be_several_is_answered_with_one_that_is_whole() {
        let candidates = vec!["k3v9x2mp".to_owned(), "k3v8aaaa".to_owned()];
        let hint = Error::AmbiguousSession { asked: "k3".to_owned(), candidates }.hint();
        assert_eq!(hint.as_deref(), Some("give more letters of the id, for example: --session k3v9x2mp"));
    }
}
