//! `leftoff list`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::view::Warning;
use engine::{ListRequest, Listing};
use model::lifecycle::Lifecycle;
use model::nearest::nearest;
use std::process::ExitCode;

/// Sessions of this project, the newest activity first
///
/// A star marks the session that commands mean here when they name none. The number in front can be used wherever an id can. It is given once and never changes, but for sessions that only another tool's files tell of: those are counted after all others, and get a number of their own with the first command that changes them.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff list\n  leftoff list --all --search login\n  leftoff list --agents"
)]
pub struct List {
    /// Completed and abandoned ones too
    #[arg(long)]
    all: bool,
    /// Agent sessions that were seen here, instead of sessions
    #[arg(long)]
    agents: bool,
    /// Only sessions that are active, paused, completed, failed or abandoned
    #[arg(long)]
    status: Option<String>,
    /// Only sessions of this layout: native, ocr, ccw, praxis, essay
    #[arg(long)]
    layout: Option<String>,
    /// Only sessions with this text in their id, title, goal, target or notes
    #[arg(long)]
    search: Option<String>,
}

impl Run for List {
    fn run(self, globals: &Globals) -> Outcome {
        if self.agents {
            return agents(globals);
        }
        let lifecycles = match &self.status {
            Some(status) => vec![known(status)?],
            None if self.all => Vec::new(),
            None => Lifecycle::UNFINISHED.map(ToOwned::to_owned).to_vec(),
        };
        let request = ListRequest { lifecycles, layout: self.layout, search: self.search };
        let engine = globals.query()?;
        let listing = engine.list(&request)?;
        let out = globals.out();
        if globals.json {
            out.json(&listing)?;
            return Ok(ExitCode::SUCCESS);
        }
        ui::session::warn(&not_at_a_line(&listing), &out);
        if listing.sessions.is_empty() {
            out.say("no sessions; see the finished ones too: leftoff list --all");
        } else if let Some(heading) = listing.heading {
            out.text(&ui::list::in_their_words(heading, &listing.sessions))?;
        } else {
            out.text(&ui::list::sessions(&listing.sessions, engine.now(), &out))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What is wrong with one session is said where it stands; in its own tool's list there is no place for that.
fn not_at_a_line(listing: &Listing) -> Vec<Warning> {
    let is_at_a_line = |warning: &&Warning| {
        listing.heading.is_none() && listing.sessions.iter().any(|line| line.warnings.contains(warning))
    };
    listing.warnings.iter().filter(|warning| !is_at_a_line(warning)).cloned().collect()
}

fn known(status: &str) -> Result<String, Failure> {
    if Lifecycle::NAMES.contains(&status) {
        return Ok(status.to_owned());
    }
    let hint = match nearest(status, Lifecycle::NAMES) {
        Some(name) => format!("did you mean '{name}'?"),
        None => format!("use one of {}", Lifecycle::NAMES.join(", ")),
    };
    Err(Failure::wrong_usage(format!("there is no status '{status}'"), hint))
}

fn agents(globals: &Globals) -> Outcome {
    let engine = globals.query()?;
    let agents = engine.agents()?;
    let out = globals.out();
    if globals.json {
        out.json(&serde_json::json!({ "agents": agents }))?;
    } else if agents.is_empty() {
        out.say("no agent session was seen here");
    } else {
        out.text(&ui::list::agents(&agents, engine.now()))?;
    }
    Ok(ExitCode::SUCCESS)
}
