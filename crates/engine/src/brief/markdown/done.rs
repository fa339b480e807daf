//! Work that must not be redone: finished phases with their proof, skipped phases and earlier runs.

use super::{Detail, pairs, took, when};
use crate::brief::{Brief, EarlierRun, paths};
use crate::view::{CheckView, GateOutcome, PhaseView, RoundView, View};
use crate::words::{defused, defused_around_quotes, phase_named, quoted};
use model::outcome::{Outcome, Outcomes};
use model::workflow::CheckKind;

pub(super) fn done(brief: &Brief, detail: Detail) -> String {
    let told =
        |phase: &PhaseView| done_phase(brief, phase, detail).or_else(|| passed_over(brief, phase, detail));
    let phases: Vec<(&PhaseView, String)> =
        brief.session.phases.iter().filter_map(|phase| Some((phase, told(phase)?))).collect();
    let mut lines = match detail {
        Detail::Full | Detail::Short => phases.into_iter().map(|(_, line)| line).collect(),
        Detail::Line | Detail::Tight | Detail::Least if phases.is_empty() => Vec::new(),
        Detail::Line => vec![joined(phases)],
        Detail::Tight | Detail::Least => vec![newest_with_proof(phases, detail)],
    };
    lines.extend(rounds_and_runs(brief, detail));
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}\n")).collect();
    format!("## Done (do not redo)\n{}", lines.concat())
}

fn joined(phases: Vec<(&PhaseView, String)>) -> String {
    phases.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("; ")
}

/// Returns the last phases with their proof. If there are many phases, the earlier ones appear by name only, or as a
/// range.
fn newest_with_proof(mut phases: Vec<(&PhaseView, String)>, detail: Detail) -> String {
    const MOST_NAMES: usize = 8;
    let most = detail.longest_list();
    let newest = phases.split_off(phases.len().saturating_sub(most));
    let outcomes = |phases: &[(&PhaseView, String)]| {
        let outcomes = phases.iter().filter_map(|(phase, _)| phase.outcome);
        outcomes.fold(Outcomes::default(), Outcomes::and).to_string()
    };
    let older = match phases.as_slice() {
        [] => return joined(newest),
        [(only, _)] => {
            let outcome = only.outcome.map(Outcome::name).unwrap_or_default();
            let named = exception(only).unwrap_or_else(|| format!("{} ({outcome})", numbered(only)));
            return format!("{named}; {}", joined(newest));
        }
        older if older.len() <= MOST_NAMES => {
            let names: Vec<String> = older.iter().map(|(phase, _)| by_name(phase)).collect();
            names.join(", ")
        }
        [first, .., last] => {
            let own: Vec<String> =
                phases.iter().filter_map(|(phase, _)| exception(phase)).take(most).collect();
            let own = if own.is_empty() { own.concat() } else { format!(", among them {}", own.join(", ")) };
            let range = format!("{} to {}{own}", numbered(first.0), numbered(last.0));
            // With the least detail, the outcomes are omitted here, because the head counts them.
            if detail == Detail::Least {
                return format!("{range}; {}", joined(newest));
            }
            range
        }
    };
    format!("{older} ({}); {}", outcomes(&phases), joined(newest))
}

/// Returns, for example, `3 Build` or `4 Review (skipped)`.
fn by_name(phase: &PhaseView) -> String {
    exception(phase).unwrap_or_else(|| numbered(phase))
}

/// Returns, for example, `4 Review (skipped)`, for a phase that was skipped, overridden, passed with warnings, or is
/// not applicable. `None` for other phases.
fn exception(phase: &PhaseView) -> Option<String> {
    match phase.outcome? {
        outcome @ (Outcome::Skipped | Outcome::Overridden | Outcome::Warned | Outcome::NotApplicable) => {
            Some(format!("{} ({})", numbered(phase), outcome.name()))
        }
        Outcome::Verified | Outcome::Reported | Outcome::Done | Outcome::Claimed => None,
    }
}

/// Returns, for example, `3 Build`.
pub(super) fn numbered(phase: &PhaseView) -> String {
    match phase_named(phase.number, &phase.title, &phase.id) {
        Some(name) => format!("{} {}", phase.number, defused(name, 80)),
        None => format!("Phase {}", phase.number),
    }
}

/// True if the phase is completed and not only claimed by a file.
pub(super) fn is_done(view: &View, phase: &PhaseView) -> bool {
    view.completed_phases.contains(&phase.number) && phase.gate.outcome != GateOutcome::Claimed
}

fn done_phase(brief: &Brief, phase: &PhaseView, detail: Detail) -> Option<String> {
    let view = &brief.session;
    let outcome = phase.outcome.filter(|_| is_done(view, phase))?;
    let mut how: Vec<String> = took(view.timed(phase), detail).into_iter().collect();
    if phase.attempt_count > 1 && detail == Detail::Full {
        how.push(format!("attempt {}", phase.attempt_count));
    }
    how.push(worth(phase, outcome, detail));
    let proof = proof(brief, phase, detail);
    let proof = if proof.is_empty() { proof } else { format!(": {proof}") };
    Some(format!("{} ({}){proof}", numbered(phase), how.join(", ")))
}

