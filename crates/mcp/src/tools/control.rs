//! `control`: pauses, resumes, switches or closes a session, or goes back to an earlier phase. Refuses what only a
//! person may do.

use super::schema::{ArgumentType, optional, required};
use super::{Call, Effect, Entry, paths};
use crate::answer::Answer;
use crate::error::Mishap;
use engine::words::one_line;
use engine::{Intent, OnDiscrepancy, PauseRequest, Request, RevisitPreview, RevisitRequest, Taking};
use model::revision::Impact;

const ACTIONS: &[&str] = &["pause", "resume", "switch", "close", "rollback", "revisit"];
/// Actions that models try although only a person may take them, each with the command for the person.
const OF_PERSONS: &[(&str, &str)] = &[
    ("approve", "leftoff approve CHECK"),
    ("override", "leftoff advance --override REASON"),
    ("trust", "leftoff trust WORKFLOW"),
    ("purge", "leftoff purge TEXT"),
];
const IMPACTS: &[&str] = &["minor", "moderate", "major"];
const WAYS: &[&str] = &["go_on", "go_back"];

pub(super) const ENTRY: Entry = Entry {
    name: "control",
    description: "pause when you stop before the end (`context`: what you are in the middle of). resume `session`, or else the session paused last. switch makes `session` the active one. close ends a finished session. rollback reopens `phase` and later phases. revisit changes an earlier `phase`: shows a preview; confirm applies it.",
    parameters: &[
        required("action", ArgumentType::Choice(ACTIONS), ""),
        optional("phase", ArgumentType::Text, ""),
        optional("reason", ArgumentType::Text, ""),
        optional("context", ArgumentType::Text, ""),
        optional("save", ArgumentType::List, "pause: drafts to keep"),
        optional("force", ArgumentType::Flag, "close unfinished work"),
        optional("if_changed", ArgumentType::Choice(WAYS), "resume: if files have changed"),
        optional("impact", ArgumentType::Choice(IMPACTS), "revisit"),
        optional("affects", ArgumentType::List, "revisit"),
        optional("confirm", ArgumentType::Flag, "revisit"),
    ],
    fields: &[("status", "string"), ("current_phase", "object"), ("preview", "object")],
    effect: Effect::TakesBack,
    run,
};

fn run(call: &mut Call) -> Result<Answer, Mishap> {
    let asked = call.arguments.name("action")?.unwrap_or_default();
    if let Some((name, command)) = OF_PERSONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&asked)) {
        return Err(Mishap::needs_a_person(&format!("'{name}'"), command));
    }
    match call.arguments.required_choice("action", ACTIONS)? {
        "pause" => pause(call),
        "resume" => resume(call),
        "switch" => switch(call),
        "close" => {
            let request = Request::Close { force: call.arguments.flag("force")? };
            let answer = call.open(Intent::Command)?.execute(request)?;
            Ok(Answer::of_command("closed", &answer))
        }
        "rollback" => {
            let phase = call.arguments.required_name("phase", "\"plan\"")?;
            let reason = call.arguments.text("reason")?;
            let answer = call.open(Intent::Command)?.execute(Request::RollBack { phase, reason })?;
            Ok(Answer::of_command("rolled back to an earlier phase", &answer))
        }
        _ => revisit(call),
    }
}

fn pause(call: &Call) -> Result<Answer, Mishap> {
    let (reason, context) = (call.arguments.text("reason")?, call.arguments.text("context")?);
    let saved = call.arguments.list("save")?;
    let mut engine = call.open(Intent::Command)?;
    let drafts = paths(&engine, &saved);
    let answer = engine.execute(Request::Pause(PauseRequest { reason, context, drafts }))?;
    Ok(Answer::of_command("paused", &answer))
}

fn resume(call: &Call) -> Result<Answer, Mishap> {
    let on = match call.arguments.choice("if_changed", WAYS)? {
        None => OnDiscrepancy::Ask,
        Some("go_back") => OnDiscrepancy::GoBack,
        Some(_) => OnDiscrepancy::Continue,
    };
    let session = call.session().map(ToOwned::to_owned);
    let request = Request::Resume { session, on, taking: Taking::Refused };
    let resumed = call.open(Intent::Command)?.execute(request);
    let answer = resumed.map_err(|error| match error {
        engine::Error::NeedsAnswer { .. } => {
            let mut mishap = Mishap::from(error);
            mishap.hint = Some(
                "check the files, then resume again with if_changed: go_on accepts the files as they are, go_back returns to the first affected phase".into(),
            );
            mishap.with_valid(WAYS.iter().copied())
        }
        other => other.into(),
    })?;
    Ok(Answer::of_command("continues", &answer))
}

fn switch(call: &Call) -> Result<Answer, Mishap> {
    let Some(session) = call.session() else {
        let hint = "give the id of the session to switch to; resource leftoff://sessions lists them";
        return Err(Mishap::wrong_usage("'session' is missing", hint));
    };
    let request = Request::Switch { session: session.to_owned() };
    let answer = call.open(Intent::Command)?.execute(request)?;
    Ok(Answer::of_command("is now active", &answer))
}

fn revisit(call: &Call) -> Result<Answer, Mishap> {
    let arguments = &call.arguments;
    let request = RevisitRequest {
        phase: arguments.required_name("phase", "\"plan\"")?,
        impact: arguments.choice("impact", IMPACTS)?.and_then(Impact::parse),
        reason: arguments.required_text("reason", "\"the API has changed\"")?,
        affects: arguments.list("affects")?,
    };
    if !arguments.flag("confirm")? {
        let preview = call.open(Intent::Query)?.sessions().preview_revisit(&request)?;
        return Ok(previewed(&preview));
    }
    let mut engine = call.open(Intent::Command)?;
    let preview = engine.sessions().preview_revisit(&request)?;
    let done = format!("back to phase {}, {} impact", preview.phase, preview.impact.name());
    let answer = engine.execute(Request::Revisit { request, seen: Box::new(preview.clone()) })?;
    Ok(Answer::of_command(&done, &answer).with("preview", &preview))
}

fn previewed(preview: &RevisitPreview) -> Answer {
    let names =
        |names: &[model::id::Name]| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "Nothing has changed yet. Revisiting {} with {} impact ({}).",
        preview.phase,
        preview.impact.name(),
        one_line(&preview.because, 300)
    );
    for (what, phases) in [("Flagged for review", &preview.flagged), ("Restarted", &preview.restarted)] {
        if !phases.is_empty() {
            text.push_str(&format!(" {what}: {}.", names(phases)));
        }
    }
    if !preview.archived.is_empty() {
        text.push_str(&format!(" {} files would be archived.", preview.archived.len()));
    }
    text.push_str(" Call again with confirm: true to do it.");
    Answer::new("preview", text).with("session_id", &preview.session_id).with("preview", preview)
}
