//! Carries out what a form requests, as a command of the engine. The engine decides whether the request comes
//! from a person.

use crate::form::value;
use engine::{ApproveRequest, Engine, Intent, OnDiscrepancy, Options, PauseRequest, Request, Result, Taking};

/// A change of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Approves the check with this name. The second value is the hash of the files that the page showed.
    Approve(String, Option<String>),
    Note(String),
    Pause,
    Resume,
}

impl Action {
    /// The action with this name. `None` if the name is unknown or the form is incomplete.
    pub fn of(name: &str, form: &[(String, String)]) -> Option<Self> {
        let text =
            |name: &str| value(form, name).filter(|text| !text.trim().is_empty()).map(ToOwned::to_owned);
        match name {
            "approve" => text("check").map(|check| Self::Approve(check, text("files"))),
            "note" => text("text").map(Self::Note),
            "pause" => Some(Self::Pause),
            "resume" => Some(Self::Resume),
            _ => None,
        }
    }
}

pub fn run(options: &Options, session: &str, action: &Action) -> Result<()> {
    let named = Options { session: Some(session.to_owned()), ..options.clone() };
    let request = match action {
        Action::Approve(check, files) => Request::Approve(ApproveRequest {
            check: check.clone(),
            files: files.clone(),
            by: Some("on the page".to_owned()),
            ..ApproveRequest::default()
        }),
        Action::Note(text) => Request::note(text),
        Action::Pause => Request::Pause(PauseRequest::default()),
        Action::Resume => Request::Resume {
            session: Some(session.to_owned()),
            on: OnDiscrepancy::Ask,
            taking: Taking::Refused,
        },
    };
    Engine::open(named, Intent::Command)?.execute(request).map(drop)
}
