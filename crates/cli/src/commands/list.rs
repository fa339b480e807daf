//! `leftoff list`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui;
use engine::view::Warning;
use engine::{ListRequest, Listing};
use model::lifecycle::Lifecycle;
use model::nearest_name::nearest;
use std::process::ExitCode;

/// Sessions of this project, most recently active first
///
/// A star marks the session that commands use by default here. The number in front of a session can be used instead of
/// its id. A number is assigned once and never changes, except for sessions that exist only in another tool's files:
/// these are numbered after all others, and get a permanent number with the first command that changes them.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff list\n  leftoff list --all --search login\n  leftoff list --agents"
)]
pub struct List {
    /// Include completed and abandoned sessions
    #[arg(long)]
    all: bool,
    /// List agent sessions seen here, instead of sessions
    #[arg(long)]
    agents: bool,
    /// Only sessions with this status: active, paused, completed, failed, abandoned, checkpoint_failed or
    /// possibly_stalled; other tools' words work too (closed, in_progress, interrupted, inactive, archived,
    /// initialized)
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
        let lifecycles =
            if self.all { Vec::new() } else { Lifecycle::UNFINISHED.map(ToOwned::to_owned).to_vec() };
        let request =
            ListRequest { lifecycles, layout: self.layout, search: self.search, ..ListRequest::default() };
        let request = match &self.status {
            Some(status) => request.with_status(status).ok_or_else(|| unknown(status))?,
            None => request,
        };
        let engine = globals.query()?;
        let listing = engine.sessions().list(&request)?;
        let out = globals.out();
        if globals.json {
            out.json(&listing)?;
            return Ok(ExitCode::SUCCESS);
        }
        ui::answer::warn(&not_at_a_line(&listing), &out);
        if listing.sessions.is_empty() {
            out.say(&nothing_listed(self.status.as_deref(), self.all));
        } else if let Some(heading) = listing.heading {
            out.text(&ui::list::in_their_words(heading, &listing.sessions))?;
        } else {
            out.text(&ui::list::sessions(&listing.sessions, engine.now(), &out))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn nothing_listed(status: Option<&str>, all: bool) -> String {
    match status {
        Some(status) => format!("no sessions with status '{status}'; see all: leftoff list --all"),
        None if all => "no sessions; start one: leftoff start".to_owned(),
        None => "no unfinished sessions; see all: leftoff list --all".to_owned(),
    }
}

/// The warnings that do not belong to one session's line. A list in another tool's own words shows all warnings here.
fn not_at_a_line(listing: &Listing) -> Vec<Warning> {
    let is_at_a_line = |warning: &&Warning| {
        listing.heading.is_none() && listing.sessions.iter().any(|line| line.warnings.contains(warning))
    };
    listing.warnings.iter().filter(|warning| !is_at_a_line(warning)).cloned().collect()
}

fn unknown(status: &str) -> Failure {
    let known = ListRequest::status_words();
    let hint = match nearest(status, known.iter().copied()) {
        Some(name) => format!("did you mean '{name}'?"),
        None => format!("use one of {}", known.join(", ")),
    };
    Failure::wrong_usage(format!("unknown status '{status}'"), hint)
}

fn agents(globals: &Globals) -> Outcome {
    let engine = globals.query()?;
    let agents = engine.agents()?;
    let out = globals.out();
    if globals.json {
        out.json(&serde_json::json!({ "agents": agents }))?;
    } else if agents.is_empty() {
        out.say("no agent sessions seen here");
    } else {
        out.text(&ui::list::agents(&agents, engine.now()))?;
    }
    Ok(ExitCode::SUCCESS)
}
