//! `leftoff log`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::{self, Reader};
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
            out.json(&serde_json::json!({ "session_id": id, "events": events }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let show = |events: &[model::Recorded]| -> Result<Reader, Failure> {
            let now = engine.now();
            let mut reader = Reader::There;
            for event in events {
                reader = if globals.json {
                    out.json_line(&Engine::event_json(event))?
                } else {
                    out.text(&ui::log::line(event, now, &out))?
                };
            }
            Ok(reader)
        };
        let mut reader = show(&events)?;
        let mut seen = last_version(&events, 0);
        while self.follow && reader == Reader::There {
            std::thread::sleep(Duration::from_millis(250));
            let (_, events) = engine.log(Some(id.as_str()), seen)?;
            reader = show(&events)?;
            seen = last_version(&events, seen);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn last_version(events: &[model::Recorded], before: u64) -> u64 {
    events.last().map_or(before, |event| event.version)
}
