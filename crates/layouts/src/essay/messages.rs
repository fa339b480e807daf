//! The essay pipeline's messages to its user, in the pipeline's own words. Formats values, and decides
//! nothing.

use super::STAGES;
use super::position::{BEST_VOICE, Position, Standpoint};
use super::recover::{DRAFT, FINAL, THESIS};
use super::state::{Fields, StageStatus};
use crate::layout::Folder;
use jiff::Timestamp;
use model::note::{Note, NoteKind};
use model::time::seconds_between;
use serde_json::Value;

impl Position {
    /// A position such as `Stage 4, Section 3, Paragraph 2`.
    pub fn short(self) -> String {
        let part =
            |name: &str, number: Option<u32>| number.map(|n| format!(", {name} {n}")).unwrap_or_default();
        format!("Stage {}{}{}", self.stage, part("Section", self.section), part("Paragraph", self.paragraph))
    }

    /// A position such as `[Stage 4/4 - Paragraph Writing - Section 3, Paragraph 2]`.
    pub fn long(self) -> String {
        let title = STAGES.get(self.stage as usize - 1).map_or("", |stage| stage.title);
        let section = self.section.map(|section| format!(" - Section {section}")).unwrap_or_default();
        let paragraph =
            self.paragraph.map(|paragraph| format!(", Paragraph {paragraph}")).unwrap_or_default();
        format!("[Stage {}/{} - {title}{section}{paragraph}]", self.stage, STAGES.len())
    }
}

pub(super) fn paused(at: Position) -> String {
    format!("Session paused at [{}]. To resume, invoke essay-pipeline and select this session.", at.short())
}

pub(super) fn resuming(standpoint: &Standpoint<'_>, at: Position) -> String {
    let summary = summary(standpoint, at.stage as usize - 1).join("; ");
    format!("Resuming at [Stage {}]. Here's where you left off: {summary}", at.stage)
}

/// A line such as `essay-pipeline-20260214-143022 -- Stage 3, Section 2 -- Last active: 2 hours ago`.
pub(super) fn line(folder: &str, at: Position, last_active: Timestamp, now: Timestamp) -> String {
    let place = Position { paragraph: None, ..at }.short();
    format!("{folder} -- {place} -- Last active: {}", ago(last_active, now))
}

pub(super) fn not_recovered(artifacts: &[&str]) -> String {
    let files = match artifacts {
        [] => "There are no artifact files.".to_owned(),
        files => format!("Available artifact files: {}.", files.join(", ")),
    };
    format!("{} {files}", super::NOT_RECOVERED)
}

/// Everything known about the position of a session.
pub(super) fn whole_state(standpoint: &Standpoint<'_>, folder: &Folder<'_>, at: Position) -> String {
    let fields = &standpoint.session.fields;
    let pushback = set(fields, "pushback_level").map_or("full".to_owned(), shown);
    let mut lines = vec![at.long(), format!("Session folder: {}", place(folder))];
    lines.push(format!("Pushback level: {pushback}"));
    for (position, stage) in STAGES.iter().enumerate() {
        let status = standpoint.status(position);
        let status = status.map_or("skipped", StageStatus::name);
        lines.push(String::new());
        lines.push(format!("Stage {}: {} ({status})", position + 1, stage.title));
        let thesis = thesis(folder).filter(|_| position == 0).map(|thesis| format!("\"{thesis}\""));
        let told = thesis.into_iter().chain(summary(standpoint, position));
        lines.extend(told.map(|line| format!("  {line}")));
    }
    lines.push(String::new());
    lines.push(format!("Voice checks: {}", voices(standpoint)));
    let words = word_count(folder, standpoint.is_finished()).map_or("unknown".to_owned(), grouped);
    let target = target(standpoint).map(|words| format!(" of ~{} target", grouped(words)));
    lines.push(format!("Word count so far: {words}{}", target.unwrap_or_default()));
    lines.join("\n")
}

