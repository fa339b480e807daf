//! Chooses the next step: a sentence, and a command that runs as it is printed. Text from callers is quoted.

mod ending;

use crate::NATIVE;
use crate::execute::placeholder;
use crate::items::{ItemView, ItemsSeen};
use crate::view::{Material, produced};
use crate::words::{moment, phase_called, phase_titled, quoted, sentence};
use ending::{claimed_before_the_end, closed_by_file, contested, is_not_done, open_blockers, over};
use model::gate::{Attempt, CheckResult};
use model::hint::{CommandLine, Hint, Piece};
use model::id::Name;
use model::item::{Item, ItemStatus};
use model::lifecycle::Lifecycle;
use model::phase::Phase;
use model::run::Run;
use model::session::{RevisionMade, Session};
use model::words;
use model::workflow::{CheckKind, EvidenceDefinition, PhaseDefinition, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The maximum length of a quotation.
const LONGEST_QUOTATION: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    pub summary: Hint,
    pub command: Option<CommandLine>,
    #[serde(skip)]
    pub(crate) waits: Waits,
    /// True if the summary already says the purpose of the phase.
    #[serde(skip)]
    pub says_purpose: bool,
    /// True if the item of this step is free while somebody else works on another item.
    #[serde(skip)]
    pub(crate) beside_others: bool,
}

/// Who must act before the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Waits {
    #[default]
    Nobody,
    Person,
    /// The holders of the remaining items.
    Others,
}

impl Next {
    /// True if only a person can take the next step, for example an approval.
    pub fn needs_person(&self) -> bool {
        self.waits == Waits::Person
    }

    /// Returns the word before the summary on a screen for people.
    pub fn label(&self) -> &'static str {
        if self.beside_others { "Free" } else { "Next" }
    }

    pub(crate) fn new(summary: impl Into<Hint>, command: Option<CommandLine>) -> Self {
        Self {
            summary: summary.into(),
            command,
            waits: Waits::Nobody,
            says_purpose: false,
            beside_others: false,
        }
    }
}

impl Next {
    pub(crate) fn start(workflow: Option<&str>) -> Self {
        let words = std::iter::once("start").chain(workflow).map(ToOwned::to_owned).collect();
        Self::new("No active session. Start one:", Some(CommandLine::new(words)))
    }

    pub(crate) fn of(material: &Material<'_>) -> Self {
        let (session, run) = (material.session, material.run);
        let id = &session.id;
        let name = &run.workflow.name;
        let resume = CommandLine::new(words!["resume", id]);
        if let Some(fork_of) = crate::sharing::fork_of(id) {
            let merge = CommandLine::new(words!["sync", "resolve", id]);
            return Self::new(
                format!(
                    "The session is a fork of {fork_of}. Merge the fork in the clone where {fork_of} is:"
                ),
                Some(merge),
            );
        }
        match &session.lifecycle {
            Lifecycle::Active if session.machine.is_some() => {
                Self::new("The session is on another machine. Continue the session here:", Some(resume))
            }
            Lifecycle::Active if run.is_open() || is_not_done(material) => {
                advance(material).after_blockers(session)
            }
            Lifecycle::Active if let Some(open) = other_open(session) => Self::new(
                format!(
                    "Run {} of {name} is finished. Run {} of {} is still open.",
                    run.ordinal, open.ordinal, open.workflow.name
                ),
                Some(about(material, words!["run", "start", open.workflow.name])),
            ),
            Lifecycle::Active => Self::new(
                format!(
                    "Run {} of {name} is finished. Close the session, unless another run follows.",
                    run.ordinal
                ),
                Some(about(material, words!["close"])),
            ),
            Lifecycle::Paused { .. } => {
                // If the log contradicts a file that calls a phase done, the work continues in that phase.
                let at =
                    contested(material).or_else(|| run.position(run.current().id().as_str())).unwrap_or(0);
                Self::new(format!("Continue with {}.", titled_at(run, at)), Some(resume))
                    .after_blockers(session)
            }
            Lifecycle::Failed { error, .. } => Self::new(
                format!(
                    "The session failed: {}. Fix the cause, then continue:",
                    quoted(error, LONGEST_QUOTATION)
                ),
                Some(resume),
            )
            .after_blockers(session),
            // A finished session has no next step. Another run is not suggested.
            Lifecycle::Completed { .. } if let Some(phase) = &material.closed_over => {
                Self::new(closed_by_file(material, phase), None)
            }
            Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => {
                Self::new(format!("{}.", over(session, "; nothing remaining")), None)
            }
        }
    }

