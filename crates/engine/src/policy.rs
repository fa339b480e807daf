//! Decides who may take actions that need a person. The project's `[policy]` can relax each rule. A weaker policy
//! counts on this machine only after a person accepted it here: whoever can edit a file must not thereby be able to
//! approve.

mod authority;
mod restoring;

pub(crate) use authority::{Act, Signature};
pub(crate) use restoring::restored_acts;

use crate::checks::trust;
use crate::config::Config;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execute::TrustedCommand;
use crate::facades::Workflows;
use crate::view::Warning;
use model::hint::Hint;
use model::words;
use serde::{Deserialize, Serialize};

/// Who may take an action, from the weakest rule to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    Anyone,
    #[default]
    Person,
    /// A person who signs with an allowed key.
    Signed,
}

/// Says if a policy could allow the refused command to anyone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyHelps {
    Never,
    IfRelaxed,
    /// The project's policy already allows the command to anyone. The policy applies as soon as a person accepts it
    /// here.
    OnceAccepted,
}

/// Actions that only a person may take, unless the policy relaxes the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restricted {
    Approve,
    Override,
    /// Skipping a phase with a gate.
    Skip,
    /// Dropping an item whose phase cannot be completed before its items are done.
    Drop,
    /// Closing a session with unfinished phases.
    Close,
    Purge,
    /// Abandoning a session that somebody is using.
    Abandon,
    /// Resuming a session that somebody is using elsewhere.
    Take,
    /// Making a running session follow the workflow's current definition.
    Update,
    /// Trusting commands or a policy. No policy can relax this rule.
    Trust,
    /// Replacing a store that has sessions by a backup. No policy can relax this rule.
    Restore,
}

impl Restricted {
    const RELAXABLE: [Self; 9] = [
        Self::Override,
        Self::Approve,
        Self::Skip,
        Self::Drop,
        Self::Close,
        Self::Purge,
        Self::Abandon,
        Self::Take,
        Self::Update,
    ];

    /// Returns the action as the end of a sentence such as "anyone may …".
    fn verb(self) -> &'static str {
        match self {
            Self::Approve => "approve a check",
            Self::Override => "pass a gate by --override",
            Self::Skip => "skip a phase that has a gate",
            Self::Drop => "drop an item that a gate waits for",
            Self::Close => "close an unfinished session",
            Self::Purge => "purge text",
            Self::Abandon => "abandon a session that somebody is working in",
            Self::Take => "take over a session that somebody is working in",
            Self::Update => "move a session to a changed workflow",
            Self::Trust => "trust commands",
            Self::Restore => "replace the store with a backup",
        }
    }

    /// Returns the action as the subject of a sentence such as "… needs a person".
    pub(crate) fn doing(self) -> &'static str {
        match self {
            Self::Approve => "approving a check",
            Self::Override => "passing a gate by --override",
            Self::Skip => "skipping a phase that has a gate",
            Self::Drop => "dropping an item that a gate waits for",
            Self::Close => "closing a session with unfinished phases",
            Self::Purge => "purging text from the history",
            Self::Abandon => "abandoning a session that somebody is working in",
            Self::Take => "taking over a session that somebody is working in",
            Self::Update => "moving a running session to a changed workflow",
            Self::Trust => "trusting commands or a policy",
            Self::Restore => "replacing the store with a backup",
        }
    }

    /// The key of the rule in `[policy]`.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Override => "override",
            Self::Skip => "skip",
            Self::Drop => "drop",
            Self::Close => "close",
            Self::Purge => "purge",
            Self::Abandon => "abandon",
            Self::Take => "take",
            Self::Update => "update",
            Self::Trust => "trust",
            Self::Restore => "restore",
        }
    }
}

/// `[policy]` of `.leftoff/config.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    pub approve: Who,
    #[serde(rename = "override")]
    pub override_: Who,
    pub skip: Who,
    pub drop: Who,
    pub close: Who,
    pub purge: Who,
    pub abandon: Who,
    pub take: Who,
    pub update: Who,
}

