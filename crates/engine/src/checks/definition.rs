//! Mistakes in a definition's expressions and patterns. Reading the rest is a layout's work.

use super::expression;
use crate::error::FileMistake;
use layouts::definition::Lines;
use model::workflow::{CheckKind, Workflow};

/// Everything that does not compile, with its line.
pub(crate) fn mistakes(workflow: &Workflow, lines: &Lines, origin: &str) -> Vec<FileMistake> {
    let mut mistakes = Vec::new();
    let mut add = |line: usize, message: String| {
        mistakes.push(FileMistake { path: origin.to_owned(), line, message, hint: None });
    };
    for phase in &workflow.phases {
        if let Some(Err(message)) = phase.when.as_deref().map(expression::compile) {
            let line = lines.of_when(&phase.id).map_or(1, |place| place.line);
            add(line, format!("`when` of phase '{}' does not compile: {message}", phase.id));
        }
        for check in &phase.checks {
            let line = lines.of_check(&phase.id, &check.id).map_or(1, |place| place.line);
            let wrong = match &check.kind {
                CheckKind::Expr { expr, .. } => expression::compile(expr).err(),
                CheckKind::Artifact { matches: Some(pattern), .. } => {
                    regex_lite::Regex::new(pattern).err().map(|error| error.to_string())
                }
                CheckKind::Artifact { matches: None, .. }
                | CheckKind::Command { .. }
                | CheckKind::Git { .. }
                | CheckKind::Items
                | CheckKind::Approval { .. } => None,
            };
            if let Some(message) = wrong {
                add(line, format!("check '{}' does not compile: {message}", check.id));
            }
        }
    }
    mistakes
}
