//! `status`: returns the whole session view.

use super::{Call, Effect, Entry};
use crate::answer::{Answer, next, standing, warned};
use crate::error::Mishap;
use engine::{Current, Intent};

pub(super) const ENTRY: Entry = Entry {
    name: "status",
    description: "The state of this project's work: goal, phases and their proof, what the current gate requires, open items and notes, timing, the next step. Call it first, and whenever you are unsure.",
    parameters: &[],
    fields: &[
        ("status", "string"),
        ("current_phase", "object"),
        ("phases", "array"),
        ("progress", "object"),
        ("next", "object"),
        ("items", "array"),
        ("notes", "array"),
    ],
    effect: Effect::Reads,
    run,
};

fn run(call: &mut Call) -> Result<Answer, Mishap> {
    match call.open(Intent::Query)?.sessions().status()? {
        Current::Session(view) => {
            let mut answer = Answer::new("session", standing(&view)).with_fields(&view);
            // Values that are null are left out, because a schema would need two types for each of them.
            answer.content.retain(|_, value| !value.is_null());
            Ok(answer)
        }
        Current::Nothing(nothing) => {
            let text = format!("{}{}", warned(&nothing.warnings), next(&nothing.next));
            Ok(Answer::new("no_session", text).with("next", nothing.next).with("warnings", nothing.warnings))
        }
    }
}
