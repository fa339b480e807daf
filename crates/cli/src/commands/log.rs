//! `leftoff log`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use crate::ui;
use engine::Engine;
use std::process::ExitCode;
use std::time::Duration;

/// What happened in a session, oldest first
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff log\n  leftoff log k3v9 --json\n  leftoff log -f\n\nWith -f and --json every event is a JSON document on a line of its own."
)]
pub struct Log {
    /// Session: its id, the beginning of one, or its number in `list`
    id: Option<String>,
    /// Go on showing what happens, until interrupted
    #[arg(short, long)]
    follow: bool,
}

impl Run for Log {
    fn run(self, globals: &Globals) -> Outcome {
        let engine = globals.query()?;
        let out = globals.out();
        let (id, events) = engine.log(self.id.as_deref(), 0)?;
        if globals.json && !self.follow {
            let events: Vec<_> = events.iter().map(Engine::event_json).collect();
            out.json(&serde_json::json!({ "session_id": id, "events": events }));
            return Ok(ExitCode::SUCCESS);
        }
        let mut last = 0;
        let mut show = |events: &[model::Recorded]| {
            let now = engine.now();
            for event in events {
                last = event.version;
                if globals.json {
                    out.text(&Engine::event_json(event).to_string());
                } else {
                    out.text(&ui::log::line(event, now, &out));
                }
            }
            last
        };
        let mut seen = show(&events);
        if !self.follow {
            return Ok(ExitCode::SUCCESS);
        }
        loop {
            std::thread::sleep(Duration::from_millis(250));
            seen = show(&engine.log(Some(id.as_str()), seen)?.1);
        }
    }
}
