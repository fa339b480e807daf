//! The files of the requirements framework: configuration, branch files, metrics, and the list of live
//! sessions. Without I/O: takes text and the time, and returns values and new text.

mod agent;
mod branch_file;
mod branch_file_name;
mod cascade;
mod change;
mod live_agents;
mod metrics;
mod presets;
mod rule;
mod satisfaction;
mod skills;
#[cfg(test)]
mod tests;
mod tool_matching;
mod type_check;

pub use agent::AgentKey;
pub use branch_file::{Document, Record, Unreadable};
pub use branch_file_name::{collision_name, file_stem};
pub use cascade::{CarryOver, Settings, Source, Stop, merged, read};
pub use change::{Change, Deed};
pub use live_agents::{Entry, Registry};
pub use metrics::{Count, Counted, Metrics};
pub use presets::{preset, preset_names};
pub use rule::{BRANCH_SIZE, Guard, Limits, Requirement, RequirementKind, Trigger};
pub use satisfaction::{Satisfaction, SatisfiedBy, Satisfying};
pub use skills::{requirements_of_skill, skill_name, skill_to_run};
pub use tool_matching::{can_be_held, is_pause_or_resume, is_plan_file};

/// The only supported version of these files.
const VERSION: &str = "1.0";

/// A file's text without a byte order mark, which some editors add.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
