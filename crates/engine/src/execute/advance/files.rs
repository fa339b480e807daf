//! Records the files of a phase that is about to be completed, exactly as the phase's checks and approvals saw them.

use super::{AdvanceRequest, Tried};
use crate::artifacts::Recording;
use crate::checks::{Proven, evidence_hash};
use crate::engine::Engine;
use crate::error::Result;
use model::gate::{AttemptReport, CheckOutcome, CheckResult};
use model::id::SessionId;
use model::session::Session;
use std::collections::BTreeMap;

/// The files of a phase, as read for recording.
struct Found {
    recording: Recording,
    /// The files that an approval covers, each with the hash that is recorded.
    to_approve: Option<BTreeMap<String, String>>,
}

impl Engine {
    /// Returns the files to record with a phase, as its checks and approvals saw them. If a file changed while the gate
    /// ran, the checks of files run once more. If a file changes again, the gate fails.
    pub(super) fn settled_files(
        &self,
        subject: &SessionId,
        request: &AdvanceRequest,
        tried: &mut Tried,
    ) -> Result<Recording> {
        if !tried.run.report.passes() {
            return Ok(Recording::default());
        }
        let (_, session) = self.load(subject)?;
        let mut found = self.recording(&session, request, tried)?;
        if !moved(&session, tried, &found).is_empty() {
            self.look_again(&session, &tried.phase, &mut tried.run)?;
            found = self.recording(&session, request, tried)?;
            for (check, why) in moved(&session, tried, &found) {
                fail(&mut tried.run.report, &check, why);
            }
        }
        if !tried.run.report.passes() {
            return Ok(Recording::default());
        }
        if let Some(judged) = &mut tried.run.report.judged {
            judged.files = found.to_approve.as_ref().map(evidence_hash);
        }
        Ok(found.recording)
    }

    /// Reads the files of a phase: those that are named, proven, declared, recorded or to be approved. Must be called
    /// after the gate, because the gate's commands may write files.
    fn recording(&self, session: &Session, request: &AdvanceRequest, tried: &Tried) -> Result<Found> {
        let mut to_approve = self.files_to_approve(session, &tried.phase)?;
        let mut recording = self.record_named(session, &request.artifacts, Some(&tried.phase))?;
        let proven = tried.run.proven.iter().map(|file| file.path.clone());
        let paths = proven.chain(to_approve.iter().flatten().map(|(path, _)| path.clone())).collect();
        recording.merge(self.record_of_phase(session, &tried.phase, paths)?);
        for (path, hash) in to_approve.iter_mut().flatten() {
            if let Some(read) = recording.hash_of(path) {
                read.clone_into(hash);
            }
        }
        Ok(Found { recording, to_approve })
    }
}

/// Returns each passed check that saw another version of a file than the one to be recorded, and why the check fails
/// now.
fn moved(session: &Session, tried: &Tried, found: &Found) -> Vec<(String, String)> {
    let is_other = |file: &&Proven| found.recording.hash_of(&file.path) != Some(file.hash.as_str());
    let files = tried.run.proven.iter().filter(is_other);
    let files = files.map(|file| {
        (file.check.to_string(), format!("{} was changed while the gate was running", file.path))
    });
    let hash = found.to_approve.as_ref().map(evidence_hash);
    let passed = tried.run.report.checks.iter().filter(|check| check.kind == "approval" && !check.failed());
    let is_for_others = |check: &&CheckResult| {
        let approvals = session.approvals.iter().filter(|known| known.phase == tried.phase);
        let approval = approvals.rev().find(|known| known.check.as_str() == check.id);
        approval.is_some_and(|known| known.evidence.is_some() && known.evidence != hash)
    };
    let approvals = passed.filter(is_for_others).map(|check| {
        (check.id.clone(), "the approved files were changed while the gate was running".to_owned())
    });
    files.chain(approvals).collect()
}

fn fail(report: &mut AttemptReport, check: &str, why: String) {
    if let Some(known) = report.checks.iter_mut().find(|known| known.id == check) {
        known.outcome = CheckOutcome::Failed;
        known.found = Some(why);
        known.help = Some("Leave the files alone until the gate is done, then try again.".to_owned());
    }
}
