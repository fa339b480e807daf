//! `start`: starts a new session.

use super::schema::{ArgumentType, optional};
use super::{Call, Effect, Entry};
use crate::answer::Answer;
use crate::error::Mishap;
use engine::{Intent, Request, StartRequest};

pub(super) const ENTRY: Entry = Entry {
    name: "start",
    description: "Starts a session for new work of several steps; not for a question or a one-line fix, nor when status already shows this work. The active session is paused.",
    parameters: &[
        optional(
            "workflow",
            ArgumentType::Text,
            "default plan-implement-review; others: leftoff://workflow/…",
        ),
        optional("goal", ArgumentType::Text, "what the work should achieve"),
        optional("title", ArgumentType::Text, ""),
        optional("target", ArgumentType::Text, "path, branch or ticket"),
        optional("fields", ArgumentType::Object, ""),
        optional("parallel", ArgumentType::Flag, "next to the active session"),
        optional("layout", ArgumentType::Layout, "stored in that tool's files"),
    ],
    fields: &[("current_phase", "object"), ("next", "object")],
    effect: Effect::Adds,
    run,
};

fn run(call: &mut Call) -> Result<Answer, Mishap> {
    let arguments = &call.arguments;
    let request = StartRequest {
        workflow: arguments.name("workflow")?,
        title: arguments.text("title")?,
        goal: arguments.text("goal")?,
        target: arguments.text("target")?,
        fields: arguments.values("fields")?,
        parallel: arguments.flag("parallel")?,
        layout: arguments.name("layout")?,
        ..StartRequest::default()
    };
    let answer = call.open(Intent::Create)?.execute(Request::Start(request))?;
    Ok(Answer::of_command(&format!("started {}", answer.view.session_id), &answer))
}
