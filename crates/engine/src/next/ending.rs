//! The next step of sessions and runs that are over, or that only a file calls over.

use super::{Next, Waits, about};
use crate::view::Material;
use crate::words::phase_called;
use model::gate::CheckResult;
use model::hint::{CommandLine, Hint};
use model::id::Name;
use model::lifecycle::Lifecycle;
use model::note::NoteKind;
use model::outcome::Outcomes;
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use model::words;
use model::workflow::PhaseDefinition;

impl Next {
    /// If only a person can settle the missing checks, returns the step that names what the person must run: `trust`, or
    /// the approval of a check. Without that, the gate would only fail again.
    pub(super) fn by_a_person(self, material: &Material<'_>, missing: &[&CheckResult]) -> Self {
        let is_untrusted = |check: &&&CheckResult| material.untrusted.contains(&check.id);
        let needs_a_person = |check: &&CheckResult| check.kind == "approval" || is_untrusted(&check);
        let Some(first) = missing.first().filter(|_| missing.iter().all(needs_a_person)) else {
            return self;
        };
        let words = match missing.iter().find(is_untrusted) {
            Some(_) => words!["trust", material.run.workflow.name],
            None => words!["approve", first.id],
        };
        Self { command: Some(about(material, words)), waits: Waits::Person, ..self }
    }

    /// Returns the next step if this session is over and another one is paused: to continue that one.
    pub(crate) fn beside(session: &Session, paused: &str) -> Self {
        let said = format!("{}. Session {paused} is paused; to continue it: ", over(session, ""));
        Self::new(Hint::new(said).command(CommandLine::new(words!["resume", paused])), None)
    }
}

/// Returns the numbers of open blockers.
pub(super) fn open_blockers(session: &Session) -> Vec<String> {
    open(session, NoteKind::Blocker)
}

fn open(session: &Session, kind: NoteKind) -> Vec<String> {
    session.open_notes().filter(|note| note.kind == kind).map(|note| note.id.to_string()).collect()
}

/// `; question 3 is still open`, if questions are open.
fn open_questions(session: &Session) -> String {
    match open(session, NoteKind::Question).as_slice() {
        [] => String::new(),
        [one] => format!("; question {one} is still open"),
        several => format!("; questions {} are still open", several.join(", ")),
    }
}

/// Says how a session ended, and if open blockers or unverified phases remain. If neither remains, appends `nothing`.
pub(super) fn over(session: &Session, nothing: &str) -> String {
    if matches!(session.lifecycle, Lifecycle::Abandoned { .. }) {
        return format!("Abandoned{nothing}");
    }
    if session.run().is_some_and(Run::is_open) {
        return "Closed unfinished".to_owned();
    }
    let questions = open_questions(session);
    match open_blockers(session).as_slice() {
        [] => match session.run().map(|run| (Outcomes::of(run).unverified(), run.applicable())) {
            Some((unverified @ 1.., all)) => {
                format!("Finished; {unverified} of {all} phases not verified{questions}")
            }
            Some((0, _)) | None if questions.is_empty() => format!("Finished{nothing}"),
            Some((0, _)) | None => format!("Finished{questions}"),
        },
        [one] => format!("Finished; note {one} is still an open blocker"),
        several => format!("Finished; notes {} are still open blockers", several.join(", ")),
    }
}

/// True if a run that should be over still has work: a phase that only a file calls done, or open items.
pub(super) fn is_not_done(material: &Material<'_>) -> bool {
    material.session.has_contested() || material.items.block_the_end
}

/// Returns advice if a file ended the session although this phase is not proven. Says how to continue, but does not ask
/// for it.
pub(super) fn closed_by_file(material: &Material<'_>, phase: &Name) -> Hint {
    let number = material.run.position(phase.as_str()).map_or(0, |at| material.run.number_at(at));
    let called = phase_called(number, phase);
    Hint::new(format!("A file calls the session finished, and {called} is not done here. To continue it: "))
        .command(CommandLine::new(words!["reopen", &material.session.id]))
}

/// Returns the position of the first phase that the log contradicts: a file calls it done or went past it, but its gate
/// failed or it has open items.
pub(super) fn contested(material: &Material<'_>) -> Option<usize> {
    material.run.phases.iter().position(|phase| material.session.is_contested(phase))
}

/// If the run is about to end and only a file calls its last phase with a gate done, returns the position of that
/// phase. The gate must be passed before the run ends.
pub(super) fn claimed_before_the_end(material: &Material<'_>) -> Option<usize> {
    let run = material.run;
    let has_gate = |phase: &Phase| {
        let defined = material.definition.and_then(|workflow| workflow.phase(phase.id().as_str()));
        defined.is_some_and(PhaseDefinition::has_gate)
    };
    let last = run.phases.iter().rposition(|phase| phase.is_done() && has_gate(phase))?;
    (run.is_open() && run.is_at_its_end() && run.phases[last].claimed).then_some(last)
}
