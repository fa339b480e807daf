//! Problems: failed gates, phases to review, and unconfirmed claims.

use super::done::numbered;
use super::notes::archived;
use super::{Detail, is_over, pairs, uncut_commands};
use crate::brief::Brief;
use crate::view::{CheckView, GateOutcome, PhaseView};
use crate::words::{date, defused, defused_around_quotes, duration, moment, phase_named, quoted, sentence};
use jiff::Timestamp;
use model::actor::Actor;
use model::gate::{Attempt, AttemptOutcome};
use model::typed_value;
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::fmt::Write;

pub(super) fn failed(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let Some((phase, attempt)) = view.failed_attempt().or_else(|| view.failed_and_left()) else {
        return String::new();
    };
    let left = match phase.number.cmp(&view.current_phase.number) {
        _ if phase.status == "in_progress" => "",
        Ordering::Greater => ", before the session went back",
        Ordering::Less | Ordering::Equal => ", then left open",
    };
    let mut text = format!(
        "## Failed: attempt {} of {}, {}{left}\n",
        phase.attempt_count,
        phase_named(phase.number, &phase.title, &phase.id).unwrap_or(phase.id.as_str()),
        moment(attempt.at, brief.now)
    );
    let failed = failed_checks(phase, attempt);
    let evidence = not_said(&attempt.report.evidence, &failed);
    if !evidence.is_empty() {
        let _ = writeln!(text, "Evidence: {}", pairs(&evidence, detail));
    }
    let next = view.next.summary.to_string();
    let most = match detail {
        Detail::Full | Detail::Short | Detail::Line => usize::MAX,
        Detail::Tight | Detail::Least => Detail::Tight.longest_list(),
    };
    let has_items = !view.item_counts.is_empty();
    for (at, check) in failed.iter().take(most).enumerate() {
        let has_help = at == 0 || detail != Detail::Least;
        text.push_str(&failed_line(check, has_items, has_help.then_some(&*next), detail));
    }
    if failed.len() > most {
        let _ = writeln!(text, "- and {} more: `leftoff show {}`", failed.len() - most, view.session_id);
    }
    text
}

/// Returns the checks that failed in an attempt. The view of a reopened phase's gate does not show its earlier
/// attempts, so the checks are then read from the attempt itself.
fn failed_checks(phase: &PhaseView, attempt: &Attempt) -> Vec<CheckView> {
    let is_failed = |check: &CheckView| check.outcome == GateOutcome::Failed;
    let of_gate: Vec<CheckView> =
        phase.gate.checks.iter().filter(|check| is_failed(check)).cloned().collect();
    if !of_gate.is_empty() {
        return of_gate;
    }
    attempt.report.checks.iter().map(CheckView::from).filter(is_failed).collect()
}