    /// Puts open blockers before the step itself.
    fn after_blockers(mut self, session: &Session) -> Self {
        let blockers = open_blockers(session);
        let (notes, them) = match blockers.as_slice() {
            [] => return self,
            [_] => (format!("Note {} blocks", blockers[0]), "it"),
            several => (format!("Notes {} block", several.join(", ")), "them"),
        };
        let resolve = CommandLine::new(words!["note", "resolve", blockers[0]]);
        let mut summary = Hint::new(format!("{notes}: settle {them} ("))
            .command(resolve)
            .then(format!("), or do what does not need {them}. "));
        for piece in self.summary.pieces() {
            summary = match piece {
                Piece::Text(text) => summary.then(text.clone()),
                Piece::Command(command) => summary.command(command.clone()),
            };
        }
        self.summary = summary;
        self
    }
}

/// Returns the unfinished run that was started last.
fn other_open(session: &Session) -> Option<&Run> {
    session.runs.iter().rev().find(|run| run.is_open())
}

fn advance(material: &Material<'_>) -> Next {
    let run = material.run;
    if let Some(contested) = contested(material).or_else(|| claimed_before_the_end(material)) {
        let id = run.phases[contested].id();
        return match material.items.behind.as_ref().filter(|behind| behind.phase == *id) {
            Some(behind) => item(material, &behind.items, Some(id)),
            None => prove(material, contested),
        };
    }
    let phase = run.current();
    let defined = material.definition.and_then(|workflow| workflow.phase(phase.id().as_str()));
    let mut command = submitting(material, phase, defined, &|_| None);
    let failed = phase.last_attempt().filter(|_| phase.last_attempt_failed());
    let fails_on = |is_meant: &dyn Fn(&CheckResult) -> bool| {
        let checks = failed.iter().flat_map(|attempt| &attempt.report.checks);
        checks.filter(|check| check.failed()).any(is_meant)
    };
    // A gate that checks items cannot pass while items are open. So a ready item comes first.
    let has_items = defined.is_none_or(|defined| defined.items.is_some() || defined.asks_for_items());
    let looks_at_items = failed.is_none() && has_items || fails_on(&|check| is_about_items(check, defined));
    let is_of_another_kind =
        |check: &CheckResult| !is_about_items(check, defined) && check.kind != "approval";
    let has_another_way = material.items.next.is_none() && fails_on(&is_of_another_kind);
    // In the last phase of a run, open items come first, because the run cannot end with open items.
    if let Some(behind) = &material.items.behind {
        return item(material, &behind.items, Some(&behind.phase));
    }
    if material.items.counts.open() > 0 && !has_another_way && (looks_at_items || run.is_at_its_end()) {
        return item(material, &material.items, None);
    }
    if failed.is_none() && session_adds_items(material, phase, defined) {
        return Next { says_purpose: true, ..add_items(material, phase, defined) };
    }
    let Some(attempt) = failed else {
        return Next { says_purpose: true, ..Next::new(begin(material, defined), Some(command)) };
    };
    // A check that was approved or settled since the attempt is no longer missing.
    let is_missing = |check: &&CheckResult| check.failed() && !material.is_settled(&check.id, &check.kind);
    let missing: Vec<&CheckResult> = attempt.report.checks.iter().filter(is_missing).collect();
    if attempt.report.checks.is_empty() {
        return Next::new(untold(material), Some(command));
    }
    // Submitted values still hold after an approval, but perhaps not after work on items.
    if missing.is_empty() && !fails_on(&|check| is_about_items(check, defined)) {
        command = submitting(material, phase, defined, &|name| said(attempt, name));
    }
    if missing.iter().all(|check| needs_items(check, defined)) && session_adds_items(material, phase, defined)
    {
        command = adding_an_item(material, phase);
    }
    Next::new(fix(run, &missing), Some(command)).by_a_person(material, &missing)
}

