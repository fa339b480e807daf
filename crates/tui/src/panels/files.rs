//! The Files tab: the recorded files, and the files that have changed since they were recorded.

use super::section;
use crate::snapshot::Shown;
use crate::text::{Look, Row, Tone, outside, wrapped};
use engine::words::ago;
use jiff::Timestamp;

pub fn rows(shown: &Shown, now: Timestamp, width: usize, look: Look) -> Vec<Row> {
    let view = &shown.view;
    let mut rows: Vec<Row> = Vec::new();
    for known in &view.artifacts {
        let newest = &known.newest;
        let finding = shown.findings.iter().find(|finding| finding.path == newest.path);
        let (mark, tone) = match finding {
            Some(_) => (look.cross(), Tone::Warning),
            None => (look.tick(), Tone::Good),
        };
        let since = finding.map(|finding| format!(", {} since", finding.difference.name()));
        let phase = newest.phase.as_ref().map(|phase| format!(", of {phase}")).unwrap_or_default();
        let about = format!(
            "  version {}, {} bytes{phase}, recorded {}{}",
            newest.version,
            newest.size,
            ago(known.recorded_at, now),
            since.unwrap_or_default()
        );
        let text = format!("{mark} {}{about}", outside(&newest.path));
        rows.extend(wrapped(tone, &text, width, 4));
    }
    let is_new = |finding: &&engine::ArtifactFinding| {
        !view.artifacts.iter().any(|known| known.newest.path == finding.path)
    };
    let unrecorded = shown.findings.iter().filter(is_new).flat_map(|finding| {
        let text = format!("  {} ({})", outside(&finding.path), outside(&finding.hint.to_string()));
        wrapped(Tone::Warning, &text, width, 4)
    });
    let unrecorded: Vec<Row> = unrecorded.collect();
    if rows.is_empty() && unrecorded.is_empty() {
        rows.push(Row::new(Tone::Faint, "No recorded files. Record one:"));
        rows.push(Row::new(Tone::Command, "  leftoff artifact add '<path>'"));
    }
    rows.extend(section("Not recorded yet", unrecorded));
    rows
}
