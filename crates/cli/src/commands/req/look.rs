//! What `leftoff req` shows without changing anything.

use crate::commands::Outcome;
use crate::commands::init::places;
use crate::failure::Failure;
use crate::globals::Globals;
use crate::install::wiring;
use crate::ui::{self, counted};
use engine::{Engine, RequirementList, TrackedBranch};
use serde_json::json;
use std::process::ExitCode;

pub fn list(engine: &Engine, asked: Option<&str>, globals: &Globals) -> Outcome {
    show(&engine.requirement_list(asked)?, engine, globals)
}

pub fn status(list: &RequirementList, summary: bool, engine: &Engine, globals: &Globals) -> Outcome {
    if globals.json || !summary {
        return show(list, engine, globals);
    }
    let needed: Vec<&str> =
        list.requirements.iter().filter(|one| !one.satisfied).map(|one| one.name.as_str()).collect();
    let total = list.requirements.len();
    let line = match (total, needed.as_slice()) {
        (0, _) => "No requirements configured".to_owned(),
        (_, []) => format!("All {total} requirements satisfied"),
        (_, needed) => {
            let satisfied = total - needed.len();
            format!("{satisfied}/{total} requirements satisfied ({} needed)", needed.join(", "))
        }
    };
    globals.out().text(&format!("{line}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn show(list: &RequirementList, engine: &Engine, globals: &Globals) -> Outcome {
    let out = globals.out();
    if globals.json {
        out.json(list)?;
        return Ok(ExitCode::SUCCESS);
    }
    ui::session::warn(&list.warnings, &out);
    if list.requirements.is_empty() {
        out.say("nothing is required here; see .claude/requirements.yaml and `[requirement.*]` of workflows");
    } else {
        out.text(&ui::requirements::list(list, engine.now(), &out))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn sessions(engine: &Engine, only_here: bool, globals: &Globals) -> Outcome {
    let sessions = engine.requirement_sessions(only_here)?;
    let branch = engine.requirements_of_the_branch()?;
    let out = globals.out();
    if globals.json {
        out.json(&json!({ "sessions": sessions, "branch": branch }))?;
    } else if sessions.is_empty() && branch.is_empty() {
        out.say("no agent session is alive, and none is on record on this branch");
    } else {
        out.text(&ui::requirements::sessions(&sessions, &branch, engine.now(), &out))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn branches(engine: &Engine, globals: &Globals) -> Outcome {
    let tracked = engine.requirement_branches()?;
    let out = globals.out();
    if globals.json {
        out.json(&json!({ "branches": tracked }))?;
    } else if tracked.is_empty() {
        out.say("no branch has requirements on record");
    } else {
        out.text(&lines(&tracked))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn pruned(gone: &[TrackedBranch], globals: &Globals) -> Outcome {
    let out = globals.out();
    if globals.json {
        out.json(&json!({ "removed": gone }))?;
        return Ok(ExitCode::SUCCESS);
    }
    out.text(&lines(gone))?;
    out.say(&format!("removed {} of branches that are gone", counted(gone.len(), "file")));
    Ok(ExitCode::SUCCESS)
}

fn lines(branches: &[TrackedBranch]) -> String {
    let line = |one: &TrackedBranch| {
        format!(
            "{}: {}\n",
            engine::words::one_line(&one.branch, 100),
            counted(one.requirements, "requirement")
        )
    };
    branches.iter().map(line).collect()
}

/// Agents must be wired, and the configuration and the state must be usable.
pub fn verify(engine: &Engine, globals: &Globals) -> Outcome {
    let (wired, findings) = wiring(&places(globals, false), &places(globals, true));
    let mut wrong: Vec<String> = engine.requirement_problems();
    wrong.extend(findings.into_iter().map(|finding| finding.message));
    if wired.is_empty() {
        wrong.push("no agent is wired here: leftoff init --agent claude".to_owned());
    }
    let out = globals.out();
    if globals.json {
        out.json(&json!({ "wired": wired, "wrong": wrong }))?;
    } else {
        for one in &wired {
            out.say(&format!("{} is wired", one.agent));
        }
        for line in &wrong {
            out.text(&format!("{}\n", engine::words::one_line(line, 400)))?;
        }
    }
    if wrong.is_empty() {
        out.say("nothing is wrong");
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::findings(counted(wrong.len(), "finding"), None))
}
