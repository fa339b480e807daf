//! Starts another run of a workflow in the same session.

use crate::definitions;
use crate::engine::{Engine, Want};
use crate::error::Result;
use crate::execute::Answer;
use crate::execute::plan::{self, Plan};
use layouts::layout::{self, SessionToPublish};
use model::command::{Command, decide};
use model::event::Event;
use model::item::ItemBook;
use model::run::RunPlan;
use model::session::Session;

impl Engine {
    /// Starts the next run of a workflow; without a name, of the current one.
    pub(crate) fn start_run(&mut self, workflow: Option<&str>) -> Result<Answer> {
        let fingerprint = self.fingerprint("run start", &format!("{workflow:?}"));
        let mut answer = self.in_turn(&fingerprint, |engine| {
            let id = engine.select(Want::Latest)?;
            let subject = engine.load_subject(&id)?;
            let session = &subject.session;
            let current = session.run().map(|run| run.workflow.name.to_string());
            let name = workflow.map(ToOwned::to_owned).or(current).unwrap_or_default();
            let workflow = match layout::by_name(&session.layout) {
                Some(layout) => {
                    let target = session.target.as_deref();
                    definitions::of_layout(&engine.project, layout, &name, target)?
                }
                None => definitions::load(&engine.project, &name)?,
            };
            let run = RunPlan::new(&workflow, engine.skips(session, &workflow));
            let is_next = engine.has_result(session, &workflow.name);
            let mut events = decide(session, Command::StartRun { run, is_next })?;
            engine.refuse_to_end_over_items(session, &events)?;
            let items = engine.all_restarted(session, &mut events)?;
            let was_active = session.lifecycle.name() == "active";
            let mut plan = Plan::of(subject.change(events));
            plan.items = items;
            plan.definitions.push(plan::definition_row(&workflow)?);
            engine.know_definition(&workflow);
            if !was_active {
                engine.active_again(&mut plan, &id)?;
            }
            Ok(plan)
        })?;
        self.make_run_folder(&mut answer);
        Ok(answer)
    }

    /// Adds the consequences that a new run has in another tool's layout to its events. Returns all items as they are
    /// before the run, if the layout has consequences.
    fn all_restarted(&self, session: &Session, events: &mut Vec<Event>) -> Result<Option<ItemBook>> {
        let Some(layout) = layout::by_name(&session.layout) else { return Ok(None) };
        if !events.iter().any(|event| matches!(event, Event::RunStarted { .. })) {
            return Ok(None);
        }
        let items = self.all_items(&session.id)?;
        if let Some(consequences) = layout.capabilities().consequences {
            events.extend(consequences.of_new_run(&SessionToPublish::new(session, &items, &[])));
        }
        Ok(Some(items))
    }
}
