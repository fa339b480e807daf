//! The results of `verify`, in a form for a terminal and in a form for a pull request.

use crate::ui::{Out, Tone, counted};
use engine::verify::{CheckReport, FileReport, FileState, PhaseReport, Report, RunReport};
use engine::words::{one_line, version};
use model::gate::CheckOutcome;
use model::outcome::Outcome;

/// The maximum length of a line, or of a cell in a table.
const LONGEST: usize = 160;

pub fn text(report: &Report, out: &Out) -> String {
    let mut lines = vec![format!(
        "{} {}",
        out.paint(Tone::Heading, &report.session_id),
        one_line(&report.title, LONGEST)
    )];
    for run in &report.runs {
        lines.push(format!("{} {}, run {}", run.workflow, version(&run.version), run.ordinal));
        lines.extend(run.phases.iter().map(|phase| phase_line(phase, out)));
    }
    for file in report.files.iter().filter(|file| file.state != FileState::AsRecorded) {
        lines.push(format!("  {}: {}", file.path, file.state.name()));
    }
    let as_recorded = report.files.iter().filter(|file| file.state == FileState::AsRecorded).count();
    if as_recorded > 0 {
        lines.push(format!("{} as recorded", counted(as_recorded, "file")));
    }
    lines.extend(report.problems.iter().map(|problem| out.paint(Tone::Bad, &problem.to_string())));
    lines.extend(report.remarks.iter().map(|remark| out.paint(Tone::Warning, &remark.to_string())));
    if let Some(head) = &report.head {
        lines.push(format!("head {head} ({})", counted(report.events, "event")));
    }
    if report.aside {
        lines.push(out.paint(Tone::Warning, "abandoned; not part of the verdict"));
    } else if report.holds {
        lines.push(out.paint(Tone::Good, "proven"));
    }
    lines.join("\n") + "\n"
}

fn phase_line(phase: &PhaseReport, out: &Out) -> String {
    let (mark, tone) = if phase.counts { ("✓", Tone::Good) } else { ("✗", Tone::Bad) };
    let proof = one_line(&proof(phase), LONGEST);
    let proof = if proof.is_empty() { proof } else { format!(": {proof}") };
    let mut lines = vec![format!("  {} {} {}{proof}", out.paint(tone, mark), phase.id, phase.outcome_name())];
    lines.extend(phase.problems.iter().map(|problem| format!("      {problem}")));
    lines.join("\n")
}

/// The evidence for the outcome of a phase.
fn proof(phase: &PhaseReport) -> String {
    let passed = phase.checks.iter().filter(|check| check.outcome == CheckOutcome::Passed).map(found);
    let failed = phase.checks.iter().filter(|check| check.outcome == CheckOutcome::Failed);
    let failed = failed.map(|check| format!("{} failed", check.id));
    let by = phase.by.as_ref().filter(|_| phase.reason.is_some()).map(|by| format!("by {by}"));
    phase.reason.clone().into_iter().chain(by).chain(failed).chain(passed).collect::<Vec<_>>().join("; ")
}

fn found(check: &CheckReport) -> String {
    match &check.found {
        Some(found) => format!("{}: {}", check.id, one_line(found, LONGEST)),
        None => check.id.clone(),
    }
}

/// The report as a section of a pull request. Text from the session is escaped, so that it is not read as
/// Markdown.
pub fn markdown(report: &Report) -> String {
    let verdict = match (report.aside, report.holds) {
        (true, _) => "Abandoned",
        (false, true) => "Proven",
        (false, false) => "Not proven",
    };
    let mut lines = vec![format!("### {verdict}: {}", plain(&report.title)), String::new()];
    if let Some(goal) = &report.goal {
        lines.push(format!("Goal: {}", plain(goal)));
        lines.push(String::new());
    }
    if !report.holds {
        lines.extend(report.reasons().iter().map(|reason| format!("- {}", plain(reason))));
        lines.push(String::new());
    }
    for run in &report.runs {
        lines.extend(phase_table(run));
    }
    lines.extend(list("Note", report.remarks.iter().map(|remark| plain(&remark.to_string())).collect()));
    lines.extend(list("Approved", approvals(report)));
    lines.extend(list("Skipped or overridden", passed_over(report)));
    lines.extend(file_table(&report.files));
    lines.push(origin(report));
    lines.join("\n") + "\n"
}

