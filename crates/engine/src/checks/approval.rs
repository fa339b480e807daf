//! Checks an approval, which may be valid, expired, missing, or given for earlier versions of the files.

use super::{Surroundings, Verdict, artifact};
use crate::engine::Engine;
use crate::error::Result;
use crate::files::{PathEntry, look};
use crate::hex;
use crate::words::{ago, one_line};
use model::id::Name;
use model::session::Session;
use model::workflow::{CheckDefinition, CheckKind, PhaseDefinition};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

pub(super) fn run(around: &Surroundings<'_>, check: &Name) -> Verdict {
    let failed = |found: String| {
        let help = format!("Needs approval by a person: leftoff approve {check}");
        Verdict::failed(found).needing("a person's approval").with_help(help)
    };
    let Some(approval) = around.session.approval(&around.phase.id, check) else {
        return failed("not approved yet".to_owned());
    };
    let remark = approval.remark.as_ref().map(|remark| format!(" ({})", one_line(remark, 60)));
    let who = one_line(&approval.by, 60) + &remark.unwrap_or_default();
    let when = ago(approval.at, around.now);
    if !approval.holds(around.now) {
        return failed(format!("the approval by {who}, {when}, has expired"));
    }
    if approval.evidence.as_ref().is_some_and(|approved| *approved != around.evidence()) {
        return failed(format!("files of this phase changed since {who} approved them, {when}"));
    }
    // If it is unknown whether an approval needs a signature, the approval does not count.
    let is_claim = around.engine.is_unsigned_from_elsewhere(&around.session.id, &around.phase.id, check);
    if is_claim.unwrap_or(true) {
        return failed(format!(
            "{who} approved on another machine, {when}, but no allowed key signed the approval"
        ));
    }
    Verdict::passed(format!("approved by {who}, {when}"))
}

impl Engine {
    /// Returns the hash of a phase's current files. An approval covers exactly these files.
    pub(crate) fn evidence_of(&self, session: &Session, phase: &PhaseDefinition) -> String {
        self.surroundings(session, phase).evidence()
    }

    /// Returns the current files that an approval of this phase covers: hashes by path. `None` if the phase needs no
    /// approval.
    pub(crate) fn files_to_approve(
        &self,
        session: &Session,
        phase: &Name,
    ) -> Result<Option<BTreeMap<String, String>>> {
        let definition = self.definition_of(session)?;
        let is_approval = |check: &CheckDefinition| matches!(check.kind, CheckKind::Approval { .. });
        let defined = definition.phase(phase.as_str());
        let defined = defined.filter(|defined| defined.checks.iter().any(is_approval));
        Ok(defined.map(|defined| self.surroundings(session, defined).files_to_approve()))
    }
}

impl Surroundings<'_> {
    /// Returns a hash over path and content of every file that a check of the phase names or that the phase produces.
    fn evidence(&self) -> String {
        evidence_hash(&self.files_to_approve())
    }

    fn files_to_approve(&self) -> BTreeMap<String, String> {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for check in &self.phase.checks {
            if let CheckKind::Artifact { path, .. } = &check.kind {
                let (_, found) = artifact::run(self, path, None, true);
                files.extend(found.into_iter().map(|(path, looked)| (path, looked.hash)));
            }
        }
        if let Ok(definition) = self.engine.definition_of(self.session) {
            for path in self.engine.produced(self.session, &definition, &self.phase.id) {
                if let PathEntry::File(looked) = look(&self.root, &path, 0) {
                    files.insert(path, looked.hash);
                }
            }
        }
        files
    }
}

/// Returns the hash that an approval stores, for files given as hashes by path.
pub(crate) fn evidence_hash(files: &BTreeMap<String, String>) -> String {
    let mut hasher = Sha256::new();
    for (path, hash) in files {
        hasher.update(format!("{hash} {}:{path}\n", path.len()));
    }
    hex(&hasher.finalize())
}