/// True if the gate needs items, the phase has none, and nobody but the session's users adds them.
fn session_adds_items(material: &Material<'_>, phase: &Phase, defined: Option<&PhaseDefinition>) -> bool {
    material.session.layout == NATIVE
        && phase.items.is_empty()
        && defined.is_some_and(|defined| defined.items.is_some() && defined.needs_some_item())
}

/// The next step of a phase whose gate needs items that it does not have yet.
fn add_items(material: &Material<'_>, phase: &Phase, defined: Option<&PhaseDefinition>) -> Next {
    let kind = defined.and_then(|defined| defined.items.as_deref()).unwrap_or("item");
    let summary = format!("{} First add a {kind} for each piece of the work:", begin(material, defined));
    Next::new(summary, Some(adding_an_item(material, phase)))
}

fn adding_an_item(material: &Material<'_>, phase: &Phase) -> CommandLine {
    about(material, words!["item", "add", "<title>", "--phase", phase.id()])
}

/// Returns the next step if the log contradicts a file that calls a phase done: the phase's gate comes first.
fn prove(material: &Material<'_>, position: usize) -> Next {
    let (session, run) = (material.session, material.run);
    let phase = &run.phases[position];
    let called = phase_called(run.number_at(position), phase.id());
    let defined = material.definition.and_then(|workflow| workflow.phase(phase.id().as_str()));
    let mut summary = Hint::new(if phase.claimed && session.failed_last(phase) {
        format!("A file calls {called} done, although its gate failed.")
    } else if phase.claimed {
        format!("A file calls {called} done, but nothing here proves it.")
    } else {
        format!("The session moved past {called}, whose gate failed.")
    });
    let mut missing: Vec<&CheckResult> = Vec::new();
    if session.failed_last(phase) {
        let failed = phase.attempts_since_opened().rfind(|attempt| !attempt.report.passes());
        let checks = failed.into_iter().flat_map(|attempt| &attempt.report.checks);
        let is_missing =
            |check: &&CheckResult| check.failed() && !material.is_settled(&check.id, &check.kind);
        missing = checks.filter(is_missing).collect();
        summary =
            remedies(&missing).into_iter().fold(summary, |summary, one| summary.then(format!(" {one}")));
    }
    if phase.items.open() > 0 {
        let open = phase.items.open();
        summary = summary
            .then(format!(" {open} of its items {} open: ", if open == 1 { "is" } else { "are" }))
            .command(about(material, words!["item", "list", "--phase", phase.id()]))
            .then(".");
    }
    let command = submitting(material, phase, defined, &|_| None);
    Next::new(summary.then(" Then:"), Some(command)).by_a_person(material, &missing)
}

fn is_about_items(check: &CheckResult, defined: Option<&PhaseDefinition>) -> bool {
    check.kind == "items" || kind_of(check, defined).is_some_and(CheckKind::asks_for_items)
}

/// True if a check can pass only when the phase has items.
fn needs_items(check: &CheckResult, defined: Option<&PhaseDefinition>) -> bool {
    is_about_items(check, defined) || kind_of(check, defined).is_some_and(CheckKind::reads_items)
}

fn kind_of<'a>(check: &CheckResult, defined: Option<&'a PhaseDefinition>) -> Option<&'a CheckKind> {
    let own = defined?.checks.iter().find(|own| own.id.as_str() == check.id)?;
    Some(&own.kind)
}

/// Returns the command that tries a phase's gate. Placeholders stand for values that only the reader knows.
pub(crate) fn submitting(
    material: &Material<'_>,
    phase: &Phase,
    defined: Option<&PhaseDefinition>,
    known: &dyn Fn(&str) -> Option<String>,
) -> CommandLine {
    let mut words = words!["advance", "--phase", phase.id()];
    // An optional field that the last attempt contained is asked for again.
    let tried = phase.last_attempt().filter(|_| phase.last_attempt_failed());
    let was_given = |name: &str| tried.is_some_and(|attempt| attempt.report.evidence.contains_key(name));
    let is_asked = |field: &&EvidenceDefinition| field.required || was_given(&field.name);
    for field in defined.iter().flat_map(|defined| &defined.evidence).filter(is_asked) {
        let value = known(&field.name).unwrap_or_else(|| placeholder(field.value_type).to_owned());
        words.extend(["--evidence".to_owned(), format!("{}={value}", field.name)]);
    }
    about(material, words)
}

