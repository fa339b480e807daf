//! Notes by kind, open ones first, and revisions of earlier phases.

use super::{Detail, pairs, when};
use crate::brief::Brief;
use crate::words::{defused, quoted};
use model::lifecycle::Lifecycle;
use model::note::{Note, NoteKind};
use model::session::RevisionMade;
use std::fmt::Write;

pub(super) fn open(brief: &Brief, detail: Detail) -> String {
    listed("Blocked or open", &brief.session.open_notes(), brief, detail)
}

pub(super) fn of_kind(title: &str, kind: NoteKind, brief: &Brief, detail: Detail) -> String {
    // Newest first: the limit drops the oldest.
    let mut notes: Vec<&Note> = brief.notes(kind).collect();
    notes.reverse();
    listed(title, &notes, brief, detail)
}

fn listed(title: &str, notes: &[&Note], brief: &Brief, detail: Detail) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let mut text = format!("## {title}\n");
    for note in notes.iter().take(detail.longest_list()) {
        let _ = writeln!(text, "- {}", line(note, brief, detail));
    }
    let left_out = notes.len().saturating_sub(detail.longest_list());
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
    let actor = match detail {
        Detail::Full | Detail::Short => format!(", {}", defused(&note.actor.to_string(), 60)),
        Detail::Line | Detail::Tight => String::new(),
    };
    let at = when(note.at, brief.now);
    let view = &brief.session;
    let is_over = matches!(view.lifecycle, Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. });
    if note.is_open() && is_over {
        let _ = write!(line, " ({}, {at}{actor})", note.kind.name());
    } else if note.is_open() {
        let (kind, naming) = (note.kind.name(), view.naming());
        let _ =
            write!(line, " ({kind}, {at}{actor}; once settled: `leftoff note resolve {}{naming}`)", note.id);
    } else {
        let _ = write!(line, " ({at}{actor})");
    }
    line
}

/// Decisions from before a revision may no longer hold, so the reader must know of it.
pub(super) fn revised(brief: &Brief, detail: Detail) -> String {
    // A phase that needs review names its revision.
    let waiting = brief.session.waiting_for_review();
    let is_told = |made: &&RevisionMade| waiting.iter().any(|(_, why)| *why == Some(*made));
    let made = brief.session.revisions.iter().rev().filter(|made| !is_told(made));
    let made: Vec<&RevisionMade> = made.take(detail.longest_list()).collect();
    if made.is_empty() {
        return String::new();
    }
    let mut text = "## Revised: what was decided before may no longer hold\n".to_owned();
    for made in made {
        let revision = &made.revision;
        let _ = writeln!(
            text,
            "- {} ({} impact): {} ({}, {})",
            revision.phase,
            revision.impact.name(),
            quoted(&revision.reason, detail.longest_text()),
            when(made.at, brief.now),
            defused(&made.actor.to_string(), 60)
        );
    }
    text
}
