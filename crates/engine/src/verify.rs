//! Replays a session's history and decides if its work is proven: hash chain, definition, every phase and every
//! recorded file. Changes nothing, and does not rely on snapshots.

mod acts;
mod claimed_items;
mod clock;
mod conditions;
mod definition;
mod files;
mod judge;
mod material;
mod problem;
mod replay;
mod report;
mod results;
mod signatures;
mod unsigned;

pub use files::{FileReport, FileState};
pub(crate) use material::OpenedBundle;
pub use problem::{Problem, Remark};
pub use report::{ApprovalReport, CheckReport, PhaseReport, Report, RunReport};

use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::facades::Sessions;
use judge::Judge;
use material::Material;
use model::event::Event;
use model::id::SessionId;
use model::outcome::Outcome;
use replay::Replay;
use std::path::PathBuf;
use store::Filter;

/// Which history is verified, and how strictly.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyRequest {
    /// The branch whose sessions are verified. If a bundle is verified, its session must have worked on this branch.
    pub branch: Option<String>,
    /// The bundle whose session is verified, instead of one in the store.
    pub bundle: Option<PathBuf>,
    /// The last link of the hash chain, as somebody recorded it outside leftoff.
    pub head: Option<String>,
    pub allow: Vec<Allowed>,
}

/// Outcomes of phases that `verify` accepts only on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    Overridden,
    Reported,
    /// Phases whose lenient gate passed with failed checks.
    Warnings,
}

impl Allowed {
    pub const NAMES: [&'static str; 3] = ["overridden", "reported", "warnings"];

    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "overridden" => Some(Self::Overridden),
            "reported" => Some(Self::Reported),
            "warnings" => Some(Self::Warnings),
            _ => None,
        }
    }

    fn allows(self, outcome: Outcome) -> bool {
        match self {
            Self::Overridden => outcome == Outcome::Overridden,
            Self::Reported => outcome == Outcome::Reported,
            Self::Warnings => outcome == Outcome::Warned,
        }
    }
}

impl Sessions<'_> {
    /// Verifies the selected sessions, and returns a report about each. There is at least one.
    pub fn verify(&self, request: &VerifyRequest) -> Result<Vec<Report>> {
        let engine = self.engine;
        if let Some(path) = &request.bundle {
            let material = Material::of_bundle(engine, path)?;
            engine.refuse_other_session(&material.session)?;
            return Ok(vec![engine.verified(&material, request)?]);
        }
        let sessions = match &request.branch {
            Some(branch) => engine.sessions_of_branch(branch)?,
            None => vec![engine.select(Want::Latest)?],
        };
        let of_store = |id| {
            let mut material = Material::of_store(engine, id)?;
            let by_others = engine.written_by_others(&material.chain)?;
            material.from_elsewhere = material.from_elsewhere.max(by_others);
            engine.verified(&material, request)
        };
        sessions.iter().map(of_store).collect()
    }
}

impl Engine {
    fn verified(&self, material: &Material<'_>, request: &VerifyRequest) -> Result<Report> {
        let replay = Replay::of(&material.session, &material.rows)?;
        Judge { engine: self, material, replay: &replay, request }.report()
    }

    /// Refuses to verify a bundle if another session than the bundle's is named.
    fn refuse_other_session(&self, found: &SessionId) -> Result<()> {
        match &self.options.session {
            Some(asked) if !found.as_str().starts_with(asked.as_str()) => Err(Error::WrongUsage {
                message: format!("the bundle contains session {found}, not {asked}"),
                hint: "omit --session".into(),
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the sessions that started or completed a phase on this branch.
    fn sessions_of_branch(&self, branch: &str) -> Result<Vec<SessionId>> {
        let mut found = Vec::new();
        for listed in self.store.list(&Filter::default())? {
            let id = listed.row.id;
            let rows = self.store.events(&id, 0, None)?;
            let mut events = rows.iter().map(|row| Event::read(&row.kind, &row.body));
            let is_of_branch = events.any(|event| is_on(&event, branch));
            if is_of_branch {
                found.push(id);
            }
        }
        if found.is_empty() {
            return Err(Error::NoSessionOfBranch { branch: branch.to_owned() });
        }
        Ok(found)
    }
}

/// True if this branch was checked out when the event happened.
fn is_on(event: &Event, branch: &str) -> bool {
    match event {
        Event::SessionStarted { branch: Some(own), .. } | Event::PhaseCompleted { branch: Some(own), .. } => {
            own == branch
        }
        _ => false,
    }
}
