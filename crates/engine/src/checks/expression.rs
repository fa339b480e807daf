//! CEL expressions over evidence, session, run, and whether files exist. Bounded in length and time.

use crate::redact;
use cel::objects::{Key, Map as CelMap};
use cel::{Context, ExecutionError, Program, Value as CelValue};
use model::gate::{CheckOutcome, quoted};
use model::session::Session;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The longest expression that is compiled.
const LONGEST: usize = 4096;
/// A budget far above what any sensible expression takes; one that loops over loops runs out of it.
const LONGEST_RUN: Duration = Duration::from_secs(1);

/// What an expression can see.
pub(crate) struct Scope {
    variables: Vec<(&'static str, Value)>,
    /// Evidence that is of another type than declared.
    mistyped: Vec<String>,
    /// What `exists` looks below.
    workspace: PathBuf,
}

impl Scope {
    pub(super) fn new(
        evidence: &Map<String, Value>,
        mistyped: Vec<String>,
        session: &Session,
        workspace: &Path,
    ) -> Self {
        let mut usable = evidence.clone();
        usable.retain(|name, _| !mistyped.contains(name));
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
        let artifacts: Map<String, Value> = session
            .artifacts
            .iter()
            .map(|(path, artifact)| {
                (path.clone(), json!({ "size": artifact.newest.size, "version": artifact.newest.version }))
            })
            .collect();
        let counts = session.run().map(|run| run.current().items).unwrap_or_default();
        let items = json!({ "total": counts.total, "done": counts.done, "open": counts.open() });
        let variables = vec![
            ("evidence", Value::Object(usable)),
            ("session", about),
            ("run", run),
            ("artifacts", Value::Object(artifacts)),
            ("items", items),
        ];
        Self { variables, mistyped, workspace: workspace.to_owned() }
    }

    /// Whether the expression holds, and what was found. One that cannot be evaluated has failed.
    pub(super) fn evaluate(&self, expr: &str) -> (CheckOutcome, Option<String>) {
        match self.holds(expr) {
            Ok(true) => (CheckOutcome::Passed, self.found(expr)),
            Ok(false) => (CheckOutcome::Failed, self.found(expr)),
            Err(message) => (CheckOutcome::Failed, Some(message)),
        }
    }

