//! The hint of every error: what to do next.

use super::{Choice, Error, WorkflowPlace};
use crate::policy::PolicyHelps;
use model::hint::Hint;
use model::refusal::WayOn;
use model::words;

impl Error {
    /// Returns hints about sessions that other machines have.
    fn hint_of_sharing(&self) -> Option<Hint> {
        match self {
            Self::ReadOnlyFork { fork, .. } => {
                Some(Hint::new("merge the fork: ").run(words!["sync", "resolve", fork]))
            }
            Self::OnAnotherMachine { session, .. } => {
                Some(Hint::new("continue the session here: ").run(words!["resume", session]))
            }
            Self::ActiveOnAnotherMachine { session, .. } => Some(
                Hint::new(
                    "pause the session there and sync; or take the session over, which only a person can: ",
                )
                .run(words!["resume", session, "--take"]),
            ),
            _ => None,
        }
    }

    /// Returns the next step after this error, if there is one.
    pub fn hint(&self) -> Option<Hint> {
        let hint = match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::RefusedInOwnWords { refusal, .. } => refusal.hint(),
            Self::NoProject { .. } => Hint::new("start a session here: ")
                .run(words!["start"])
                .then(", or name a project: --project DIR"),
            Self::NoStore { .. } => Hint::new("start a session: ").run(words!["start"]),
            Self::NoSession { .. } => Hint::new("start a session: ")
                .run(words!["start"])
                .then("; resume a paused session: ")
                .run(words!["resume"])
                .then("; or name a session: --session ID"),
            Self::OnlyFinished { session } => {
                Hint::new(format!("if you mean that one, add --session {session}; or start a session: "))
                    .run(words!["start"])
            }
            Self::NothingPaused { .. } | Self::NoSessionOfBranch { .. } => Hint::new("see all sessions: ")
                .run(words!["list", "--all"])
                .then("; start a session: ")
                .run(words!["start"]),
            Self::NothingActive { paused, .. } => nothing_active_hint(paused),
            Self::UnknownSession { nearest, .. } => unknown_session_hint(nearest.as_deref()),
            Self::AmbiguousSession { candidates, .. } => ambiguous_session_hint(candidates),
            Self::InvalidSessionId { .. } => {
                "omit --id to get one assigned, or use letters, digits, '-', '_' and '.'".into()
            }
            Self::InvalidWorkflowName { asked, .. } => invalid_workflow_hint(asked),
            Self::IdTaken { existing, run: Some(run), .. } => {
                Hint::new("start the workflow in that session: ")
                    .run(words!["run", "start", run, "--session", existing])
                    .then(", or choose another --id")
            }
            Self::IdTaken { existing, way_on, run: None } => id_taken_hint(existing, *way_on),
            Self::StillInFiles { .. } => "remove the text from these files by hand, then purge again".into(),
            Self::UnknownWorkflow { asked, nearest, known, place } => {
                unknown_workflow_hint(asked, nearest.as_deref(), known, *place)
            }
            Self::NoWorkflowsOf { asked, file, folders, .. } => {
                no_workflows_hint(asked.as_deref(), file, folders)
            }
            Self::NeedsTarget { workflow, layout, .. } => {
                Hint::new("name the session's target, a path in the project: ")
                    .run(words!["start", workflow, "--layout", layout, "--target", "PATH"])
            }
            Self::BadDefinition { .. } => {
                Hint::new("fix the definition, then check it: ").run(words!["workflow", "check"])
            }
            Self::AlreadyThere { .. } => "nothing was written; choose another name".into(),
            Self::ListedAlready { .. } => "nothing was written; choose another folder".into(),
            Self::BadConfig { .. } => "fix the file; leftoff doctor checks it".into(),
            Self::KeyUsed { .. } => "use a new key for a new command".into(),
            Self::TooLong { .. } => "put long text into a file, and refer to the file".into(),
            Self::FileTooLong { .. } => FILE_TOO_LONG_HINT.into(),
            Self::NothingFinished { elsewhere, .. } => nothing_finished_hint(elsewhere),
            Self::NotASession { instead: hint, .. }
            | Self::WrongUsage { hint, .. }
            | Self::Sharing { hint, .. }
            | Self::NotSupported { hint, .. }
            | Self::NeedsAnswer { hint, .. }
            | Self::FolderGone { hint, .. }
            | Self::BadBundle { hint, .. } => hint.clone(),
            Self::NeedsChoice { choices, .. } => choose(choices),
            Self::ActiveAlready { session, active, .. } => active_already_hint(session, active),
            Self::NotPurgeable { .. } => "include more of the surrounding text".into(),
            Self::Diverged { session, .. } => diverged_hint(session),
            Self::FilesElsewhere { session, worktree } => files_elsewhere_hint(session, worktree),
            Self::CameAlong { session, worktree, is_here } => came_along_hint(session, worktree, *is_here),
            Self::ActiveElsewhere { session, agent, .. } => active_elsewhere_hint(session, agent),
            Self::ReadOnlyFork { .. }
            | Self::OnAnotherMachine { .. }
            | Self::ActiveOnAnotherMachine { .. } => return self.hint_of_sharing(),
            Self::NeedsAPerson { policy, .. } => person_hint(*policy),
            Self::FilesChanged { .. } => "look at the files again, then approve".into(),
            Self::MovedMeanwhile { .. } => {
                Hint::new("nothing was changed; see the session's state: ").run(words!["status"])
            }
            Self::NothingFailed { phase } | Self::ProvedByPhase { phase, .. } => {
                Hint::new("complete the phase: ").run_here(words!["advance", "--phase", phase])
            }
            Self::UnknownCheck { known, .. } => unknown_check_hint(known),
            Self::CopyRefused { .. } => "nothing was changed; name a store that is empty".into(),
            Self::Contended | Self::FileBusy { .. } => "nothing was changed; run the command again".into(),
            Self::Store(error) => store_hint(error),
            Self::Io { source, .. } => io_hint(source),
            Self::BrokenLog { .. } => Hint::new("see what is wrong: ").run(words!["doctor"]),
            Self::BrokenFile { .. } => BROKEN_FILE_HINT.into(),
            Self::Unsigned(why) => why.hint(),
            Self::NotRestored(why) => why.hint(),
            Self::NoOverride { .. } => Hint::new("see what the gate needs: ").run_here(words!["gate"]),
            Self::NothingKnown { path, .. } => nothing_known_hint(path),
            Self::UnknownRequirement { nearest, known, .. } => {
                unknown_requirement_hint(nearest.as_deref(), known)
            }
            Self::NoAgentSession => {
                Hint::new("name an agent session: --agent-session ID; see the known agent sessions: ")
                    .run(words!["list", "--agents"])
            }
            Self::NoRequirementsHere { .. } => NO_REQUIREMENTS_HINT.into(),
        };
        Some(hint)
    }
}

