//! What to do next: one sentence and the command for it, which runs as it is printed. The words of definitions stand
//! in it as they are; whatever callers wrote is quoted as theirs.

use crate::execute::placeholder;
use crate::view::{Material, produced};
use crate::words::{moment, phase_called, phase_titled, quoted};
use model::gate::{Attempt, CheckResult};
use model::hint::{CommandLine, Hint};
use model::id::Name;
use model::item::Item;
use model::lifecycle::Lifecycle;
use model::phase::Phase;
use model::run::Run;
use model::session::{RevisionMade, Session};
use model::words;
use model::workflow::{OnComplete, PhaseDefinition};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Of what somebody wrote.
const LONGEST_QUOTATION: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    pub summary: Hint,
    pub command: Option<CommandLine>,
    #[serde(skip)]
    pub(crate) waits: Waits,
}

/// Who must act before the next step can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Waits {
    #[default]
    Nobody,
    Person,
    /// Whoever holds what is left to do.
    Others,
}

impl Next {
    pub(crate) fn new(summary: impl Into<Hint>, command: Option<CommandLine>) -> Self {
        Self { summary: summary.into(), command, waits: Waits::Nobody }
    }
}

impl Next {
    pub(crate) fn start(workflow: Option<&str>) -> Self {
        let words = std::iter::once("start").chain(workflow).map(ToOwned::to_owned).collect();
        Self::new("No session is going on here. Begin one.", Some(CommandLine::new(words)))
    }

    pub(crate) fn of(material: &Material<'_>) -> Self {
        let (session, run) = (material.session, material.run);
        let id = &session.id;
        let name = &run.workflow.name;
        let is_native = session.layout == "native";
        let resume = CommandLine::new(words!["resume", id]);
        match &session.lifecycle {
            Lifecycle::Active if run.is_open() => advance(material),
            Lifecycle::Active if let Some(open) = other_open(session) => Self::new(
                format!(
                    "Run {} of {name} is finished. Run {} of {} goes on.",
                    run.ordinal, open.ordinal, open.workflow.name
                ),
                Some(about(material, words!["run", "start", open.workflow.name])),
            ),
            Lifecycle::Active => Self::new(
                Hint::new(format!(
                    "Run {} of {name} is finished. End the session, or begin another run: ",
                    run.ordinal
                ))
                .command(about(material, words!["run", "start", name])),
                Some(about(material, words!["close"])),
            ),
            Lifecycle::Paused { .. } => Self::new(
                format!("Go on with {}.", phase_titled(run.current_number(), &run.current().stub.title)),
                Some(resume),
            ),
            Lifecycle::Failed { error, .. } => Self::new(
                format!("It failed: {}. Mend that, then go on with it.", quoted(error, LONGEST_QUOTATION)),
                Some(resume),
            ),
            Lifecycle::Completed { .. } if is_native => Self::new(
                Hint::new("Finished; nothing is left to do. Begin something new, or another run of this: ")
                    .run(words!["run", "start", name, "--session", id]),
                Some(CommandLine::new(words!["start", name])),
            ),
            // Its workflow is not known as a whole: no other run of it can be begun.
            Lifecycle::Completed { .. }
                if run.workflow.on_complete == OnComplete::Grow || !material.can_run_again =>
            {
                Self::new("Finished; nothing is left to do.", None)
            }
            // A layout may name its sessions by the day: what is finished today may have taken the name.
            Lifecycle::Completed { .. } => Self::new(
                "Finished; nothing is left to do. Another run of this begins with:",
                Some(CommandLine::new(words!["run", "start", name, "--session", id])),
            ),
            Lifecycle::Abandoned { .. } if !is_native => Self::new(
                Hint::new("Given up; nothing is left to do. Take it up again, or begin something new with ")
                    .run(words!["start"])
                    .then("."),
                Some(CommandLine::new(words!["reopen", id])),
            ),
            Lifecycle::Abandoned { .. } => Self::new(
                "Given up; nothing is left to do. Begin something new.",
                Some(CommandLine::new(words!["start", name])),
            ),
        }
    }
}

/// The run that was begun last of those that go on.
fn other_open(session: &Session) -> Option<&Run> {
    session.runs.iter().rev().find(|run| run.is_open())
}

