//! Judges a replayed history: which phases are proven, and why the others are not.

use super::claimed_items::rests_on_claimed_items;
use super::material::{Material, STORE};
use super::problem::{Problem, Remark};
use super::replay::{Aim, Approved, End, Replay};
use super::report::{ApprovalReport, CheckReport, PhaseReport, Report, RunReport};
use super::results::{has_same_gate, open_items, result_problems};
use super::signatures::Signatures;
use super::{VerifyRequest, definition, files, is_on};
use crate::checks::evidence_hash;
use crate::doctor::purged_hashes;
use crate::engine::Engine;
use crate::error::Result;
use crate::hex;
use crate::policy::{Restricted, Who};
use model::actor::Actor;
use model::gate::{AttemptReport, CheckResult};
use model::id::Name;
use model::lifecycle::Lifecycle;
use model::outcome::Outcome;
use model::phase::{Phase, PhaseState};
use model::run::Run;
use model::session::Session;
use model::workflow::{CheckDefinition, CheckKind, OnComplete, PhaseDefinition, Workflow};
use std::collections::{BTreeMap, BTreeSet};
use store::chain::check;

pub(super) struct Judge<'a> {
    pub(super) engine: &'a Engine,
    pub(super) material: &'a Material<'a>,
    pub(super) replay: &'a Replay,
    pub(super) request: &'a VerifyRequest,
}

/// The data by which all phases are judged.
pub(super) struct Ground {
    definitions: BTreeMap<String, Workflow>,
    /// The versions of events that were purged.
    purged: BTreeSet<u64>,
    /// Up to this version, the history is known to be authentic even if it came from another machine; 0 if nothing
    /// shows this.
    anchored: u64,
    signatures: Signatures,
    /// True if nobody has accepted a list of allowed signers here.
    no_signers: bool,
    approves: Who,
    overrides: Who,
}

