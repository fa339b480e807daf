//! The harm that no printed command may do: losing work, reverting finished work, ending a session with open
//! work.

use crate::ground::Ground;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    pub version: u64,
    pub view: Value,
    notes: BTreeSet<u64>,
    /// The ids of items, each with true if the item is done.
    items: BTreeMap<String, bool>,
    done: BTreeSet<String>,
    pub is_over: bool,
    /// The version of another session, which is paused and must not change.
    older: u64,
    missing_reviews: Vec<String>,
}

/// The state by which progress is measured. A step is repeated only if this state has changed. One more
/// failed attempt is not progress.
pub type Progress = (BTreeSet<String>, BTreeMap<String, bool>, String, bool);

impl Standing {
    pub fn of(ground: &Ground) -> Self {
        let view = ground.view();
        let list = |key: &str| view[key].as_array().cloned().unwrap_or_default();
        let phases = list("phases");
        let is_done =
            |phase: &&Value| phase["status"] == "completed" && phase["gate"]["outcome"] != "claimed";
        let ids = |value: &Value| value["id"].as_str().unwrap_or_default().to_owned();
        let items = ground.items();
        Self {
            version: view["version"].as_u64().unwrap(),
            notes: list("notes").iter().filter_map(|note| note["id"].as_u64()).collect(),
            items: items.iter().map(|item| (ids(item), item["status"] == "completed")).collect(),
            done: phases.iter().filter(is_done).map(ids).collect(),
            older: ground.older_version(),
            missing_reviews: ground.missing_reviews(&view),
            is_over: ["completed", "abandoned"].contains(&view["lifecycle"]["state"].as_str().unwrap()),
            view,
        }
    }

    pub fn progress(&self) -> Progress {
        let settled = self.view["phases"].as_array().unwrap().iter().any(|phase| {
            phase["gate"]["checks"]
                .as_array()
                .is_some_and(|all| all.iter().any(|check| check["settled"] == true))
        });
        let state = self.view["lifecycle"]["state"].as_str().unwrap().to_owned();
        (self.done.clone(), self.items.clone(), state, settled)
    }

    /// True if only the session's files say that it is finished. No command may believe that.
    pub fn is_closed_in_doubt(&self) -> bool {
        self.view["closed_over"].is_string()
    }

    /// Checks that a command removed nothing that existed before it.
    #[track_caller]
    pub fn keeps(&self, before: &Self, ground: &Ground, command: &str) {
        let said = || format!("after {command}\nbefore: {:#}\nafter: {:#}", before.view, self.view);
        assert_eq!(self.older, before.older, "another session was changed {}", said());
        let is_new = self.done.contains("reviews") && !before.done.contains("reviews");
        assert!(
            !is_new || self.missing_reviews.is_empty(),
            "{:?} is missing {}",
            self.missing_reviews,
            said()
        );
        assert!(self.version >= before.version, "history was lost {}", said());
        assert!(before.notes.is_subset(&self.notes), "a note was lost {}", said());
        assert!(before.done.is_subset(&self.done), "a finished phase is open again {}", said());
        for (id, done) in &before.items {
            let now = self.items.get(id);
            assert!(now.is_some_and(|now| *now || !done), "item {id} was lost or is open again {}", said());
        }
        ground.files_are_there();
        if self.is_over && !before.is_over {
            self.is_rightly_over(command);
        }
    }

    #[track_caller]
    fn is_rightly_over(&self, command: &str) {
        for phase in self.view["phases"].as_array().unwrap() {
            let is_over = phase["status"] == "completed" || phase["outcome"] == "not_applicable";
            let is_right = is_over && phase["gate"]["outcome"] != "failed" && phase["contested"] != true;
            assert!(is_right, "{command} ended the session over {phase:#}");
        }
        assert!(self.items.values().all(|done| *done), "{command} ended it over open items {:?}", self.items);
    }
}

/// The commands in a text, in order.
pub fn printed(text: &str) -> Vec<String> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|code| code.starts_with("leftoff ")).map(ToOwned::to_owned).collect()
}
