//! Ends a session, as completed or abandoned.

use crate::engine::{Engine, Want};
use crate::error::Result;
use crate::execute::plan::Plan;
use crate::execute::{Answer, checked_reason};
use crate::policy::{Act, Restricted};
use layouts::layout::some_of;
use model::command::{Command, decide};
use model::event::Event;
use model::id::SessionId;
use model::item::Item;
use model::session::Session;

impl Engine {
    pub(crate) fn close(&mut self, force: bool) -> Result<Answer> {
        let command = Command::Close { force };
        let fingerprint = self.fingerprint("close", &format!("{command:?}"));
        self.with_signature(|engine, signature| {
            engine.in_turn(&fingerprint, |engine| {
                let id = engine.select(Want::Latest)?;
                let subject = engine.load_subject(&id)?;
                let mut events = decide(&subject.session, command.clone())?;
                engine.force_over_open_items(&subject.session, &mut events);
                if events.iter().any(|event| matches!(event, Event::SessionCompleted { forced: true })) {
                    let signed = engine.authorise(&Act::new(Restricted::Close, &id), signature)?;
                    events.splice(0..0, signed);
                }
                let open = if events.is_empty() { Vec::new() } else { engine.open_items(&id)? };
                let mut plan = Plan::of(subject.change(events));
                if !open.is_empty() {
                    plan.said.push(format!("closed unfinished: {}", some_of(&open)));
                }
                Ok(plan)
            })
        })
    }

    /// Marks the completion as forced if items are still open, as if phases were open.
    fn force_over_open_items(&self, session: &Session, events: &mut [Event]) {
        let Some(run) = session.run() else { return };
        for event in events {
            if let Event::SessionCompleted { forced } = event {
                *forced |= self.left_open_before_the_end(session, run).is_some();
            }
        }
    }

    /// Returns open items in order. Of a container, only the parts are listed.
    fn open_items(&self, id: &SessionId) -> Result<Vec<String>> {
        let items = self.all_items(id)?;
        let mut open: Vec<&Item> =
            items.iter().filter(|item| item.is_open() && !item.is_container()).collect();
        open.sort_by_key(|item| item.sort_key());
        Ok(open.into_iter().map(|item| item.id.to_string()).collect())
    }

    /// Abandons the named session, or else the selected one, and archives its workspace.
    pub(crate) fn abandon(&mut self, asked: Option<&str>, reason: Option<&str>) -> Result<Answer> {
        let reason = reason.map(checked_reason).transpose()?;
        let fingerprint = self.fingerprint("abandon", &format!("{asked:?} {reason:?}"));
        self.with_signature(|engine, signature| {
            engine.in_turn(&fingerprint, |engine| {
                let id = match asked {
                    Some(asked) => engine.resolve(asked)?,
                    None => engine.select(Want::Latest)?,
                };
                let subject = engine.load_subject_to_end(&id)?;
                let signed = if engine.somebody_else_is_in(&subject.session)? {
                    engine.authorise(&Act::new(Restricted::Abandon, &id), signature)?
                } else {
                    None
                };
                let archiving = engine.archiving(&subject.session);
                let operation = archiving.as_ref().map(|operation| operation.id().to_owned());
                let mut events =
                    decide(&subject.session, Command::Abandon { reason: reason.clone(), operation })?;
                events.splice(0..0, signed);
                let mut plan = Plan::of(subject.change(events));
                plan.operation = archiving;
                Ok(plan)
            })
        })
    }
}
