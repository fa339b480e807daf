//! Problems with the proof of a session's work, as data. Only this module puts them into words.

use model::id::{Name, SessionId};
use serde::{Serialize, Serializer};
use serde_json::json;
use store::chain::Broken;

/// A reason why a history is not a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    NoChain,
    /// The events before this version were sealed later, with the content that they had at that time.
    ChainedLate {
        since: u64,
    },
    Broken(Broken),
    /// The hash chain does not end with the link that somebody recorded. `at` is the event with that link, if there is
    /// one.
    OtherHead {
        asked: String,
        at: Option<u64>,
    },
    OtherBranch {
        asked: String,
    },
    /// The history began with the id of another session.
    OtherSession {
        own: String,
    },
    /// Something was done that only a person may do here, but not by a person.
    NotAllowed {
        version: u64,
        doing: &'static str,
        who: String,
    },
    /// Up to this event, sync has sent another history.
    OtherThanSent {
        version: u64,
    },
    /// Another history was noted on this machine at this event.
    OtherThanNoted {
        version: u64,
    },
    NewerEvent {
        kind: String,
    },
    /// The date of an event is well before that of the previous event.
    ClockSetBack {
        version: u64,
    },
    Ended {
        lifecycle: &'static str,
    },
    DefinitionMissing {
        workflow: Name,
    },
    /// The stored definition is not the one that the run started with.
    DefinitionChanged {
        workflow: Name,
    },
    /// The project defines the workflow differently, or not at all.
    DefinitionNotHere {
        workflow: Name,
        differences: Vec<String>,
    },
    /// The run does not have the phases of its definition.
    OtherPhases {
        workflow: Name,
    },
    /// The definition does not have this phase.
    UnknownPhase,
    /// The gate passed with an earlier definition, which had other checks.
    EarlierGate,
    /// The gate used another definition than the run.
    OtherDefinition,
    /// The gate judged a state or items that are not those in the history.
    OtherState,
    /// The attempt has a result for a check that the definition does not have.
    Undeclared {
        check: String,
    },
    /// A check failed, but the phase was completed although its gate is strict.
    LetPass {
        check: String,
    },
    /// The gate was overridden, which the definition forbids.
    NoOverride,
    /// The check for finished items passed while items were open.
    OpenItems {
        check: String,
    },
    /// The attempt has no result for a check that the definition has.
    Unchecked {
        check: String,
    },
    NoApproval {
        check: String,
    },
    /// An approval covers other files than those that were recorded with the phase.
    ApprovedOthers {
        check: String,
    },
    /// An approval had already expired when its phase ended.
    ApprovedBefore {
        check: String,
    },
    ApprovedByOther {
        check: String,
        who: String,
    },
    OverriddenByOther {
        who: String,
    },
    /// The override is not signed, although the policy requires a signature.
    OverrideNotSigned,
    /// A signature is not by an allowed key, or it signs something else.
    BadSignature {
        version: u64,
    },
    /// The history has signatures, but nobody has accepted a list of signers in this project.
    SignersNotAccepted,
    /// The event with the proof, or the event with an approval, was purged.
    Purged {
        version: u64,
    },
    /// A phase was skipped as not applicable, but its definition has no condition.
    Unconditional,
    /// A phase was skipped as not applicable, but its condition is not false.
    Applies {
        when: String,
    },
    /// A phase was skipped as not applicable because of a file. The file exists but is neither committed nor recorded,
    /// or it is missing although it is committed.
    FileOfCondition {
        path: String,
        exists: bool,
    },
    /// A file that the gate judged was recorded again later, without passing a check.
    Replaced {
        path: String,
    },
}