impl Judge<'_> {
    pub(super) fn report(&self) -> Result<Report> {
        let session = &self.replay.session;
        let ground = self.ground()?;
        let runs: Vec<RunReport> = newest_runs(session).map(|run| self.run(run, &ground)).collect();
        let files = files::compare(self.material, session);
        let problems = self.problems(&ground)?;
        let holds = problems.is_empty()
            && runs.iter().flat_map(|run| &run.phases).all(|phase| phase.counts)
            && files.iter().all(|file| file.state.is_good());
        Ok(Report {
            session_id: self.material.session.to_string(),
            title: session.title.clone(),
            goal: session.goal.clone(),
            source: self.material.source,
            lifecycle: session.lifecycle.name(),
            branch: self.replay.branch.clone(),
            commit: self.replay.commit.clone(),
            head: self.head(),
            events: self.material.kept_rows().len(),
            holds,
            // If a bundle is verified, its session counts even if it is abandoned, because it is the only one.
            aside: self.request.branch.is_some()
                && self.request.bundle.is_none()
                && matches!(session.lifecycle, Lifecycle::Abandoned { .. }),
            problems,
            remarks: self.remarks(&ground)?,
            runs,
            files,
        })
    }

    fn remarks(&self, ground: &Ground) -> Result<Vec<Remark>> {
        let mut remarks = definition::remarks(self.engine, &self.replay.session);
        remarks.extend(self.condition_remarks(&ground.definitions));
        remarks.extend(self.other_aim());
        if self.material.source == STORE {
            let forks = self.engine.other_histories(&self.material.session)?.into_iter();
            remarks.extend(forks.map(|other| Remark::OtherHistory { other }));
            remarks.extend(self.lost_note());
        }
        Ok(remarks)
    }

    /// Returns a remark if the session had another title or goal when a phase ended than it has now.
    fn other_aim(&self) -> Option<Remark> {
        let session = &self.replay.session;
        let now = Aim::of(session);
        let ends = newest_runs(session).flat_map(|run| {
            run.phases.iter().filter_map(|phase| Some((phase.id(), self.replay.end(run, phase.id())?)))
        });
        let mut others = ends.filter(|(_, end)| end.aim != now);
        others.next().map(|(phase, end)| Remark::OtherAim {
            phase: phase.clone(),
            title: end.aim.title.clone(),
            goal: end.aim.goal.clone().filter(|goal| *goal != end.aim.title),
        })
    }

    pub(super) fn ground(&self) -> Result<Ground> {
        let rows = self.material.kept_rows();
        let allowed = self.engine.allowed_signers()?;
        let signatures = Signatures::of(self.material, self.replay, allowed.as_deref())?;
        Ok(Ground {
            definitions: definition::stored(self.material),
            purged: purged_hashes(rows).into_keys().collect(),
            anchored: self.anchored().max(signatures.anchored()),
            signatures,
            no_signers: allowed.is_none(),
            approves: self.engine.who_may(Restricted::Approve),
            overrides: self.engine.who_may(Restricted::Override),
        })
    }

    /// Returns the version up to which the history is authentic according to the recorded head; 0 if the history does
    /// not contain this head.
    fn anchored(&self) -> u64 {
        self.request.head.as_ref().and_then(|asked| self.version_of_head(asked)).unwrap_or(0)
    }

    fn head(&self) -> Option<String> {
        self.material.chain.head.map(|head| hex(&head))
    }

    /// Returns the version of the event that was the last when the hash chain had this head.
    fn version_of_head(&self, asked: &str) -> Option<u64> {
        let asked = asked.to_ascii_lowercase();
        let mut seals = self.material.chain.seals.iter();
        seals.find(|(_, seal)| hex(&seal.link) == asked).map(|(version, _)| *version)
    }

    fn problems(&self, ground: &Ground) -> Result<Vec<Problem>> {
        let session = &self.replay.session;
        let mut problems = self.chain_problems();
        problems.extend(self.head_problem());
        problems.extend(self.branch_problem());
        problems.extend(self.signature_problems(ground));
        problems.extend(self.replay.clock_problems());
        problems.extend(self.id_problem());
        problems.extend(self.act_problems());
        problems.extend(self.sent_problem()?);
        problems.extend(self.noted_problem()?);
        let newer = session.unknown_event.clone().map(|kind| Problem::NewerEvent { kind });
        problems.extend(newer);
        match session.lifecycle {
            Lifecycle::Abandoned { .. } | Lifecycle::Failed { .. } => {
                problems.push(Problem::Ended { lifecycle: session.lifecycle.name() });
            }
            Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Completed { .. } => {}
        }
        let definitions = definition::problems(self.engine, self.material, self.replay, &ground.definitions);
        problems.extend(definitions);
        Ok(problems)
    }

    /// Returns a problem if sync has sent another history of this session than the one that is stored now.
    fn sent_problem(&self) -> Result<Option<Problem>> {
        if self.material.source != STORE {
            return Ok(None);
        }
        let (id, own) = (&self.material.session, &self.replay.session.id);
        let sent = self.engine.sent_otherwise(id, own, &self.material.chain)?;
        Ok(sent.map(|version| Problem::OtherThanSent { version }))
    }

    /// Returns a remark if a person worked on the session here, and the note about its history is missing.
    fn lost_note(&self) -> Option<Remark> {
        let here = self.replay.history.iter().filter(|event| event.version > self.material.from_elsewhere);
        let is_decided_here = here.into_iter().any(|event| event.actor.is_person());
        let is_lost = is_decided_here && self.engine.lacks_note(&self.material.session);
        is_lost.then_some(Remark::NotNoted)
    }

    /// Returns a problem if another history of this session was noted on this machine than those that are stored now.
    fn noted_problem(&self) -> Result<Option<Problem>> {
        if self.material.source != STORE {
            return Ok(None);
        }
        let (engine, id) = (self.engine, &self.material.session);
        let mut chains = vec![self.material.chain.clone()];
        for other in engine.other_histories(id)? {
            chains.push(engine.store.chain(&other)?);
        }
        Ok(engine.noted_otherwise(id, &chains).map(|version| Problem::OtherThanNoted { version }))
    }

    fn chain_problems(&self) -> Vec<Problem> {
        let (chain, rows) = (&self.material.chain, self.material.kept_rows());
        if chain.head.is_none() && !rows.is_empty() {
            return vec![Problem::NoChain];
        }
        let broken = check(chain, rows, &purged_hashes(rows)).into_iter().map(Problem::Broken);
        let late = chain.since.filter(|since| *since > 1).map(|since| Problem::ChainedLate { since });
        broken.chain(late).collect()
    }

    /// Returns problems with signatures. Without a list of allowed signers, an approval given on this machine counts
    /// unless the policy requires a signature.
    fn signature_problems(&self, ground: &Ground) -> Vec<Problem> {
        let bad = &ground.signatures.bad;
        if ground.no_signers {
            let matters = self.material.from_elsewhere > 0 || ground.approves == Who::Signed;
            return if matters && !bad.is_empty() { vec![Problem::SignersNotAccepted] } else { Vec::new() };
        }
        bad.iter().map(|version| Problem::BadSignature { version: *version }).collect()
    }

    fn branch_problem(&self) -> Option<Problem> {
        let asked = self.request.branch.as_ref()?;
        let is_of_branch = self.replay.history.iter().any(|recorded| is_on(&recorded.event, asked));
        (!is_of_branch).then(|| Problem::OtherBranch { asked: asked.clone() })
    }

    /// Returns a problem if the history belongs to another session. The id of a copy may have a suffix, because another
    /// session already had its id.
    fn id_problem(&self) -> Option<Problem> {
        let own = self.replay.session.id.as_str();
        let rest = self.material.session.as_str().strip_prefix(own);
        let is_its = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        (!is_its).then(|| Problem::OtherSession { own: own.to_owned() })
    }

    fn head_problem(&self) -> Option<Problem> {
        let asked = self.request.head.as_ref()?;
        if self.head().is_some_and(|head| head.eq_ignore_ascii_case(asked)) {
            return None;
        }
        Some(Problem::OtherHead { asked: asked.clone(), at: self.version_of_head(asked) })
    }

    fn run(&self, run: &Run, ground: &Ground) -> RunReport {
        let phases = run.phases.iter().enumerate();
        RunReport {
            workflow: run.workflow.name.clone(),
            version: run.workflow.version.clone(),
            ordinal: run.ordinal,
            definition: run.workflow.hash.clone(),
            phases: phases
                .filter(|(_, phase)| !self.is_beyond_the_end(run, phase))
                .map(|(at, phase)| self.phase(run, run.number_at(at), phase, ground))
                .collect(),
        }
    }

    /// True if this is the last phase of a run without a fixed number of phases, and was still open when the session
    /// was closed.
    fn is_beyond_the_end(&self, run: &Run, phase: &Phase) -> bool {
        let is_closed = matches!(self.replay.session.lifecycle, Lifecycle::Completed { .. });
        let is_last = run.phases.last().is_some_and(|last| last.id() == phase.id());
        is_closed && is_last && run.workflow.on_complete == OnComplete::Grow && Outcome::of(phase).is_none()
    }

    fn phase(&self, run: &Run, number: u32, phase: &Phase, ground: &Ground) -> PhaseReport {
        let end = self.replay.end(run, phase.id()).filter(|_| Outcome::of(phase).is_some());
        let mut outcome = Outcome::of(phase);
        let mut problems = Vec::new();
        if let Some(end) = end {
            let workflow = ground.definitions.get(&end.definition);
            let defined = workflow.and_then(|workflow| workflow.phase(phase.id().as_str()));
            let may_be_unknown =
                workflow.is_none_or(|workflow| definition::may_have_more(&self.replay.session, workflow));
            problems = self.end_problems(run, phase, end, defined, ground);
            problems.extend((defined.is_none() && !may_be_unknown).then_some(Problem::UnknownPhase));
            problems.extend(self.replaced(run, phase.id(), end, ground));
            problems.extend(
                workflow.into_iter().flat_map(|workflow| self.condition_problems(run, phase, workflow)),
            );
            if self.is_unsigned(run, phase, ground) {
                outcome = outcome.map(Outcome::without_signature);
            }
            // If only a file completed the phase, it is a claim, even if the file also has results of checks.
            let is_told_by_file = end.report.is_some() && is_tool(&end.actor) && !has_no_gate(phase, defined);
            let has_claimed_items = || {
                let claimed = |defined| rests_on_claimed_items(self.replay, run, phase.id(), end, defined);
                defined.is_some_and(claimed) && outcome == Some(Outcome::Verified)
            };
            if is_told_by_file || has_claimed_items() {
                outcome = Some(Outcome::Claimed);
            }
        }
        let report = end.and_then(|end| end.report.as_ref());
        PhaseReport {
            number,
            id: phase.id().clone(),
            title: phase.stub.title.clone(),
            outcome,
            counts: outcome.is_some_and(|outcome| self.accepts(outcome)) && problems.is_empty(),
            at: end.map(|end| end.at),
            by: end.map(|end| end.actor.to_string()),
            reason: reason(phase, report),
            checks: report.map(checks).unwrap_or_default(),
            approvals: end.map(|end| approvals(end, ground)).unwrap_or_default(),
            problems,
        }
    }

    fn accepts(&self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Verified | Outcome::Done | Outcome::NotApplicable => true,
            Outcome::Reported | Outcome::Warned | Outcome::Overridden => {
                self.request.allow.iter().any(|allowed| allowed.allows(outcome))
            }
            Outcome::Claimed | Outcome::Skipped => false,
        }
    }

    /// True if the proof of a phase came from another machine, or needs a signature, and no allowed key signed it.
    pub(super) fn is_unsigned(&self, run: &Run, phase: &Phase, ground: &Ground) -> bool {
        let Some(end) = self.replay.end(run, phase.id()) else { return false };
        let workflow = ground.definitions.get(&end.definition);
        let defined = workflow.and_then(|workflow| workflow.phase(phase.id().as_str()));
        let is_claim = || self.is_mere_claim(run, end, defined, ground) || self.lacks_signature(end, ground);
        !has_no_gate(phase, defined) && is_claim()
    }

    /// True if only a log from another machine says how the phase ended.
    fn is_mere_claim(
        &self,
        run: &Run,
        end: &End,
        defined: Option<&PhaseDefinition>,
        ground: &Ground,
    ) -> bool {
        let is_from_elsewhere = end.version <= self.material.from_elsewhere && end.version > ground.anchored;
        // The signature covers the hash of the approved files. The events that record these files come after the
        // signature.
        let approved =
            || defined.map(|defined| evidence_hash(&definition::files_of(defined, end, run.ordinal)));
        is_from_elsewhere && !approved().is_some_and(|files| is_shown_by_signatures(end, &files, ground))
    }

    /// True if the phase relies on an approval that should be signed but is not.
    fn lacks_signature(&self, end: &End, ground: &Ground) -> bool {
        let must_be_signed = |approved: &Approved| {
            let is_from_elsewhere =
                approved.version <= self.material.from_elsewhere && approved.version > ground.anchored;
            is_from_elsewhere || ground.approves == Who::Signed
        };
        let mut needed = end.approvals.iter().filter(|approved| rests_on(end, approved));
        needed.any(|approved| must_be_signed(approved) && ground.signatures.of_approval(approved).is_none())
    }

    fn end_problems(
        &self,
        run: &Run,
        phase: &Phase,
        end: &End,
        defined: Option<&PhaseDefinition>,
        ground: &Ground,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let proof = std::iter::once(end.version).chain(end.approvals.iter().map(|approved| approved.version));
        problems.extend(
            proof
                .filter(|version| ground.purged.contains(version))
                .map(|version| Problem::Purged { version }),
        );
        if phase.is_not_applicable() && defined.is_none_or(|defined| defined.when.is_none()) {
            problems.push(Problem::Unconditional);
        }
        let Some(report) = &end.report else { return problems };
        problems.extend(self.judged_problems(run, phase, report, end));
        let Some(defined) = defined else { return problems };
        let newest = ground.definitions.get(&run.workflow.hash);
        let newest = newest.and_then(|workflow| workflow.phase(phase.id().as_str()));
        problems.extend(
            newest.is_some_and(|newest| !has_same_gate(defined, newest)).then_some(Problem::EarlierGate),
        );
        // Another tool's files contain results of that tool's own checks, which are in no definition.
        if !is_tool(&end.actor) {
            problems.extend(result_problems(report, defined));
        }
        problems.extend(open_items(report, end));
        problems.extend(self.approval_problems(report, defined, end, ground));
        if report.overridden.is_some() && ground.overrides > Who::Anyone && !end.actor.is_person() {
            problems.push(Problem::OverriddenByOther { who: end.actor.to_string() });
        }
        let is_signed = || ground.signatures.is_override_signed(phase.id(), end.version);
        if report.overridden.is_some() && ground.overrides == Who::Signed && !is_signed() {
            problems.push(Problem::OverrideNotSigned);
        }
        problems
    }

    /// Returns problems if the gate judged another definition, state or items than the history has.
    fn judged_problems(&self, run: &Run, phase: &Phase, report: &AttemptReport, end: &End) -> Vec<Problem> {
        let Some(judged) = &report.judged else { return Vec::new() };
        let mut problems = Vec::new();
        if end.named.as_ref().is_some_and(|named| *named != judged.definition) {
            problems.push(Problem::OtherDefinition);
        }
        let are_other_items = || {
            let judged = judged.items.as_ref();
            judged.is_some_and(|items| *items != self.replay.items_before(run, phase.id(), end.version))
        };
        if judged.state != end.state || are_other_items() {
            // A purge changes the texts of the judged state, so that its hash can no longer be checked.
            let purged = self.replay.purged_of_state(end.version);
            problems.push(purged.map_or(Problem::OtherState, |version| Problem::Purged { version }));
        }
        problems
    }

    fn approval_problems(
        &self,
        report: &AttemptReport,
        defined: &PhaseDefinition,
        end: &End,
        ground: &Ground,
    ) -> Vec<Problem> {
        let files = report.judged.as_ref().and_then(|judged| judged.files.as_ref());
        let is_for_others = |approved: &Approved| {
            files.zip(approved.evidence.as_ref()).is_some_and(|(files, approved)| files != approved)
        };
        let has_run_out = |approved: &Approved| approved.expires_at.is_some_and(|at| at <= end.at);
        let problem = |check: &str| {
            let check = check.to_owned();
            match end.approvals.iter().find(|known| known.check.as_str() == check) {
                None => Some(Problem::NoApproval { check }),
                Some(approved) if ground.approves > Who::Anyone && !approved.actor.is_person() => {
                    Some(Problem::ApprovedByOther { check, who: approved.actor.to_string() })
                }
                Some(approved) if is_for_others(approved) => Some(Problem::ApprovedOthers { check }),
                Some(approved) if has_run_out(approved) => Some(Problem::ApprovedBefore { check }),
                Some(_) => None,
            }
        };
        let asked = defined.checks.iter().filter(|check| matches!(check.kind, CheckKind::Approval { .. }));
        let has_failed = |check: &&CheckDefinition| {
            report.checks.iter().any(|known| known.id == check.id.as_str() && known.failed())
        };
        asked.filter(|check| !has_failed(check)).filter_map(|check| problem(check.id.as_str())).collect()
    }

    /// Returns problems with files that the gate judged and that were recorded again later without another gate.
    fn replaced(&self, run: &Run, phase: &Name, end: &End, ground: &Ground) -> Vec<Problem> {
        let is_replaced = |(path, hash): &(&String, &String)| {
            let newest = self.replay.session.artifacts.get(*path).map(|known| &known.newest);
            let is_same = newest.is_some_and(|newest| newest.hash == **hash);
            let by_other = newest.and_then(|newest| newest.phase.as_ref()).filter(|other| *other != phase);
            !is_same && !by_other.is_some_and(|other| self.was_checked_by(run, other, path, ground))
        };
        let replaced = end.files.iter().filter(is_replaced);
        replaced.map(|(path, _)| Problem::Replaced { path: path.clone() }).collect()
    }

    /// True if a passed check of another finished phase of the run covered this file.
    fn was_checked_by(&self, run: &Run, phase: &Name, path: &str, ground: &Ground) -> bool {
        let Some(end) = self.replay.end(run, phase) else { return false };
        let defined = ground.definitions.get(&end.definition);
        let defined = defined.and_then(|workflow| workflow.phase(phase.as_str()));
        end.files.contains_key(path)
            && defined.is_some_and(|defined| definition::was_checked(defined, end, path, run.ordinal))
    }
}