fn advance(material: &Material<'_>) -> Next {
    let run = material.run;
    if let Some(contested) = run.phases.iter().position(|phase| material.session.is_contested(phase)) {
        return prove(material, contested);
    }
    let phase = run.current();
    let defined = material.definition.and_then(|workflow| workflow.phase(phase.id().as_str()));
    let mut command = submitting(material, phase, defined, &|_| None);
    let failed = phase.last_attempt().filter(|_| phase.last_attempt_failed());
    let waits_for_items_alone = failed.is_none_or(|attempt| {
        attempt
            .report
            .checks
            .iter()
            .filter(|check| check.failed())
            .all(|check| is_about_items(check, defined))
    });
    if material.items.counts.open() > 0 && waits_for_items_alone {
        return item(material);
    }
    let Some(attempt) = failed else {
        return Next::new(begin(material, defined), Some(command));
    };
    // What was approved or finished since the attempt is no longer missing.
    let approved = |check: &CheckResult| {
        let id = Name::parse(&check.id).ok();
        let approval = id.and_then(|id| material.session.approval(phase.id(), &id));
        check.kind == "approval" && approval.is_some_and(|approval| approval.holds(material.now))
    };
    let items_done = material.items.counts.done == material.items.counts.total;
    let settled = |check: &CheckResult| {
        let holds_now = material.settled.contains(&check.id);
        approved(check) || holds_now || (check.kind == "items" && items_done)
    };
    let missing: Vec<&CheckResult> =
        attempt.report.checks.iter().filter(|check| check.failed() && !settled(check)).collect();
    if attempt.report.checks.is_empty() {
        return Next::new(untold(material), Some(command));
    }
    if missing.is_empty() {
        command = submitting(material, phase, defined, &|name| said(attempt, name));
    }
    let mut waits = Waits::Nobody;
    if let Some(check) = waits_for_a_person(&missing) {
        command = about(material, words!["approve", check]);
        waits = Waits::Person;
    }
    Next { waits, ..Next::new(mend(run, &missing), Some(command)) }
}

/// A file calls a phase done, against what is known here: that comes before all else.
fn prove(material: &Material<'_>, position: usize) -> Next {
    let (session, run) = (material.session, material.run);
    let phase = &run.phases[position];
    let called = phase_called(run.number_at(position), phase.id());
    let defined = material.definition.and_then(|workflow| workflow.phase(phase.id().as_str()));
    let mut summary = Hint::new(format!("A file calls {called} done, and nothing here shows it."));
    if session.failed_here(phase) {
        let failed = phase.attempts_since_opened().rfind(|attempt| !attempt.report.passes());
        let checks = failed.iter().flat_map(|attempt| &attempt.report.checks);
        let missing: Vec<&CheckResult> = checks.filter(|check| check.failed()).collect();
        summary = summary.then(format!(" {}", remedies(&missing).join(" ")));
    }
    if phase.items.open() > 0 {
        let open = phase.items.open();
        summary = summary
            .then(format!(" {open} of its items {} open: ", if open == 1 { "is" } else { "are" }))
            .command(about(material, words!["item", "list", "--phase", phase.id()]))
            .then(".");
    }
    Next::new(
        summary.then(" Then show that it is done."),
        Some(submitting(material, phase, defined, &|_| None)),
    )
}

fn is_about_items(check: &CheckResult, defined: Option<&PhaseDefinition>) -> bool {
    let kind = defined.and_then(|defined| defined.checks.iter().find(|own| own.id.as_str() == check.id));
    check.kind == "items" || kind.is_some_and(|own| own.kind.asks_for_items())
}

/// The command that tries a phase's gate; what only the reader can know has something in its place.
fn submitting(
    material: &Material<'_>,
    phase: &Phase,
    defined: Option<&PhaseDefinition>,
    known: &dyn Fn(&str) -> Option<String>,
) -> CommandLine {
    let mut words = words!["advance", "--phase", phase.id()];
    for field in defined.iter().flat_map(|defined| &defined.evidence).filter(|field| field.required) {
        let value = known(&field.name).unwrap_or_else(|| placeholder(field.value_type).to_owned());
        words.extend(["--evidence".to_owned(), format!("{}={value}", field.name)]);
    }
    about(material, words)
}

/// What was submitted for a field, where it stands in a command line as it is.
fn said(attempt: &Attempt, name: &str) -> Option<String> {
    let value = attempt.report.evidence.get(name)?;
    (value.is_boolean() || value.is_number()).then(|| value.to_string())
}

/// Items come before the phase's gate: the one that the asking one holds, else the first that is free.
fn item(material: &Material<'_>) -> Next {
    let counts = material.items.counts;
    let done = format!("{} of {} done", counts.done, counts.total);
    let Some(next) = &material.items.next else {
        let summary = format!(
            "No item is ready ({done}): the others are held by somebody, wait for another item or are blocked."
        );
        let command = about(material, words!["item", "list"]);
        return Next { waits: Waits::Others, ..Next::new(summary, Some(command)) };
    };
    let (verb, held) = match next.item.lease.as_ref().filter(|_| next.mine) {
        Some(lease) => ("done", format!("yours until {}; ", moment(lease.until, material.now))),
        None => ("claim", String::new()),
    };
    let title = quoted(&next.item.title, LONGEST_QUOTATION);
    let file =
        file_of_item(material, &next.item).map(|path| format!(" Produces {path}.")).unwrap_or_default();
    Next::new(
        format!("Item {}: {title} ({held}{done}){}{file}", next.id(), if file.is_empty() { "" } else { "." }),
        Some(about(material, words!["item", verb, next.id()])),
    )
}