fn active_already_hint(session: &str, active: &str) -> Hint {
    Hint::new(format!("undo pauses no other session; switch to session {session} instead: "))
        .run(words!["switch", session])
        .then(format!(", or pause {active} first"))
}

fn diverged_hint(session: &str) -> Hint {
    Hint::new("nothing was changed; both the bundle and this project have new work; see ")
        .run(words!["log", session])
        .then(", and continue with one of the two")
}

fn invalid_workflow_hint(asked: &str) -> Hint {
    if asked.contains(' ') {
        Hint::new("this looks like a goal: ").run(words!["start", "--goal", asked])
    } else {
        "use letters, digits, '-' and '_'".into()
    }
}

fn id_taken_hint(existing: &str, way_on: WayOn) -> Hint {
    match way_on {
        WayOn::Resume => Hint::new("continue the session: ")
            .run(words!["resume", existing])
            .then(", or choose another --id"),
        WayOn::NextRun | WayOn::Reopen => Hint::new("start the session's next round: ")
            .run(words!["round", "--session", existing])
            .then(", or choose another --id"),
        WayOn::NewSession => "choose another --id".into(),
    }
}

fn active_elsewhere_hint(session: &str, agent: &str) -> Hint {
    Hint::new(format!("{agent} is working on the session there; pause the session first ("))
        .run(words!["pause", "--session", session])
        .then("), start your own (")
        .run(words!["start"])
        .then("), or take the session over, which only a person can: ")
        .run(words!["resume", session, "--take"])
}

fn no_workflows_hint(asked: Option<&str>, file: &str, folders: &[&str]) -> Hint {
    let name = asked.unwrap_or("NAME");
    format!("a workflow is a folder {name} with a {file}, in {}", folders.join(", ")).into()
}

