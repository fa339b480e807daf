//! The state of an item in a few words, for briefs and lists.

use super::ItemView;
use crate::execute::{CLAIMED, LISTED_AS};
use crate::words::{moment, one_line, quoted};
use jiff::Timestamp;
use model::item::{ItemState, ItemStatus};
use serde_json::Value;

/// How many items are named for which an item waits.
const NAMED: usize = 5;
const LONGEST_REASON: usize = 200;
const LONGEST_TITLE: usize = 80;
const LONGEST_HOLDER: usize = 60;

impl ItemView {
    /// Returns `[x]` for a done item, `[~]` for one in progress, `[!]` for a blocked or waiting one, `[-]` for a dropped
    /// one, and `[ ]` for any other.
    pub fn mark(&self) -> &'static str {
        match self.item.status {
            ItemStatus::Completed { .. } => "[x]",
            ItemStatus::Blocked { .. } => "[!]",
            ItemStatus::Dropped { .. } => "[-]",
            ItemStatus::Pending | ItemStatus::Active => match self.item.state() {
                ItemState::Ready if self.held || self.item.status == ItemStatus::Active => "[~]",
                ItemState::Waiting if !self.item.waits_for.is_empty() => "[!]",
                ItemState::Ready | ItemState::Waiting | ItemState::Done => "[ ]",
            },
        }
    }

    /// Returns, for example, `yours until 15:40 UTC`, `ready` or `waits for impl-2`.
    pub fn standing(&self, now: Timestamp) -> String {
        let item = &self.item;
        match &item.status {
            ItemStatus::Completed { .. } => match item.fields.get(CLAIMED).and_then(Value::as_str) {
                Some(list) => format!("claimed done in {list}, not verified"),
                None => "done".to_owned(),
            },
            ItemStatus::Blocked { reason } => format!("blocked: {}", quoted(reason, LONGEST_REASON)),
            ItemStatus::Dropped { reason } => format!("dropped: {}", quoted(reason, LONGEST_REASON)),
            ItemStatus::Pending | ItemStatus::Active if !item.waits_for.is_empty() => self.waits(),
            ItemStatus::Pending | ItemStatus::Active if self.container => {
                let counts = item.part_counts();
                let parts = if counts.total == 1 { "part" } else { "parts" };
                format!("{} of {} {parts} done", counts.done, counts.total)
            }
            ItemStatus::Pending | ItemStatus::Active => self.held_by(now),
        }
    }

    /// True if somebody holds the item, and the holder is not known to have ended.
    pub(crate) fn is_at_work(&self) -> bool {
        self.held && self.holder_gone_since.is_none()
    }

    /// Returns, for example, `claude a4 works on expire "Expire on the server", claimed until 11:20 UTC`.
    pub(crate) fn worked_on(&self, now: Timestamp) -> Option<String> {
        let lease = self.item.lease.as_ref()?;
        let who = if self.mine {
            "you work".to_owned()
        } else {
            let elsewhere = if self.unconfirmed { " on another machine (unconfirmed)" } else { "" };
            format!("{}{elsewhere} works", one_line(&lease.actor.to_string(), LONGEST_HOLDER))
        };
        let title = quoted(&self.item.title, LONGEST_TITLE);
        Some(format!("{who} on {} {title}, claimed until {}", self.id(), moment(lease.until, now)))
    }

    /// True if somebody has started the item, so that its work continues and does not begin.
    pub fn is_started(&self) -> bool {
        self.mine || self.item.status == ItemStatus::Active
    }

    /// Returns the names and values of the item's fields that have a value, such as requirements.
    pub fn details(&self) -> impl Iterator<Item = (&str, String)> {
        let own = self.item.fields.iter().filter(|(name, _)| *name != LISTED_AS);
        let told = own.map(|(name, value)| (name.as_str(), text_of(value)));
        told.filter(|(_, text)| !text.is_empty())
    }

    fn waits(&self) -> String {
        let waits_for = &self.item.waits_for;
        let mut names: Vec<String> = waits_for.iter().take(NAMED).map(ToString::to_string).collect();
        if waits_for.len() > NAMED {
            names.push(format!("{} more", waits_for.len() - NAMED));
        }
        format!("waits for {}", names.join(", "))
    }

    fn held_by(&self, now: Timestamp) -> String {
        match &self.item.lease {
            Some(lease) if self.mine => format!("yours until {}", moment(lease.until, now)),
            Some(lease) if let Some(since) = self.holder_gone_since => {
                let holder = one_line(&lease.actor.to_string(), LONGEST_HOLDER);
                format!("held by {holder}, inactive since {} (claim it)", moment(since, now))
            }
            Some(lease) if self.held => {
                let holder = one_line(&lease.actor.to_string(), LONGEST_HOLDER);
                let where_from = if self.unconfirmed { " on another machine (unconfirmed)" } else { "" };
                format!("held by {holder}{where_from} until {}", moment(lease.until, now))
            }
            Some(_) | None if !self.ready => "left open".to_owned(),
            Some(_) | None => {
                let is_started = self.item.status == ItemStatus::Active;
                format!("{}{}", if is_started { "started, free" } else { "ready" }, self.last_held(now))
            }
        }
    }

    /// Returns, for example, ` (claude a4326893 held it until 15:40 UTC)`, if a lease expired without being released.
    fn last_held(&self, now: Timestamp) -> String {
        let Some(lease) = &self.item.lease else { return String::new() };
        let holder = one_line(&lease.actor.to_string(), LONGEST_HOLDER);
        format!(" ({holder} held it until {})", moment(lease.until, now))
    }
}

/// Returns the value of a field on one line.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(text_of).collect::<Vec<_>>().join("; "),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}