/// Returns the evidence that no failed check mentions.
fn not_said(evidence: &Map<String, Value>, failed: &[CheckView]) -> Map<String, Value> {
    let is_said = |name: &String, value: &Value| {
        let pair = format!("{name}={}", typed_value::quoted(value));
        failed.iter().any(|check| check.found.as_ref().is_some_and(|found| found.contains(&pair)))
    };
    let rest = evidence.iter().filter(|(name, value)| !is_said(name, value));
    rest.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns a failed check on one line: what was found, what is needed, and how to fix it. The fix is omitted if the
/// next step says it or if there is no room. Open items have a section of their own.
fn failed_line(check: &CheckView, has_items: bool, next: Option<&str>, detail: Detail) -> String {
    let longest = detail.longest_text();
    let mut line = format!("- {}", defused(&check.id, 80));
    let is_about_items = has_items && check.kind == "items";
    if let Some(found) = &check.found {
        // The finding lists unfinished items after their number. The list is cut off, because items have a section of
        // their own.
        let found = if is_about_items { found.split("; ").next().unwrap_or(found) } else { found };
        let found = match check.kind.as_str() {
            // A finding of this kind already has quotation marks around its values.
            "evidence" | "expr" => defused_around_quotes(found, detail.longest_found()),
            // A finding of another kind contains file names and command output. These are foreign text, so the whole
            // finding is quoted.
            _ => quoted(found, detail.longest_found()),
        };
        let _ = write!(line, ": {found}");
    }
    // If a file is missing, the finding already names the needed path.
    let is_said =
        |needed: &&String| check.found.as_ref().is_some_and(|found| found.contains(needed.as_str()));
    if let Some(needed) = check.needed.as_ref().filter(|needed| !is_about_items && !is_said(needed)) {
        let _ = write!(line, ", needs {}", defused(needed, longest));
    }
    let is_news = |help: &&String| {
        next.is_some_and(|next| !next.contains(&sentence(help.trim().trim_end_matches('.'))))
    };
    if let Some(help) = check.help.as_ref().filter(|help| !is_about_items && is_news(help)) {
        let _ = write!(line, ". {}", uncut_commands(&sentence(help), longest));
    }
    line.push('\n');
    line
}

/// Returns the section with completed phases that must be reviewed because an earlier phase changed.
pub(super) fn to_review(brief: &Brief, detail: Detail) -> String {
    let waiting = brief.session.waiting_for_review();
    if waiting.is_empty() {
        return String::new();
    }
    let next = brief.session.next.summary.to_string();
    let mut text = "## Waits for review\n".to_owned();
    let mut last = None;
    for (phase, why) in waiting {
        let _ = write!(text, "- {}", numbered(phase));
        if let Some(made) = why {
            let revision = &made.revision;
            // Even a very short brief shows most of the revision's reason: the reader must know what to look for.
            let longest = detail.longest_text().max(Detail::Short.longest_text());
            let reason = format!(": {}", quoted(&revision.reason, longest));
            let _ = write!(
                text,
                ": {} was revisited ({} impact, {}){}{}",
                revision.phase,
                revision.impact.name(),
                date(made.at),
                if next.contains(&reason) { "" } else { &reason },
                if last == why { String::new() } else { archived(made, detail) }
            );
            last = why;
        }
        text.push('\n');
    }
    text
}

/// Returns the section with unverified work: phases that a file calls done but whose gate did not pass, items that only
/// a task list calls done, and edits.
pub(super) fn unverified(brief: &Brief, detail: Detail) -> String {
    let claims = [claimed_phases(brief, detail), claimed_items(brief, detail), moved(brief)].concat();
    if claims.is_empty() { claims } else { format!("## Unverified\n{claims}") }
}

fn claimed_phases(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let claimed: Vec<&PhaseView> = view.claimed().collect();
    match detail {
        Detail::Full | Detail::Short => {
            let line = |phase: &&PhaseView| {
                let (called, why) = (numbered(phase), contested(phase, brief.now, detail));
                // A command is shown only for the first claimed phase, because later phases must wait for it. It is
                // omitted if it is the next step.
                let is_first = claimed.first().is_some_and(|first| first.number == phase.number);
                let proving = phase.proving.as_ref().filter(|proving| {
                    is_first && !is_over(brief) && view.next.command.as_ref() != Some(proving)
                });
                let how = proving.map(|proving| format!(" Verify it: `{proving}`")).unwrap_or_default();
                format!("- {called}: claimed in a file, {why}.{how}\n")
            };
            claimed.iter().map(line).collect()
        }
        Detail::Line | Detail::Tight | Detail::Least => shortly_claimed(brief, claimed, detail),
    }
}

/// Returns one line for each claimed phase that the log contradicts, and a single line for all other claimed phases.
fn shortly_claimed(brief: &Brief, claimed: Vec<&PhaseView>, detail: Detail) -> String {
    let (open, failed): (Vec<&PhaseView>, Vec<&PhaseView>) =
        claimed.into_iter().partition(|phase| !phase.contested);
    let most = detail.longest_list().max(Detail::Tight.longest_list());
    let more = |count: usize| count.checked_sub(most).filter(|more| *more > 0);
    let more_failed = more(failed.len()).map(|more| format!("- and {more} more like it\n"));
    let line = |phase: &&PhaseView| {
        format!("- {}: claimed in a file, {}\n", numbered(phase), contested(phase, brief.now, detail))
    };
    let failed: String = failed.iter().take(most).map(line).collect();
    let mut names: Vec<String> = open.iter().take(most).map(|phase| numbered(phase)).collect();
    names.extend(more(open.len()).map(|more| format!("and {more} more")));
    let open = if names.is_empty() {
        String::new()
    } else {
        format!("- {}: claimed in a file, not proven\n", names.join(", "))
    };
    format!("{failed}{}{open}", more_failed.unwrap_or_default())
}

/// Returns, for example, `- Done only according to TODO.md: list-the-packages`.
fn claimed_items(brief: &Brief, detail: Detail) -> String {
    let line = |(list, ids): (&String, &Vec<String>)| {
        let mut named: Vec<String> = ids.iter().take(detail.longest_list().max(3)).cloned().collect();
        if ids.len() > named.len() {
            named.push(format!("{} more", ids.len() - named.len()));
        }
        format!("- Done only according to {}: {}\n", defused(list, 120), named.join(", "))
    };
    brief.claimed_items.iter().map(line).collect()
}

/// Returns a line about an edit that moved the session: from where, to where, and which phase was verified last.
fn moved(brief: &Brief) -> String {
    let Some(moved) = &brief.moved else { return String::new() };
    let at = moment(moved.at, brief.now);
    let (from_to, on_record) = (defused(&moved.from_to(), 300), defused(&moved.on_record(), 500));
    format!("- An edit of the session's files {from_to}, {at}; {on_record}.\n")
}

/// True if the phase has a gate. The view lists the checks of the gate even for a claimed phase.
fn has_gate(phase: &PhaseView) -> bool {
    !phase.gate.checks.is_empty()
}

/// Returns why a claim is doubted: the last check that failed, or open items.
fn contested(phase: &PhaseView, now: Timestamp, detail: Detail) -> String {
    let is_failed =
        |attempt: &&Attempt| attempt.outcome == AttemptOutcome::Failed || !attempt.report.passes();
    let last = phase.attempts.last().filter(is_failed);
    let failed = if phase.contested {
        phase.attempts.iter().rfind(|attempt| !attempt.report.passes()).or(last)
    } else {
        last
    };
    let Some(attempt) = failed else {
        return match (phase.contested, has_gate(phase)) {
            (true, _) => "its items are open here",
            (false, true) => "its gate is still open",
            (false, false) => "it has no gate",
        }
        .to_owned();
    };
    let checks = attempt.report.checks.iter().filter(|check| check.failed()).map(|check| {
        let found =
            check.found.as_deref().map(|found| format!(" ({})", quoted(found, detail.longest_found())));
        format!("{}{}", defused(&check.id, 80), found.unwrap_or_default())
    });
    let found: Vec<String> = checks.collect();
    let is_ours = phase.contested && !matches!(attempt.actor, Actor::Tool { .. });
    // A gate reads only some of the evidence that another tool recorded, so the evidence is shown too if there is room.
    let is_telling = found.is_empty() || !is_ours && matches!(detail, Detail::Full | Detail::Short);
    let evidence = Some(&attempt.report.evidence).filter(|evidence| is_telling && !evidence.is_empty());
    let evidence = evidence.map(|evidence| format!("evidence {}", pairs(evidence, detail)));
    let found = match (found.is_empty(), evidence) {
        (false, Some(evidence)) => format!("{}; {evidence}", found.join(", ")),
        (false, None) => found.join(", "),
        (true, Some(evidence)) => evidence,
        (true, None) => "no reason is recorded".to_owned(),
    };
    let at = moment(attempt.at, now);
    let length = phase.duration_seconds.filter(|seconds| *seconds > 0);
    let length = length.map(|seconds| format!(" after {}", duration(seconds))).unwrap_or_default();
    match (is_ours, attempt.outcome) {
        (true, _) => format!("and its gate failed here, {at}: {found}"),
        (false, AttemptOutcome::Failed) => format!("and its checkpoint FAILED there{length}, {at}: {found}"),
        (false, AttemptOutcome::Passed) => format!("and its evidence does not pass its gate, {at}: {found}"),
    }
}
