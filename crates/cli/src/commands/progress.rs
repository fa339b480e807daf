//! `leftoff progress`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::{self, Out};
use engine::screen::Screen;
use engine::view::View;
use engine::{Current, Engine};
use model::hint::Hint;
use model::id::SessionId;
use model::status::Status;
use model::words;
use std::io::IsTerminal;
use std::process::ExitCode;
use tui::Tab;

/// The live screen: current work, progress, problems, next step
///
/// Follows the active session and shows changes by other processes within a second. `?` shows all keys. A session of
/// Open Code Review is shown from its files, as on that tool's own screen. Without a terminal, or with `--once`, the
/// session is printed once.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff progress\n  leftoff progress --tab log\n  leftoff progress --once\n  leftoff progress --once --size 80x24\n  leftoff progress --once --session 2026-01-31-feature-x --workflow map"
)]
pub struct Progress {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// Print the session once and exit
    #[arg(long)]
    once: bool,
    /// Show only this workflow of an Open Code Review session: review or map
    #[arg(long, value_name = "WORKFLOW")]
    workflow: Option<String>,
    /// Start with this tab: now, phases, items, log or files [default: now]
    #[arg(long, value_name = "TAB", value_parser = tab)]
    tab: Option<Tab>,
    /// With --once: the whole screen, with this many columns and rows
    #[arg(long, value_name = "COLUMNSxROWS", requires = "once", value_parser = size)]
    size: Option<(u16, u16)>,
}

impl Run for Progress {
    fn run(self, globals: &Globals) -> Outcome {
        let globals = &globals.naming(self.id.clone());
        self.workflow.as_deref().map_or(Ok(()), check)?;
        let out = globals.out();
        if let Some(size) = self.size.filter(|_| !globals.json) {
            let tab = self.tab.unwrap_or(Tab::Now);
            let rows = tui::frame(&globals.options, tab, size, tui::look(true))?;
            out.text(&text(&rows, &out))?;
            return Ok(ExitCode::SUCCESS);
        }
        let is_live = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if self.once || !is_live || globals.json {
            return once(self.workflow.as_deref(), globals, &out);
        }
        let start = tui::Start { tab: self.tab.unwrap_or(Tab::Now), workflow: self.workflow };
        match tui::run(&globals.options, start, tui::look(out.has_colour())) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(tui::Error::Engine(error)) => Err(error.into()),
            Err(tui::Error::Terminal(error)) => Err(Failure::failed(
                format!("the screen cannot be shown: {error}"),
                Hint::new("print it once: ").run_here(words!["progress", "--once"]),
            )),
        }
    }
}

fn once(only: Option<&str>, globals: &Globals, out: &Out) -> Outcome {
    let engine = globals.query()?;
    let current = engine.sessions().status()?;
    if globals.json {
        out.json(&current)?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = match current {
        Current::Nothing(nothing) => {
            ui::answer::warn(&nothing.warnings, out);
            "Waiting for session… (no session here; start one: leftoff start)".to_owned()
        }
        // A tool's own view shows a closed session only if the user named the session. Otherwise it waits for a new
        // one.
        Current::Session(view)
            if engine::has_own_screen(&view.layout)
                && matches!(view.status, Status::Completed | Status::Abandoned)
                && globals.options.session.is_none() =>
        {
            waiting_beside(&view)
        }
        Current::Session(view) => {
            ui::answer::warn(&view.warnings, out);
            session(&engine, &view, only, globals, out)?
        }
    };
    out.text(&shown)?;
    Ok(ExitCode::SUCCESS)
}

fn session(
    engine: &Engine,
    view: &View,
    only: Option<&str>,
    globals: &Globals,
    out: &Out,
) -> Result<String, Failure> {
    let look = tui::look(true);
    let screen = SessionId::parse(&view.session_id).ok().and_then(|id| engine.sessions().screen(&id));
    let Some(screen) = screen else {
        return Ok(text(&tui::now(&globals.options, out.width, look)?, out));
    };
    let rows = tui::own_screen(&screen, only, engine.now(), out.width, look);
    Ok(rows.map_or_else(|| waiting_for(only, &screen, &view.session_id), |rows| text(&rows, out)))
}

fn waiting_beside(view: &View) -> String {
    let id = &view.session_id;
    let (stands, way_on) = if view.status == Status::Abandoned {
        ("abandoned", format!("reopen it: leftoff reopen {id}"))
    } else {
        ("closed", format!("its next round: leftoff round --session {id}"))
    };
    format!(
        "Waiting for session… (the last one, {id}, is {stands}; see it: leftoff progress --once --session {id}; {way_on})"
    )
}

/// The rows of the screen as lines of text, coloured if stdout accepts colours.
fn text(rows: &[tui::Row], out: &Out) -> String {
    let painted = |(tone, text): &(tui::Tone, String)| match tone {
        tui::Tone::Plain => text.clone(),
        tui::Tone::Heading => out.paint(ui::Tone::Heading, text),
        tui::Tone::Good => out.paint(ui::Tone::Good, text),
        tui::Tone::Bad => out.paint(ui::Tone::Bad, text),
        tui::Tone::Warning => out.paint(ui::Tone::Warning, text),
        tui::Tone::Faint => out.paint(ui::Tone::Faint, text),
        tui::Tone::Command => out.paint(ui::Tone::Command, text),
    };
    rows.iter().map(|row| row.0.iter().map(painted).collect::<String>() + "\n").collect()
}

fn tab(text: &str) -> Result<Tab, String> {
    let names = Tab::ALL.map(|tab| tab.name().to_lowercase()).join(", ");
    Tab::parse(text).ok_or_else(|| format!("use one of {names}"))
}

fn size(text: &str) -> Result<(u16, u16), String> {
    const LARGEST: u16 = 1_000;
    let parsed =
        text.split_once('x').and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
    parsed
        .filter(|(columns, rows)| (1..=LARGEST).contains(columns) && (1..=LARGEST).contains(rows))
        .ok_or_else(|| "use columns and rows, such as 80x24".to_owned())
}

fn check(workflow: &str) -> Result<(), Failure> {
    let known = engine::workflows_with_a_screen();
    if known.contains(&workflow) {
        return Ok(());
    }
    let (wrong, use_one) = (format!("there is no workflow '{workflow}' to show"), known.join(" or "));
    Err(Failure::wrong_usage(wrong, format!("use {use_one}")))
}

/// The message that the session does not have the requested workflow. It names the workflow that the session has.
fn waiting_for(asked: Option<&str>, screen: &Screen, id: &str) -> String {
    let asked = asked.unwrap_or_default();
    let other = screen.tracks.first().map(|track| track.workflow).unwrap_or_default();
    format!(
        "Waiting for session… ({id} has no {asked}; see its {other}: leftoff progress --once --session {id})"
    )
}