/// True if a finished phase has no gate, so that it needs no proof.
fn has_no_gate(phase: &Phase, defined: Option<&PhaseDefinition>) -> bool {
    Outcome::of(phase) == Some(Outcome::Done) && !defined.is_some_and(PhaseDefinition::has_gate)
}

/// True if a passed check of the phase relies on this approval.
fn rests_on(end: &End, approved: &Approved) -> bool {
    let checks = end.report.iter().flat_map(|report| &report.checks);
    checks.filter(|check| !check.failed()).any(|check| check.id == approved.check.as_str())
}

/// True if every check of the phase passed by an approval of these files that has a valid signature. Nothing else must
/// be trusted then.
fn is_shown_by_signatures(end: &End, files: &str, ground: &Ground) -> bool {
    let Some(report) = end.report.as_ref().filter(|report| report.overridden.is_none()) else { return false };
    let is_signed = |check: &CheckResult| {
        let approved = end.approvals.iter().find(|approved| approved.check.as_str() == check.id);
        let is_of_files = |approved: &&Approved| approved.evidence.as_deref() == Some(files);
        let signed =
            approved.filter(is_of_files).and_then(|approved| ground.signatures.of_approval(approved));
        !check.failed() && signed.is_some()
    };
    !report.checks.is_empty() && report.checks.iter().all(is_signed)
}