/// Returns the outcome of a phase in a few words.
fn worth(phase: &PhaseView, outcome: Outcome, detail: Detail) -> String {
    let failed = || {
        let failed = phase.gate.checks.iter().filter(|check| check.outcome == GateOutcome::Failed);
        failed.map(|check| defused(&check.id, 80)).collect::<Vec<_>>().join(", ")
    };
    match outcome {
        Outcome::Overridden => {
            let attempt = phase.attempts.last();
            let reason = attempt.and_then(|attempt| attempt.report.overridden.as_deref()).unwrap_or_default();
            let by = attempt.map(|attempt| defused(&attempt.actor.to_string(), 60)).unwrap_or_default();
            format!(
                "overridden by {by}, {}; failed check: {}",
                quoted(reason, detail.longest_text()),
                failed()
            )
        }
        Outcome::Warned => format!("passed with warnings: {}", failed()),
        Outcome::Done => "no gate".to_owned(),
        Outcome::Claimed if phase.unsigned => "claimed, not signed by an allowed key".to_owned(),
        Outcome::Verified
        | Outcome::Reported
        | Outcome::Claimed
        | Outcome::Skipped
        | Outcome::NotApplicable => outcome.name().to_owned(),
    }
}

/// Returns the proof of a phase: its files, its approvals, the checks that leftoff ran, and its evidence.
fn proof(brief: &Brief, phase: &PhaseView, detail: Detail) -> String {
    let files: Vec<String> = brief.files_of(phase).map(|path| defused(path, 200)).collect();
    let mut proof = paths::folded(&files);
    let more = proof.len().saturating_sub(detail.longest_list());
    proof.truncate(detail.longest_list());
    if more > 0 {
        proof.push(format!("{more} more files"));
    }
    proof.extend(brief.approvers_of(phase).map(|by| format!("approved by {}", defused(by, 60))));
    proof.dedup();
    proof.extend(phase.gate.checks.iter().filter_map(|check| ran(check, &files)));
    if let Some(attempt) = phase.attempts.last() {
        let handed_in = [&attempt.report.evidence, &attempt.report.outputs];
        proof
            .extend(handed_in.iter().filter(|values| !values.is_empty()).map(|values| pairs(values, detail)));
    }
    proof.join(", ")
}

/// Returns a passed check that leftoff ran itself. Recorded files and approvals are shown separately.
fn ran(check: &CheckView, files: &[String]) -> Option<String> {
    let is_file = |kind: &str| kind == "artifact" && !files.is_empty() || kind == "approval";
    let is_passed = check.outcome == GateOutcome::Passed;
    // If a later phase has recorded the file of this check since, this phase has no recorded file, and the path in the
    // check is shown. A pattern for several files is not a path to show.
    let path = check.needed.as_ref().filter(|path| check.kind == "artifact" && !path.contains('*'));
    if let Some(path) = path.filter(|_| is_passed && files.is_empty()) {
        return Some(defused(path, 200));
    }
    let told = is_passed && CheckKind::RUN_BY_LEFTOFF.contains(&check.kind.as_str()) && !is_file(&check.kind);
    let found = match check.kind.as_str() {
        "items" => check.found.as_ref().map(|found| format!(" ({})", defused(found, 60))),
        _ => None,
    };
    told.then(|| format!("{} passed{}", defused(&check.id, 80), found.unwrap_or_default()))
}

/// Returns a skipped phase with who skipped it and why; `None` if it was not skipped.
fn passed_over(brief: &Brief, phase: &PhaseView, detail: Detail) -> Option<String> {
    let reason = quoted(phase.skipped_reason.as_ref()?, detail.longest_text());
    let how = phase.outcome.map(Outcome::name).unwrap_or_default();
    let by = brief.skipped_by.get(phase.id.as_str()).map(|by| format!(" by {}", defused(by, 60)));
    Some(format!("{} ({how}{}, {reason})", numbered(phase), by.unwrap_or_default()))
}

/// Returns lines about rounds found in files and about recorded earlier runs, so that nobody repeats an existing
/// review.
fn rounds_and_runs(brief: &Brief, detail: Detail) -> Vec<String> {
    let run = &brief.session.run;
    // The current round is listed only if it has files or results.
    let has_started = |round: &&RoundView| {
        let is_current = round.workflow == run.workflow.as_str() && round.number == run.ordinal;
        !is_current || round.is_final || !round.parts.is_empty()
    };
    let rounds: Vec<&RoundView> = brief.session.rounds.iter().filter(has_started).collect();
    let is_of =
        |run: &EarlierRun, round: &RoundView| run.workflow == round.workflow && run.number == round.number;
    let from_files = rounds.iter().map(|round| {
        let run = brief.earlier_runs.iter().find(|run| is_of(run, round));
        let record = run.map(|run| format!("; {}", record(run, brief, detail)));
        defused_around_quotes(&round.told(), detail.longest_text() * 2) + &record.unwrap_or_default()
    });
    let others = brief.earlier_runs.iter().filter(|run| !rounds.iter().any(|round| is_of(run, round)));
    let on_record =
        others.map(|run| format!("Run {} of {}: {}", run.number, run.workflow, record(run, brief, detail)));
    let lines: Vec<String> = from_files.chain(on_record).collect();
    // Only the newest lines are kept.
    lines[lines.len().saturating_sub(detail.longest_list())..].to_vec()
}

fn record(run: &EarlierRun, brief: &Brief, detail: Detail) -> String {
    let end = match (&run.at, &run.completed_at) {
        (Some(phase), _) => format!("left open in {}", defused(phase, 80)),
        (None, Some(at)) => format!("finished {}", when(*at, brief.now)),
        (None, None) => "left open".to_owned(),
    };
    let outcomes = run.outcomes.to_string();
    let outcomes = if outcomes.is_empty() { outcomes } else { format!(" ({outcomes})") };
    let values = pairs(&run.values, detail);
    let values = if values.is_empty() { values } else { format!(", {values}") };
    format!("{end}{outcomes}{values}")
}
