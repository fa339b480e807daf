//! Records the commands that this user trusts on this machine. The records are outside the repository and the store, so
//! that a cloned repository or a teammate's database runs nothing here.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::hex;
use crate::project_registry::state_folder;
use crate::view::at_work;
use jiff::Timestamp;
use model::gate::Attempt;
use model::run::Run;
use model::session::Session;
use model::workflow::CheckKind;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The variable with the hashes of commands that automation may run, separated by commas: `sha256:…`.
const TRUSTED_BY_HASH: &str = "LEFTOFF_TRUST";

impl Engine {
    /// Returns the failed command checks of the current phase whose command is not trusted here. Only a person can make
    /// them run.
    pub(crate) fn untrusted(&self, session: &Session, run: &Run) -> BTreeSet<String> {
        let phase = at_work(session, run);
        let failed: BTreeSet<&str> = phase
            .last_attempt()
            .filter(|_| phase.last_attempt_failed())
            .iter()
            .flat_map(|attempt| &attempt.report.checks)
            .filter(|check| check.failed() && check.kind == "command")
            .map(|check| check.id.as_str())
            .collect();
        if failed.is_empty() {
            return BTreeSet::new();
        }
        let Ok(definition) = self.definition_of(session) else { return BTreeSet::new() };
        let checks = definition.phase(phase.id().as_str()).into_iter().flat_map(|defined| &defined.checks);
        let named = checks.filter_map(|check| match &check.kind {
            CheckKind::Command { run, .. } if !self.may_run(session, run) => Some(check.id.to_string()),
            _ => None,
        });
        named.filter(|id| failed.contains(id.as_str())).collect()
    }

    /// True if a person trusted exactly this command here, or if LEFTOFF_TRUST lists its hash and the caller is not an
    /// agent.
    fn may_run(&self, session: &Session, command: &str) -> bool {
        is_trusted(&self.root_of(session), command) || self.is_trusted_by_hash(command)
    }

    /// True if LEFTOFF_TRUST lists the command's hash and the caller is not an agent. An agent could put any hash into
    /// the variable.
    pub(super) fn is_trusted_by_hash(&self, command: &str) -> bool {
        is_trusted_by_hash(command) && self.known_agent().is_ok_and(|agent| agent.is_none())
    }

    /// Returns the checks that failed in an attempt because their command was not trusted, and whose command was
    /// trusted afterwards. They must be tried again.
    pub(super) fn trusted_since(&self, session: &Session, attempt: &Attempt) -> BTreeSet<String> {
        let failed =
            |kind: &str| attempt.report.checks.iter().any(|check| check.failed() && check.kind == kind);
        if !failed("command") {
            return BTreeSet::new();
        }
        let Ok(definition) = self.definition_of(session) else { return BTreeSet::new() };
        let checks = definition.phases.iter().flat_map(|phase| &phase.checks);
        let root = self.root_of(session);
        let is_trusted_since = |command: &str| trusted_at(&root, command).is_some_and(|at| at > attempt.at);
        let named = checks.filter_map(|check| match &check.kind {
            CheckKind::Command { run, .. } if is_trusted_since(run) => Some(check.id.to_string()),
            _ => None,
        });
        named.collect()
    }
}

/// True if a person trusted exactly this command for this project on this machine.
pub(crate) fn is_trusted(root: &Path, command: &str) -> bool {
    entry(root, command).is_some_and(|path| path.is_file())
}

/// Returns when a person trusted exactly this command for this project on this machine.
pub(crate) fn trusted_at(root: &Path, command: &str) -> Option<Timestamp> {
    let modified = fs::metadata(entry(root, command)?).ok()?.modified().ok()?;
    Timestamp::try_from(modified).ok()
}

/// True if the environment lists the hash of exactly this command.
pub(crate) fn is_trusted_by_hash(command: &str) -> bool {
    let own = hash_of(command);
    std::env::var(TRUSTED_BY_HASH).is_ok_and(|named| named.split(',').any(|hash| hash.trim() == own))
}

/// Returns the entry for this command in `LEFTOFF_TRUST`.
pub(crate) fn hash_of(command: &str) -> String {
    format!("sha256:{}", hex(&Sha256::digest(command.as_bytes())))
}

pub(crate) fn trust(root: &Path, command: &str) -> Result<()> {
    record(entry(root, command), &format!("{}\n{command}\n", root.display()))
}

/// Returns the recorded policy that a person accepted for this project.
pub(crate) fn accepted_policy(root: &Path) -> Option<String> {
    fs::read_to_string(project_entry(root, "policy")?).ok()
}

pub(crate) fn accept_policy(root: &Path, policy: &str) -> Result<()> {
    record(project_entry(root, "policy"), policy)
}

/// Returns the list of allowed signers that a person accepted for this project, as it was at that time.
pub(crate) fn accepted_signers(root: &Path) -> Option<String> {
    fs::read_to_string(project_entry(root, "signers")?).ok()
}

pub(crate) fn accept_signers(root: &Path, signers: &str) -> Result<()> {
    record(project_entry(root, "signers"), signers)
}

/// Returns the URL of the server that a person accepted for this project's sessions.
pub(crate) fn accepted_store(root: &Path) -> Option<String> {
    fs::read_to_string(project_entry(root, "store")?).ok()
}

pub(crate) fn accept_store(root: &Path, url: &str) -> Result<()> {
    record(project_entry(root, "store"), url)
}

fn record(path: Option<PathBuf>, text: &str) -> Result<()> {
    let Some(path) = path else {
        return Err(Error::NotSupported {
            what: "recording trust (neither HOME nor XDG_STATE_HOME is set)".to_owned(),
            hint: "set HOME".into(),
        });
    };
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
    written.map_err(|source| Error::io(format!("recording trust in {}", path.display()), source))
}

fn project_entry(root: &Path, what: &str) -> Option<PathBuf> {
    let hash = hex(&Sha256::digest(root.as_os_str().as_encoded_bytes()));
    Some(state_folder()?.join("trust").join(format!("{what}-{hash}")))
}

fn entry(root: &Path, command: &str) -> Option<PathBuf> {
    let mut hasher = Sha256::new();
    hasher.update(root.as_os_str().as_encoded_bytes());
    hasher.update([0]);
    hasher.update(command.as_bytes());
    Some(state_folder()?.join("trust").join(hex(&hasher.finalize())))
}
