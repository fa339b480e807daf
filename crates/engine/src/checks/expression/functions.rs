//! Adds functions to CEL: the existence of a file, the numbers from 1 to a maximum, and the sum of a list.

use cel::{Context, DeclarationError, ExecutionError, Value};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The maximum length of a list of numbers. Nobody counts further by hand.
const MOST_NUMBERS: i64 = 1_000;

pub(super) fn add(context: &mut Context<'_, '_>, workspace: PathBuf) -> Result<(), DeclarationError> {
    context.add_function("exists", move |path: Arc<String>| is_below(&workspace, &path))?;
    context.add_function("numbers", numbers)?;
    context.add_function("sum", sum)
}

/// True if the path exists below the workspace.
fn is_below(workspace: &Path, path: &str) -> bool {
    let leads_out =
        Path::new(path).components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    !leads_out && workspace.join(path).is_file()
}

/// Returns the numbers from 1 to `last`.
fn numbers(last: i64) -> Result<Value, ExecutionError> {
    if last > MOST_NUMBERS {
        return Err(ExecutionError::function_error(
            "numbers",
            format!("{last} numbers are too many; the maximum is {MOST_NUMBERS}"),
        ));
    }
    Ok(Value::List(Arc::new((1..=last).map(Value::Int).collect())))
}

#[allow(clippy::needless_pass_by_value, reason = "as functions of expressions are handed their arguments")]
fn sum(values: Arc<Vec<Value>>) -> Result<Value, ExecutionError> {
    let mut total = 0_i64;
    for value in values.iter() {
        let Value::Int(number) = value else {
            return Err(ExecutionError::function_error("sum", "not all values are whole numbers"));
        };
        total = total.saturating_add(*number);
    }
    Ok(Value::Int(total))
}
