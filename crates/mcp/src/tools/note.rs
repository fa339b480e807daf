//! `note`: records information for the next agent or person.

use super::schema::{ArgumentType, optional};
use super::{Call, Effect, Entry};
use crate::answer::Answer;
use crate::error::Mishap;
use engine::{Intent, Request};
use model::note::NoteKind;
use model::typed_value::guess;

/// All kinds of notes except `override`, which only a person can record.
const KINDS: &[&str] = &["note", "decision", "tried", "assumption", "blocker", "question", "deferred"];

pub(super) const ENTRY: Entry = Entry {
    name: "note",
    description: "Records what the next agent or person must know, for every brief: a decision and why, a failed attempt, an assumption, a blocker, a question, a deferred point. Call it when it happens. `resolve` closes one by its number.",
    parameters: &[
        optional("text", ArgumentType::Text, ""),
        optional("kind", ArgumentType::Choice(KINDS), ""),
        optional("fields", ArgumentType::Object, ""),
        optional("resolve", ArgumentType::Number, ""),
    ],
    fields: &[("note", "object")],
    effect: Effect::Adds,
    run,
};

fn run(call: &mut Call) -> Result<Answer, Mishap> {
    let arguments = &call.arguments;
    if let Some(number) = arguments.number("resolve")? {
        let id = u32::try_from(number).unwrap_or(u32::MAX);
        let answer = call.open(Intent::Command)?.execute(Request::ResolveNote { id })?;
        return Ok(noted(&format!("note {id} resolved"), &answer, Some(id)));
    }
    let kind = arguments.choice("kind", KINDS)?.and_then(NoteKind::parse).unwrap_or(NoteKind::Note);
    let text = arguments.required_text("text", "\"Rotate on every use: replay is then visible\"")?;
    let fields = arguments.values("fields")?.into_iter().map(|(name, value)| (name, guess(&value)));
    let request = Request::Note { kind, text, fields: fields.collect() };
    let answer = call.open(Intent::Command)?.execute(request)?;
    Ok(noted(&format!("{} noted", kind.name()), &answer, None))
}

fn noted(done: &str, answer: &engine::Answer, id: Option<u32>) -> Answer {
    let notes = &answer.view.notes;
    let note = match id {
        Some(id) => notes.iter().find(|note| note.id == id),
        None => notes.last(),
    };
    let noted = Answer::of_command(done, answer);
    match note {
        Some(note) => noted.with("note", note),
        None => noted,
    }
}
