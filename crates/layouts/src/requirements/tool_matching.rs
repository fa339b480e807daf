//! Matches tool calls with requirements. A pattern is compiled only if its tool matches.

use super::rule::{Requirement, Trigger};
use crate::pattern::{Case, Pattern};

/// The tools that can be blocked: those that write files, run commands, or enter and leave planning. No
/// configuration can block any other tool. As in the original framework, reading, delegating and tools of
/// other servers are always allowed.
const HELD: [&str; 6] = ["Edit", "Write", "MultiEdit", "Bash", "EnterPlanMode", "ExitPlanMode"];

/// Folders of plans. A plan is never blocked, because writing it may satisfy a requirement.
const PLAN_FOLDERS: [&str; 2] = [".claude/plans/", "docs/plans/"];

/// True if a tool can be blocked at all.
pub fn can_be_held(tool: &str) -> bool {
    HELD.contains(&tool)
}

/// True if a command line only pauses or resumes requirements. It may change the folder first.
pub fn is_pause_or_resume(command: &str) -> bool {
    does_only(command, |verb| matches!(verb, "pause" | "resume"))
}

/// True if a command line only manages requirements. A trigger without a pattern ignores such a command,
/// because the command may satisfy the requirement that would block it.
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

/// The verb of a command that manages requirements: `satisfy` in `leftoff req satisfy x`, in `req satisfy x`,
/// and in a call of the original program.
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
    /// True if this requirement applies to a call of a tool. Also returns a message about an invalid pattern,
    /// whose trigger is ignored.
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

    /// Messages about triggers that have no effect, because their tool is never blocked or their pattern is
    /// invalid.
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

/// True if a path is in a folder of plans. The path is relative to the project or the home folder. False for
/// a path with `..`, which may lead anywhere.
pub fn is_plan_file(path: &str) -> bool {
    let climbs = path.split('/').any(|part| part == "..");
    let lies_in = |folder: &&str| path.starts_with(*folder) || path.contains(&format!("/{folder}"));
    !climbs && PLAN_FOLDERS.iter().any(lies_in)
}