/// The file that an item of the current phase leaves, where each has one.
fn file_of_item(material: &Material<'_>, item: &Item) -> Option<String> {
    let run = material.run;
    let defined = material.definition.and_then(|workflow| workflow.phase(run.current().id().as_str()))?;
    let kind =
        defined.items.as_deref().filter(|kind| item.kind.as_str() == *kind && item.parent.is_none())?;
    let stands_for = format!("<{kind}>");
    let path =
        produced(material.session, run, Some(defined)).into_iter().find(|path| path.contains(&stands_for))?;
    let (before, after) = path.split_once(&stands_for)?;
    // `section-2` in `stage-3-section-<section>.md` is `2`, as the phase's check has it.
    let id = item.id.as_str();
    let number = &id[id.trim_end_matches(|digit: char| digit.is_ascii_digit()).len()..];
    let stem = &id[..id.len() - number.len()];
    let is_short = !number.is_empty() && !stem.is_empty() && before.ends_with(stem);
    Some(format!("{before}{}{after}", if is_short { number } else { id }))
}

/// The check that must be approved, when nothing else is missing.
fn waits_for_a_person<'a>(missing: &[&'a CheckResult]) -> Option<&'a str> {
    let first = missing.first()?;
    missing.iter().all(|check| check.kind == "approval").then_some(first.id.as_str())
}

/// Another tool says that it failed, and not on what.
fn untold(material: &Material<'_>) -> Hint {
    let run = material.run;
    let called = phase_called(run.current_number(), run.current().id());
    Hint::new(format!(
        "The gate of {called} failed, and what was missing is not recorded; what it asks for: "
    ))
    .command(about(material, words!["gate"]))
    .then(format!(". Mend it, then try {called} again."))
}

/// What a failed gate asks for, in the words of its definition.
fn mend(run: &Run, missing: &[&CheckResult]) -> String {
    let remedies = remedies(missing);
    let again = format!("try {} again.", phase_called(run.current_number(), run.current().id()));
    if remedies.is_empty() {
        return format!("What was missing is there now: {again}");
    }
    format!("{} Then {again}", remedies.join(" "))
}

/// How each check is met, each way once.
fn remedies(missing: &[&CheckResult]) -> Vec<String> {
    let mut remedies: Vec<String> = missing
        .iter()
        .map(|check| match &check.help {
            Some(help) => format!("{}.", help.trim().trim_end_matches('.')),
            None => match &check.needed {
                Some(needed) => format!("Make '{}' hold: {needed}.", check.id),
                None => format!("Make '{}' hold.", check.id),
            },
        })
        .collect();
    // A field that several checks need is missing once.
    let mut said = BTreeSet::new();
    remedies.retain(|remedy| said.insert(remedy.clone()));
    remedies
}

/// The current phase by number, name and what it is for.
fn with_purpose(material: &Material<'_>) -> String {
    let (run, phase) = (material.run, material.run.current());
    let defined = material.definition.and_then(|workflow| workflow.phase(phase.id().as_str()));
    let mut text = phase_titled(run.current_number(), &phase.stub.title);
    if let Some(purpose) = defined.and_then(|defined| defined.purpose.as_deref()) {
        let _ = write!(text, ": {}", purpose.trim().trim_end_matches('.'));
    }
    text
}

fn begin(material: &Material<'_>, defined: Option<&PhaseDefinition>) -> String {
    let run = material.run;
    let phase = run.current();
    let mut summary = with_purpose(material);
    summary.push('.');
    let files = produced(material.session, run, defined);
    if !files.is_empty() {
        let _ = write!(summary, " Produces {}.", files.join(", "));
    }
    summary.push_str(&revised(material.session, phase));
    summary
}

/// Why a phase that was done before is at work again.
fn revised(session: &Session, phase: &Phase) -> String {
    let concerns = |made: &&RevisionMade| {
        made.revision.phase == *phase.id() || made.revision.flagged.contains(phase.id())
    };
    // Only as long as the phase has not been completed since.
    let last = session.revisions.iter().rev().find(concerns);
    match last.filter(|made| phase.started_at().is_some_and(|started| started >= made.at)) {
        Some(made) if made.revision.phase == *phase.id() => {
            format!(" It is being revised: {}.", quoted(&made.revision.reason, LONGEST_QUOTATION))
        }
        Some(made) => {
            let revision = &made.revision;
            let why = quoted(&revision.reason, LONGEST_QUOTATION);
            format!(" Review what it produced: {} was revised: {why}.", revision.phase)
        }
        None => String::new(),
    }
}

/// A command about this session, which is named where a command without a name would mean another.
fn about(material: &Material<'_>, mut words: Vec<String>) -> CommandLine {
    if material.name_session {
        words.extend(words!["--session", material.session.id]);
    }
    CommandLine::new(words)
}
