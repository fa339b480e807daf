//! Matches tool calls with requirements. Compiles a pattern only for a matching tool.

use super::rule::{Requirement, Trigger};
use crate::pattern::{Case, Pattern};

/// Tools that can be blocked: those that write files, run commands, or enter and leave planning. No other
/// tool is ever blocked, whatever the configuration says: as in the original, reading, delegating and tools
/// of other servers are always allowed.
const HELD: [&str; 6] = ["Edit", "Write", "MultiEdit", "Bash", "EnterPlanMode", "ExitPlanMode"];

/// Folders of plans. Plans are never blocked, because a plan may be what satisfies a requirement.
const PLAN_FOLDERS: [&str; 2] = [".claude/plans/", "docs/plans/"];

/// True if a tool can be blocked at all.
pub fn can_be_held(tool: &str) -> bool {
    HELD.contains(&tool)
}

/// True if a command line only pauses or resumes requirements, possibly after changing the folder.
pub fn is_pause_or_resume(command: &str) -> bool {
    does_only(command, |verb| matches!(verb, "pause" | "resume"))
}

/// True if a command line is only about requirements: a command that satisfies one requirement must not be
/// blocked by another.
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

/// The verb of a command about requirements: `satisfy` in `leftoff req satisfy x`, in `req satisfy x`, and in
/// a call of the original program.
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
    /// True if a call of a tool triggers this requirement. An invalid pattern is returned as a message, and
    /// its trigger is ignored.
    pub fn is_triggered_by(&self, tool: &str, command: Option<&str>) -> (bool, Option<String>) {
        let mut wrong = None;
        if !can_be_held(tool) {
            return (false, wrong);
        }
        for trigger in self.triggers.iter().filter(|trigger| trigger.tool == tool) {
            match matches(trigger, command) {
                Ok(true) => return (true, wrong),
                Ok(false) => {}
                Err(error) => wrong = Some(self.ignored(&error)),
            }
        }
        (false, wrong)
    }

    /// Messages about triggers without effect: tools that are never blocked, and patterns that cannot be
    /// used.
    pub fn wrong_triggers(&self) -> Vec<String> {
        let wrong = |trigger: &Trigger| {
            if !can_be_held(&trigger.tool) {
                return Some(format!("{} is never blocked", trigger.tool));
            }
            compiled(trigger.command_pattern.as_deref()?).err()
        };
        self.triggers.iter().filter_map(|trigger| Some(self.ignored(&wrong(trigger)?))).collect()
    }

    fn ignored(&self, error: &str) -> String {
        format!("requirements.{}.trigger_tools: {error}; this trigger is ignored", self.name)
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

/// True if a path, which is relative to the project or the home folder, is in a folder of plans. A path with
/// `..` never is, because it may lead anywhere.
pub fn is_plan_file(path: &str) -> bool {
    let climbs = path.split('/').any(|part| part == "..");
    let lies_in = |folder: &&str| path.starts_with(*folder) || path.contains(&format!("/{folder}"));
    !climbs && PLAN_FOLDERS.iter().any(lies_in)
}
