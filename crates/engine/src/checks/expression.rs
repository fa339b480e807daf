//! CEL expressions over evidence, session and run. Never touches the disk, and bounds what it is given.

use cel::objects::{Key, Map as CelMap};
use cel::{Context, ExecutionError, Program, Value as CelValue};
use model::gate::{CheckOutcome, shown};
use model::session::Session;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// What an expression can see.
pub(super) struct Scope {
    variables: Vec<(&'static str, Value)>,
}

impl Scope {
    pub(super) fn new(evidence: &Map<String, Value>, session: &Session) -> Self {
        let run = session.run().map_or(Value::Null, |run| {
            json!({ "workflow": run.workflow.name, "ordinal": run.ordinal, "phase": run.current().id() })
        });
        let about = json!({
            "id": session.id,
            "title": session.title,
            "goal": session.goal,
            "target": session.target,
            "layout": session.layout,
            "fields": session.fields,
        });
        let variables = vec![("evidence", Value::Object(evidence.clone())), ("session", about), ("run", run)];
        Self { variables }
    }

    /// Whether the expression holds, and what was found. One that cannot be evaluated has failed.
    pub(super) fn evaluate(&self, expr: &str) -> (CheckOutcome, Option<String>) {
        let program = match compile(expr) {
            Ok(program) => program,
            Err(message) => return (CheckOutcome::Failed, Some(message)),
        };
        let mut context = Context::default();
        for (name, value) in &self.variables {
            context.add_variable_from_value(*name, to_cel(value));
        }
        match program.execute(&context) {
            Ok(CelValue::Bool(true)) => (CheckOutcome::Passed, self.found(expr)),
            Ok(CelValue::Bool(false)) => (CheckOutcome::Failed, self.found(expr)),
            Ok(_) => (CheckOutcome::Failed, Some("the expression is neither true nor false".to_owned())),
            Err(error) => (CheckOutcome::Failed, Some(worded(&error))),
        }
    }

    /// The evidence that the expression names, with its values: what a reader wants to see first.
    fn found(&self, expr: &str) -> Option<String> {
        let evidence = self.variables.first()?.1.as_object()?;
        let named: Vec<String> = evidence
            .iter()
            .filter(|(name, _)| mentions(expr, name))
            .map(|(name, value)| format!("{name}={}", shown(value)))
            .collect();
        (!named.is_empty()).then(|| named.join(", "))
    }
}

/// The program, or why it does not compile, with the position.
pub(super) fn compile(expr: &str) -> Result<Program, String> {
    Program::compile(expr).map_err(|errors| {
        errors
            .errors
            .iter()
            .map(|error| format!("at {}:{}: {}", error.pos.0, error.pos.1 + 1, error.msg))
            .collect::<Vec<_>>()
            .join("; ")
    })
}

fn worded(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(name) => format!("'{name}' was not given"),
        ExecutionError::UndeclaredReference(name) => {
            format!("'{name}' is not known here; use evidence, session or run")
        }
        other => other.to_string(),
    }
}

/// Whether the expression reads this field: `evidence.name` or `evidence["name"]`.
fn mentions(expr: &str, name: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    expr.match_indices(name).any(|(at, _)| {
        let before = expr[..at].chars().next_back();
        let after = expr[at + name.len()..].chars().next();
        matches!(before, Some('.' | '"' | '\'')) && !after.is_some_and(continues)
    })
}

/// Whole numbers as CEL's `int`, so that arithmetic with literals works.
fn to_cel(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(flag) => CelValue::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => CelValue::Int(whole),
            None => CelValue::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => CelValue::String(Arc::new(text.clone())),
        Value::Array(values) => CelValue::List(Arc::new(values.iter().map(to_cel).collect())),
        Value::Object(fields) => {
            let map: HashMap<Key, CelValue> = fields
                .iter()
                .map(|(name, value)| (Key::String(Arc::new(name.clone())), to_cel(value)))
                .collect();
            CelValue::Map(CelMap { map: Arc::new(map) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expr: &str, evidence: Value) -> (CheckOutcome, Option<String>) {
        let scope = Scope { variables: vec![("evidence", evidence)] };
        scope.evaluate(expr)
    }

    #[test]
    fn expressions_compare_numbers_however_they_are_written() {
        for coverage in [json!(82), json!(82.0)] {
            let (outcome, _) = check("evidence.coverage >= 80.0", json!({ "coverage": coverage }));
            assert_eq!(outcome, CheckOutcome::Passed);
        }
        let (outcome, found) = check("evidence.coverage >= 80.0", json!({ "coverage": 65 }));
        assert_eq!((outcome, found.as_deref()), (CheckOutcome::Failed, Some("coverage=65")));
        let (outcome, _) = check("evidence.passed + 1 == evidence.total", json!({"passed": 1, "total": 2}));
        assert_eq!(outcome, CheckOutcome::Passed);
    }

    #[test]
    fn missing_evidence_is_a_failed_check_that_names_the_field() {
        let (outcome, found) = check("evidence.coverage >= 80.0", json!({}));
        assert_eq!((outcome, found.as_deref()), (CheckOutcome::Failed, Some("'coverage' was not given")));
    }

    #[test]
    fn what_is_no_answer_has_failed() {
        assert_eq!(check("evidence.n + 1", json!({ "n": 1 })).0, CheckOutcome::Failed);
        assert_eq!(check("nobody.knows", json!({})).0, CheckOutcome::Failed);
        assert!(compile("evidence.coverage >=").is_err_and(|message| message.contains("1:")));
    }
}
