//! Where an item stands, in a few words that the brief and the lists share.

use super::ItemView;
use crate::words::{moment, one_line};
use jiff::Timestamp;
use model::item::{ItemState, ItemStatus};

/// How many of the items that it waits for are named.
const NAMED: usize = 5;
const LONGEST_REASON: usize = 200;

impl ItemView {
    /// `[x]` done, `[~]` somebody is at it, `[!]` something is in its way, `[ ]` none of these.
    pub fn mark(&self) -> &'static str {
        match self.item.status {
            ItemStatus::Completed { .. } => "[x]",
            ItemStatus::Blocked { .. } => "[!]",
            ItemStatus::Pending | ItemStatus::Active => match self.item.state() {
                ItemState::Ready if self.held || self.item.status == ItemStatus::Active => "[~]",
                ItemState::Waiting if !self.item.waits_for.is_empty() => "[!]",
                ItemState::Ready | ItemState::Waiting | ItemState::Done => "[ ]",
            },
        }
    }

    /// `yours until 15:40 UTC`, `ready`, `waits for impl-2`.
    pub fn standing(&self, now: Timestamp) -> String {
        let item = &self.item;
        match &item.status {
            ItemStatus::Completed { .. } => "done".to_owned(),
            ItemStatus::Blocked { reason } => format!("blocked: {}", one_line(reason, LONGEST_REASON)),
            ItemStatus::Pending | ItemStatus::Active if !item.waits_for.is_empty() => self.waits(),
            ItemStatus::Pending | ItemStatus::Active if self.container => {
                format!("{} of {} parts done", item.parts.saturating_sub(item.open_parts), item.parts)
            }
            ItemStatus::Pending | ItemStatus::Active => self.held_by(now),
        }
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
            Some(lease) if self.held => {
                let holder = one_line(&lease.actor.to_string(), 60);
                format!("held by {holder} until {}", moment(lease.until, now))
            }
            Some(_) | None if self.item.status == ItemStatus::Active => "begun, and free".to_owned(),
            Some(_) | None => "ready".to_owned(),
        }
    }
}
