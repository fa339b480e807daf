//! Lists the keys that match what the user typed. Each key has the equivalent command line, if there is one.

use crate::text::{Look, Row, Tone, fit};

/// The keys, each with its effect and the equivalent commands.
const KEYS: &[(&str, &str, &str)] = &[
    ("j k, arrows", "move down and up", ""),
    ("g G, Home End", "first and last row", ""),
    ("PgDn PgUp", "ten rows down and up", ""),
    ("1-5, Tab", "tabs: Now, Phases, Items, Log, Files", "leftoff show, item list, log, artifact list"),
    ("h l, arrows", "switch between the list and the session", "leftoff list"),
    ("Enter", "open the session", "leftoff progress --session ID"),
    ("Esc", "clear the filter; follow the active session again", ""),
    ("/", "filter the list, or the rows of the tab", "leftoff list --search WORDS"),
    ("R", "refresh now", ""),
    ("y", "copy the next command", "leftoff next"),
    ("Y", "copy the brief", "leftoff brief"),
    ("p", "pause, or resume", "leftoff pause, leftoff resume"),
    ("n", "write a note", "leftoff note TEXT"),
    ("a", "approve a check; asks first, only a person can", "leftoff approve CHECK"),
    ("m", "mouse on and off", ""),
    ("?", "this help; type to filter", "leftoff progress --help"),
    ("q, Ctrl-C", "quit", ""),
];

pub fn rows(filter: &str, _look: Look) -> Vec<Row> {
    let mut rows = vec![Row::new(Tone::Heading, "Keys (type to filter, Esc to leave)")];
    let all = KEYS.iter().map(|(keys, what, command)| {
        Row::new(Tone::Heading, fit(keys, 15)).then(Tone::Plain, fit(what, 52)).then(Tone::Command, *command)
    });
    rows.extend(all.filter(|row| row.is_found(filter)));
    rows
}
