//! Evaluates CEL expressions over evidence, session, run, items, and the existence of files. Limits their length and
//! time.

mod functions;

use super::items::set_ones;
use crate::redact;
use cel::{Context, ExecutionError, Program, Value as CelValue};
use layouts::cel_value::to_cel;
use model::gate::CheckOutcome;
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use model::typed_value::quoted;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The maximum length of an expression, in bytes.
const LONGEST: usize = 4096;
/// The maximum time for evaluating an expression. Only nested loops take longer.
const LONGEST_RUN: Duration = Duration::from_secs(1);
/// How many missing things a finding lists. Further ones are only counted.
const NAMED: usize = 10;

/// The variables of an expression.
pub(crate) struct Scope {
    variables: Vec<(&'static str, Value)>,
    /// Evidence that was given with the wrong type.
    mistyped: Vec<String>,
    /// The messages of evidence checks about missing or mistyped evidence, by field.
    reports: BTreeMap<String, String>,
    /// The workspace, in which the function `exists` looks for files.
    workspace: PathBuf,
}

impl Scope {
    pub(super) fn new(
        evidence: &Map<String, Value>,
        reports: BTreeMap<String, String>,
        session: &Session,
        items: Value,
        workspace: &Path,
    ) -> Self {
        let mistyped: Vec<String> =
            reports.keys().filter(|name| evidence.contains_key(*name)).cloned().collect();
        let mut usable = evidence.clone();
        usable.retain(|name, _| !mistyped.contains(name));
        let run = session.run().map_or(Value::Null, |run| {
            json!({
                "workflow": run.workflow.name,
                "ordinal": run.ordinal,
                "phase": run.current().id(),
                "evidence": handed_in(run),
            })
        });
        let about = json!({
            "id": session.id,
            "title": session.title,
            "goal": session.goal,
            "target": session.target,
            "layout": session.layout,
            "fields": set_ones(&session.fields),
        });
        let artifacts: Map<String, Value> = session
            .artifacts
            .iter()
            .map(|(path, artifact)| {
                (path.clone(), json!({ "size": artifact.newest.size, "version": artifact.newest.version }))
            })
            .collect();
        let variables = vec![
            ("evidence", Value::Object(usable)),
            ("session", about),
            ("run", run),
            ("artifacts", Value::Object(artifacts)),
            ("items", items),
        ];
        Self { variables, mistyped, reports, workspace: workspace.to_owned() }
    }

    /// Evaluates an expression and describes what was found. An expression that cannot be evaluated fails.
    pub(super) fn evaluate(&self, expr: &str) -> Evaluated {
        let evaluated = |outcome, found, names_what_is_missing| Evaluated {
            outcome,
            found,
            names_what_is_missing,
            absent: None,
        };
        match self.answer(expr) {
            Ok(Answer::Holds(true)) => evaluated(CheckOutcome::Passed, self.found(expr), false),
            Ok(Answer::Holds(false)) => evaluated(CheckOutcome::Failed, self.found(expr), false),
            Ok(Answer::Missing(none)) if none.is_empty() => {
                evaluated(CheckOutcome::Passed, Some("nothing is missing".to_owned()), true)
            }
            Ok(Answer::Missing(what)) => evaluated(CheckOutcome::Failed, Some(some_of(&what)), true),
            Err(why) => {
                let absent = why.field().filter(|name| names(expr, name)).map(ToOwned::to_owned);
                let found = Some(self.in_words(expr, why));
                Evaluated { absent, ..evaluated(CheckOutcome::Failed, found, false) }
            }
        }
    }

    /// Returns advice about missing evidence that an expression needs: the message of the evidence's own check if there
    /// is one, otherwise a sentence that says why the evidence is needed.
    pub(super) fn about_absent(&self, name: &str, needed_for: Option<&str>) -> String {
        let what_for = needed_for.map(|text| format!(" ({text})")).unwrap_or_default();
        self.reports.get(name).cloned().unwrap_or_else(|| format!("Field '{name}' is missing{what_for}"))
    }

    /// Describes the evidence in an expression with its types, for a message about a type error.
    fn types(&self, expr: &str) -> String {
        let evidence = self.variables.first().and_then(|(_, value)| value.as_object());
        let named: Vec<String> = evidence
            .into_iter()
            .flatten()
            .filter(|(name, _)| mentions(expr, name))
            .map(|(name, value)| format!("'{name}' is {}", type_of(value)))
            .collect();
        if named.is_empty() { "its input has the wrong type".to_owned() } else { named.join(", ") }
    }