impl Problem {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoChain => "no_chain",
            Self::ChainedLate { .. } => "chained_late",
            Self::Broken(_) => "chain",
            Self::OtherHead { .. } => "other_head",
            Self::OtherBranch { .. } => "other_branch",
            Self::OtherSession { .. } => "other_session",
            Self::NotAllowed { .. } => "not_allowed",
            Self::OtherThanSent { .. } => "other_than_sent",
            Self::OtherThanNoted { .. } => "other_than_noted",
            Self::NewerEvent { .. } => "newer_event",
            Self::ClockSetBack { .. } => "clock_set_back",
            Self::Ended { .. } => "ended",
            Self::DefinitionMissing { .. } => "definition_missing",
            Self::DefinitionChanged { .. } => "definition_changed",
            Self::DefinitionNotHere { .. } => "definition_not_here",
            Self::OtherPhases { .. } => "other_phases",
            Self::UnknownPhase => "unknown_phase",
            Self::EarlierGate => "earlier_gate",
            Self::OtherDefinition => "other_definition",
            Self::OtherState => "other_state",
            Self::Undeclared { .. } => "undeclared",
            Self::LetPass { .. } => "let_pass",
            Self::NoOverride => "no_override",
            Self::OpenItems { .. } => "open_items",
            Self::ApprovedOthers { .. } => "approved_others",
            Self::ApprovedBefore { .. } => "approved_before",
            Self::Unchecked { .. } => "unchecked",
            Self::NoApproval { .. } => "no_approval",
            Self::ApprovedByOther { .. } => "approved_by_other",
            Self::OverriddenByOther { .. } => "overridden_by_other",
            Self::OverrideNotSigned => "override_not_signed",
            Self::BadSignature { .. } => "bad_signature",
            Self::SignersNotAccepted => "signers_not_accepted",
            Self::Purged { .. } => "purged",
            Self::Unconditional => "unconditional",
            Self::Applies { .. } => "applies",
            Self::FileOfCondition { .. } => "file_of_condition",
            Self::Replaced { .. } => "replaced",
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoChain => {
                f.write_str("the session's history has no hash chain, so nothing shows that it was not changed")
            }
            Self::ChainedLate { since } => {
                write!(
                    f,
                    "the events before event {since} were sealed later than they were written, so they could have \
                     been changed before that"
                )
            }
            Self::Broken(broken) => write!(f, "the history does not match its hash chain: {broken}"),
            Self::OtherHead { asked, at: None } => write!(f, "the history does not contain the head {asked}"),
            Self::OtherHead { asked, at: Some(version) } => {
                write!(f, "the head {asked} is that of event {version}, but more events follow it")
            }
            Self::OtherBranch { asked } => write!(f, "the session did not work on branch {asked}"),
            Self::OtherSession { own } => write!(f, "the session's history is that of session {own}"),
            Self::NotAllowed { version, doing, who } => {
                write!(f, "event {version}, {doing}, is by {who}; the policy allows this only to a person")
            }
            Self::OtherThanSent { version } => write!(
                f,
                "up to event {version}, sync has sent another history of this session than the one that is stored here"
            ),
            Self::OtherThanNoted { version } => {
                write!(f, "event {version} is not the one that this machine noted; the database was replaced")
            }
            Self::NewerEvent { kind } => {
                write!(f, "the history contains '{kind}', which is unknown to this version of leftoff")
            }
            Self::ClockSetBack { version } => {
                write!(f, "event {version} is dated before the event that it follows: a clock was set back")
            }
            Self::Ended { lifecycle } => write!(f, "the session is {lifecycle}"),
            Self::DefinitionMissing { workflow } => {
                write!(f, "the definition of workflow {workflow} is missing")
            }
            Self::DefinitionChanged { workflow } => {
                write!(f, "the stored definition of workflow {workflow} was changed after the run started")
            }
            Self::DefinitionNotHere { workflow, differences } if differences.is_empty() => {
                write!(f, "the run followed a definition of workflow {workflow} that is not in this project")
            }
            Self::DefinitionNotHere { workflow, differences } => write!(
                f,
                "the run followed another definition of workflow {workflow} than this project has: {}",
                differences.join("; ")
            ),
            Self::OtherPhases { workflow } => {
                write!(f, "the run does not have the phases of workflow {workflow}")
            }
            Self::UnknownPhase => f.write_str("its workflow has no such phase"),
            Self::EarlierGate => {
                f.write_str("it passed the gate of an earlier definition, which had other checks")
            }
            Self::OtherDefinition => f.write_str("its gate used another definition than the run's own"),
            Self::OtherState => f.write_str("its gate judged another state than the one in the history"),
            Self::Undeclared { check } => write!(f, "its definition has no check {check}"),
            Self::LetPass { check } => write!(f, "check {check} failed, and its definition is strict"),
            Self::NoOverride => f.write_str("its gate was overridden, which its definition forbids"),
            Self::OpenItems { check } => write!(f, "check {check} passed while items were open"),
            Self::ApprovedOthers { check } => {
                write!(f, "the files approved for check {check} are not those recorded with the phase")
            }
            Self::ApprovedBefore { check } => write!(f, "the approval of check {check} had expired"),
            Self::Unchecked { check } => {
                write!(f, "nothing proves check {check}, which its definition requires")
            }
            Self::NoApproval { check } => {
                write!(f, "check {check} counts as approved, but nobody approved it")
            }
            Self::ApprovedByOther { check, who } => {
                write!(f, "check {check} was approved by {who}, not by a person")
            }
            Self::OverriddenByOther { who } => write!(f, "its gate was overridden by {who}, not by a person"),
            Self::OverrideNotSigned => f.write_str("its override was not signed, but the policy requires it"),
            Self::BadSignature { version } => {
                write!(f, "the signature of event {version} is not by an allowed key, or signs something else")
            }
            Self::SignersNotAccepted => f.write_str(
                "the history has signatures, but the allowed signers were not accepted here: leftoff trust --policy, or LEFTOFF_TRUST",
            ),
            Self::Purged { version } => write!(f, "its proof, event {version}, was purged"),
            Self::Unconditional => {
                f.write_str("it was skipped as not applicable, but its definition has no condition")
            }
            Self::Applies { when } => {
                write!(f, "it was skipped as not applicable, but its condition is not false now: {when}")
            }
            Self::FileOfCondition { path, exists: true } => write!(
                f,
                "it was skipped as not applicable because {path} exists, which is neither committed nor recorded"
            ),
            Self::FileOfCondition { path, exists: false } => write!(
                f,
                "it was skipped as not applicable because {path} is missing, although it is committed"
            ),
            Self::Replaced { path } => write!(f, "{path} was recorded again after the gate had passed"),
        }
    }
}

