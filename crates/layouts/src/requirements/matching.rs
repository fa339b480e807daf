//! Whether a tool call is one that a requirement guards. Compiles a pattern only for a tool that is named with it.

use super::rule::{Requirement, Trigger};
use crate::pattern::{Case, Pattern};

/// Tools that write files, run commands or enter and leave planning. No other tool is ever held, whatever the
/// configuration names: reading, delegating and other servers' tools stay free, as the original has it.
const HELD: [&str; 6] = ["Edit", "Write", "MultiEdit", "Bash", "EnterPlanMode", "ExitPlanMode"];

/// Folders of plans: what satisfies a requirement must be writable before it is satisfied.
const PLAN_FOLDERS: [&str; 2] = [".claude/plans/", "docs/plans/"];

/// Whether a tool can be held at all.
pub fn can_be_held(tool: &str) -> bool {
    HELD.contains(&tool)
}

/// Whether a command line pauses or resumes requirements and does nothing else but change the folder.
pub fn is_pause_or_resume(command: &str) -> bool {
    does_only(command, |verb| matches!(verb, "pause" | "resume"))
}

/// Whether a command line is only about requirements: what satisfies one must not be held by one that asks of every
/// command.
fn is_about_requirements(command: &str) -> bool {
    does_only(command, |_| true)
}

fn does_only(command: &str, verb_fits: impl Fn(&str) -> bool) -> bool {
    if command.contains(['|', '<', '>', '`', '$', '(', '\\']) {
        return false;
    }
    let steps = command.replace("&&", "\n");
    let mut steps = steps.split(['\n', ';']).map(str::trim).filter(|step| !step.is_empty());
    let fits = |step: &str| own_verb(step).is_some_and(&verb_fits);
    let mut is_own = false;
    let all = steps.all(|step| {
        is_own |= fits(step);
        !step.contains('&') && (fits(step) || step.starts_with("cd "))
    });
    all && is_own
}

/// `satisfy` of `leftoff req satisfy x`, of `req satisfy x`, and of the original's own program.
fn own_verb(step: &str) -> Option<&str> {
    let mut words = step.split_whitespace();
    let mut program = words.next()?;
    if matches!(program, "python" | "python3") {
        program = words.next()?;
    }
    match program.rsplit('/').next()? {
        "req" | "requirements-cli.py" => words.next(),
        "leftoff" => (words.next()? == "req").then(|| words.next())?,
        _ => None,
    }
}

impl Requirement {
    /// What is wrong with a pattern is told, and such a trigger is none.
    pub fn is_triggered_by(&self, tool: &str, command: Option<&str>) -> (bool, Option<String>) {
        let mut wrong = None;
        if !can_be_held(tool) {
            return (false, wrong);
        }
        for trigger in self.triggers.iter().filter(|trigger| trigger.tool == tool) {
            match matches(trigger, command) {
                Ok(true) => return (true, wrong),
                Ok(false) => {}
                Err(error) => wrong = Some(self.told(&error)),
            }
        }
        (false, wrong)
    }

    /// Triggers that hold nothing: tools that are never held, patterns that cannot be used. Tools find this out one
    /// by one; this looks at all of them.
    pub fn wrong_triggers(&self) -> Vec<String> {
        let wrong = |trigger: &Trigger| {
            if !can_be_held(&trigger.tool) {
                return Some(format!("{} is never held", trigger.tool));
            }
            compiled(trigger.command_pattern.as_deref()?).err()
        };
        self.triggers.iter().filter_map(|trigger| Some(self.told(&wrong(trigger)?))).collect()
    }

    fn told(&self, error: &str) -> String {
        format!("requirements.{}.trigger_tools: {error}; this trigger is left out", self.name)
    }
}

fn matches(trigger: &Trigger, command: Option<&str>) -> Result<bool, String> {
    let Some(pattern) = &trigger.command_pattern else {
        return Ok(!command.is_some_and(is_about_requirements));
    };
    let Some(command) = command else { return Ok(false) };
    compiled(pattern)?.is_match(command).map_err(|error| unusable(pattern, &error))
}

fn compiled(pattern: &str) -> Result<Pattern, String> {
    Pattern::new(pattern, Case::Ignored).map_err(|error| unusable(pattern, &error))
}

fn unusable(pattern: &str, error: &str) -> String {
    format!("the pattern {pattern:?} cannot be used: {error}")
}

/// Whether a path, below the project or the home folder, lies in a folder of plans. A path that climbs may lie anywhere.
pub fn is_plan_file(path: &str) -> bool {
    let climbs = path.split('/').any(|part| part == "..");
    let lies_in = |folder: &&str| path.starts_with(*folder) || path.contains(&format!("/{folder}"));
    !climbs && PLAN_FOLDERS.iter().any(lies_in)
}
