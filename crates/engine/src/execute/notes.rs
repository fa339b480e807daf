//! Adds and resolves notes.

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::execute::{Answer, bounded};
use layouts::layout;
use model::command::{Command, decide};
use model::hint::Hint;
use model::id::SessionId;
use model::note::NoteKind;
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
            let id = engine.select(Want::Unfinished)?;
            let subject = engine.load_subject_from_afar(&id)?;
            let events = decide(&subject.session, command.clone())?;
            Ok(Plan::of(subject.change(events)))
        })
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

    pub(crate) fn resolve_note(&mut self, id: u32) -> Result<Answer> {
        let command = Command::ResolveNote { id };
        let fingerprint = self.fingerprint("note resolve", &format!("{command:?}"));
        self.in_turn(&fingerprint, |engine| {
            // The snapshot may lack an old note. The log has every note, so it is read instead.
            let subject = engine.select(Want::Unfinished)?;
            let whole = engine.replay(&subject)?;
            let events = decide(&whole, command.clone())?;
            Ok(Plan::of(engine.load_subject_from_afar(&subject)?.change(events)))
        })
    }
}