fn phase_table(run: &RunReport) -> Vec<String> {
    let mut lines = vec!["| | Phase | Outcome | Proof |".to_owned(), "|---|---|---|---|".to_owned()];
    for phase in &run.phases {
        let mark = if phase.counts { "✓" } else { "✗" };
        lines.push(format!(
            "| {mark} | {} | {} | {} |",
            plain(&phase.title),
            phase.outcome_name(),
            plain(&proof(phase))
        ));
    }
    lines.push(String::new());
    lines
}

fn approvals(report: &Report) -> Vec<String> {
    let phases = report.runs.iter().flat_map(|run| &run.phases);
    let line = |phase: &PhaseReport| {
        let approved = phase.approvals.iter().map(|approval| {
            let remark = approval.remark.as_ref().map(|remark| format!(" ({})", plain(remark)));
            let (check, by) = (plain(approval.check.as_str()), plain(&approval.by));
            let signed = approval.signed_by.as_ref().map(|who| format!(", signed by {}", plain(who)));
            let (remark, signed) = (remark.unwrap_or_default(), signed.unwrap_or_default());
            format!("{check} of {} by {by}{remark}, {}{signed}", phase.id, approval.at)
        });
        approved.collect::<Vec<_>>()
    };
    phases.flat_map(line).collect()
}

fn passed_over(report: &Report) -> Vec<String> {
    let phases = report.runs.iter().flat_map(|run| &run.phases);
    let is_meant = |phase: &&PhaseReport| {
        matches!(phase.outcome, Some(Outcome::Skipped | Outcome::Overridden | Outcome::NotApplicable))
    };
    let line = |phase: &PhaseReport| {
        let why = phase.reason.as_ref().map(|reason| format!(": {}", plain(reason))).unwrap_or_default();
        let by = phase.by.as_ref().map(|by| format!(", by {}", plain(by))).unwrap_or_default();
        format!("{} {}{by}{why}", phase.id, phase.outcome_name())
    };
    phases.filter(is_meant).map(line).collect()
}

fn list(title: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return lines;
    }
    let items = lines.into_iter().map(|line| format!("- {line}"));
    std::iter::once(format!("{title}:\n")).chain(items).chain([String::new()]).collect()
}

fn file_table(files: &[FileReport]) -> Vec<String> {
    if files.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["| File | SHA-256 | Now |".to_owned(), "|---|---|---|".to_owned()];
    lines.extend(
        files.iter().map(|file| {
            format!("| {} | `{}` | {} |", plain(&file.path), plain(&file.hash), file.state.name())
        }),
    );
    lines.push(String::new());
    lines
}

fn origin(report: &Report) -> String {
    let workflows: Vec<String> = report
        .runs
        .iter()
        .map(|run| format!("{} {} run {}", run.workflow, plain(&version(&run.version)), run.ordinal))
        .collect();
    let mut parts = vec![format!("Session `{}`", report.session_id), workflows.join(", ")];
    parts.extend(report.branch.as_ref().map(|branch| format!("branch {}", plain(branch))));
    parts.extend(report.commit.as_ref().map(|commit| format!("commit {}", plain(commit))));
    parts.extend(report.head.as_ref().map(|head| format!("head `{head}`")));
    parts.join(" · ")
}

/// The text, escaped so that it cannot end a cell, start a heading, or look like a line of the report.
fn plain(text: &str) -> String {
    const MARKS: &str = "\\`*_{}[]<>#|~!";
    let mut plain = String::new();
    for letter in one_line(text, LONGEST).chars() {
        if MARKS.contains(letter) {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_stays_text_in_markdown() {
        assert_eq!(plain("a | b\n## Proven"), "a \\| b \\#\\# Proven");
        assert_eq!(plain("<b>`x`"), "\\<b\\>\\`x\\`");
    }
}