    /// Returns `None` if an expression is true. Otherwise returns the reasons that the expression names, which may be
    /// empty.
    pub(super) fn why_not(&self, expr: &str) -> Result<Option<String>, String> {
        let answer = self.answer(expr).map_err(|why| self.in_words(expr, why))?;
        Ok(match answer {
            Answer::Holds(holds) => (!holds).then(String::new),
            Answer::Missing(what) => (!what.is_empty()).then(|| some_of(&what)),
        })
    }

    /// Evaluates an expression in a thread and abandons the thread if it takes too long, because CEL has no time limit
    /// of its own.
    fn answer(&self, expr: &str) -> Result<Answer, Failed> {
        let (sender, receiver) = channel();
        let (expr, variables, workspace) = (expr.to_owned(), self.variables.clone(), self.workspace.clone());
        std::thread::spawn(move || sender.send(execute(&expr, &variables, workspace)));
        match receiver.recv_timeout(LONGEST_RUN) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => {
                Err(Failed::Said("the expression exceeded its time limit of 1 s".to_owned()))
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(Failed::Said("the expression could not be evaluated".to_owned()))
            }
        }
    }

    fn in_words(&self, expr: &str, why: Failed) -> String {
        match why {
            Failed::Missing(name) if self.mistyped.contains(&name) => {
                format!("'{name}' does not have its declared type")
            }
            Failed::Missing(name) => format!("'{name}' was not given"),
            Failed::Types(needed) => format!("{}; needed: {needed}", self.types(expr)),
            Failed::Said(why) => why,
        }
    }

