//! Writes the first lines of a brief: the session, its goal, its exact position, an earlier pause, and the repository.

use super::{Detail, pairs, took, when};
use crate::brief::Brief;
use crate::view::View;
use crate::words::{defused, duration, moment, pause_reason, phase_called, phase_named, quoted, version};
use model::id::Name;
use model::lifecycle::Lifecycle;
use model::outcome::Outcomes;
use std::fmt::Write;

pub(super) fn head(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let longest = detail.longest_text();
    let is_goal = |goal: &String| goal.starts_with(view.title.trim_end_matches('…'));
    let title = match &view.goal {
        // A title that was derived from the goal adds nothing, so it is omitted.
        Some(goal) if is_goal(goal) => String::new(),
        Some(_) | None => format!(": {}", defused(&view.title, longest)),
    };
    let mut text = format!("# Where you left off{title} (session {})\n", view.session_id);
    for (label, told) in [("Goal", &view.goal), ("Target", &view.target)] {
        if let Some(told) = told {
            // A goal that is cut short could be another one, so a goal of one line stays whole.
            let line = Detail::Line.longest_text();
            let longest = if told.chars().count() <= line { longest.max(line) } else { longest };
            let _ = writeln!(text, "{label}: {}", quoted(told, longest));
        }
    }
    let (standing, went_back) = (standing(brief, detail), went_back(brief, detail));
    let _ = write!(text, "{standing}{went_back} Workflow {}", view.workflow.name);
    if let Some(describe) = view.workflow.describe.as_ref().filter(|_| detail != Detail::Least) {
        let _ = write!(text, " ({})", quoted(describe, longest));
    }
    let _ = write!(text, " {}", defused(&version(&view.workflow.version), 20));
    if view.run.ordinal > 1 {
        let _ = write!(text, ", run {}", view.run.ordinal);
    }
    text.push_str(&repository(brief, detail));
    text.push('.');
    if detail == Detail::Full {
        let _ = write!(text, " Started {}.", when(view.created_at, brief.now));
    }
    if let Some(seconds) = view.elapsed_seconds.filter(|_| !detail.is_brief()) {
        let _ = write!(text, " Elapsed: {}.", duration(seconds));
    }
    if !detail.is_brief() {
        let actor = defused(&view.last_actor.to_string(), 60);
        let _ = write!(text, " Last change by {actor}, {}.", when(view.updated_at, brief.now));
    }
    text.push('\n');
    text.push_str(&resumed(brief, detail));
    if let Some(shared) = &view.shared {
        let _ = writeln!(text, "{}", defused(&shared.told, longest));
    }
    if !brief.set_fields.is_empty() {
        let _ = writeln!(text, "Set: {}.", pairs(&brief.set_fields, detail));
    }
    text
}

/// Returns, for example, ` Rolled back from build (3), 11:30 UTC, by anna: "the API changed".`
fn went_back(brief: &Brief, detail: Detail) -> String {
    let Some(back) = &brief.went_back else { return String::new() };
    let by = if detail.is_brief() { String::new() } else { format!(", by {}", defused(&back.by, 60)) };
    let reason = back.reason.as_ref().map(|reason| format!(": {}", quoted(reason, detail.longest_text())));
    let at = moment(back.at, brief.now);
    let from = defused(&back.from.to_string(), 120);
    format!(" Rolled back from {from}, {at}{by}{}.", reason.unwrap_or_default())
}

/// Returns a line that says how often the work was paused, and for how long.
fn resumed(brief: &Brief, detail: Detail) -> String {
    let paused = brief.paused_seconds;
    match brief.session.resume_count {
        _ if detail != Detail::Full => String::new(),
        0 => String::new(),
        1 => format!("Resumed once, paused {} in all.\n", duration(paused)),
        count => format!("Resumed {count} times, paused {} in all.\n", duration(paused)),
    }
}

/// Returns, for example, `, branch main, 3 commits since the start (newest 4e1f0aa), 2 files uncommitted`.
fn repository(brief: &Brief, detail: Detail) -> String {
    let mut text = String::new();
    if let Some(branch) = &brief.branch {
        let _ = write!(text, ", branch {}", defused(branch, 100));
    }
    let Some(git) = &brief.repository else { return text };
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    if git.commits > 0 {
        let newest = git
            .newest
            .as_ref()
            .filter(|_| detail != Detail::Least)
            .map(|name| format!(" (newest {})", defused(name, 40)));
        let _ = write!(
            text,
            ", {} since the start{}",
            counted(git.commits, "commit"),
            newest.unwrap_or_default()
        );
    }
    if !git.uncommitted.is_empty() {
        let _ = write!(text, ", {} uncommitted", counted(git.uncommitted.len(), "file"));
    }
    text
}

/// Returns the exact position: the phase with its purpose and time, or how the session ended.
fn standing(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let longest = detail.longest_text();
    let (place, figures) = (place(brief, detail), figures(brief, detail));
    match &view.lifecycle {
        Lifecycle::Active if view.run.completed_at.is_some() => {
            format!(
                "Run {} is **finished**: {}; the session is still open.",
                view.run.ordinal,
                view.how_far()
            )
        }
        Lifecycle::Active => format!("{place}. {figures}."),
        Lifecycle::Paused { at, reason, saved, .. } => {
            let context = view.in_the_middle_of(|text| quoted(text, longest));
            let context = context.map(|what| format!(", in the middle of {what}"));
            format!(
                "{place}. **Paused** {}: {}{}.{} {figures}.",
                when(*at, brief.now),
                quoted(pause_reason(reason), longest),
                context.unwrap_or_default(),
                saved_drafts(saved, detail)
            )
        }
        Lifecycle::Completed { at, .. } if view.is_closed_in_doubt() => {
            let at = when(*at, brief.now);
            format!(
                "{place}. The session's files call it **finished**, {at}: unverified. {figures}.{}",
                waiting(brief)
            )
        }
        Lifecycle::Completed { at, forced } => {
            let how = if *forced { "Closed early" } else { "Finished" };
            format!("**{how}** {}: {}.{}", when(*at, brief.now), came_to(view), waiting(brief))
        }
        Lifecycle::Failed { at, error } => {
            format!("{place}. **Failed** {}: {}. {figures}.", when(*at, brief.now), quoted(error, longest))
        }
        Lifecycle::Abandoned { at, reason } => {
            let reason = reason.as_ref().map(|reason| format!(": {}", quoted(reason, longest)));
            let called = phase_called(view.current_phase.number, &view.current_phase.id);
            let reason = reason.unwrap_or_default();
            format!(
                "**Abandoned** {}{reason}, in {called}. {figures}.{}",
                when(*at, brief.now),
                waiting(brief)
            )
        }
    }
}

