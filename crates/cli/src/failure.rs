//! Failures, as text on stderr and as exit codes. Errors are put into words for a terminal, and into JSON for a
//! program, only here.

use crate::globals::Globals;
use crate::ui::Out;
use engine::Class;
use engine::view::CheckView;
use model::hint::{CommandLine, Hint};
use model::words;
use serde_json::json;
use std::ffi::OsString;
use std::process::ExitCode;

pub const GATE_DID_NOT_PASS: u8 = 5;
const WRONG_USAGE: u8 = 2;

#[derive(Debug)]
pub struct Failure {
    kind: String,
    message: String,
    hint: Option<Hint>,
    code: u8,
    gate: Option<Box<Missing>>,
}

/// Why a gate did not pass, for programs.
#[derive(Debug)]
struct Missing {
    checks: Vec<CheckView>,
    next: Option<CommandLine>,
}

impl Failure {
    pub fn wrong_usage(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self {
            kind: "wrong_usage".to_owned(),
            message: message.into(),
            hint: Some(hint.into()),
            code: WRONG_USAGE,
            gate: None,
        }
    }

    pub fn failed(message: String, hint: impl Into<Hint>) -> Self {
        Self {
            kind: "io".to_owned(),
            message,
            hint: Some(hint.into()),
            code: code_of(Class::Failed),
            gate: None,
        }
    }

    /// A gate did not pass: exit code 5. `checks` are those that failed, `next` is the command of the next step.
    pub fn gate(
        message: String,
        hint: Option<Hint>,
        checks: Vec<CheckView>,
        next: Option<CommandLine>,
    ) -> Self {
        let gate = (!checks.is_empty()).then(|| Box::new(Missing { checks, next }));
        Self { kind: "gate_failed".to_owned(), message, hint, code: GATE_DID_NOT_PASS, gate }
    }

    /// A failure because a check found something. Exit code 4.
    pub fn findings(message: String, hint: Option<Hint>) -> Self {
        Self { kind: "findings".to_owned(), message, hint, code: code_of(Class::Refused), gate: None }
    }

    /// A failure because a rule refused the command. Exit code 4.
    pub fn refused(message: String, hint: impl Into<Hint>) -> Self {
        Self {
            kind: "refused".to_owned(),
            message,
            hint: Some(hint.into()),
            code: code_of(Class::Refused),
            gate: None,
        }
    }

    /// A failure because the answer could not be written. Exit code 1; reported on one line.
    pub fn not_written(error: &std::io::Error) -> Self {
        Self {
            kind: "io".to_owned(),
            message: format!("cannot write to stdout: {error}"),
            hint: None,
            code: code_of(Class::Failed),
            gate: None,
        }
    }

    pub fn no_json(error: &serde_json::Error) -> Self {
        Self {
            kind: "io".to_owned(),
            message: format!("cannot write the answer as JSON: {error}"),
            hint: None,
            code: code_of(Class::Failed),
            gate: None,
        }
    }

    /// Adds to the failure that the command itself succeeded, and only its answer could not be printed.
    pub fn after_the_change(mut self) -> Self {
        self.message.push_str("; the command itself succeeded");
        self
    }

    /// The failure with the exit codes of the requirements framework's `req`: 2 for wrong usage, 1 for everything else.
    #[must_use]
    pub fn with_original_code(self) -> Self {
        let code = if self.code == WRONG_USAGE { WRONG_USAGE } else { code_of(Class::Failed) };
        Self { code, ..self }
    }

    pub fn no_command() -> Self {
        Self::wrong_usage("no command was given", Hint::new("see all commands: ").run(words!["--help"]))
    }
}

impl From<engine::Error> for Failure {
    fn from(error: engine::Error) -> Self {
        Self {
            kind: error.kind().to_owned(),
            message: error.to_string(),
            hint: error.hint(),
            code: code_of(error.class()),
            gate: None,
        }
    }
}

/// Prints a failure, and returns its exit code.
pub fn report(failure: &Failure, globals: &Globals) -> ExitCode {
    let out = globals.out();
    let hint = failure.hint.clone().map(|hint| about_the_named(hint, globals).to_string());
    if globals.json {
        out.error_document(&as_json(failure, hint.as_deref()));
    } else {
        out.error(&failure.message, hint.as_deref());
    }
    ExitCode::from(failure.code)
}

/// The hint, with the typed session named in each command that would otherwise be about another session.
fn about_the_named(hint: Hint, globals: &Globals) -> Hint {
    if globals.named_session().is_none() || !hint.needs_naming() {
        return hint;
    }
    match globals.query() {
        Ok(engine) => hint.naming(&globals.naming_words(&engine)),
        Err(_) => hint,
    }
}

/// Prints the result of the parser. Help and version are answers; everything else is an error about usage.
pub fn usage(error: &clap::Error, parser: &mut clap::Command, arguments: &[OsString]) -> ExitCode {
    let out = Out::plain();
    if !error.use_stderr() {
        let text = crate::help::grouped_if_root(error.render().to_string(), arguments);
        return match out.text(&text) {
            Ok(_) => ExitCode::SUCCESS,
            Err(failure) => report(&failure, &Globals::default()),
        };
    }
    let json = arguments.iter().any(|word| word == "--json");
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand && !json {
        out.raw_error(error.render().to_string().trim_end());
        return ExitCode::from(WRONG_USAGE);
    }
    let (message, hint) = crate::usage_errors::explained(error, parser, arguments);
    report(&Failure::wrong_usage(message, hint), &Globals { json, ..Globals::default() })
}

fn as_json(failure: &Failure, hint: Option<&str>) -> String {
    let mut error = json!({ "kind": failure.kind, "message": failure.message, "hint": hint });
    if let Some(gate) = &failure.gate {
        error["missing"] = json!(gate.checks);
        error["next"] = json!({ "command": gate.next });
    }
    json!({ "error": error }).to_string()
}

fn code_of(class: Class) -> u8 {
    match class {
        Class::Failed => 1,
        Class::WrongUsage => WRONG_USAGE,
        Class::NothingThere => 3,
        Class::Refused => 4,
        Class::NeedsAPerson => 6,
        Class::OutcomeUnknown => 7,
    }
}
