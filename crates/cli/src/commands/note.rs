//! `leftoff note`

use crate::arguments::pair;
use crate::commands::{Outcome, Run, answered, answered_briefly, answered_unless};
use crate::failure::Failure;
use crate::globals::Globals;
use engine::Request;
use model::nearest_name::nearest;
use model::note::NoteKind;
use model::typed_value::{Given, guess};

/// Record something that the next agent or person must know
///
/// Decisions with their reasons, failed attempts, assumptions, blockers: all of these appear in the brief. `leftoff
/// note resolve N` resolves a blocker, a question or a deferred point.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff note \"Rotate on every use: replay is then visible\" --kind decision\n  leftoff note \"Staging certificate expired\" --kind blocker\n  leftoff note resolve 3"
)]
pub struct NoteCommand {
    /// The text; or `resolve N`, where N is a note's number in `leftoff show`
    #[arg(required = true, value_name = "TEXT", num_args = 1..)]
    text: Vec<String>,
    /// Kind of note: note, decision, tried, assumption, blocker, question, override or deferred [default: note]
    #[arg(long)]
    kind: Option<String>,
    /// A custom field of the note; may be repeated
    #[arg(long, value_name = "K=V", value_parser = pair)]
    field: Vec<(String, String)>,
}

impl Run for NoteCommand {
    fn run(self, globals: &Globals) -> Outcome {
        if let [word, id] = self.text.as_slice()
            && word == "resolve"
        {
            let id = id.parse().map_err(|_| {
                Failure::wrong_usage(
                    format!("{id:?} is not a note's number"),
                    "see the numbers of all notes: leftoff show",
                )
            })?;
            let answer = globals.command()?.execute(Request::ResolveNote { id })?;
            let (already, done) = (format!("note {id} already resolved"), format!("note {id} resolved"));
            return answered_unless(&already, &done, &answer, globals);
        }
        if let [word, id, _, ..] = self.text.as_slice()
            && word == "resolve"
            && id.parse::<u64>().is_ok()
        {
            return Err(Failure::wrong_usage(
                "'resolve' takes only the number of a note; nothing was changed",
                format!(
                    "record the answer: leftoff note '<answer>' --kind decision; then: leftoff note resolve {id}"
                ),
            ));
        }
        if self.text == ["resolve"] {
            return Err(Failure::wrong_usage(
                "no note number was given",
                "see the numbers of all notes: leftoff show",
            ));
        }
        if let Some(mistake) = looks_like_a_command(&self.text) {
            return Err(mistake);
        }
        let kind = parse_kind(self.kind.as_deref())?;
        let fields = self.field.into_iter().map(|(name, value)| (name, guess(&Given::Text(value)))).collect();
        let request = Request::Note { kind, text: self.text.join(" "), fields };
        let answer = globals.command()?.execute(request)?;
        let number = answer.view.notes.iter().map(|note| note.id).max().unwrap_or_default();
        let done = format!("{} {number} recorded", kind.name());
        match kind {
            // A blocker determines the next step, so the next step is shown.
            NoteKind::Blocker => answered(&done, &answer, globals),
            _ => answered_briefly(&done, &answer, globals),
        }
    }
}

/// Refuses `note list` and `note add …`. Other programs have such commands, and nobody wants to record these words as a
/// note.
fn looks_like_a_command(text: &[String]) -> Option<Failure> {
    let (first, rest) = text.split_first()?;
    match (first.as_str(), rest) {
        ("list" | "ls" | "show", []) => Some(Failure::wrong_usage(
            format!("'{first}' looks like a command, not a note; nothing was recorded"),
            "to see all notes: leftoff show",
        )),
        ("add" | "new" | "create", [_, ..]) => Some(Failure::wrong_usage(
            format!("'{first}' would become part of the note's text; nothing was recorded"),
            "omit that word: leftoff note '<text>'",
        )),
        _ => None,
    }
}

fn parse_kind(text: Option<&str>) -> Result<NoteKind, Failure> {
    let Some(text) = text else { return Ok(NoteKind::Note) };
    if matches!(text, "dead-end" | "dead_end" | "failed") {
        return Ok(NoteKind::Tried);
    }
    NoteKind::parse(text).ok_or_else(|| {
        let names = NoteKind::ALL.map(NoteKind::name);
        let hint = match nearest(text, names) {
            Some(name) => format!("did you mean '{name}'?"),
            None => format!("use one of {}", names.join(", ")),
        };
        Failure::wrong_usage(format!("unknown kind of note '{text}'"), hint)
    })
}
