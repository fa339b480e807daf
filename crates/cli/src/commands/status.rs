//! `leftoff status`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::{self, Out, Reader};
use crate::wait_for_changes::{Live, Woken};
use engine::Current;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Show the current session's state, on one screen
#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff status\n  leftoff status k3v9\n  leftoff status --json | jq .progress.percent\n  leftoff status --watch\n\nWith --watch and --json every change is a JSON document on a line of its own."
)]
pub struct Status {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// Show the status again after every change, until interrupted; `leftoff progress` is a screen with keys
    #[arg(long)]
    watch: bool,
}

impl Run for Status {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = &globals.naming(self.id);
        if self.watch {
            return watch(globals);
        }
        let current = globals.query()?.sessions().status()?;
        let out = globals.out();
        if globals.json {
            out.json(&current)?;
            return Ok(ExitCode::SUCCESS);
        }
        show(&current, &out)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn watch(globals: &Globals) -> Outcome {
    let out = globals.out();
    let is_screen = std::io::stdout().is_terminal() && !globals.json;
    let mut live = Live::begin(globals);
    let mut before = String::new();
    loop {
        let engine = globals.open(engine::Intent::Query)?;
        let current = engine.sessions().status()?;
        live.watch.show(&engine, view(&current));
        let now = text(&current, &out);
        if now != before {
            let reader = if is_screen {
                ui::clear_screen()?;
                show(&current, &out)?
            } else if globals.json {
                out.json_line(&current)?
            } else {
                show(&current, &out)?
            };
            if reader == Reader::Gone {
                return Ok(ExitCode::SUCCESS);
            }
            before = now;
        }
        // If stdout is a pipe, the status is written again only after a change, and not every minute.
        while live.wait() == Woken::Minute && !is_screen {}
    }
}

fn view(current: &Current) -> Option<&engine::view::View> {
    match current {
        Current::Session(view) => Some(view),
        Current::Nothing(_) => None,
    }
}

fn show(current: &Current, out: &Out) -> Result<Reader, Failure> {
    let warnings = match current {
        Current::Session(view) => &view.warnings,
        Current::Nothing(nothing) => &nothing.warnings,
    };
    ui::answer::warn(warnings, out);
    out.text(&text(current, out))
}

fn text(current: &Current, out: &Out) -> String {
    match current {
        Current::Session(view) => ui::status::status(view, out),
        Current::Nothing(nothing) => ui::answer::next(&nothing.next, out),
    }
}