/// The beginning of the thesis. Headings, marks and empty lines are left out.
fn thesis(folder: &Folder<'_>) -> Option<String> {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(folder.tree.content(THESIS)?).into_owned();
    let is_text = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("<!--");
    let line = text.lines().map(str::trim).find(is_text)?;
    let line: String = line.chars().filter(|letter| !letter.is_control()).collect();
    let line = line.trim_matches(['"', '*', '_', '>', ' ']);
    Some(match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    })
}

/// The value of a field; `None` if the field is unset or null.
fn set<'f>(fields: &'f Fields, name: &str) -> Option<&'f Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn target(standpoint: &Standpoint<'_>) -> Option<u64> {
    standpoint.session.fields.get("target_word_count").and_then(Value::as_u64)
}

/// The summary of a finished essay.
pub(super) fn completed(standpoint: &Standpoint<'_>, folder: &Folder<'_>) -> String {
    let session = standpoint.session;
    let known = |name: &str| set(&session.fields, name).map(shown);
    let words = known("total_word_count").or_else(|| word_count(folder, true).map(grouped));
    let counted = || standpoint.sections(3).len().max(standpoint.sections(2).len()) as u64;
    let said = session.fields.get("total_sections").and_then(Value::as_u64);
    let sections = said.unwrap_or_else(counted);
    let verified =
        known("sources_verified").unwrap_or_else(|| standpoint.counter("verified_claims").to_string());
    let voice =
        known("voice_consistency_score").or_else(|| mean_voice(standpoint).map(|mean| mean.to_string()));
    let deferred = notes(standpoint, NoteKind::Deferred);
    let resolved = deferred.iter().filter(|note| note.resolved_at.is_some()).count();
    let seconds: u64 =
        (0..STAGES.len()).filter_map(|position| standpoint.phase(position)?.duration_seconds()).sum();
    let unknown = || "unknown".to_owned();
    [
        "Essay completed.".to_owned(),
        format!("Word count: {}", words.unwrap_or_else(unknown)),
        format!("Sections: {sections}"),
        format!("Sources verified: {verified}"),
        format!("Voice score: {}", voice.unwrap_or_else(unknown)),
        format!("Overrides: {}", notes(standpoint, NoteKind::Override).len()),
        format!("Deferred claims resolved: {resolved} of {}", deferred.len()),
        format!("Time spent: {}", spent(seconds)),
    ]
    .join("\n")
}

/// The summary of a stage: the results so far.
fn summary(standpoint: &Standpoint<'_>, position: usize) -> Vec<String> {
    let fields = &standpoint.session.fields;
    let is_untouched = position > 1 && standpoint.sections(position).is_empty();
    if standpoint.status(position) == Some(StageStatus::NotStarted) && is_untouched {
        return vec!["Not started".to_owned()];
    }
    match position {
        0 => vec![
            set(fields, "claim_type")
                .map_or("no claim type yet".to_owned(), |claim| format!("claim type: {}", shown(claim))),
        ],
        1 => {
            let sections = total_sections(standpoint).map_or("no sections yet".to_owned(), sections);
            let target = target(standpoint).map(|words| format!(", {} words target", grouped(words)));
            let audience = set(fields, "audience").map(|audience| format!("audience: {}", shown(audience)));
            std::iter::once(format!("{sections}{}", target.unwrap_or_default())).chain(audience).collect()
        }
        2 => arguments(standpoint),
        _ => paragraphs(standpoint),
    }
}

fn arguments(standpoint: &Standpoint<'_>) -> Vec<String> {
    let own = standpoint.sections(2);
    if own.is_empty() {
        return vec!["no argument maps yet".to_owned()];
    }
    let done = own.values().filter(|section| section.is_done()).count() as u64;
    let total = total_sections(standpoint).unwrap_or(0).max(own.len() as u64);
    let have = if total == 1 { "section has" } else { "sections have" };
    let open = notes(standpoint, NoteKind::Deferred).iter().filter(|note| note.is_open()).count();
    let deferred = usize::try_from(standpoint.counter("deferred_claims")).unwrap_or(0).max(open);
    let overrides = notes(standpoint, NoteKind::Override).len();
    let word = if overrides == 1 { "override" } else { "overrides" };
    let verified = standpoint.counter("verified_claims");
    let claims = if verified == 1 { "claim" } else { "claims" };
    vec![
        format!("{done} of {total} {have} approved argument maps"),
        format!("{verified} verified {claims}, {deferred} deferred, {overrides} user {word}"),
    ]
}

