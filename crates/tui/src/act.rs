//! Carries out what the user requested: a command of the engine, or copying to the clipboard. Reports the result, with
//! the equivalent command line.

use crate::state::{Action, Copied, Message, State};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::{ApproveRequest, Engine, Intent, OnDiscrepancy, Options, PauseRequest, Request, Result, Taking};
use std::io::Write;

pub fn run(options: &Options, state: &State, action: &Action) -> Message {
    let Some(view) = state.view() else {
        return failure("there is no session");
    };
    let command = action.command(view);
    match carried_out(&naming(options, &view.session_id), state, action) {
        Ok(done) => Message { text: format!("{done} ({command})"), is_failure: false },
        Err(error) => {
            let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
            failure(&format!("{error}{hint}"))
        }
    }
}

fn carried_out(options: &Options, state: &State, action: &Action) -> Result<String> {
    let mut engine = Engine::open(options.clone(), Intent::Command)?;
    let (request, done) = match action {
        Action::Pause => (Request::Pause(PauseRequest::default()), "paused".to_owned()),
        Action::Resume => {
            let (session, on) = (options.session.clone(), OnDiscrepancy::Ask);
            (Request::Resume { session, on, taking: Taking::Refused }, "resumed".to_owned())
        }
        Action::Note(text) => (Request::note(text), "noted".to_owned()),
        Action::Approve(check) => {
            let files = state.files_asked.clone();
            let request = ApproveRequest { check: check.clone(), files, ..ApproveRequest::default() };
            (Request::Approve(request), format!("{check} approved"))
        }
    };
    engine.execute(request)?;
    Ok(done)
}

/// Copies a text with the terminal's control sequence for the clipboard, which also works over ssh.
pub fn copy(options: &Options, state: &State, copied: &Copied) -> Message {
    let (what, text) = match copied {
        Copied::Command(command) => (command.clone(), Ok(command.clone())),
        Copied::Brief => ("the brief".to_owned(), brief(options, state)),
    };
    let written = text.map_err(|error| error.to_string()).and_then(|text| {
        let sequence = clipboard_sequence(&text);
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(sequence.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| error.to_string())
    });
    match written {
        Ok(()) => Message { text: format!("copied: {what}"), is_failure: false },
        Err(why) => failure(&why),
    }
}

fn brief(options: &Options, state: &State) -> Result<String> {
    let id = state.view().map(|view| view.session_id.clone()).unwrap_or_default();
    let brief = Engine::open(naming(options, &id), Intent::Query)?.sessions().brief()?;
    Ok(brief.map(|brief| engine::brief::markdown(&brief, usize::MAX)).unwrap_or_default())
}

/// The control sequence OSC 52, which tells a terminal to copy this text.
fn clipboard_sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text))
}

fn naming(options: &Options, session: &str) -> Options {
    Options { session: Some(session.to_owned()), ..options.clone() }
}

fn failure(text: &str) -> Message {
    Message { text: text.to_owned(), is_failure: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_cannot_end_its_sequence() {
        assert_eq!(clipboard_sequence("leftoff next"), "\u{1b}]52;c;bGVmdG9mZiBuZXh0\u{7}");
        let hostile = clipboard_sequence("\u{7}\u{1b}[2J");
        assert_eq!(hostile.matches(['\u{7}', '\u{1b}']).count(), 2, "its own begin and end alone");
    }
}
