//! Metrics of an agent session on disk. Counted under a lock, so that no increment is lost; a power cut may take the last.

use super::Ground;
use super::file::{New, SharedFile};
use crate::error::Result;
use layouts::requirements::{AgentKey, Metrics};
use std::time::Duration;

const FOLDER: &str = "sessions";

impl Ground {
    /// What is known of this agent session, if anything is.
    pub(super) fn metrics(&self, agent: &AgentKey) -> Option<Metrics> {
        let of = |name: &str| self.metrics_file(name).read().ok()?.and_then(|text| Metrics::read(&text));
        of(agent.short()).filter(|metrics| metrics.is_of(agent)).or_else(|| of(&agent.spare()))
    }

    /// Counts something.
    pub(super) fn count<T>(
        &self,
        agent: &AgentKey,
        patience: Duration,
        now: i64,
        mut change: impl FnMut(&mut Metrics) -> T,
    ) -> Result<T> {
        let done =
            self.metrics_file(agent.short()).update(patience, |text| match text.map(Metrics::read) {
                Some(Some(metrics)) if !metrics.is_of(agent) => (New::Same, None),
                known => {
                    let (new, answer) = self.counted(agent, known, now, &mut change);
                    (new, Some(answer))
                }
            })?;
        if let Some(answer) = done {
            return Ok(answer);
        }
        // Another agent session has the same eight characters.
        self.metrics_file(&agent.spare())
            .update(patience, |text| self.counted(agent, text.map(Metrics::read), now, &mut change))
    }

    /// `known` is nothing, something that cannot be read, or metrics.
    fn counted<T>(
        &self,
        agent: &AgentKey,
        known: Option<Option<Metrics>>,
        now: i64,
        change: &mut impl FnMut(&mut Metrics) -> T,
    ) -> (New, T) {
        let is_broken = matches!(known, Some(None));
        let before = known.flatten();
        let fresh = || Metrics::new(agent, &self.project, &self.branch, now);
        let mut metrics = before.clone().unwrap_or_else(fresh);
        let answer = change(&mut metrics);
        let new = match before {
            Some(before) if before == metrics => New::Same,
            Some(_) => New::Text(metrics.text()),
            None if is_broken => New::InsteadOfBroken(metrics.text()),
            None => New::Text(metrics.text()),
        };
        (new, answer)
    }

    fn metrics_file(&self, name: &str) -> SharedFile {
        // An id is whatever an agent sends: only what is plain becomes part of a path.
        let plain: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        SharedFile::passing(self.folder.join(FOLDER).join(format!("{plain}.json")))
    }
}
