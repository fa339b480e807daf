//! `leftoff workflow`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::Tone;
use engine::{Intent, WorkflowLine};
use serde_json::json;
use std::fmt::Write;
use std::process::ExitCode;

/// Workflow definitions: what there is, what they say, whether they are right
///
/// A project's own are `.leftoff/workflows/NAME.toml`, committed with the code; they take the place of built-in ones of the same name.
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
    /// All workflows, a line each
    List,
    /// A definition as it is written
    Show {
        /// Workflow to show [default: the one that `start` uses]
        name: Option<String>,
    },
    /// Every mistake, with file, line and what was expected; exit code 4 if there is one
    Check {
        /// Workflows to check [default: all of them]
        names: Vec<String>,
    },
    /// Write a commented definition to begin with
    New {
        /// Name of the workflow; the file is .leftoff/workflows/NAME.toml
        name: String,
    },
    /// The JSON Schema of a definition, for editors
    Schema,
}

impl Run for WorkflowCommand {
    fn run(self, globals: &Globals) -> Outcome {
        match self.action {
            Action::List => list(globals),
            Action::Show { name } => show(name.as_deref(), globals),
            Action::Check { names } => check(&names, globals),
            Action::New { name } => new(&name, globals),
            Action::Schema => {
                globals.out().json(&engine::workflow_schema());
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn list(globals: &Globals) -> Outcome {
    let lines = globals.open(Intent::Query)?.workflows();
    let out = globals.out();
    if globals.json {
        let workflows: Vec<_> = lines.iter().map(as_json).collect();
        out.json(&json!({ "workflows": workflows }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for line in &lines {
        let what = match &line.checked {
            Ok(workflow) => format!("{} phases  {}", workflow.phases.len(), workflow.title),
            Err(mistakes) => out.paint(Tone::Bad, &format!("{} mistakes", mistakes.len())),
        };
        let origin = if line.origin.starts_with("built-in") { "built-in" } else { "project" };
        let _ = writeln!(text, "{:<24}  {origin:<8}  {what}", line.name);
    }
    out.text(&text);
    Ok(ExitCode::SUCCESS)
}

fn show(name: Option<&str>, globals: &Globals) -> Outcome {
    let engine = globals.open(Intent::Query)?;
    let source = engine.workflow_source(name)?;
    if globals.json {
        let line = WorkflowLine::from(source);
        globals.out().json(&as_json(&line));
    } else {
        globals.out().say(&format!("# {}", source.origin));
        globals.out().text(&source.text);
    }
    Ok(ExitCode::SUCCESS)
}

fn check(names: &[String], globals: &Globals) -> Outcome {
    let engine = globals.open(Intent::Query)?;
    let lines: Vec<WorkflowLine> = if names.is_empty() {
        engine.workflows()
    } else {
        let sources: Result<Vec<_>, _> =
            names.iter().map(|name| engine.workflow_source(Some(name))).collect();
        sources?.into_iter().map(WorkflowLine::from).collect()
    };
    let out = globals.out();
    let mistakes: Vec<String> = lines
        .iter()
        .filter_map(|line| line.checked.as_ref().err())
        .flatten()
        .map(ToString::to_string)
        .collect();
    if globals.json {
        let workflows: Vec<_> = lines.iter().map(as_json).collect();
        out.json(&json!({ "workflows": workflows }));
    } else {
        for mistake in &mistakes {
            out.text(mistake);
        }
    }
    if mistakes.is_empty() {
        out.say(&format!("{}, no mistakes", definitions(lines.len())));
        return Ok(ExitCode::SUCCESS);
    }
    let count =
        if mistakes.len() == 1 { "1 mistake".to_owned() } else { format!("{} mistakes", mistakes.len()) };
    Err(Failure::findings(
        format!("{count} in {}", definitions(lines.len())),
        Some("mend them, then check again: leftoff workflow check".to_owned()),
    ))
}

fn definitions(count: usize) -> String {
    if count == 1 { "1 definition".to_owned() } else { format!("{count} definitions") }
}

fn new(name: &str, globals: &Globals) -> Outcome {
    let engine = globals.open(Intent::Create)?;
    let shadows =
        engine.workflow_source(Some(name)).is_ok_and(|source| source.origin.starts_with("built-in"));
    let path = engine.new_workflow(name)?;
    let out = globals.out();
    if shadows {
        out.warn(&format!("in this project it takes the place of the built-in workflow '{name}'"));
    }
    if globals.json {
        out.json(&json!({ "path": path }));
    } else {
        out.text(&path.display().to_string());
        out.say(&format!("Edit it, then: leftoff workflow check {name} && leftoff start {name}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(line: &WorkflowLine) -> serde_json::Value {
    let (definition, mistakes) = match &line.checked {
        Ok(workflow) => (json!(workflow), Vec::new()),
        Err(mistakes) => (serde_json::Value::Null, mistakes.iter().map(mistake_json).collect()),
    };
    json!({ "name": line.name, "origin": line.origin, "definition": definition, "mistakes": mistakes })
}

fn mistake_json(mistake: &engine::FileMistake) -> serde_json::Value {
    json!({ "path": mistake.path, "line": mistake.line, "message": mistake.message, "hint": mistake.hint })
}