/// A fact that a reader of the report should know. It disproves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// The project's definition differs from that in the last commit.
    NotCommitted { workflow: Name },
    /// The project's definition replaces a built-in one of the same name.
    HidesBuiltIn { workflow: Name },
    /// The session had another title or goal when this phase ended.
    OtherAim { phase: Name, title: String, goal: Option<String> },
    /// This store has another history of the session too.
    OtherHistory { other: SessionId },
    /// A person worked on the session here, and the note of its history is missing.
    NotNoted,
    /// A phase does not apply because a file is missing that git does not know either.
    RestsOnAbsence { phase: Name, path: String },
    /// A phase does not apply because of the value of a field. `by` set the field last.
    RestsOnField { phase: Name, field: String, by: Option<String> },
}

impl Remark {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotCommitted { .. } => "not_committed",
            Self::HidesBuiltIn { .. } => "hides_built_in",
            Self::OtherAim { .. } => "other_aim",
            Self::OtherHistory { .. } => "other_history",
            Self::NotNoted => "not_noted",
            Self::RestsOnAbsence { .. } => "rests_on_absence",
            Self::RestsOnField { .. } => "rests_on_field",
        }
    }
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotCommitted { workflow } => {
                write!(
                    f,
                    "the definition of workflow {workflow} differs from the committed one: commit .leftoff/workflows/{workflow}.toml"
                )
            }
            Self::HidesBuiltIn { workflow } => {
                write!(f, "the project's workflow {workflow} replaces the built-in one")
            }
            Self::OtherAim { phase, title, goal } => {
                write!(f, "when phase {phase} ended, the session was called {title:?}")?;
                goal.as_ref().map_or(Ok(()), |goal| write!(f, ", with the goal {goal:?}"))
            }
            Self::OtherHistory { other } => {
                write!(f, "this session has another history, {other}: leftoff sync status")
            }
            Self::NotNoted => f.write_str(
                "this machine has no note of where the history stood when a person decided something: it was deleted, \
                 or an older version of leftoff recorded the decision",
            ),
            Self::RestsOnAbsence { phase, path } => {
                write!(f, "phase {phase} does not apply because {path} is missing; git has no such file")
            }
            Self::RestsOnField { phase, field, by: Some(by) } => {
                write!(f, "phase {phase} does not apply because of the field {field}, last set by {by}")
            }
            Self::RestsOnField { phase, field, by: None } => {
                write!(f, "phase {phase} does not apply because of the field {field}, as the session started")
            }
        }
    }
}

impl Serialize for Remark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "kind": self.kind(), "message": self.to_string() }).serialize(serializer)
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({ "kind": self.kind(), "message": self.to_string() }).serialize(serializer)
    }
}
