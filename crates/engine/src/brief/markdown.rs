//! The brief as an agent reads it. Under a budget the least important goes first; what must not be lost stays.

use crate::brief::{Brief, Neighbour, PhaseName};
use crate::view::{CheckView, GateOutcome, PhaseView, View};
use crate::words::{
    ago, date, defused, defused_around_quotes, duration, moment, phase_called, phase_named, quoted, version,
};
use jiff::Timestamp;
use model::gate;
use model::id::Name;
use model::lifecycle::Lifecycle;
use model::note::{Note, NoteKind};
use model::outcome::Outcome;
use std::fmt::Write;
use store::{ActivityKind, ActivityRow};

/// How closely things are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Full,
    /// Long texts and lists cut.
    Short,
    /// What is done on one line as well.
    Line,
    /// All of it cut to the bone.
    Tight,
}

impl Detail {
    fn longest_text(self) -> usize {
        match self {
            Self::Full => 500,
            Self::Short | Self::Line => 200,
            Self::Tight => 80,
        }
    }

    fn longest_list(self) -> usize {
        match self {
            Self::Full => 50,
            Self::Short | Self::Line => 10,
            Self::Tight => 3,
        }
    }
}

struct Section {
    text: String,
    /// Never dropped, whatever the budget.
    essential: bool,
}

/// Markdown of at most `budget` tokens. A token is counted as 3.2 bytes: what tokenizers make of such text.
pub fn markdown(brief: &Brief, budget: Option<usize>) -> String {
    let longest = budget.map_or(usize::MAX, |tokens| tokens.saturating_mul(16) / 5);
    let text = joined(&sections(brief, Detail::Full));
    if text.len() <= longest {
        return text;
    }
    // From here on sections only go, never come back: a larger budget never has less than a smaller one.
    let mut shorter = sections(brief, Detail::Short);
    loop {
        let text = joined(&shorter);
        if text.len() <= longest {
            return text;
        }
        let Some(last) = shorter.iter().rposition(|section| !section.essential) else { break };
        shorter.remove(last);
    }
    let text = essentials(brief, Detail::Line);
    if text.len() <= longest { text } else { essentials(brief, Detail::Tight) }
}

fn essentials(brief: &Brief, detail: Detail) -> String {
    let kept: Vec<Section> =
        sections(brief, detail).into_iter().filter(|section| section.essential).collect();
    joined(&kept)
}

fn joined(sections: &[Section]) -> String {
    let texts: Vec<&str> = sections.iter().map(|section| section.text.trim_end()).collect();
    texts.join("\n\n") + "\n"
}

