//! Whether a tool call is one that a requirement guards. Compiles a pattern only for a tool that is named with it.

use super::rule::{Requirement, Trigger};
use regex_lite::{Regex, RegexBuilder};

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
                Err(error) => wrong = Some(self.told(&error)),
            }
        }
        (false, wrong)
    }

    /// Patterns that cannot be used. Tools find this out one by one; this looks at all of them.
    pub fn wrong_patterns(&self) -> Vec<String> {
        let patterns = self.triggers.iter().filter_map(|trigger| trigger.command_pattern.as_deref());
        patterns.filter_map(|pattern| Some(self.told(&compiled(pattern).err()?))).collect()
    }

    fn told(&self, error: &str) -> String {
        format!("requirements.{}.trigger_tools: {error}; this trigger is left out", self.name)
    }
}

fn matches(trigger: &Trigger, command: Option<&str>) -> Result<bool, String> {
    let Some(pattern) = &trigger.command_pattern else { return Ok(true) };
    let Some(command) = command else { return Ok(false) };
    Ok(compiled(pattern)?.is_match(command))
}

fn compiled(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .build()
        .map_err(|error| format!("the pattern {pattern:?} cannot be used: {error}"))
}

/// Whether a path, below the project or the home folder, lies in a folder of plans. A path that climbs may lie anywhere.
pub fn is_plan_file(path: &str) -> bool {
    let climbs = path.split('/').any(|part| part == "..");
    let lies_in = |folder: &&str| path.starts_with(*folder) || path.contains(&format!("/{folder}"));
    !climbs && PLAN_FOLDERS.iter().any(lies_in)
}