fn paragraphs(standpoint: &Standpoint<'_>) -> Vec<String> {
    let own = standpoint.sections(3);
    if own.is_empty() {
        return vec!["no paragraphs yet".to_owned()];
    }
    let here = standpoint.position().filter(|at| at.stage == 4 && !standpoint.is_finished());
    let line = |(index, section): (&u32, &&model::item::Item)| {
        let (total, done) = standpoint.counts(section);
        let here = here.and_then(|at| at.section) == Some(*index);
        let mark = if here { "  <-- YOU ARE HERE" } else { "" };
        match total {
            _ if !here && standpoint.status_of(section) == StageStatus::NotStarted => {
                format!("Section {index}: Not started")
            }
            0 => format!("Section {index}: no paragraphs yet{mark}"),
            total => format!("Section {index}: {done}/{total} paragraphs approved{mark}"),
        }
    };
    own.iter().map(line).collect()
}

fn total_sections(standpoint: &Standpoint<'_>) -> Option<u64> {
    let said = standpoint.session.fields.get("total_sections").and_then(Value::as_u64);
    said.or_else(|| Some(standpoint.sections(2).len() as u64).filter(|count| *count > 0))
}

fn sections(count: u64) -> String {
    if count == 1 { "1 section".to_owned() } else { format!("{count} sections") }
}

fn voices(standpoint: &Standpoint<'_>) -> String {
    let scores = standpoint.voices();
    if scores.is_empty() {
        return "none yet".to_owned();
    }
    let one = |(section, score): &(u32, f64)| format!("Section {section}: {score}/{BEST_VOICE}");
    scores.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The mean of the sections' scores, to two decimals.
pub(super) fn mean_voice(standpoint: &Standpoint<'_>) -> Option<f64> {
    let scores = standpoint.voices();
    #[allow(clippy::cast_precision_loss, reason = "an essay has few sections")]
    let mean = scores.iter().map(|(_, score)| score).sum::<f64>() / scores.len() as f64;
    (!scores.is_empty()).then(|| (mean * 100.0).round() / 100.0)
}

/// The number of words of the finished essay, or of the draft. Headings and comments are not counted.
pub(super) fn word_count(folder: &Folder<'_>, of_final: bool) -> Option<u64> {
    let content = folder.tree.content(FINAL).filter(|_| of_final).or_else(|| folder.tree.content(DRAFT))?;
    let text = String::from_utf8_lossy(content);
    let is_text = |line: &&str| !line.starts_with('#') && !line.trim_start().starts_with("<!--");
    Some(text.lines().filter(is_text).map(|line| line.split_whitespace().count() as u64).sum())
}

fn notes<'a>(standpoint: &Standpoint<'a>, kind: NoteKind) -> Vec<&'a Note> {
    standpoint.session.notes.iter().filter(|note| note.kind == kind).collect()
}

/// The full path of the session's folder.
pub(super) fn place(folder: &Folder<'_>) -> String {
    let path = &folder.spot.path;
    if path.starts_with('/') {
        path.clone()
    } else {
        format!("{}/{path}", folder.worktree.trim_end_matches('/'))
    }
}

fn shown(value: &Value) -> String {
    value.as_u64().map_or_else(|| model::typed_value::shown(value), grouped)
}

/// A number with thousands separators, such as `2,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = seconds_between(then, now);
    let (number, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" })
}

fn spent(seconds: u64) -> String {
    let (hours, minutes) = (seconds / 3_600, seconds % 3_600 / 60);
    if hours > 0 { format!("{hours} h {minutes} min") } else { format!("{minutes} min") }
}
