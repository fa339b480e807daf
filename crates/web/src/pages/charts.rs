//! Charts in SVG, rendered by the server: where time goes, and a session over time. Every bar is labelled with its
//! value, so that no information is in the colour alone.

use engine::view::View;
use engine::words::duration;
use engine::{AttemptLine, History, PhaseLine};
use jiff::Timestamp;
use maud::{Markup, html};
use model::gate::{Attempt, AttemptOutcome};
use std::collections::BTreeMap;

const ROW: usize = 22;
const LABEL: usize = 130;
const WIDTH: usize = 640;
const BAR: usize = 330;
/// The radius of the mark for an attempt.
const MARK: usize = 8;
const MOST_ROWS: usize = 12;
const MOST_PHASES: usize = 40;

/// A chart of the time spent in each phase, and of the failed attempts at its gate.
pub fn where_time_goes(views: &[View]) -> Markup {
    let mut sums: BTreeMap<String, (u64, u32)> = BTreeMap::new();
    for view in views {
        for phase in &view.phases {
            let (seconds, failed) = sums.entry(phase.id.to_string()).or_default();
            let running =
                view.progress.time_in_phase_seconds.filter(|_| phase.number == view.current_phase.number);
            *seconds += phase.duration_seconds.or(running).unwrap_or(0);
            let fails = phase.attempts.iter().filter(|attempt| has_failed(attempt)).count();
            *failed += u32::try_from(fails).unwrap_or(u32::MAX);
        }
    }
    let mut rows: Vec<(String, u64, u32)> =
        sums.into_iter().map(|(phase, (seconds, failed))| (phase, seconds, failed)).collect();
    rows.retain(|(_, seconds, failed)| *seconds > 0 || *failed > 0);
    rows.sort_by_key(|(_, seconds, _)| std::cmp::Reverse(*seconds));
    rows.truncate(MOST_ROWS);
    let longest = rows.iter().map(|(_, seconds, _)| *seconds).max().unwrap_or(0).max(1);
    let height = rows.len() * ROW + 4;
    html! {
        @if !rows.is_empty() {
            section aria-labelledby="time" {
                h2 #time { "Where time goes, and where gates fail" }
                p.faint { "Phases of " (counted(views.len())) ", longest first." }
                svg viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label="Time by phase, and failed attempts at its gate" {
                    @for ((phase, seconds, failed), place) in rows.iter().zip(0..) {
                        @let y = place * ROW;
                        @let width = scaled(*seconds, longest, BAR);
                        text x=(LABEL - 8) y=(y + 15) text-anchor="end" { (short(phase)) }
                        rect.work x=(LABEL) y=(y + 4) width=(width.max(1)) height="14" {}
                        text x=(LABEL + width + 6) y=(y + 15) {
                            (duration(*seconds))
                            @if *failed > 0 { ", " tspan.failed { (failed) " failed" } }
                        }
                    }
                }
            }
        }
    }
}

