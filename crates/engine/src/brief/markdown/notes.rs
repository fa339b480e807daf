//! Notes by kind, open ones first; and revisions of earlier phases.

use super::{Detail, is_over, pairs, when};
use crate::brief::{Brief, paths};
use crate::view::PhaseView;
use crate::words::{defused, quoted};
use model::note::{Note, NoteKind};
use model::session::RevisionMade;
use std::fmt::Write;

/// Returns the section with open blockers and questions, and the command that resolves one.
pub(super) fn open(brief: &Brief, detail: Detail) -> String {
    let notes = brief.session.open_notes();
    let most = detail.longest_list().max(2);
    let mut text = listed("Blocked or open", &notes, most, brief, detail);
    let shown: Vec<u32> = notes.iter().take(most).map(|note| note.id).collect();
    if let Some((first, others)) = shown.split_first().filter(|_| !is_over(brief)) {
        let others: Vec<String> = others.iter().map(ToString::to_string).collect();
        let others = if others.is_empty() { String::new() } else { format!(" (or {})", others.join(", ")) };
        let naming = brief.session.naming();
        let _ = writeln!(text, "Once settled: `leftoff note resolve {first}{naming}`{others}");
    }
    text
}

pub(super) fn of_kind(title: &str, kind: NoteKind, brief: &Brief, detail: Detail) -> String {
    // The newest note comes first, so that the limit drops the oldest.
    let mut notes: Vec<&Note> = brief.notes(kind).collect();
    notes.reverse();
    listed(title, &notes, detail.longest_list(), brief, detail)
}

/// Returns the section with notes about overrides, except those that the list of finished phases shows.
pub(super) fn overridden(brief: &Brief, detail: Detail) -> String {
    let overrides_at = |phase: &PhaseView, note: &Note| {
        phase.attempts.iter().any(|attempt| attempt.report.overridden.is_some() && attempt.at == note.at)
    };
    let is_shown = |note: &&Note| brief.session.phases.iter().any(|phase| overrides_at(phase, note));
    let mut notes: Vec<&Note> = brief.notes(NoteKind::Override).filter(|note| !is_shown(note)).collect();
    notes.reverse();
    listed("Overridden", &notes, detail.longest_list(), brief, detail)
}

fn listed(title: &str, notes: &[&Note], most: usize, brief: &Brief, detail: Detail) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let mut text = format!("## {title}\n");
    for note in notes.iter().take(most) {
        let _ = writeln!(text, "- {}", line(note, brief, detail));
    }
    let left_out = notes.len().saturating_sub(most);
    if left_out > 0 {
        let _ = writeln!(text, "- and {left_out} more: `leftoff show {}`", brief.session.session_id);
    }
    text
}

fn line(note: &Note, brief: &Brief, detail: Detail) -> String {
    let mut line = quoted(&note.text, detail.longest_text());
    if !note.fields.is_empty() {
        let fields = note.fields.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let _ = write!(line, " [{}]", pairs(&fields, detail));
    }
    let kind = if note.is_open() { format!("{} {}, ", note.kind.name(), note.id) } else { String::new() };
    let at = when(note.at, brief.now);
    // Most notes come from one agent, so an author whom the head already names is omitted.
    let actor = if detail.is_brief() || note.actor == brief.session.last_actor {
        String::new()
    } else {
        format!(", {}", defused(&note.actor.to_string(), 60))
    };
    let _ = write!(line, " ({kind}{at}{actor})");
    line
}

/// Returns the section about revisions of earlier phases. Decisions made before a revision may no longer hold.
pub(super) fn revised(brief: &Brief, detail: Detail) -> String {
    // A revision is omitted here if it is already named with a phase that waits for review.
    let waiting = brief.session.waiting_for_review();
    let is_shown = |made: &&RevisionMade| waiting.iter().any(|(_, why)| *why == Some(*made));
    let made = brief.session.revisions.iter().rev().filter(|made| !is_shown(made));
    let made: Vec<&RevisionMade> = made.take(detail.longest_list()).collect();
    if made.is_empty() {
        return String::new();
    }
    let mut text = "## Revised: what was decided before may no longer hold\n".to_owned();
    for made in made {
        let revision = &made.revision;
        let _ = writeln!(
            text,
            "- {} ({} impact, {}, {}): {}{}",
            revision.phase,
            revision.impact.name(),
            when(made.at, brief.now),
            defused(&made.actor.to_string(), 60),
            quoted(&revision.reason, detail.longest_text()),
            archived(made, detail)
        );
    }
    text
}

/// Returns, for example, `; archived: a.v1.md, b.v1.md`: the files that a revision archived.
pub(super) fn archived(made: &RevisionMade, detail: Detail) -> String {
    let moved = made.revision.archived.iter().filter(|file| !file.copied);
    let files: Vec<String> = moved.map(|file| defused(&file.to, 200)).collect();
    let shown = &files[..files.len().min(detail.longest_list())];
    match files.len() - shown.len() {
        _ if files.is_empty() => String::new(),
        _ if detail == Detail::Least => format!("; files archived: {}", files.len()),
        0 => format!("; archived: {}", paths::folded(shown).join(", ")),
        more => format!("; archived: {} and {more} more", paths::folded(shown).join(", ")),
    }
}
