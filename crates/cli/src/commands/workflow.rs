//! `leftoff workflow`

use crate::commands::{Outcome, Run, answered};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::{self, Tone, counted};
use engine::{Checked, Engine, FileMistake, Intent, Request, WorkflowLine};
use model::hint::Hint;
use model::words;
use serde_json::json;
use std::fmt::Write;
use std::process::ExitCode;

/// Workflow definitions: list, show, check
///
/// A project's own definitions are `.leftoff/workflows/NAME.toml`, committed with the code; they replace built-in ones
/// of the same name. Definitions in another tool's files are shown with the name of its layout.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff workflow list\n  leftoff workflow new ship\n  leftoff workflow check\n  leftoff workflow schema > workflow.schema.json"
)]
pub struct WorkflowCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List all workflows, one per line
    List,
    /// Print the text of a definition
    Show {
        /// The workflow to show [default: the one that `start` uses]
        name: Option<String>,
    },
    /// Report every mistake, with file, line and what was expected; exit code 4 if there is one
    Check {
        /// The workflows to check [default: all]
        names: Vec<String>,
    },
    /// Write a definition to start from, with comments
    New {
        /// The name of the workflow; the file is .leftoff/workflows/NAME.toml
        name: String,
    },
    /// Move the current session to its workflow's current definition; only a person can
    Update,
    /// Print the JSON Schema of a definition, for editors
    Schema,
}

impl Run for WorkflowCommand {
    fn run(self, globals: &Globals) -> Outcome {
        match self.action {
            Action::List => list(globals),
            Action::Show { name } => show(name.as_deref(), globals),
            Action::Check { names } => check(&names, globals),
            Action::New { name } => new(&name, globals),
            Action::Update => update(globals),
            Action::Schema => {
                globals.out().json(&engine::workflow_schema())?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// Opens the project. If this folder is not in a project, opens the folder, because built-in workflows are available
/// everywhere. Creates nothing.
fn opened(globals: &Globals) -> Result<Engine, Failure> {
    match globals.open(Intent::Query) {
        Err(engine::Error::NoProject { .. }) => Ok(globals.open(Intent::Create)?),
        opened => Ok(opened?),
    }
}

fn list(globals: &Globals) -> Outcome {
    let lines = opened(globals)?.workflows().list();
    let out = globals.out();
    if globals.json {
        let workflows: Vec<_> = lines.iter().map(as_json).collect();
        out.json(&json!({ "workflows": workflows }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for line in &lines {
        let what = match &line.checked {
            Checked::Good(workflow) => format!("{} phases  {}", workflow.phases.len(), workflow.title),
            Checked::OfItsTarget(_) => "phases of its target".to_owned(),
            Checked::Mistaken(mistakes) => out.paint(Tone::Bad, &counted(mistakes.len(), "mistake")),
        };
        let origin = line.layout.unwrap_or(if line.is_builtin { "built-in" } else { "project" });
        let _ = writeln!(text, "{:<24}  {origin:<8}  {what}", line.name);
    }
    out.text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn show(name: Option<&str>, globals: &Globals) -> Outcome {
    let engine = opened(globals)?;
    let (source, checked) = engine.workflows().source(name)?;
    if globals.json {
        globals.out().json(&as_json(&WorkflowLine::from((source, checked))))?;
    } else {
        globals.out().say(&format!("# {}", source.origin));
        globals.out().text(&source.text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check(names: &[String], globals: &Globals) -> Outcome {
    let engine = globals.open(Intent::Query)?;
    let lines: Vec<WorkflowLine> = if names.is_empty() {
        engine.workflows().list()
    } else {
        let sources: Result<Vec<_>, _> =
            names.iter().map(|name| engine.workflows().source(Some(name))).collect();
        sources?.into_iter().map(WorkflowLine::from).collect()
    };
    let out = globals.out();
    let mistakes: Vec<String> = lines.iter().flat_map(mistakes_of).map(ToString::to_string).collect();
    if globals.json {
        let workflows: Vec<_> = lines.iter().map(as_json).collect();
        out.json(&json!({ "workflows": workflows }))?;
    } else {
        for mistake in &mistakes {
            out.text(mistake)?;
        }
    }
    if mistakes.is_empty() {
        out.say(&format!("{}, no mistakes", counted(lines.len(), "definition")));
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::findings(
        format!("{} in {}", counted(mistakes.len(), "mistake"), counted(lines.len(), "definition")),
        Some(Hint::new("fix them, then check again: ").run(words!["workflow", "check"])),
    ))
}

fn new(name: &str, globals: &Globals) -> Outcome {
    let engine = globals.open(Intent::Create)?;
    let shadows = engine.workflows().source(Some(name)).is_ok_and(|(source, _)| source.is_builtin);
    let path = engine.workflows().create(name)?;
    let out = globals.out();
    if shadows {
        out.warn(&format!("in this project, the new definition replaces the built-in workflow '{name}'"));
    }
    if globals.json {
        out.json(&json!({ "path": path }))?;
    } else {
        out.text(&path.display().to_string())?;
        out.say(&format!("Edit it, then: leftoff workflow check {name} && leftoff start {name}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows what the current definition would change in the session, and asks whether to use it.
fn update(globals: &Globals) -> Outcome {
    let mut engine = globals.command()?;
    let changes = engine.workflows().definition_changes()?;
    let asks = !changes.is_empty() && globals.options.person_present && !globals.yes;
    let out = globals.out();
    for change in &changes {
        if asks { out.raw_error(change) } else { out.say(change) }
    }
    if asks && !ui::ask::yes("Move the session to this definition?", globals) {
        return Err(Failure::findings("nothing was changed".to_owned(), None));
    }
    let answer = engine.execute(Request::UpdateDefinition { seen: changes })?;
    answered("now follows the current definition of its workflow", &answer, globals)
}

fn mistakes_of(line: &WorkflowLine) -> &[FileMistake] {
    match &line.checked {
        Checked::Good(_) | Checked::OfItsTarget(_) => &[],
        Checked::Mistaken(mistakes) => mistakes,
    }
}

fn as_json(line: &WorkflowLine) -> serde_json::Value {
    let definition = match &line.checked {
        Checked::Good(workflow) => json!(workflow),
        Checked::OfItsTarget(_) | Checked::Mistaken(_) => serde_json::Value::Null,
    };
    let needs_target = match &line.checked {
        Checked::OfItsTarget(why) => Some(why),
        Checked::Good(_) | Checked::Mistaken(_) => None,
    };
    let mistakes: Vec<_> = mistakes_of(line).iter().map(mistake_json).collect();
    json!({
        "name": line.name,
        "origin": line.origin,
        "layout": line.layout,
        "definition": definition,
        "needs_target": needs_target,
        "mistakes": mistakes,
    })
}

fn mistake_json(mistake: &FileMistake) -> serde_json::Value {
    json!({ "path": mistake.path, "line": mistake.line, "message": mistake.message, "hint": mistake.hint })
}
