//! The metrics of an agent session, in a file. They are counted while holding a lock, so that no increment is lost. A
//! power cut may lose the last increments.

use super::Ground;
use super::shared_file::{Known, New, SharedFile};
use crate::error::{Error, Result};
use layouts::requirements::{AgentKey, Count, Metrics};
use std::path::PathBuf;
use std::time::Duration;

const FOLDER: &str = "sessions";

impl Ground {
    /// Returns the metrics of this agent session, if any are recorded.
    pub(super) fn metrics(&self, agent: &AgentKey) -> Option<Metrics> {
        let of = |name: &str| self.metrics_file(name).read().ok()?.and_then(|text| Metrics::read(&text));
        of(agent.short()).filter(|metrics| metrics.is_of(agent)).or_else(|| of(&agent.spare()))
    }

    /// Counts something; returns false if it was already counted. If the file is busy, the count is left as a note
    /// beside the file.
    pub(super) fn count(&self, agent: &AgentKey, patience: Duration, count: &Count) -> Result<bool> {
        match self.change_metrics(agent, patience, count.at, |metrics| metrics.count(count)) {
            Err(Error::FileBusy { .. }) => {
                self.leave_count(agent, count)?;
                Ok(true)
            }
            done => done,
        }
    }

    pub(super) fn leave_count(&self, agent: &AgentKey, count: &Count) -> Result<()> {
        let usual = self.metrics_file(agent.short());
        let is_anothers =
            usual.read()?.and_then(|text| Metrics::read(&text)).is_some_and(|known| !known.is_of(agent));
        if is_anothers { self.metrics_file(&agent.spare()).leave(count) } else { usual.leave(count) }
    }

    pub(super) fn change_metrics<T>(
        &self,
        agent: &AgentKey,
        patience: Duration,
        now: i64,
        mut change: impl FnMut(&mut Metrics) -> T,
    ) -> Result<T> {
        let usual = self.metrics_file(agent.short());
        let done = usual.update(patience, |text, notes| match Known::read(text, Metrics::read) {
            Known::Good(metrics) if !metrics.is_of(agent) => (New::Anothers, None),
            known @ (Known::Nothing | Known::Broken | Known::Good(_)) => {
                let (new, answer) = self.changed(agent, known, notes, now, &mut change);
                (new, Some(answer))
            }
        })?;
        if let Some(answer) = done {
            return Ok(answer);
        }
        // The file with the usual name belongs to another agent session, whose id begins with the same eight
        // characters.
        self.metrics_file(&agent.spare()).update(patience, |text, notes| {
            self.changed(agent, Known::read(text, Metrics::read), notes, now, &mut change)
        })
    }

    fn changed<T>(
        &self,
        agent: &AgentKey,
        known: Known<Metrics>,
        notes: &[String],
        now: i64,
        change: &mut impl FnMut(&mut Metrics) -> T,
    ) -> (New, T) {
        let fresh = || Metrics::new(agent, &self.project, &self.branch, now);
        known.changed(fresh, Metrics::text, |metrics| {
            for late in notes.iter().filter_map(|text| serde_json::from_str::<Count>(text).ok()) {
                metrics.count(&late);
            }
            change(metrics)
        })
    }

    fn metrics_file(&self, name: &str) -> SharedFile {
        SharedFile::passing(self.session_file(name, "json"))
    }

    /// Returns the path of a file about one agent session.
    pub(super) fn session_file(&self, name: &str, ending: &str) -> PathBuf {
        // An agent may have any text as its id, so only harmless characters become part of the path.
        let plain: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        self.folder.join(FOLDER).join(format!("{plain}.{ending}"))
    }
}