    /// Describes the evidence in an expression with its values.
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

/// The result of an expression.
pub(super) struct Evaluated {
    pub(super) outcome: CheckOutcome,
    pub(super) found: Option<String>,
    /// True if the result of the expression is itself a list of what is missing.
    pub(super) names_what_is_missing: bool,
    /// The evidence that the expression reads and nobody submitted. The expression was not evaluated.
    pub(super) absent: Option<String>,
}

enum Answer {
    Holds(bool),
    /// The expression returned descriptions of missing things; an empty list means that nothing is missing.
    Missing(Vec<String>),
}

/// The reason why an expression has no result.
enum Failed {
    Said(String),
    Missing(String),
    /// The operands have the wrong type. Contains the types that the operator needs.
    Types(&'static str),
}

impl Failed {
    fn field(&self) -> Option<&str> {
        match self {
            Self::Missing(name) => Some(name),
            Self::Said(_) | Self::Types(_) => None,
        }
    }
}

fn execute(expr: &str, variables: &[(&'static str, Value)], workspace: PathBuf) -> Result<Answer, Failed> {
    let program = compile(expr).map_err(Failed::Said)?;
    let mut context = Context::default();
    for (name, value) in variables {
        context.add_variable_from_value(*name, to_cel(value));
    }
    functions::add(&mut context, workspace).map_err(|error| Failed::Said(error.to_string()))?;
    let neither = || Failed::Said("the result is not true, false or a list of strings".to_owned());
    match program.execute(&context) {
        Ok(CelValue::Bool(holds)) => Ok(Answer::Holds(holds)),
        Ok(CelValue::List(words)) => texts(&words).map(Answer::Missing).ok_or_else(neither),
        Ok(_) => Err(neither()),
        Err(error) => Err(worded(&error)),
    }
}

fn texts(values: &[CelValue]) -> Option<Vec<String>> {
    let text = |value: &CelValue| match value {
        CelValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    values.iter().map(text).collect()
}

fn some_of(what: &[String]) -> String {
    let more = what.len().saturating_sub(NAMED);
    let named = what[..what.len().min(NAMED)].join("; ");
    if more > 0 { format!("{named}; and {more} more") } else { named }
}

/// Returns the evidence of the run's finished phases, by phase.
fn handed_in(run: &Run) -> Map<String, Value> {
    let evidence = |phase: &Phase| {
        let attempt = phase.last_attempt().filter(|_| phase.is_done());
        attempt.map(|attempt| attempt.report.evidence.clone()).unwrap_or_default()
    };
    run.phases.iter().map(|phase| (phase.id().to_string(), Value::Object(evidence(phase)))).collect()
}

/// Compiles an expression. The error includes its position.
pub(crate) fn compile(expr: &str) -> Result<Program, String> {
    if expr.len() > LONGEST {
        return Err(format!("the expression has {} characters; the maximum is {LONGEST}", expr.len()));
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

/// Words an evaluation error in terms of evidence. The evaluator's own messages mention its functions, which mean
/// nothing to whoever submitted the evidence.
fn worded(error: &ExecutionError) -> Failed {
    match error {
        ExecutionError::NoSuchKey(name) => Failed::Missing(name.to_string()),
        ExecutionError::UndeclaredReference(name) => {
            Failed::Said(format!("'{name}' is unknown; use evidence, session, run, items or artifacts"))
        }
        ExecutionError::NoSuchOverload(call) => Failed::Types(needed_by(call.function())),
        ExecutionError::ValuesNotComparable(..) => Failed::Types(needed_by("_<_")),
        ExecutionError::UnsupportedBinaryOperator(..) => Failed::Types(needed_by("_+_")),
        ExecutionError::UnsupportedTargetType { .. }
        | ExecutionError::NotSupportedAsMethod { .. }
        | ExecutionError::UnexpectedType { .. }
        | ExecutionError::UnsupportedKeyType(_)
        | ExecutionError::UnsupportedIndex(..) => Failed::Types(needed_by("")),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            Failed::Said("the expression divides by zero".to_owned())
        }
        // All other errors of the evaluator. Some of its variants are deprecated and cannot be named here.
        other => Failed::Said(other.to_string()),
    }
}

/// Returns the operand types that an operator needs.
fn needed_by(operator: &str) -> &'static str {
    match operator {
        "_&&_" | "_||_" | "!_" | "@not_strictly_false" | "_?_:_" => "true or false",
        "_<_" | "_<=_" | "_>_" | "_>=_" => "two numbers, or two strings",
        "_+_" | "_-_" | "_*_" | "_/_" | "_%_" | "-_" => "numbers",
        "size" => "a string, a list or an object",
        "@in" | "_in_" => "a list or an object",
        _ => "another type",
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// True if the expression mentions this field, as in `evidence.name` or `evidence["name"]`.
fn mentions(expr: &str, name: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    expr.match_indices(name).any(|(at, _)| {
        let before = expr[..at].chars().next_back();
        let after = expr[at + name.len()..].chars().next();
        matches!(before, Some('.' | '"' | '\'')) && !after.is_some_and(continues)
    })
}

/// True if the expression reads this field of the submitted evidence. The evidence of earlier phases does not count.
fn names(expr: &str, field: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    let plain = format!("evidence.{field}");
    let is_plain = |at: usize| {
        let is_whole = !expr[at + plain.len()..].chars().next().is_some_and(continues);
        let is_part = expr[..at].chars().next_back().is_some_and(|before| continues(before) || before == '.');
        is_whole && !is_part
    };
    expr.match_indices(&plain).any(|(at, _)| is_plain(at))
        || expr.contains(&format!("evidence[\"{field}\"]"))
        || expr.contains(&format!("evidence['{field}']"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expr: &str, evidence: Value) -> (CheckOutcome, Option<String>) {
        let workspace = PathBuf::from("/nowhere");
        let variables = vec![("evidence", evidence)];
        let scope = Scope { variables, mistyped: Vec::new(), reports: BTreeMap::new(), workspace };
        let came_to = scope.evaluate(expr);
        (came_to.outcome, came_to.found)
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
    fn evidence_that_is_missing_is_named_for_what_needs_it_and_in_the_words_that_were_said_of_it() {
        let reports = BTreeMap::from([("n".to_owned(), "Field 'n' is required but missing".to_owned())]);
        let scope = Scope {
            variables: vec![("evidence", json!({"o": {}}))],
            mistyped: Vec::new(),
            reports,
            workspace: PathBuf::from("/nowhere"),
        };
        let absent = |expr: &str| scope.evaluate(expr).absent;
        assert_eq!(absent("evidence.n > 0").as_deref(), Some("n"));
        assert_eq!(absent("evidence[\"odd-name\"] > 0").as_deref(), Some("odd-name"));
        assert_eq!(absent("evidence.o.n > 0"), None, "a part of what was given");
        assert_eq!(scope.about_absent("n", Some("more of them")), "Field 'n' is required but missing");
        assert_eq!(scope.about_absent("m", Some("more of them")), "Field 'm' is missing (more of them)");
    }

    #[test]
    fn evidence_of_another_type_is_no_evidence_and_named() {
        let scope = |mistyped: &[&str]| Scope {
            variables: vec![("evidence", json!({}))],
            mistyped: mistyped.iter().map(ToString::to_string).collect(),
            reports: BTreeMap::new(),
            workspace: PathBuf::from("/nowhere"),
        };
        let Evaluated { outcome, found, .. } = scope(&["coverage"]).evaluate("evidence.coverage >= 80.0");
        let reports = "'coverage' does not have its declared type";
        assert_eq!((outcome, found.as_deref()), (CheckOutcome::Failed, Some(reports)));
    }

    #[test]
    fn evidence_of_a_wrong_type_is_told_in_words_of_evidence() {
        for (expr, evidence, expected) in [
            (
                "evidence.a && evidence.b",
                json!({"a": "yes", "b": 7}),
                "'a' is a string, 'b' is a number; needed: true or false",
            ),
            ("!evidence.a", json!({"a": 1}), "'a' is a number; needed: true or false"),
            ("evidence.n > 0", json!({"n": "many"}), "'n' is a string; needed: two numbers, or two strings"),
            ("evidence.n - 1 == 0", json!({"n": "one"}), "'n' is a string; needed: numbers"),
            (
                "size(evidence.n) > 0",
                json!({"n": 7}),
                "'n' is a number; needed: a string, a list or an object",
            ),
            ("'x' in evidence.n", json!({"n": 7}), "'n' is a number; needed: a list or an object"),
            ("evidence.n / 0 == 1", json!({"n": 7}), "the expression divides by zero"),
        ] {
            let (outcome, found) = check(expr, evidence);
            assert_eq!((outcome, found.as_deref()), (CheckOutcome::Failed, Some(expected)), "{expr}");
        }
    }

    #[test]
    fn an_expression_that_never_ends_runs_out_of_its_budget() {
        let many: Vec<u32> = (0..2_000).collect();
        let expr = "evidence.n.all(a, evidence.n.all(b, evidence.n.all(c, a + b + c >= 0)))";
        let (outcome, found) = check(expr, json!({ "n": many }));
        assert_eq!(outcome, CheckOutcome::Failed);
        assert_eq!(found.as_deref(), Some("the expression exceeded its time limit of 1 s"));
    }

    #[test]
    fn files_are_looked_for_below_the_workspace_only() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("requirements.md"), "x").expect("a file");
        let workspace = folder.path().to_owned();
        let scope =
            Scope { variables: Vec::new(), mistyped: Vec::new(), reports: BTreeMap::new(), workspace };
        assert_eq!(scope.evaluate("exists('requirements.md')").outcome, CheckOutcome::Passed);
        for other in ["exists('nothing.md')", "exists('/etc/passwd')", "exists('../../etc/passwd')"] {
            assert_eq!(scope.evaluate(other).outcome, CheckOutcome::Failed, "{other}");
        }
    }

    #[test]
    fn a_list_names_what_is_missing_and_holds_when_it_is_empty() {
        let expr = "numbers(evidence.n).filter(n, n > 2).map(n, 'part ' + string(n) + ' is missing')";
        let passed = Some("nothing is missing".to_owned());
        assert_eq!(check(expr, json!({ "n": 2 })), (CheckOutcome::Passed, passed));
        let named = Some("part 3 is missing; part 4 is missing".to_owned());
        assert_eq!(check(expr, json!({ "n": 4 })), (CheckOutcome::Failed, named));
        let (_, many) = check(expr, json!({ "n": 14 }));
        assert!(many.is_some_and(|many| many.ends_with("part 12 is missing; and 2 more")));
        for (n, said) in [(json!("many"), "another type"), (json!(1001), "the maximum is 1000")] {
            let (outcome, found) = check(expr, json!({ "n": n }));
            assert_eq!(outcome, CheckOutcome::Failed);
            assert!(found.as_ref().is_some_and(|found| found.contains(said)), "{found:?}");
        }
        let (outcome, found) = check("evidence.n", json!({ "n": [1, 2] }));
        let neither = Some("the result is not true, false or a list of strings".to_owned());
        assert_eq!((outcome, found), (CheckOutcome::Failed, neither));
    }

    #[test]
    fn numbers_are_summed() {
        let expr = "sum(evidence.n) == 6";
        assert_eq!(check(expr, json!({ "n": [1, 2, 3] })).0, CheckOutcome::Passed);
        assert_eq!(check(expr, json!({ "n": [] })).0, CheckOutcome::Failed);
        let (outcome, found) = check(expr, json!({ "n": [1, "two"] }));
        assert_eq!(outcome, CheckOutcome::Failed);
        assert!(found.as_ref().is_some_and(|found| found.contains("whole numbers")), "{found:?}");
    }

    #[test]
    fn what_is_no_answer_has_failed() {
        assert_eq!(check("evidence.n + 1", json!({ "n": 1 })).0, CheckOutcome::Failed);
        assert_eq!(check("nobody.knows", json!({})).0, CheckOutcome::Failed);
        assert!(compile("evidence.coverage >=").is_err_and(|message| message.contains("1:")));
    }
}
