//! Phases to come that a person has to approve, so that the person can be asked in time.

use super::done::numbered;
use super::{Detail, is_over};
use crate::brief::Brief;
use crate::view::PhaseView;
use crate::words::{defused, quoted};

pub(super) fn ahead(brief: &Brief, detail: Detail) -> String {
    if is_over(brief) {
        return String::new();
    }
    let current = brief.session.current_phase.number;
    let to_come = brief.session.phases.iter().filter(|phase| phase.number > current);
    let lines: String = to_come.filter_map(approvals).take(detail.longest_list()).collect();
    if lines.is_empty() { lines } else { format!("## A person decides later\n{lines}") }
}

/// Returns the line of a phase, with its approvals: `- 3 Release: owner`.
fn approvals(phase: &PhaseView) -> Option<String> {
    const LONGEST: usize = 80;
    let waits = phase.gate.checks.iter().filter(|check| check.kind == "approval");
    let named: Vec<String> = waits
        .map(|check| {
            let help = check.help.as_ref().map(|help| format!(" ({})", quoted(help, LONGEST)));
            format!("{}{}", defused(&check.id, LONGEST), help.unwrap_or_default())
        })
        .collect();
    let is_open = phase.status == "not_started" && !named.is_empty();
    is_open.then(|| format!("- {}: {}\n", numbered(phase), named.join(", ")))
}