    /// CEL has no budget of its own: it runs beside us, and is left to itself when it takes too long.
    pub(super) fn holds(&self, expr: &str) -> Result<bool, String> {
        let (sender, receiver) = channel();
        let (expr, variables, workspace) = (expr.to_owned(), self.variables.clone(), self.workspace.clone());
        std::thread::spawn(move || sender.send(execute(&expr, &variables, workspace)));
        match receiver.recv_timeout(LONGEST_RUN) {
            Ok(answer) => answer.map_err(|error| self.worded(error)),
            Err(RecvTimeoutError::Timeout) => Err("the expression ran over its budget of 1 s".to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err("the expression could not be evaluated".to_owned()),
        }
    }

    fn worded(&self, why: Unanswered) -> String {
        match why {
            Unanswered::Missing(name) if self.mistyped.contains(&name) => {
                format!("'{name}' is of another type than declared")
            }
            Unanswered::Missing(name) => format!("'{name}' was not given"),
            Unanswered::Other(why) => why,
        }
    }

    /// The evidence that the expression names, with its values: what a reader wants to see first.
    pub(super) fn found(&self, expr: &str) -> Option<String> {
        let evidence = self.variables.first()?.1.as_object()?;
        let named: Vec<String> = evidence
            .iter()
            .filter(|(name, _)| mentions(expr, name))
            .map(|(name, value)| format!("{name}={}", quoted(&redact::seen(name, value))))
            .collect();
        (!named.is_empty()).then(|| named.join(", "))
    }
}

/// Why an expression has no answer.
enum Unanswered {
    Missing(String),
    Other(String),
}

fn execute(expr: &str, variables: &[(&'static str, Value)], workspace: PathBuf) -> Result<bool, Unanswered> {
    let program = compile(expr).map_err(Unanswered::Other)?;
    let mut context = Context::default();
    for (name, value) in variables {
        context.add_variable_from_value(*name, to_cel(value));
    }
    let exists = move |path: Arc<String>| is_below(&workspace, &path);
    context.add_function("exists", exists).map_err(|error| Unanswered::Other(error.to_string()))?;
    match program.execute(&context) {
        Ok(CelValue::Bool(answer)) => Ok(answer),
        Ok(_) => Err(Unanswered::Other("the expression is neither true nor false".to_owned())),
        Err(ExecutionError::NoSuchKey(name)) => Err(Unanswered::Missing(name.to_string())),
        Err(ExecutionError::UndeclaredReference(name)) => Err(Unanswered::Other(format!(
            "'{name}' is not known here; use evidence, session, run or artifacts"
        ))),
        Err(other) => Err(Unanswered::Other(other.to_string())),
    }
}

/// Whether a file is there; a path that leads out of the workspace is not.
fn is_below(workspace: &Path, path: &str) -> bool {
    let leads_out =
        Path::new(path).components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    !leads_out && workspace.join(path).is_file()
}

/// The program, or why it does not compile, with the position.
pub(super) fn compile(expr: &str) -> Result<Program, String> {
    if expr.len() > LONGEST {
        return Err(format!("it has {} characters, and {LONGEST} is the most", expr.len()));
    }
    Program::compile(expr).map_err(|errors| {
        errors
            .errors
            .iter()
            .map(|error| format!("at {}:{}: {}", error.pos.0, error.pos.1 + 1, error.msg))
            .collect::<Vec<_>>()
            .join("; ")
    })
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
        let workspace = PathBuf::from("/nowhere");
        Scope { variables: vec![("evidence", evidence)], mistyped: Vec::new(), workspace }.evaluate(expr)
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
    fn evidence_of_another_type_is_no_evidence_and_named() {
        let scope = |mistyped: &[&str]| Scope {
            variables: vec![("evidence", json!({}))],
            mistyped: mistyped.iter().map(ToString::to_string).collect(),
            workspace: PathBuf::from("/nowhere"),
        };
        let (outcome, found) = scope(&["coverage"]).evaluate("evidence.coverage >= 80.0");
        let told = "'coverage' is of another type than declared";
        assert_eq!((outcome, found.as_deref()), (CheckOutcome::Failed, Some(told)));
    }

    #[test]
    fn an_expression_that_never_ends_runs_out_of_its_budget() {
        let many: Vec<u32> = (0..2_000).collect();
        let expr = "evidence.n.all(a, evidence.n.all(b, evidence.n.all(c, a + b + c >= 0)))";
        let (outcome, found) = check(expr, json!({ "n": many }));
        assert_eq!(outcome, CheckOutcome::Failed);
        assert_eq!(found.as_deref(), Some("the expression ran over its budget of 1 s"));
    }

    #[test]
    fn files_are_looked_for_below_the_workspace_only() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("requirements.md"), "x").expect("a file");
        let workspace = folder.path().to_owned();
        let scope = Scope { variables: Vec::new(), mistyped: Vec::new(), workspace };
        assert_eq!(scope.evaluate("exists('requirements.md')").0, CheckOutcome::Passed);
        for other in ["exists('nothing.md')", "exists('/etc/passwd')", "exists('../../etc/passwd')"] {
            assert_eq!(scope.evaluate(other).0, CheckOutcome::Failed, "{other}");
        }
    }

    #[test]
    fn what_is_no_answer_has_failed() {
        assert_eq!(check("evidence.n + 1", json!({ "n": 1 })).0, CheckOutcome::Failed);
        assert_eq!(check("nobody.knows", json!({})).0, CheckOutcome::Failed);
        assert!(compile("evidence.coverage >=").is_err_and(|message| message.contains("1:")));
    }
}