impl Policy {
    pub(crate) fn who(self, rule: Restricted) -> Who {
        match rule {
            Restricted::Approve => self.approve,
            Restricted::Override => self.override_,
            Restricted::Skip => self.skip,
            Restricted::Drop => self.drop,
            Restricted::Close => self.close,
            Restricted::Purge => self.purge,
            Restricted::Abandon => self.abandon,
            Restricted::Take => self.take,
            Restricted::Update => self.update,
            Restricted::Trust | Restricted::Restore => Who::Person,
        }
    }

    /// Returns the rules that this policy relaxes in comparison with another policy.
    fn weaker_than(self, other: Self) -> Vec<Restricted> {
        let is_weaker = |rule: &Restricted| self.who(*rule) < other.who(*rule);
        Restricted::RELAXABLE.into_iter().filter(is_weaker).collect()
    }
}

/// A rule of the project's policy, and if it counts here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyLine {
    pub rule: &'static str,
    pub who: Who,
    /// False if the rule is weaker than the default and nobody accepted it on this machine.
    pub counts: bool,
    #[serde(skip)]
    allows: &'static str,
}

impl PolicyLine {
    fn would_let(&self) -> String {
        match self.who {
            Who::Anyone => format!("anyone {}", self.allows),
            Who::Person | Who::Signed => format!("a person {} without a signature", self.allows),
        }
    }
}

/// The project's policy and allowed signers, whether accepted or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyReport {
    /// One line for each rule.
    pub lines: Vec<PolicyLine>,
    /// The content of the project's own file of allowed signers.
    pub signers: Option<String>,
    /// The entry in `LEFTOFF_TRUST` with which the project's signers count for automation.
    pub signers_hash: Option<String>,
}

/// An object of trust: commands, or the policy.
#[derive(Debug, Clone, Copy)]
pub enum TrustRequest<'a> {
    /// Lets exactly these commands run for this user.
    Commands(&'a [TrustedCommand]),
    /// Accepts the project's policy as it was read, and the signers as they were shown.
    Policy { signers: Option<&'a str> },
}

impl Workflows<'_> {
    pub fn policy(&self) -> PolicyReport {
        let signers = self.engine.own_signers();
        let signers_hash = signers.as_deref().map(trust::hash_of);
        PolicyReport { lines: self.engine.policy_lines(), signers, signers_hash }
    }

    /// Refuses if the caller may not trust anything here.
    pub fn may_trust(&self) -> Result<()> {
        self.engine.require_person(Restricted::Trust)
    }

    /// Records that a person trusts something.
    pub fn trust(&self, what: TrustRequest<'_>) -> Result<()> {
        let engine = self.engine;
        let root = &engine.project.root;
        engine.require_person(Restricted::Trust)?;
        match what {
            TrustRequest::Commands(commands) => {
                let roots = engine.roots_to_trust();
                let entries = commands.iter().flat_map(|entry| roots.iter().map(move |root| (root, entry)));
                entries.into_iter().try_for_each(|(root, entry)| trust::trust(root, &entry.command))
            }
            TrustRequest::Policy { signers } => {
                let text = serde_json::to_string(&engine.config.policy).unwrap_or_default();
                trust::accept_policy(root, &text)?;
                signers.map_or(Ok(()), |signers| trust::accept_signers(root, signers))
            }
        }
    }
}

impl Engine {
    /// Refuses an action that needs a person if no person runs the command. The accepted policy can allow the action to
    /// anyone.
    pub(crate) fn require_person(&self, rule: Restricted) -> Result<()> {
        self.require_person_for(rule, rule.doing().to_owned())
    }

    /// Requires a person as this rule does, for doing something else that concerns such an action.
    fn require_person_for(&self, rule: Restricted, doing: String) -> Result<()> {
        if self.who_may(rule) == Who::Anyone || self.is_person()? {
            return Ok(());
        }
        let policy = match rule {
            Restricted::Trust | Restricted::Restore => PolicyHelps::Never,
            _ if self.has_unaccepted_policy() => PolicyHelps::OnceAccepted,
            _ => PolicyHelps::IfRelaxed,
        };
        let agent = self.known_agent()?.map(|agent| agent.agent);
        Err(Error::NeedsAPerson { doing, policy, agent })
    }