/// Returns the newest run of each workflow. Earlier runs no longer matter.
pub(super) fn newest_runs(session: &Session) -> impl Iterator<Item = &Run> {
    session.runs.iter().filter(|run| {
        let is_newer = |other: &&Run| other.workflow.name == run.workflow.name && other.ordinal > run.ordinal;
        !session.runs.iter().any(|other| is_newer(&other))
    })
}

fn is_tool(actor: &Actor) -> bool {
    match actor {
        Actor::Tool { .. } => true,
        Actor::Person { .. } | Actor::Agent { .. } | Actor::Automation { .. } | Actor::Unknown(_) => false,
    }
}

fn reason(phase: &Phase, report: Option<&AttemptReport>) -> Option<String> {
    match &phase.state {
        PhaseState::Skipped { reason, .. } => Some(reason.clone()),
        PhaseState::NotStarted
        | PhaseState::InProgress { .. }
        | PhaseState::Completed { .. }
        | PhaseState::NeedsReview { .. } => report.and_then(|report| report.overridden.clone()),
    }
}

fn checks(report: &AttemptReport) -> Vec<CheckReport> {
    let line = |check: &CheckResult| CheckReport {
        id: check.id.clone(),
        kind: check.kind.clone(),
        outcome: check.outcome,
        found: check.found.clone(),
    };
    report.checks.iter().map(line).collect()
}

fn approvals(end: &End, ground: &Ground) -> Vec<ApprovalReport> {
    let line = |approved: &Approved| ApprovalReport {
        check: approved.check.clone(),
        by: approved.actor.to_string(),
        remark: approved.remark.clone(),
        at: approved.at,
        signed_by: ground.signatures.of_approval(approved).map(ToOwned::to_owned),
    };
    end.approvals.iter().map(line).collect()
}
