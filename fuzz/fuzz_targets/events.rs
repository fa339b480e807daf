//! Events of a log that another program wrote: each is read, shown and folded.
#![no_main]

use model::event::{Event, Recorded};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut history = Vec::new();
    for (line, version) in text.lines().zip(1..) {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let Some(kind) = value["type"].as_str() else { continue };
        let actor = serde_json::from_value(value["actor"].clone()).unwrap_or_else(|_| model::actor::Actor::Person { name: "anna".into(), host: "host".into(), known_by: None });
        let at = jiff::Timestamp::from_second(version as i64).expect("in range");
        history.push(Recorded { version, at, actor, event: Event::read(kind, line) });
    }
    if let Some(session) = model::session::Session::fold(&history) {
        let _ = serde_json::to_string(&session).expect("a session is JSON");
    }
});
