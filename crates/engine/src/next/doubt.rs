//! A session that only its files call finished.

use crate::view::Material;
use crate::words::phase_called;
use model::hint::{CommandLine, Hint};
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use model::words;

/// The first phase that a file calls done against what is known here.
pub(super) fn contested<'a>(session: &Session, run: &'a Run) -> Option<&'a Phase> {
    run.phases.iter().find(|phase| session.is_contested(phase))
}

/// A file ended the session over a phase that nothing here shows to be done. Nobody is sent back to work for that.
pub(super) fn closed_by_file(material: &Material<'_>, phase: &Phase) -> Hint {
    let number = material.run.position(phase.id().as_str()).map_or(0, |at| material.run.number_at(at));
    let called = phase_called(number, phase.id());
    Hint::new(format!("A file calls the session finished, and {called} is not done here. To continue it: "))
        .command(CommandLine::new(words!["reopen", &material.session.id]))
}