/// The timeline of a session: a row for each phase, pauses across all rows, and attempts as marks.
pub fn timeline(history: &History, now: Timestamp) -> Markup {
    let end = if history.lifecycle.name() == "active" { now } else { history.updated_at };
    let span = passed(history.started_at, end).max(1);
    let at = |when: Timestamp| {
        LABEL + scaled(passed(history.started_at, when).min(span), span, WIDTH - LABEL - 10)
    };
    let phases: Vec<&PhaseLine> = history
        .runs
        .iter()
        .flat_map(|run| &run.phases)
        .filter(|phase| phase.started_at.is_some() || phase.skipped_at.is_some())
        .take(MOST_PHASES)
        .collect();
    // A mark at an end of the axis is moved inwards, so that it is completely visible.
    let mark_at = |when: Timestamp| at(when).clamp(LABEL + MARK, WIDTH - 10 - MARK);
    let height = phases.len() * ROW + 26;
    html! {
        @if !phases.is_empty() {
            svg viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label="Phases, pauses and attempts over time" {
                @for pause in &history.pauses {
                    @let (from, to) = (at(pause.from), at(pause.to.unwrap_or(end)));
                    rect.pause x=(from) y="0" width=((to.saturating_sub(from)).max(1)) height=(height - 22) { title { "paused " (duration(pause.seconds)) } }
                }
                @for (phase, place) in phases.iter().zip(0..) {
                    @let y = place * ROW;
                    text x=(LABEL - 8) y=(y + 15) text-anchor="end" { (short(phase.id.as_str())) }
                    @if let Some(from) = phase.started_at.map(at) {
                        @let to = at(phase.completed_at.unwrap_or(end));
                        rect.work x=(from) y=(y + 5) width=((to.saturating_sub(from)).max(2)) height="10" {
                            title { (phase.id) ": " (phase.duration_seconds.map_or("in progress".to_owned(), duration)) }
                        }
                    }
                    @if let Some(skipped) = phase.skipped_at.map(mark_at) {
                        @let anchor = if skipped > WIDTH / 2 { "end" } else { "start" };
                        text.axis x=(skipped) y=(y + 15) text-anchor=(anchor) { "skipped" }
                    }
                    @for attempt in &phase.attempts {
                        @let (class, mark) = mark(attempt);
                        circle.mark cx=(mark_at(attempt.at)) cy=(y + 11) r=(MARK) {}
                        text class=(class) x=(mark_at(attempt.at)) y=(y + 16) text-anchor="middle" {
                            (mark)
                        }
                    }
                }
                text.axis x=(LABEL) y=(height - 6) { (history.started_at.strftime("%-d %b %H:%M UTC").to_string()) }
                text.axis x=(WIDTH - 10) y=(height - 6) text-anchor="end" { (end.strftime("%-d %b %H:%M UTC").to_string()) }
            }
            p.faint { (legend(history, &phases)) }
        }
    }
}

/// The text that explains the bars, and the marks that occur in this timeline.
fn legend(history: &History, phases: &[&PhaseLine]) -> String {
    let is_shown =
        |sign: &str| phases.iter().flat_map(|phase| &phase.attempts).any(|one| mark(one).1 == sign);
    let meanings = [("✓", "passed"), ("✗", "failed"), ("!", "overridden"), ("…", "waits for approval")];
    let marks = meanings.iter().filter(|(sign, _)| is_shown(sign));
    let marks: Vec<String> = marks.map(|(sign, meaning)| format!("{sign} {meaning}")).collect();
    let mut said = vec!["Bars are phases".to_owned()];
    if !marks.is_empty() {
        said.push(format!("attempts at a gate: {}", marks.join(", ")));
    }
    if !history.pauses.is_empty() {
        said.push("grey stretches are pauses".to_owned());
    }
    said.join("; ") + "."
}

/// True if the attempt failed. An attempt that lacks only an approval has not failed.
fn has_failed(attempt: &Attempt) -> bool {
    attempt.outcome == AttemptOutcome::Failed && !attempt.report.lacks_only_approval()
}

/// The colour class and the sign for an attempt.
fn mark(attempt: &AttemptLine) -> (&'static str, &'static str) {
    match attempt.outcome {
        _ if attempt.overridden.is_some() => ("overridden", "!"),
        AttemptOutcome::Passed => ("passed", "✓"),
        AttemptOutcome::Failed if attempt.lacks_only_approval => ("overridden", "…"),
        AttemptOutcome::Failed => ("failed", "✗"),
    }
}

fn scaled(part: u64, whole: u64, width: usize) -> usize {
    usize::try_from(u128::from(part) * width as u128 / u128::from(whole.max(1))).unwrap_or(width)
}

fn passed(since: Timestamp, until: Timestamp) -> u64 {
    u64::try_from(until.duration_since(since).as_secs()).unwrap_or(0)
}

fn short(text: &str) -> String {
    engine::words::one_line(text, 18)
}

fn counted(sessions: usize) -> String {
    if sessions == 1 {
        "the unfinished session".to_owned()
    } else {
        format!("the {sessions} unfinished sessions")
    }
}