/// Returns the submitted value of a field, if it can be part of a command line without change.
fn said(attempt: &Attempt, name: &str) -> Option<String> {
    let value = attempt.report.evidence.get(name)?;
    let is_plain = |value: &Value| value.is_boolean() || value.is_number();
    let is_list = value.as_array().is_some_and(|list| list.iter().all(is_plain));
    (is_plain(value) || is_list).then(|| value.to_string())
}

/// Returns the next step if an item comes before the phase's gate: the item that the caller holds, or else the first
/// free one.
fn item(material: &Material<'_>, items: &ItemsSeen, left_by: Option<&Name>) -> Next {
    let counts = items.counts;
    let of = left_by.map(|phase| {
        let number = material.run.position(phase.as_str()).map_or(0, |at| material.run.number_at(at));
        format!(" in {}, which comes first", phase_called(number, phase))
    });
    let of = of.unwrap_or_default();
    let done = format!("{} of {} items done{of}", counts.done, counts.total);
    let Some(next) = &items.next else { return nothing_ready(material, items, &done) };
    let title = quoted(&next.item.title, LONGEST_QUOTATION);
    let defined = material.definition.and_then(|workflow| workflow.phase(next.item.phase.as_str()));
    if let Some(defined) = defined.filter(|defined| defined.splits_first(&next.item)) {
        let part = defined.items.as_deref().unwrap_or("part");
        return Next::new(
            format!("Item {}: {title} ({done}). Split it first, with a title for each {part}:", next.id()),
            Some(about(material, words!["item", "split", next.id(), "--into", "<title>"])),
        );
    }
    let (verb, held) = match next.item.lease.as_ref().filter(|_| next.mine) {
        Some(lease) => ("done", format!("yours until {}; ", moment(lease.until, material.now))),
        None => ("claim", String::new()),
    };
    let file = file_of_item(material.session, material.definition, &next.item)
        .map(|path| format!(" Produces {path}."))
        .unwrap_or_default();
    let offered = Next::new(
        format!("Item {}: {title} ({held}{done}){}{file}", next.id(), if file.is_empty() { "" } else { "." }),
        Some(about(material, words!["item", verb, next.id()])),
    );
    let beside_others = !next.mine && items.open.iter().any(ItemView::is_at_work);
    Next { beside_others, ..offered }
}

/// Returns the next step if every open item waits for something: says for what, without a command.
fn nothing_ready(material: &Material<'_>, items: &ItemsSeen, done: &str) -> Next {
    const NAMED: usize = 4;
    let open = &items.open;
    let mut named: Vec<String> = open
        .iter()
        .filter(|item| !item.container)
        .take(NAMED)
        .map(|item| format!("{}: {}", item.id(), item.standing(material.now)))
        .collect();
    let more = (items.counts.open() as usize).saturating_sub(named.len());
    if more > 0 && named.len() == NAMED {
        named.push(format!("and {more} more"));
    }
    let mut summary = Hint::new(format!("No item is ready ({done}). {}.", named.join("; ")));
    let is_blocked = |item: &&ItemView| matches!(item.item.status, ItemStatus::Blocked { .. });
    if let Some(blocked) = open.iter().find(is_blocked) {
        let unblock = about(material, words!["item", "unblock", blocked.id()]);
        summary = summary.then(" When that is settled: ").command(unblock);
    }
    Next { waits: Waits::Others, ..Next::new(summary, None) }
}