/// Returns the last confirmed position. A later position in a file is only a claim.
fn place(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let current = &view.current_phase;
    let of_all = view.percent().map(|_| format!(" of {}", view.workflow.total_phases)).unwrap_or_default();
    match view.contested().filter(|phase| phase.number != current.number) {
        Some(phase) => format!(
            "Phase {}{of_all}{}{} (a file says {} {}{}, unverified)",
            phase.number,
            bold(phase.number, &phase.title, &phase.id),
            purpose(view, detail),
            current.number,
            if current.id.as_str() == current.number.to_string() {
                defused(&current.title, 80)
            } else {
                current.id.to_string()
            },
            time_in_phase(view, detail)
        ),
        None => format!(
            "Phase {}{of_all}{}{}{}",
            current.number,
            bold(current.number, &current.title, &current.id),
            purpose(view, detail),
            time_in_phase(view, detail)
        ),
    }
}

fn bold(number: u32, title: &str, id: &Name) -> String {
    let name = phase_named(number, title, id);
    name.map(|name| format!(", **{}**", defused(name, 80))).unwrap_or_default()
}

/// Returns the purpose of the phase; empty if the next step already says it.
fn purpose(view: &View, detail: Detail) -> String {
    let phase = view.contested().or(view.current()).filter(|_| !view.next.says_purpose);
    let purpose = phase.and_then(|phase| phase.purpose.as_deref());
    let told = |purpose: &str| {
        let first = purpose.split_once(". ").map_or(purpose, |(first, _)| first);
        let purpose = if detail == Detail::Full { purpose } else { first };
        format!(" ({})", defused(purpose.trim().trim_end_matches('.'), detail.longest_purpose()))
    };
    purpose.map(told).unwrap_or_default()
}

fn time_in_phase(view: &View, detail: Detail) -> String {
    let progress = &view.progress;
    let slow = if progress.stalled { ", longer than usual" } else { "" };
    let average = progress.average_phase_seconds;
    let average = took(average, detail).map(|average| format!(" (average phase {average}{slow})"));
    let time = took(progress.time_in_phase_seconds, detail);
    time.map(|time| format!(", for {time}{}", average.unwrap_or_default())).unwrap_or_default()
}

/// Returns, for example, `1 of 3 phases done (33 %), about 1 h left`.
fn figures(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let left = took(view.progress.estimated_remaining_seconds, detail);
    let left = left.map(|left| format!(", about {left} left")).unwrap_or_default();
    // Claimed phases are counted separately, because they are not confirmed.
    let claimed = view.claimed().count();
    if claimed > 0 {
        let done = view.phases.iter().filter(|phase| super::done::is_done(view, phase)).count();
        return format!("{done} of {} phases done, {claimed} only claimed{left}", view.workflow.total_phases);
    }
    format!("{}{left}", view.how_far())
}

/// Returns how far a finished session came, with the outcomes of its phases.
fn came_to(view: &View) -> String {
    let outcomes = &view.progress.outcomes;
    let others = outcomes.without_done();
    if outcomes.is_plain() && others != Outcomes::default() {
        format!("{}, {others}", view.how_far())
    } else {
        view.how_far()
    }
}

/// Returns the paused sessions that could be continued instead of a finished one.
fn waiting(brief: &Brief) -> String {
    match brief.paused_here.as_slice() {
        [] => String::new(),
        paused => format!(" Paused here: {}.", paused.join(", ")),
    }
}

/// Returns the drafts that a pause saved, such as ` Saved: "a.md", "b.md".`
fn saved_drafts(saved: &[String], detail: Detail) -> String {
    if saved.is_empty() {
        return String::new();
    }
    let named = saved.iter().take(detail.longest_list()).map(|path| quoted(path, detail.longest_text()));
    let mut named: Vec<String> = named.collect();
    if saved.len() > named.len() {
        named.push(format!("and {} more", saved.len() - named.len()));
    }
    format!(" Saved: {}.", named.join(", "))
}

/// Returns the section that says why work had stopped and what it interrupted. It is shown after a resume until the
/// phase changes. If the session is paused now, the head says so.
pub(super) fn paused(brief: &Brief, detail: Detail) -> String {
    let view = &brief.session;
    let Some(pause) = view.interrupted.as_ref().filter(|_| matches!(view.lifecycle, Lifecycle::Active))
    else {
        return String::new();
    };
    let context = view.in_the_middle_of(|text| quoted(text, detail.longest_text()));
    let context = context.map(|what| format!(", in the middle of {what}"));
    format!(
        "## Paused {}, resumed {}\n{}{}\n",
        when(pause.paused_at, brief.now),
        when(pause.resumed_at, brief.now),
        quoted(pause_reason(&pause.reason), detail.longest_text()),
        context.unwrap_or_default()
    )
}
