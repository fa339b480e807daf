//! Sessions that are not sent to other machines, because they contain a secret.

use super::histories::Node;
use crate::engine::Engine;
use crate::redact;
use model::id::SessionId;
use std::collections::BTreeMap;

impl Engine {
    /// Returns the reason why the last sync did not send a session, if it did not.
    pub(super) fn held_back(&self, id: &SessionId) -> Option<String> {
        self.sharing_settings()?.held.get(id.as_str()).cloned()
    }
}

/// Returns which secret keeps a session from being sent: it is in the events, the definitions or the recorded files.
pub(super) fn secret_in_session(way: &[Node], texts: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    if let Some(kind) = way.iter().find_map(|node| secret_in_event(&node.row.body)) {
        return Some(format!("it contains a {kind}"));
    }
    texts.iter().find_map(|(path, body)| {
        let (_, kinds) = redact::text(std::str::from_utf8(body).ok()?)?;
        let place = if path.starts_with("def/") { "its workflow" } else { "one of its recorded files" };
        Some(format!("{place} contains a {}", kinds.first()?))
    })
}

/// Returns the kind of a secret in an event. Names of fields and their values are searched.
fn secret_in_event(body: &str) -> Option<String> {
    let mut value: serde_json::Value = serde_json::from_str(body).ok()?;
    redact::in_value("", &mut value).first().map(ToString::to_string)
}