    /// Returns who may take an action, according to the stronger of two rules: the project's rule and the accepted one.
    pub(crate) fn who_may(&self, rule: Restricted) -> Who {
        self.config.policy.who(rule).max(self.accepted_policy().who(rule))
    }

    /// Returns the policy that a person accepted on this machine for this project. Without one, returns the default.
    fn accepted_policy(&self) -> Policy {
        trust::accepted_policy(&self.project.root)
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    fn policy_lines(&self) -> Vec<PolicyLine> {
        let accepted = self.accepted_policy();
        let policy = self.config.policy;
        let weaker = policy.weaker_than(accepted);
        Restricted::RELAXABLE
            .into_iter()
            .filter(|rule| policy.who(*rule) != Who::default() || weaker.contains(rule))
            .map(|rule| PolicyLine {
                rule: rule.key(),
                who: policy.who(rule),
                counts: !weaker.contains(&rule),
                allows: rule.verb(),
            })
            .collect()
    }

    /// Returns warnings if agents may do here what otherwise needs a person, or if nobody accepted the project's policy
    /// or list of signers here.
    pub(crate) fn policy_warnings(&self) -> Vec<Warning> {
        let lines = self.policy_lines();
        let warning = |kind: &str, message: String, hint: Hint| Warning {
            kind: kind.to_owned(),
            message,
            hint: Some(hint),
            path: Some(Config::path(&self.project).display().to_string()),
            problem: None,
        };
        let accept =
            || Hint::new("a person can accept the change at a terminal: ").run(words!["trust", "--policy"]);
        let relaxed = lines.iter().filter(|line| line.counts && line.who == Who::Anyone);
        let relaxed = joined(relaxed.map(|line| line.allows.to_owned())).map(|what| {
            let message = format!("anyone may {what} in this project, including agents");
            let hint = "to require a person, remove this rule from [policy] in .leftoff/config.toml";
            warning("policy", message, hint.into())
        });
        let ignored = joined(lines.iter().filter(|line| !line.counts).map(PolicyLine::would_let));
        let ignored = ignored.map(|what| {
            let message = format!(
                "[policy] would let {what}; it takes effect once a person accepts it on this machine"
            );
            warning("policy_not_accepted", message, accept())
        });
        let signs = lines.iter().any(|line| line.who == Who::Signed);
        let signers = (signs && self.has_new_signers()).then(|| {
            let message =
                ".leftoff/allowed_signers differs from the list that a person accepted on this machine";
            warning("signers_not_accepted", message.to_owned(), accept())
        });
        relaxed.into_iter().chain(ignored).chain(signers).collect()
    }

    /// True if the project's policy is weaker than the accepted one.
    fn has_unaccepted_policy(&self) -> bool {
        self.policy_lines().iter().any(|line| !line.counts)
    }
}

fn joined(parts: impl Iterator<Item = String>) -> Option<String> {
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_weaker_only_where_it_allows_more() {
        let default = Policy::default();
        let relaxed = Policy { approve: Who::Anyone, ..default };
        assert_eq!(relaxed.weaker_than(default), [Restricted::Approve]);
        assert!(default.weaker_than(relaxed).is_empty());
        assert!(relaxed.weaker_than(relaxed).is_empty());
    }

    #[test]
    fn trusting_is_never_relaxed() {
        let all: Policy = serde_json::from_value(serde_json::json!({
            "approve": "anyone", "override": "anyone", "skip": "anyone", "close": "anyone", "purge": "anyone",
            "abandon": "anyone", "take": "anyone", "update": "anyone", "drop": "anyone"
        }))
        .expect("a policy");
        assert!(Restricted::RELAXABLE.iter().all(|rule| all.who(*rule) == Who::Anyone));
        assert_eq!(all.who(Restricted::Trust), Who::Person);
    }
}