fn nothing_active_hint(paused: &[String]) -> Hint {
    match paused.first() {
        Some(first) => Hint::new("resume a session: ")
            .run(words!["resume", first])
            .then("; or update the reason of the pause: ")
            .run(words!["pause", "--session", first, "--reason", "TEXT"]),
        None => Hint::new("see all sessions: ").run(words!["list", "--all"]),
    }
}

const FILE_TOO_LONG_HINT: &str = "nothing was changed; put long text into separate files, and refer to them";
const NO_REQUIREMENTS_HINT: &str = "requirements belong to a branch of a git repository: check one out";
const BROKEN_FILE_HINT: &str = "check the file; the next change renames it and starts a new one";

fn nothing_known_hint(path: &str) -> Hint {
    format!("nothing was written; fix the file, restore a copy of it, or move {path} away").into()
}

fn unknown_session_hint(nearest: Option<&str>) -> Hint {
    match nearest {
        Some(name) => {
            Hint::new(format!("did you mean '{name}'? See all sessions: ")).run(words!["list", "--all"])
        }
        None => Hint::new("see all sessions: ").run(words!["list", "--all"]),
    }
}

fn ambiguous_session_hint(candidates: &[String]) -> Hint {
    match candidates.first() {
        Some(first) => format!("give more of the id, for example: --session {first}").into(),
        None => Hint::new("give more of the id; see all sessions: ").run(words!["list", "--all"]),
    }
}

fn unknown_workflow_hint(asked: &str, nearest: Option<&str>, known: &[String], place: WorkflowPlace) -> Hint {
    let known = known.join(", ");
    match (place, nearest) {
        (WorkflowPlace::OursAndDefinedFor(layout), _) => {
            Hint::new("this workflow is for another tool's sessions: ")
                .run(words!["start", asked, "--layout", layout])
        }
        (WorkflowPlace::Ours | WorkflowPlace::Theirs(_), Some(name)) => {
            format!("did you mean '{name}'? The workflows are {known}").into()
        }
        (WorkflowPlace::Ours, None) => Hint::new(format!("the workflows are {known}; write your own: "))
            .run(words!["workflow", "new", "NAME"]),
        (WorkflowPlace::Theirs(folder), None) => {
            format!("the workflows are {known}; write your own: {folder}/NAME").into()
        }
    }
}

/// The system's message names the cause. The kind of the error determines the advice.
fn io_hint(error: &std::io::Error) -> Hint {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "make the file or folder readable and writable for this user, then run the command again".into()
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "free some space, then run the command again".into()
        }
        std::io::ErrorKind::NotFound => {
            "make sure that the file or folder exists, then run the command again".into()
        }
        // All other kinds of errors.
        _ => Hint::new("see what is wrong: ").run(words!["doctor"]).then("; then run the command again"),
    }
}

/// Returns a hint with the command of every choice, each on its own line.
fn choose(choices: &[Choice]) -> Hint {
    let listed = |hint: Hint, choice: &Choice| hint.then("\n  ").command(choice.command.clone());
    choices.iter().fold(Hint::new("choose one:"), listed)
}

fn store_hint(error: &store::Error) -> Hint {
    match error {
        store::Error::Conflict { .. }
        | store::Error::ActiveTaken { .. }
        | store::Error::Overtaken
        | store::Error::KeyTaken
        | store::Error::IdTaken { .. } => "nothing was changed; run the command again".into(),
        store::Error::Busy { .. } => {
            "nothing was changed; see who holds the lock (fuser -v on the .lock file beside the database), then run the command again".into()
        }
        store::Error::LocksFail { .. } => {
            "nothing was changed; the file system must support fcntl locks: move the store to a local disk, or mount it with locks".into()
        }
        store::Error::Missing { .. } => Hint::new("start a session: ").run(words!["start"]),
        store::Error::NotADatabase { .. } => {
            Hint::new("nothing was changed; restore a backup, which keeps this file under another name: ").run(words!["store", "restore"])
        }
        store::Error::Newer { .. } => {
            "this version can show only the parts that are known to it; use the newer leftoff".into()
        }
        store::Error::Lost { .. } => Hint::new("nothing was changed; restore a backup: ")
            .run(words!["store", "restore"])
            .then("; or delete the .lock file beside the database to continue without the lost changes"),
        store::Error::ReadOnly { .. } => {
            "nothing was changed; queries still work; make the folder writable for this user".into()
        }
        store::Error::Full { .. } => "nothing was changed; free some space, then run the command again".into(),
        store::Error::Unreachable { .. } => {
            "nothing was changed; make sure that the server runs and is reachable from here, then run the command again".into()
        }
        store::Error::Denied { .. } => {
            Hint::new("nothing was changed; ask the server's administrator for permission (docs/guides/postgres.md); the tables: ")
                .run(words!["store", "schema"])
        }
        store::Error::Unknown { .. } => {
            Hint::new("check the log before you repeat the command: ").run_here(words!["log"]).then("; with --key, a command can be repeated safely")
        }
        store::Error::Io { .. } | store::Error::Engine { .. } => Hint::new("see what is wrong: ").run(words!["doctor"]),
    }
}

