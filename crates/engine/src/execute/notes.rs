//! Adds and resolves notes.

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::execute::{Answer, bounded};
use layouts::layout::{self, SessionToPublish};
use model::command::{Command, decide};
use model::event::Event;
use model::hint::Hint;
use model::id::SessionId;
use model::item::ItemBook;
use model::note::NoteKind;
use model::session::Session;
use model::words;
use serde_json::Value;
use std::collections::BTreeMap;

impl Engine {
    pub(crate) fn note(
        &mut self,
        kind: NoteKind,
        text: &str,
        fields: BTreeMap<String, Value>,
    ) -> Result<Answer> {
        let text = bounded("the note", text.trim())?;
        if text.is_empty() {
            return Err(Error::WrongUsage {
                message: "the note is empty".to_owned(),
                hint: Hint::new("say what the next agent or person should know: ")
                    .run_here(words!["note", "…"]),
            });
        }
        self.refuse_note(kind, &fields)?;
        let command = Command::AddNote { kind, text, fields };
        let fingerprint = self.fingerprint("note", &format!("{command:?}"));
        self.in_turn(&fingerprint, |engine| {
            let id = engine.session_for_notes()?;
            let subject = engine.load_subject_from_afar(&id)?;
            let mut events = decide(&subject.session, command.clone())?;
            let items = engine.count_noted_claims(&subject.session, &mut events)?;
            Ok(Plan { items, ..Plan::of(subject.change(events)) })
        })
    }

    /// Adds the changes of items that follow from a note in a session of another tool; returns all items as
    /// they were before them.
    fn count_noted_claims(&self, session: &Session, events: &mut Vec<Event>) -> Result<Option<ItemBook>> {
        let layout = layout::by_name(&session.layout);
        let consequences = layout.and_then(|layout| layout.capabilities().consequences);
        let Some(consequences) = consequences.filter(|_| !events.is_empty()) else { return Ok(None) };
        let items = self.all_items(&session.id)?;
        let publication = SessionToPublish::new(session, &items, &[]);
        let changes: Vec<Event> =
            events.iter().flat_map(|event| consequences.of_note(event, &publication)).collect();
        let is_any = !changes.is_empty();
        events.extend(changes);
        Ok(is_any.then_some(items))
    }

    /// Refuses a note with a reason that the session's own tool does not know.
    fn refuse_note(&self, kind: NoteKind, fields: &BTreeMap<String, Value>) -> Result<()> {
        let reason = fields.get("reason").filter(|_| kind == NoteKind::Deferred);
        let Some(reason) = reason else { return Ok(()) };
        let layout = |id: SessionId| layout::by_name(&self.load(&id).ok()?.1.layout);
        let layout = self.select(Want::Unfinished).ok().and_then(layout);
        let known = layout.map(|layout| layout.facts().deferred_reasons).unwrap_or_default();
        if known.is_empty() || reason.as_str().is_some_and(|word| known.contains(&word)) {
            return Ok(());
        }
        Err(Error::WrongUsage {
            message: format!(
                "the reason of a deferred point is {}; it must be one of {}",
                model::typed_value::quoted(reason),
                known.join(", ")
            ),
            hint: "use one of these reasons: --field reason=timeout".into(),
        })
    }

    /// The selected session. If there is none because it was just finished here, the error names it.
    fn session_for_notes(&self) -> Result<SessionId> {
        match self.select(Want::Unfinished) {
            Err(Error::NoSession { worktree }) => match self.finished(None) {
                Ok((session, _)) => Err(Error::OnlyFinished { session: session.to_string() }),
                Err(_) => Err(Error::NoSession { worktree }),
            },
            other => other,
        }
    }

    pub(crate) fn resolve_note(&mut self, id: u32) -> Result<Answer> {
        let command = Command::ResolveNote { id };
        let fingerprint = self.fingerprint("note resolve", &format!("{command:?}"));
        self.in_turn(&fingerprint, |engine| {
            // The snapshot may lack an old note. The log has every note, so it is read instead.
            let subject = engine.session_for_notes()?;
            let whole = engine.replay(&subject)?;
            let mut events = decide(&whole, command.clone())?;
            let items = engine.count_noted_claims(&whole, &mut events)?;
            Ok(Plan { items, ..Plan::of(engine.load_subject_from_afar(&subject)?.change(events)) })
        })
    }
}
