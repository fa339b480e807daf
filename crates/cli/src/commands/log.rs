//! `leftoff log`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::{self, Out, Reader};
use crate::wait_for_changes::{Live, Woken};
use engine::event_text::{json, words};
use engine::view::Warning;
use engine::{Current, Engine, Reading};
use jiff::Timestamp;
use model::Recorded;
use model::id::SessionId;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Show what happened in a session, oldest first
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff log\n  leftoff log k3v9 --json\n  leftoff log -f\n\nWith -f and --json every event is a JSON document on a line of its own."
)]
pub struct Log {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
    /// Keep showing new events, until interrupted
    #[arg(short, long)]
    follow: bool,
}

/// The number of newest events that are compared with the events already shown. An edit that is not in the log yet may
/// be described differently after the next edit.
const COMPARED: u64 = 50;

impl Run for Log {
    fn run(self, globals: &Globals) -> Outcome {
        let mut live = self.follow.then(|| Live::begin(globals));
        let engine = globals.query()?;
        let out = globals.out();
        let asked = self.id.as_deref();
        if globals.json && !self.follow {
            document(&engine, asked, &out)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut shown = Shown::default();
        let (id, mut reader, damage) = in_pages(&engine, asked, |_, events| {
            shown.remember(events);
            show(events, engine.now(), globals)
        })?;
        if let Some(damage) = damage {
            ui::answer::warn(&[damage], &out);
        }
        let followed = globals.naming(Some(id.to_string()));
        while let Some(live) = live.as_mut().filter(|_| reader == Reader::There) {
            let engine = followed.open(engine::Intent::Query)?;
            if let Current::Session(view) = engine.sessions().status()? {
                live.watch.show(&engine, Some(&view));
            }
            let after = shown.last().saturating_sub(COMPARED);
            let mut events = engine.sessions().log(Some(id.as_str()), after)?.events;
            events.retain(|event| shown.is_new(event));
            reader = show(&events, engine.now(), globals)?;
            shown.remember(&events);
            while live.wait() == Woken::Minute {}
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Shows a log in parts, so that only one part is in memory at a time. Stops when the reader of the output stops.
fn in_pages(
    engine: &Engine,
    asked: Option<&str>,
    mut show: impl FnMut(&SessionId, &[Recorded]) -> Result<Reader, Failure>,
) -> Result<(SessionId, Reader, Option<Warning>), Failure> {
    let mut last = Ok(Reader::There);
    let (id, damage) = engine.sessions().log_in_pages(asked, |id, events| {
        last = show(id, events);
        Ok(if matches!(last, Ok(Reader::There)) { Reading::Continue } else { Reading::Stop })
    })?;
    Ok((id, last?, damage))
}

/// Writes one JSON document while the events are read, because a long history may not fit into memory.
fn document(engine: &Engine, asked: Option<&str>, out: &Out) -> Result<(), Failure> {
    let mut before = String::new();
    let (_, _, damage) = in_pages(engine, asked, |id, events| {
        if before.is_empty() {
            before = format!("{{\n  \"session_id\": {},\n  \"events\": [\n", serde_json::json!(id));
        }
        let mut reader = Reader::There;
        for event in events {
            reader = out.json_part(&before)?;
            before = String::from(",\n");
            out.json_part(&indented(&json(event), "    "))?;
        }
        Ok(reader)
    })?;
    let warnings = damage.map_or_else(String::new, |damage| {
        format!(",\n  \"warnings\": [\n{}\n  ]", indented(&serde_json::json!(damage), "    "))
    });
    out.json_part(&format!("\n  ]{warnings}\n}}\n"))?;
    Ok(())
}

fn indented(value: &serde_json::Value, by: &str) -> String {
    let lines = format!("{value:#}");
    lines.lines().map(|line| format!("{by}{line}")).collect::<Vec<_>>().join("\n")
}

fn show(events: &[Recorded], now: Timestamp, globals: &Globals) -> Result<Reader, Failure> {
    let out = globals.out();
    let mut reader = Reader::There;
    for event in events {
        reader = if globals.json {
            out.json_line(&json(event))?
        } else {
            out.text(&ui::log::line(event, now, &out))?
        };
    }
    Ok(reader)
}

/// The newest events that were shown, by their versions.
#[derive(Default)]
struct Shown(BTreeMap<u64, String>);

impl Shown {
    fn last(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(version, _)| *version)
    }

    fn is_new(&self, event: &Recorded) -> bool {
        self.0.get(&event.version).is_none_or(|shown| *shown != words(&event.event))
    }

    fn remember(&mut self, events: &[Recorded]) {
        self.0.extend(events.iter().map(|event| (event.version, words(&event.event))));
        self.0 = self.0.split_off(&self.last().saturating_sub(COMPARED));
    }
}
