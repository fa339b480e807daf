//! `brief`: the state of the work, for a reader who knows nothing about it.

use super::schema::{ArgumentType, optional};
use super::{Call, Effect, Entry};
use crate::answer::Answer;
use crate::error::Mishap;
use engine::Intent;

pub(super) const ENTRY: Entry = Entry {
    name: "brief",
    description: "The hand-over as Markdown: the next step, finished work not to redo, failures and how to fix them, decisions, dead ends, blockers, files touched, who else works here. Read it when you take over, or after your context was compacted.",
    parameters: &[optional("budget", ArgumentType::Number, "the maximum number of tokens")],
    fields: &[("brief", "string")],
    effect: Effect::Reads,
    run,
};

fn run(call: &mut Call) -> Result<Answer, Mishap> {
    let budget = call.arguments.number("budget")?.map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
    let Some(brief) = call.open(Intent::Query)?.sessions().brief()? else {
        let text = "No active session here. Start one with the tool start.";
        return Ok(Answer::new("no_session", text).with("brief", text));
    };
    let markdown = engine::brief::markdown(&brief, budget.unwrap_or(engine::brief::USUAL_BUDGET));
    let answer = Answer::new("session", markdown.clone()).with("session_id", &brief.session.session_id);
    Ok(answer.with("next", &brief.session.next).with("brief", markdown))
}
