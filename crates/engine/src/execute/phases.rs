//! Commands that leave the usual order of phases: skip, roll back, fail.

use crate::engine::{Engine, Want};
use crate::error::Result;
use crate::execute::plan::Plan;
use crate::execute::{Answer, bounded, checked_reason};
use crate::policy::{Act, Restricted, Signature};
use model::command::{Command, decide};
use model::event::Event;
use model::session::Session;
use model::workflow::PhaseDefinition;

impl Engine {
    pub(super) fn skip(&mut self, reason: &str) -> Result<Answer> {
        let reason = checked_reason(reason)?;
        let fingerprint = self.fingerprint("skip", &reason);
        self.with_signature(|engine, signature| {
            engine.in_turn(&fingerprint, |engine| {
                let id = engine.select(Want::Unfinished)?;
                let subject = engine.load_subject(&id)?;
                let session = &subject.session;
                let signed = engine.authorise_skip(session, signature)?;
                let skips = engine.skips_ahead(session)?;
                let events = decide(session, Command::SkipPhase { reason: reason.clone(), skips })?;
                engine.refuse_to_end_over_items(session, &events)?;
                Ok(Plan::of(subject.change(signed.into_iter().chain(events).collect())))
            })
        })
    }

    /// Only a person may skip a phase that has a gate: otherwise the gate would be optional. Returns the event of the
    /// person's signature, if one is required.
    fn authorise_skip(&self, session: &Session, signature: Option<&Signature>) -> Result<Option<Event>> {
        let Some(run) = session.run().filter(|run| run.is_open()) else { return Ok(None) };
        let phase = run.current().id();
        let definition = self.definition_of(session)?;
        if !definition.phase(phase.as_str()).is_some_and(PhaseDefinition::has_gate) {
            return Ok(None);
        }
        self.authorise(&Act { phase: Some(phase), ..Act::new(Restricted::Skip, &session.id) }, signature)
    }

    pub(crate) fn roll_back(&mut self, phase: &str, reason: Option<&str>) -> Result<Answer> {
        let reason = reason.map(checked_reason).transpose()?;
        self.change("rollback", Want::Unfinished, &Command::RollBack { phase: phase.to_owned(), reason })
    }

    pub(super) fn fail(&mut self, error: &str) -> Result<Answer> {
        let error = bounded("the error", error)?;
        self.change("fail", Want::Unfinished, &Command::Fail { error })
    }
}
