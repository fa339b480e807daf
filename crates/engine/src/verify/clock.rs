//! Finds events dated well before an earlier event of the same machine. Either the clock of the machine was set back,
//! or somebody invented the events.

use super::problem::Problem;
use super::replay::Replay;
use jiff::Timestamp;
use model::actor::Actor;
use model::time::seconds_between;
use std::collections::BTreeMap;

/// How far the clock of a machine may go back between two events.
const SLACK_SECONDS: u64 = 5 * 60;

impl Replay {
    /// Returns problems with events whose date is well before that of an earlier event of the same machine. Events from
    /// a tool's own files may have any date.
    pub(super) fn clock_problems(&self) -> Vec<Problem> {
        let mut latest: BTreeMap<&str, Timestamp> = BTreeMap::new();
        let mut problems = Vec::new();
        for recorded in &self.history {
            let host = match &recorded.actor {
                Actor::Tool { .. } | Actor::Unknown(_) => continue,
                Actor::Person { host, .. } | Actor::Agent { host, .. } | Actor::Automation { host, .. } => {
                    host
                }
            };
            let known = latest.entry(host).or_insert(recorded.at);
            if seconds_between(recorded.at, *known) > SLACK_SECONDS {
                problems.push(Problem::ClockSetBack { version: recorded.version });
            }
            *known = recorded.at.max(*known);
        }
        problems
    }
}