fn files_elsewhere_hint(session: &str, worktree: &str) -> Hint {
    Hint::new("continue the session there: ")
        .run(words!["resume", session, "--project", worktree])
        .then("; or start a session here: ")
        .run(words!["start"])
}

fn came_along_hint(session: &str, worktree: &str, is_here: bool) -> Hint {
    if is_here {
        Hint::new("nothing was changed; the session's files are here, so continue the session here: ")
            .run(words!["resume", session])
    } else {
        format!(
            "nothing was changed; restore the session's files, or continue where the files are: {worktree}"
        )
        .into()
    }
}

fn unknown_requirement_hint(nearest: Option<&str>, known: &[String]) -> Hint {
    match (nearest, known) {
        (Some(name), _) => {
            Hint::new(format!("did you mean '{name}'? See the requirements: ")).run(words!["req", "list"])
        }
        (None, []) => {
            "no requirements here; they are set in .claude/requirements.yaml and `[requirement.*]` of workflows"
                .into()
        }
        (None, known) => format!("the requirements are: {}", known.join(", ")).into(),
    }
}

fn nothing_finished_hint(elsewhere: &[String]) -> Hint {
    if elsewhere.is_empty() {
        return Hint::new("there is nothing to reopen; see the unfinished sessions: ")
            .run(words!["list"])
            .then("; start a session: ")
            .run(words!["start"]);
    }
    Hint::new(format!("finished in other worktrees: {}; reopen one by name: ", elsewhere.join(", ")))
        .run(words!["reopen", "ID"])
}

fn unknown_check_hint(known: &[String]) -> Hint {
    if known.is_empty() {
        return Hint::new("nothing in this phase waits for approval; see the phase's checks: ")
            .run_here(words!["gate"]);
    }
    format!("these checks wait for approval: {}", known.join(", ")).into()
}

fn person_hint(policy: PolicyHelps) -> Hint {
    let ask = "ask a person to run this command in a terminal";
    match policy {
        PolicyHelps::Never => ask.into(),
        PolicyHelps::IfRelaxed => {
            format!("{ask}; `[policy]` in .leftoff/config.toml can allow it for anyone").into()
        }
        PolicyHelps::OnceAccepted => Hint::new(format!(
            "{ask}; the weaker `[policy]` in .leftoff/config.toml takes effect once a person accepts that policy here: "
        ))
        .run(words!["trust", "--policy"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn whatever_the_system_refuses_there_is_something_to_do() {
        for (kind, expected) in [
            (ErrorKind::PermissionDenied, "make the file or folder readable and writable"),
            (ErrorKind::StorageFull, "free some space"),
            (ErrorKind::NotFound, "make sure that the file or folder exists"),
            (ErrorKind::Other, "leftoff doctor"),
        ] {
            let hint = Error::io("reading x", kind.into()).hint().unwrap_or_default().to_string();
            assert!(hint.contains(expected), "{kind}: {hint}");
        }
    }

    #[test]
    fn an_id_that_could_be_several_is_answered_with_one_that_is_whole() {
        let candidates = vec!["k3v9x2mp".to_owned(), "k3v8aaaa".to_owned()];
        let hint = Error::AmbiguousSession { asked: "k3".to_owned(), candidates }.hint();
        assert_eq!(
            hint.map(|hint| hint.to_string()).as_deref(),
            Some("give more of the id, for example: --session k3v9x2mp")
        );
    }
}
