//! The marker file that pauses requirements for one agent session. Only its existence counts, not its
//! content.

use super::Ground;
use super::shared_file::{self, New, SharedFile};
use crate::error::{Error, Result};
use jiff::Timestamp;
use layouts::requirements::AgentKey;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

impl Ground {
    pub(super) fn is_paused(&self, agent: &AgentKey) -> bool {
        match self.pause_at(agent.short(), agent) {
            Pause::Absent => false,
            Pause::Own => true,
            // The marker file with the short name belongs to another agent session, whose id begins with the same eight
            // characters.
            Pause::Anothers => matches!(self.pause_at(&agent.spare(), agent), Pause::Own),
        }
    }

    /// Pauses requirements for an agent session. Returns false if they were paused already.
    pub(super) fn pause(
        &self,
        agent: &AgentKey,
        patience: Duration,
        now: Timestamp,
        by: &str,
        reason: &str,
    ) -> Result<bool> {
        if self.is_paused(agent) {
            return Ok(false);
        }
        let is_taken = matches!(self.pause_at(agent.short(), agent), Pause::Anothers);
        let name = if is_taken { agent.spare() } else { agent.short().to_owned() };
        let text =
            json!({ "paused_at": now.to_string(), "reason": reason, "by": by, "session_id": agent.full() });
        let marker = SharedFile::passing(self.pause_file(&name));
        marker.update(patience, |_, _| (New::Text(text.to_string()), ()))?;
        Ok(true)
    }

    /// Resumes requirements for an agent session. Returns false if they were not paused.
    pub(super) fn resume(&self, agent: &AgentKey) -> Result<bool> {
        let mut was_paused = false;
        for name in [agent.short().to_owned(), agent.spare()] {
            if matches!(self.pause_at(&name, agent), Pause::Own) {
                let path = self.pause_file(&name);
                fs::remove_file(&path)
                    .map_err(|source| Error::io(format!("removing {}", path.display()), source))?;
                was_paused = true;
            }
        }
        Ok(was_paused)
    }

    fn pause_at(&self, name: &str, agent: &AgentKey) -> Pause {
        match shared_file::read(&self.pause_file(name)) {
            Ok(Some(text)) => {
                let told = serde_json::from_str::<Value>(&text).ok();
                let id = told.as_ref().and_then(|told| told.get("session_id")?.as_str());
                let is_anothers = id.and_then(AgentKey::new).is_some_and(|other| !other.is(agent));
                if is_anothers { Pause::Anothers } else { Pause::Own }
            }
            // Even a marker file that cannot be read counts, because it exists.
            Err(_) if fs::symlink_metadata(self.pause_file(name)).is_ok() => Pause::Own,
            Ok(None) | Err(_) => Pause::Absent,
        }
    }

    fn pause_file(&self, name: &str) -> PathBuf {
        self.session_file(name, "paused")
    }
}

enum Pause {
    Absent,
    Own,
    Anothers,
}
