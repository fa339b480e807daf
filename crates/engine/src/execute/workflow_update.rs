//! Moves a run to the current definition of its workflow, and lists the changes that this would make.

use crate::definitions;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::execute::plan::{self, Plan};
use crate::facades::Workflows;
use crate::policy::{Act, Restricted};
use model::command::{Command, decide};
use model::run::RunPlan;

impl Workflows<'_> {
    /// Returns the changes that following the workflow's current definition would make to the current run.
    pub fn definition_changes(&self) -> Result<Vec<String>> {
        let engine = self.engine;
        let (_, session) = engine.load(&engine.select(Want::Unfinished)?)?;
        let before = engine.definition_of(&session)?;
        let now = definitions::load(&engine.project, before.name.as_str())?;
        Ok(definitions::differences(&before, &now))
    }
}

impl Engine {
    /// Makes the current run follow its workflow's current definition.
    pub(super) fn update_definition(&mut self, seen: &[String]) -> Result<Answer> {
        self.require_person(Restricted::Update)?;
        let fingerprint = self.fingerprint("workflow update", "");
        self.with_signature(|engine, signature| {
            engine.in_turn(&fingerprint, |engine| {
                let id = engine.select(Want::Unfinished)?;
                let subject = engine.load_subject(&id)?;
                let session = &subject.session;
                let before = engine.definition_of(session)?;
                let workflow = definitions::load(&engine.project, before.name.as_str())?;
                // The definition was changed while the person read the differences, so they did not agree to this
                // version.
                if definitions::differences(&before, &workflow) != seen {
                    return Err(Error::Contended);
                }
                let run = RunPlan::new(&workflow, Vec::new());
                let events = decide(session, Command::UpdateDefinition { run })?;
                let act = Act { evidence: Some(&workflow.hash), ..Act::new(Restricted::Update, &id) };
                let signed = if events.is_empty() { None } else { engine.authorise(&act, signature)? };
                let mut plan = Plan::of(subject.change(signed.into_iter().chain(events).collect()));
                plan.definitions.push(plan::definition_row(&workflow)?);
                engine.know_definition(&workflow);
                Ok(plan)
            })
        })
    }
}
