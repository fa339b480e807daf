//! Whether a tool call is one that a requirement guards. Compiles a pattern only for a tool that is named with it.

use super::rule::{Requirement, Trigger};
use regex_lite::RegexBuilder;

/// Folders of plans: what satisfies a requirement must be writable before it is satisfied.
const PLAN_FOLDERS: [&str; 2] = [".claude/plans/", "docs/plans/"];

impl Requirement {
    /// What is wrong with a pattern is told, and such a trigger is none.
    pub fn is_triggered_by(&self, tool: &str, command: Option<&str>) -> (bool, Option<String>) {
        let mut wrong = None;
        for trigger in self.triggers.iter().filter(|trigger| trigger.tool == tool) {
            match matches(trigger, command) {
                Ok(true) => return (true, wrong),
                Ok(false) => {}
                Err(error) => {
                    wrong.get_or_insert(format!(
                        "requirements.{}.trigger_tools: {error}; this trigger is left out",
                        self.name
                    ));
                }
            }
        }
        (false, wrong)
    }
}

fn matches(trigger: &Trigger, command: Option<&str>) -> Result<bool, String> {
    let Some(pattern) = &trigger.command_pattern else { return Ok(true) };
    let Some(command) = command else { return Ok(false) };
    let expression = RegexBuilder::new(pattern)
        .case_insensitive(true)
        .build()
        .map_err(|error| format!("the pattern {pattern:?} cannot be used: {error}"))?;
    Ok(expression.is_match(command))
}

/// Whether a path, below the project or the home folder, lies in a folder of plans. A path that climbs may lie anywhere.
pub fn is_plan_file(path: &str) -> bool {
    let climbs = path.split('/').any(|part| part == "..");
    let lies_in = |folder: &&str| path.starts_with(*folder) || path.contains(&format!("/{folder}"));
    !climbs && PLAN_FOLDERS.iter().any(lies_in)
}
