//! The requirements framework's files: configuration, branch files, metrics and the list of live sessions.
//! Pure: text and time in, values and new text out.

mod agent;
mod branch;
mod cascade;
mod change;
mod document;
mod matching;
mod metrics;
mod presets;
mod registry;
mod rule;
mod satisfaction;
mod shape;
mod skills;
#[cfg(test)]
mod tests;

pub use agent::AgentKey;
pub use branch::{collision_name, file_stem};
pub use cascade::{CarryOver, Settings, Source, Stop, merged, read};
pub use change::{Change, Deed};
pub use document::{Document, Record, Unreadable};
pub use matching::{can_be_held, is_pause_or_resume, is_plan_file};
pub use metrics::{Count, Counted, Metrics};
pub use presets::{preset, preset_names};
pub use registry::{Entry, Registry};
pub use rule::{BRANCH_SIZE, Guard, Limits, Requirement, RequirementKind, Trigger};
pub use satisfaction::{Satisfaction, SatisfiedBy, Satisfying};
pub use skills::{requirements_of_skill, skill_name, skill_to_run};

/// The only version of these files so far.
const VERSION: &str = "1.0";