/// In the reader's order: what to do, what not to do again, what is wrong, the rest.
fn sections(brief: &Brief, detail: Detail) -> Vec<Section> {
    let essential = |text: String| (!text.is_empty()).then_some(Section { text, essential: true });
    let optional = |text: String| (!text.is_empty()).then_some(Section { text, essential: false });
    let by_kind = |title: &str, kind: NoteKind| {
        // The newest first: under a limit the oldest go.
        let mut notes: Vec<&Note> = brief.notes(kind).collect();
        notes.reverse();
        listed(title, &notes, brief, detail)
    };
    let waiting = brief.session.open_notes();
    [
        essential(head(brief, detail)),
        essential(next(brief, detail)),
        essential(rounds(brief, detail)),
        essential(done(brief, detail)),
        essential(passed_over(brief)),
        essential(failed(brief, detail)),
        essential(to_review(brief, detail)),
        essential(unverified(brief, detail)),
        essential(listed("Blocked, open", &waiting, brief, detail)),
        optional(required(brief, detail)),
        optional(items(brief, detail)),
        optional(revised(brief, detail)),
        optional(by_kind("Decided", NoteKind::Decision)),
        optional(by_kind("Tried, did not work", NoteKind::Tried)),
        optional(by_kind("Assumed", NoteKind::Assumption)),
        optional(by_kind("Overridden", NoteKind::Override)),
        optional(warnings(brief, detail)),
        optional(by_kind("Notes", NoteKind::Note)),
        optional(last_words(brief, detail)),
        optional(touched(brief, detail)),
        optional(commands_run(brief, detail)),
        optional(here_now(&brief.here_now, brief.now)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn head(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let mut text = format!(
        "# Where you left off: {} (session {})\n",
        defused(&view.title, detail.longest_text()),
        view.session_id
    );
    if let Some(goal) = &view.goal {
        let _ = writeln!(text, "Goal: {}", quoted(goal, detail.longest_text()));
    }
    if let Some(target) = &view.target {
        let _ = writeln!(text, "Target: {}", quoted(target, detail.longest_text()));
    }
    text.push_str(&standing(brief, detail));
    text.push_str(&purpose(brief, detail));
    let _ = write!(text, " Workflow {}", view.workflow.name);
    if let Some(describe) = &view.workflow.describe {
        let _ = write!(text, " ({})", quoted(describe, detail.longest_text()));
    }
    let _ = write!(text, " {}", defused(&version(&view.workflow.version), 20));
    if view.run.ordinal > 1 {
        let _ = write!(text, ", run {}", view.run.ordinal);
    }
    if let Some(branch) = &brief.branch {
        let _ = write!(text, ", branch {}", defused(branch, 100));
    }
    let _ = writeln!(
        text,
        ". Last change by {}, {}.",
        defused(&view.last_actor.to_string(), 60),
        ago(view.updated_at, brief.now)
    );
    text.push_str(&resumed(brief));
    text
}

/// What the files of rounds show: nobody does a review again that is there.
fn rounds(brief: &Brief, detail: Detail) -> String {
    let rounds = &brief.session.rounds;
    let from = rounds.len().saturating_sub(detail.longest_list());
    let told =
        rounds[from..].iter().map(|round| format!("- {}", defused(&round.told(), detail.longest_text())));
    let lines: Vec<String> = told.collect();
    let elapsed = brief.session.elapsed_seconds;
    let elapsed = elapsed.map(|seconds| format!(" ({} so far)", duration(seconds))).unwrap_or_default();
    if lines.is_empty() { String::new() } else { format!("## Rounds{elapsed}\n{}", lines.join("\n")) }
}

/// How often the work stood still, and for how long.
fn resumed(brief: &Brief) -> String {
    let view = &brief.session;
    let paused: u64 = view.phases.iter().map(|phase| phase.paused_seconds).sum();
    match view.resume_count {
        0 => String::new(),
        1 => format!("Resumed once, paused {} in all.\n", duration(paused)),
        count => format!("Resumed {count} times, paused {} in all.\n", duration(paused)),
    }
}

/// Where exactly: the phase and its time, or how it ended.
fn standing(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let named = |number: u32, title: &str, id: &Name| {
        let called = phase_named(number, title, id);
        called.map(|name| format!(", **{}**", defused(name, 80))).unwrap_or_default()
    };
    let current = &view.current_phase;
    let of_all = view.percent().map(|_| format!(" of {}", view.workflow.total_phases)).unwrap_or_default();
    // The last position that we can stand behind; what a file says beyond it is a claim.
    let place = match view.contested().filter(|phase| phase.number != current.number) {
        Some(phase) => format!(
            "Phase {}{of_all}{} (a file says {} {}, unverified)",
            phase.number,
            named(phase.number, &phase.title, &phase.id),
            current.number,
            current.id
        ),
        None => {
            format!("Phase {}{of_all}{}", current.number, named(current.number, &current.title, &current.id))
        }
    };
    let figures = view.percent().map_or_else(|| view.how_far(), |percent| format!("{percent} % done"));
    match &view.lifecycle {
        Lifecycle::Active if view.run.completed_at.is_some() => {
            format!("Run {} is **finished** ({figures}); the session is still open.", view.run.ordinal)
        }
        Lifecycle::Active => format!("{place}{}. {figures}{}.", time_in_phase(brief), remaining(brief)),
        Lifecycle::Paused { at, reason, context, saved } => {
            let context = context.as_ref().map_or_else(String::new, |context| {
                format!(", in the middle of {}", quoted(context, detail.longest_text()))
            });
            let saved = saved_drafts(saved, detail);
            format!(
                "{place}{}. **Paused** {}: {}{context}.{saved} {figures}{}.",
                time_in_phase(brief),
                ago(*at, brief.now),
                quoted(reason, detail.longest_text()),
                remaining(brief)
            )
        }
        Lifecycle::Completed { at, forced: false } => {
            format!("**Finished** {}: {}. Do none of them again.", ago(*at, brief.now), finished(view))
        }
        Lifecycle::Completed { at, forced: true } => {
            format!("**Closed early** {}: {}.", ago(*at, brief.now), view.how_far())
        }
        Lifecycle::Failed { at, error } => {
            format!(
                "{place}. **Failed** {}: {}. {figures}.",
                ago(*at, brief.now),
                quoted(error, detail.longest_text())
            )
        }
        Lifecycle::Abandoned { at, reason } => {
            let reason = reason
                .as_ref()
                .map_or_else(String::new, |reason| format!(": {}", quoted(reason, detail.longest_text())));
            format!(
                "**Given up** {}{reason}. It was at {}, {figures}.",
                ago(*at, brief.now),
                phase_called(view.current_phase.number, &view.current_phase.id)
            )
        }
    }
}

/// The purpose of the phase, where the next step is about something else and does not say it.
fn purpose(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let is_said_by_next = matches!(view.lifecycle, Lifecycle::Active)
        && view.failed_attempt().is_none()
        && view.item_counts.open() == 0
        && view.contested().is_none();
    let is_over = view.run.completed_at.is_some()
        || matches!(view.lifecycle, Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. });
    let current = view.contested().or(view.current()).filter(|_| !is_said_by_next && !is_over);
    match current.and_then(|phase| phase.purpose.as_deref()) {
        Some(purpose) => {
            let purpose = purpose.trim().trim_end_matches('.');
            format!(" Its purpose: {}.", defused(purpose, detail.longest_text()))
        }
        None => String::new(),
    }
}

/// What a finished session is worth: that all is done is said only where nothing was passed over or let through.
fn finished(view: &View) -> String {
    let outcomes = &view.progress.outcomes;
    let total = view.workflow.total_phases - outcomes.not_applicable as usize;
    if outcomes.is_plain() { format!("all {total} phases are done") } else { view.how_far() }
}

/// The drafts that a pause kept, as ` Saved: "a.md", "b.md".`
fn saved_drafts(saved: &[String], detail: Detail) -> String {
    if saved.is_empty() {
        return String::new();
    }
    let mut named: Vec<String> =
        saved.iter().take(detail.longest_list()).map(|path| quoted(path, detail.longest_text())).collect();
    if saved.len() > named.len() {
        named.push(format!("and {} more", saved.len() - named.len()));
    }
    format!(" Saved: {}.", named.join(", "))
}

fn time_in_phase(brief: &Brief) -> String {
    let progress = &brief.session.progress;
    let Some(time) = progress.time_in_phase_seconds else { return String::new() };
    let average = match (progress.average_phase_seconds, progress.stalled) {
        (Some(average), true) => format!(" (average phase {}: longer than usual)", duration(average)),
        (Some(average), false) => format!(" (average phase {})", duration(average)),
        (None, _) => String::new(),
    };
    format!(", since {}{average}", duration(time))
}

fn remaining(brief: &Brief) -> String {
    match brief.session.progress.estimated_remaining_seconds {
        Some(seconds) => format!(", about {} left", duration(seconds)),
        None => String::new(),
    }
}

fn next(brief: &Brief, detail: Detail) -> String {
    let next = &brief.session.next;
    // What is finished suggests nothing: another run is not its next step.
    if matches!(brief.session.lifecycle, Lifecycle::Completed { .. }) {
        return String::new();
    }
    // Whatever others wrote is quoted in it already.
    let summary = defused_around_quotes(&next.summary.to_string(), detail.longest_text() * 2);
    let mut text = format!("## Next\n1. {summary}\n");
    if let Some(command) = &next.command {
        let _ = writeln!(text, "2. `{command}`");
    }
    text
}

fn done(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let finished: Vec<&PhaseView> = view
        .phases
        .iter()
        .filter(|phase| {
            view.completed_phases.contains(&phase.number) && phase.gate.outcome != GateOutcome::Claimed
        })
        .collect();
    if finished.is_empty() {
        return String::new();
    }
    let title = "## Done: do not do again\n";
    match detail {
        Detail::Full | Detail::Short => {
            let lines: Vec<String> = finished.iter().map(|phase| done_line(view, phase)).collect();
            format!("{title}{}", lines.join(""))
        }
        Detail::Line | Detail::Tight => {
            let names: Vec<String> = finished.iter().map(|phase| numbered(phase)).collect();
            format!("{title}{}\n", names.join(", "))
        }
    }
}

/// What a file says is done, and no gate has shown.
fn unverified(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let claimed: Vec<&PhaseView> = view.claimed().collect();
    if claimed.is_empty() {
        return String::new();
    }
    let title = "## Unverified\n";
    let naming = view.naming();
    match detail {
        Detail::Full | Detail::Short => {
            let line = |phase: &&PhaseView| {
                let (called, id) = (numbered(phase), &phase.id);
                let why = contested(phase, brief.now, detail);
                format!(
                    "- {called}: claimed in a file, {why}. Verify it: `leftoff advance --phase {id}{naming}`\n"
                )
            };
            format!("{title}{}{}", claimed.iter().map(line).collect::<String>(), moved(brief))
        }
        Detail::Line | Detail::Tight => {
            let names: Vec<String> = claimed.iter().map(|phase| numbered(phase)).collect();
            format!("{title}{}: claimed in a file, gates still open\n{}", names.join(", "), moved(brief))
        }
    }
}

/// An edit of files, from where to where, and how far anything is verified.
fn moved(brief: &Brief) -> String {
    let Some(moved) = &brief.moved else { return String::new() };
    let called = |phase: &PhaseName| format!("{} ({})", phase.id, phase.number);
    let verified = moved.verified.as_ref().map_or_else(|| "none".to_owned(), called);
    format!(
        "- An edit of its files moved it from {} to {}, {}; last verified phase: {verified}.\n",
        called(&moved.from),
        called(&moved.to),
        moment(moved.at, brief.now)
    )
}

/// Why a claim is not believed: what failed here the last time, what is open here.
fn contested(phase: &PhaseView, now: Timestamp, detail: Detail) -> String {
    let failed = phase.attempts.iter().rfind(|attempt| !attempt.report.passes()).filter(|_| phase.contested);
    let Some(attempt) = failed else {
        return if phase.contested { "its items are open here" } else { "its gate is still open" }.to_owned();
    };
    let checks = attempt.report.checks.iter().filter(|check| check.failed()).map(|check| {
        let found =
            check.found.as_deref().map(|found| format!(" ({})", quoted(found, detail.longest_text())));
        format!("{}{}", defused(&check.id, 80), found.unwrap_or_default())
    });
    let checks: Vec<String> = checks.collect();
    format!("and its gate failed here, {}: {}", moment(attempt.at, now), checks.join(", "))
}

/// What was done, and must be looked at again because an earlier phase was changed.
fn to_review(brief: &Brief, detail: Detail) -> String {
    let waiting = brief.session.waiting_for_review();
    if waiting.is_empty() {
        return String::new();
    }
    let mut text = "## Waits for review\n".to_owned();
    for (phase, why) in waiting {
        let _ = write!(text, "- {}", numbered(phase));
        if let Some(made) = why {
            let revision = &made.revision;
            let _ = write!(
                text,
                ": {} was revisited ({} impact, {}): {}",
                revision.phase,
                revision.impact.name(),
                date(made.at),
                quoted(&revision.reason, detail.longest_text())
            );
        }
        text.push('\n');
    }
    text
}

/// `3 Build`
fn numbered(phase: &PhaseView) -> String {
    match phase_named(phase.number, &phase.title, &phase.id) {
        Some(name) => format!("{} {}", phase.number, defused(name, 80)),
        None => format!("Phase {}", phase.number),
    }
}

/// Phases that are behind the run and were not done.
fn passed_over(brief: &Brief) -> String {
    let skipped = brief.session.phases.iter().filter_map(|phase| {
        let reason = quoted(phase.skipped_reason.as_ref()?, 200);
        let how = phase.outcome.map(Outcome::name).unwrap_or_default();
        Some(format!("- {} {}: {how}, {reason}\n", phase.number, phase.id))
    });
    let lines: String = skipped.collect();
    if lines.is_empty() { lines } else { format!("## Not done\n{lines}") }
}

fn done_line(view: &View, phase: &PhaseView) -> String {
    let mut line = format!("- {}", numbered(phase));
    if let Some(seconds) = view.timed(phase) {
        let _ = write!(line, " ({})", duration(seconds));
    }
    let attempt = phase.attempts.last();
    if let Some(attempt) = attempt {
        let proof = [("evidence", &attempt.report.evidence), ("outputs", &attempt.report.outputs)]
            .into_iter()
            .filter(|(_, values)| !values.is_empty())
            .map(|(word, values)| format!("{word} {}", pairs(values)))
            .collect::<Vec<_>>();
        if !proof.is_empty() {
            let _ = write!(line, ": {}", proof.join("; "));
        }
    }
    let failed: Vec<&str> = phase
        .gate
        .checks
        .iter()
        .filter(|check| check.outcome == GateOutcome::Failed)
        .map(|check| check.id.as_str())
        .collect();
    match attempt.and_then(|attempt| attempt.report.overridden.as_deref()) {
        Some(reason) => {
            let _ = write!(line, " (overridden: {}; failed: {})", quoted(reason, 200), failed.join(", "));
        }
        None if attempt.is_some() && !failed.is_empty() => {
            let _ = write!(line, " (passed with warnings: {})", failed.join(", "));
        }
        None => {}
    }
    if phase.attempt_count > 1 && attempt.is_some() {
        let _ = write!(line, " (attempt {})", phase.attempt_count);
    }
    line.push('\n');
    line
}

fn pairs(values: &serde_json::Map<String, serde_json::Value>) -> String {
    let shown: Vec<String> = values
        .iter()
        .take(20)
        .map(|(name, value)| {
            format!("{}={}", defused(name, 60), defused_around_quotes(&gate::quoted(value), 90))
        })
        .collect();
    shown.join(", ")
}

fn failed(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let Some((phase, attempt)) = view.failed_attempt() else { return String::new() };
    let mut text = format!(
        "## Failed: attempt {} of {}, {}\n",
        phase.attempt_count,
        phase_named(phase.number, &phase.title, &phase.id).unwrap_or(phase.id.as_str()),
        moment(attempt.at, brief.now)
    );
    if !attempt.report.evidence.is_empty() {
        let _ = writeln!(text, "Evidence: {}", pairs(&attempt.report.evidence));
    }
    for check in phase.gate.checks.iter().filter(|check| check.outcome == GateOutcome::Failed) {
        text.push_str(&failed_line(check, detail));
    }
    text
}

fn failed_line(check: &CheckView, detail: Detail) -> String {
    let longest = detail.longest_text();
    let mut line = format!("- {}", defused(&check.id, 80));
    if let Some(found) = &check.found {
        let found = match check.kind.as_str() {
            // Values are quoted in it already.
            "evidence" | "expr" => defused_around_quotes(found, longest),
            // Names of files, what a command printed: not ours to say.
            _ => quoted(found, longest),
        };
        let _ = write!(line, ": {found}");
    }
    if let Some(needed) = &check.needed {
        let _ = write!(line, ", needs {}", defused(needed, longest));
    }
    if let Some(help) = &check.help {
        let _ = write!(line, ". {}", defused_around_quotes(help, longest));
    }
    line.push('\n');
    line
}

fn listed(title: &str, notes: &[&Note], brief: &Brief, detail: Detail) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let mut text = format!("## {title}\n");
    for note in notes.iter().take(detail.longest_list()) {
        let _ = writeln!(text, "- {}", note_line(note, brief, detail));
    }
    let left_out = notes.len().saturating_sub(detail.longest_list());
    if left_out > 0 {
        let _ = writeln!(text, "- and {left_out} more: `leftoff show {}`", brief.session.session_id);
    }
    text
}

fn items(brief: &Brief, detail: Detail) -> String {
    let counts = brief.session.item_counts;
    if counts.is_empty() {
        return String::new();
    }
    let mut text = "## Items\n".to_owned();
    let shown = brief.items(detail.longest_list());
    for item in &shown {
        let title = defused(&item.item.title, detail.longest_text());
        let standing = defused(&item.standing(brief.now), detail.longest_text());
        let _ = writeln!(text, "- {} {} {title}: {standing}", item.mark(), item.id());
    }
    let left_out = (counts.open() as usize).saturating_sub(shown.len());
    if left_out > 0 {
        let naming = brief.session.naming();
        let _ = writeln!(text, "- and {left_out} more: `leftoff item list{naming}`");
    }
    if counts.done > 0 {
        let _ = writeln!(text, "- {} done", counts.done);
    }
    text
}

fn note_line(note: &Note, brief: &Brief, detail: Detail) -> String {
    let mut line = quoted(&note.text, detail.longest_text());
    if !note.fields.is_empty() {
        let fields: serde_json::Map<_, _> =
            note.fields.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let _ = write!(line, " [{}]", pairs(&fields));
    }
    let actor = defused(&note.actor.to_string(), 60);
    if note.is_open() {
        let _ = write!(
            line,
            " ({}, {}, {actor}; once settled: `leftoff note resolve {}{}`)",
            note.kind.name(),
            ago(note.at, brief.now),
            note.id,
            brief.session.naming()
        );
    } else {
        let _ = write!(line, " ({}, {actor})", date(note.at));
    }
    line
}

/// What was decided before an earlier phase was changed may no longer hold: the reader must know of the change.
fn revised(brief: &Brief, detail: Detail) -> String {
    let made = &brief.session.revisions;
    if made.is_empty() {
        return String::new();
    }
    let mut text = "## Revised: what was decided before may no longer hold\n".to_owned();
    for made in made.iter().rev().take(detail.longest_list()) {
        let revision = &made.revision;
        let _ = writeln!(
            text,
            "- {} ({} impact): {} ({}, {})",
            revision.phase,
            revision.impact.name(),
            quoted(&revision.reason, detail.longest_text()),
            moment(made.at, brief.now),
            defused(&made.actor.to_string(), 60)
        );
    }
    text
}

fn warnings(brief: &Brief, detail: Detail) -> String {
    if brief.session.warnings.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = brief
        .session
        .warnings
        .iter()
        .map(|warning| {
            let hint = warning
                .hint
                .as_ref()
                .map(|hint| format!(" ({})", defused(&hint.to_string(), detail.longest_text())));
            format!("- {}{}\n", defused(&warning.message, detail.longest_text()), hint.unwrap_or_default())
        })
        .collect();
    format!("## Warnings\n{}", lines.join(""))
}

/// What the last agents said when they stopped, the newest first.
fn last_words(brief: &Brief, detail: Detail) -> String {
    const MOST: usize = 2;
    let mut text = String::new();
    for said in brief.last_words().take(MOST) {
        let _ = writeln!(
            text,
            "## Last words of {}, {}\n> {}",
            defused(&said.who, 60),
            moment(said.at, brief.now),
            quoted(said.words, detail.longest_text() * 2)
        );
    }
    text
}

fn touched(brief: &Brief, detail: Detail) -> String {
    let files: Vec<String> = brief.activity(ActivityKind::File).map(|row| defused(&row.what, 200)).collect();
    if files.is_empty() {
        return String::new();
    }
    let shown = files.len().min(detail.longest_list().min(20));
    let more = match files.len() - shown {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("## Touched since the start\n{}{more}\n", files[..shown].join(", "))
}

fn commands_run(brief: &Brief, detail: Detail) -> String {
    let rows: Vec<&ActivityRow> = brief.activity(ActivityKind::Command).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "## Commands run\n".to_owned();
    let shown = detail.longest_list().min(10);
    for row in rows.iter().take(shown) {
        let _ = write!(text, "- {}", defused(&row.what, detail.longest_text().min(200)));
        if let Some(outcome) = &row.detail {
            let _ = write!(text, ": {}", defused(outcome, 80));
        }
        if row.count > 1 {
            let _ = write!(text, ", {} times", row.count);
        }
        let _ = writeln!(text, ", {}", ago(row.at, brief.now));
    }
    if let Some(more) = rows.len().checked_sub(shown).filter(|more| *more > 0) {
        let _ = writeln!(text, "- and {more} more");
    }
    text
}

/// What is asked of an agent before it may use some tools, and how to satisfy it.
fn required(brief: &Brief, detail: Detail) -> String {
    let open = brief.session.requirements.iter().filter(|requirement| !requirement.satisfied);
    let mut text = String::new();
    for requirement in open.take(detail.longest_list()) {
        let how = defused(&requirement.how.join("; or "), detail.longest_text());
        let _ = writeln!(text, "- {}: {how}", defused(&requirement.name, 80));
    }
    if text.is_empty() { text } else { format!("## Required before some tools may be used\n{text}") }
}

/// Who else is alive here.
fn here_now(neighbours: &[Neighbour], now: Timestamp) -> String {
    if neighbours.is_empty() {
        return String::new();
    }
    let mut text = "## Here now\n".to_owned();
    for other in neighbours {
        let id: String = other.agent_session.chars().take(8).collect();
        let _ = write!(text, "- {} {}", defused(&other.agent, 30), defused(&id, 8));
        if let Some(session) = &other.session_id {
            let _ = write!(text, " on session {session}");
        }
        if let Some(branch) = &other.branch {
            let _ = write!(text, ", branch {}", defused(branch, 100));
        }
        if let Some(worktree) = &other.worktree {
            let _ = write!(text, ", in worktree {}", defused(worktree, 200));
        }
        let _ = writeln!(text, ", seen {}", ago(other.last_seen, now));
    }
    text
}