/// If each item of the phase has a file of its own, returns the path of this item's file, relative to the project's
/// folder.
pub(crate) fn file_of_item(session: &Session, definition: Option<&Workflow>, item: &Item) -> Option<String> {
    let run = session.run()?;
    let defined = definition.and_then(|workflow| workflow.phase(item.phase.as_str()))?;
    let kind =
        defined.items.as_deref().filter(|kind| item.kind.as_str() == *kind && item.parent.is_none())?;
    let stands_for = format!("<{kind}>");
    let path = produced(session, run, Some(defined)).into_iter().find(|path| path.contains(&stands_for))?;
    let (before, after) = path.split_once(&stands_for)?;
    // In `stage-3-section-<section>.md`, `2` stands for the item `section-2`, as in the phase's check.
    let id = item.id.as_str();
    let number = &id[id.trim_end_matches(|digit: char| digit.is_ascii_digit()).len()..];
    let stem = &id[..id.len() - number.len()];
    let is_short = !number.is_empty() && !stem.is_empty() && before.ends_with(stem);
    Some(format!("{before}{}{after}", if is_short { number } else { id }))
}

/// Returns the next step after a failure that another tool reported without a cause.
fn untold(material: &Material<'_>) -> Hint {
    let run = material.run;
    let called = phase_called(run.current_number(), run.current().id());
    Hint::new(format!("The gate of {called} failed; what was missing is not recorded. See what it needs: "))
        .command(about(material, words!["gate"]))
        .then(format!(". Then try {called} again."))
}

/// Returns the remedies of a failed gate, in the words of its definition.
fn fix(run: &Run, missing: &[&CheckResult]) -> String {
    let remedies = remedies(missing);
    let again = format!("try {} again.", phase_called(run.current_number(), run.current().id()));
    if remedies.is_empty() {
        return format!("What was missing is there now: {again}");
    }
    format!("{} Then {again}", remedies.join(" "))
}

/// Returns how to satisfy each check, without repetition.
fn remedies(missing: &[&CheckResult]) -> Vec<String> {
    let mut remedies: Vec<String> = missing
        .iter()
        .map(|check| match &check.help {
            Some(help) => format!("{}.", in_full(check, &sentence(help.trim().trim_end_matches('.')))),
            None => match &check.needed {
                Some(needed) => format!("Make '{}' pass: it needs {needed}.", check.id),
                None => format!("Make '{}' pass.", check.id),
            },
        })
        .collect();
    // If several checks need the same missing field, it is mentioned once.
    let mut said = BTreeSet::new();
    remedies.retain(|remedy| said.insert(remedy.clone()));
    remedies
}

/// Returns a check's help. If it names a missing file, the file's name is replaced by its whole path.
fn in_full(check: &CheckResult, help: &str) -> String {
    let path = check.needed.as_deref().filter(|path| check.kind == "artifact" && !help.contains(*path));
    let Some(path) = path else { return help.to_owned() };
    let name = path.rsplit('/').next().unwrap_or(path);
    if help.contains(name) { help.replacen(name, path, 1) } else { format!("{help}: {path}") }
}

/// Returns, for example, `phase 3, Build`, for use within a sentence.
fn titled_at(run: &Run, position: usize) -> String {
    phase_titled(run.number_at(position), &run.phases[position].stub.title).replacen("Phase", "phase", 1)
}

/// Returns the current phase's number, name and purpose.
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
    match phase.items.open() {
        0 => {}
        1 => summary.push_str(" 1 item is open."),
        open => {
            let _ = write!(summary, " {open} items are open.");
        }
    }
    summary
}

/// Says why a completed phase is in progress again; empty if it is not.
fn revised(session: &Session, phase: &Phase) -> String {
    let concerns = |made: &&RevisionMade| {
        made.revision.phase == *phase.id() || made.revision.flagged.contains(phase.id())
    };
    // A revision's reason is shown until the phase is completed again.
    let last = session.revisions.iter().rev().find(concerns);
    match last.filter(|made| phase.started_at().is_some_and(|started| started >= made.at)) {
        Some(made) if made.revision.phase == *phase.id() => {
            format!(" The phase is being revised: {}.", quoted(&made.revision.reason, LONGEST_QUOTATION))
        }
        Some(made) => {
            let revision = &made.revision;
            let why = quoted(&revision.reason, LONGEST_QUOTATION);
            format!(" Review the phase's results, because phase {} was revised: {why}.", revision.phase)
        }
        None => String::new(),
    }
}

/// Returns a command about this session. It names the session if it would otherwise mean another one.
fn about(material: &Material<'_>, mut words: Vec<String>) -> CommandLine {
    if material.name_session {
        words.extend(words!["--session", material.session.id]);
    }
    CommandLine::new(words)
}
