//! The output of those `leftoff req` commands that change nothing.

use super::Speaker;
use super::original::{self, Look};
use crate::commands::Outcome;
use crate::commands::init::places;
use crate::failure::Failure;
use crate::globals::Globals;
use crate::install::wiring;
use crate::ui::{self, counted};
use engine::{Engine, RequirementList, RequirementRecords, TrackedBranch};
use serde_json::json;
use std::process::ExitCode;

pub fn list(engine: &Engine, asked: Option<&str>, globals: &Globals) -> Outcome {
    show(&engine.requirements().list(None, asked)?, engine, globals)
}

pub fn status(list: &RequirementList, summary: bool, engine: &Engine, speaker: Speaker<'_>) -> Outcome {
    let globals = speaker.globals;
    if speaker.has_original_words() {
        let look = match (summary, globals.verbose) {
            (true, _) => Look::Summary,
            (false, false) => Look::Focused,
            (false, true) => Look::Whole,
        };
        globals.out().text(&original::status(list, look))?;
        return Ok(ExitCode::SUCCESS);
    }
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
    ui::answer::warn(&list.warnings, &out);
    if list.requirements.is_empty() {
        out.say("no requirements here; they are set in .claude/requirements.yaml and `[requirement.*]` of workflows");
    } else {
        out.text(&ui::requirements::list(list, engine.now(), &out))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn sessions(engine: &Engine, only_here: bool, speaker: Speaker<'_>) -> Outcome {
    let globals = speaker.globals;
    let records = engine.requirements().records(only_here)?;
    let RequirementRecords { sessions, branch } = &records;
    let out = globals.out();
    if speaker.has_original_words() {
        let on_record = ui::requirements::sessions(sessions, branch, engine.now(), &out);
        out.text(&original::sessions(sessions, &on_record))?;
    } else if globals.json {
        out.json(&records)?;
    } else if sessions.is_empty() && branch.is_empty() {
        out.say("no active agent sessions, and none recorded on this branch");
    } else {
        out.text(&ui::requirements::sessions(sessions, branch, engine.now(), &out))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn branches(engine: &Engine, speaker: Speaker<'_>) -> Outcome {
    let globals = speaker.globals;
    let tracked = TrackedBranch::all(engine.project())?;
    let out = globals.out();
    if speaker.has_original_words() {
        out.text(&original::branches(&tracked))?;
    } else if globals.json {
        out.json(&json!({ "branches": tracked }))?;
    } else if tracked.is_empty() {
        out.say("no branch has recorded requirements");
    } else {
        out.text(&lines(&tracked))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn pruned(gone: &[TrackedBranch], speaker: Speaker<'_>) -> Outcome {
    let globals = speaker.globals;
    let out = globals.out();
    if speaker.has_original_words() {
        out.text(&original::pruned(gone.len()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if globals.json {
        out.json(&json!({ "removed": gone }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !gone.is_empty() {
        out.text(&lines(gone))?;
    }
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

/// Checks that agents are set up, and that the configuration and the recorded state are valid.
pub fn verify(engine: &Engine, speaker: Speaker<'_>) -> Outcome {
    let globals = speaker.globals;
    let (wired, findings) = wiring(&places(globals, false), &places(globals, true));
    let settings = engine.requirements().settings();
    let mut wrong = settings.map(|settings| settings.problems).unwrap_or_default();
    wrong.extend(findings.into_iter().map(|finding| finding.message));
    if wired.is_empty() {
        wrong.push("no agent is connected here: leftoff init --agent claude".to_owned());
    }
    let out = globals.out();
    if globals.json {
        out.json(&json!({ "wired": wired, "wrong": wrong }))?;
    } else {
        for one in &wired {
            out.say(&format!("{} is connected", one.agent));
        }
        for line in &wrong {
            out.text(&format!("{}\n", engine::words::one_line(line, 400)))?;
        }
    }
    if speaker.has_original_words() {
        out.text(original::verified(wrong.is_empty()))?;
    }
    if wrong.is_empty() {
        out.say("no problems found");
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::findings(counted(wrong.len(), "finding"), None))
}
