//! The JSON Schema of a definition, for editors. A schema cannot express every rule, so only the reader
//! decides whether a definition is valid.

use serde_json::{Value, json};

const NAME_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$";
const DURATION_PATTERN: &str = "^[0-9]+[smhd]$";
/// A pattern for relative paths without '\'. It accepts '..', because excluding it needs a look-ahead, which
/// some editors do not support.
const PATH_PATTERN: &str = r"^[^/\\][^\\]*$";

/// The JSON Schema of a definition, in the version of draft 2020-12.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "leftoff workflow",
        "description": "A workflow: the phases of a session, and the proof that each one needs.",
        "type": "object",
        "required": ["name", "phase"],
        "additionalProperties": false,
        "properties": {
            "name": name("The name to start it by: leftoff start NAME."),
            "version": version(),
            "title": text("The name shown to people. Default: the name."),
            "indexing": one_of(&["one", "zero"], "one", "The number of the first phase, as shown to people."),
            "on_complete": one_of(
                &["close", "stay"],
                "close",
                "What completing the last phase does to the session: close it, or leave it active."
            ),
            "keep_going": flag(false, "An agent that stops is asked to continue with the next ready step."),
            "hold_at_stop": flag(
                false,
                "If an agent stops while the current phase is claimed as done but its gate is open, it is asked once to continue, with a list of what is missing."
            ),
            "phase": {
                "description": "The phases, in their order.",
                "type": "array",
                "minItems": 1,
                "items": { "$ref": "#/$defs/phase" }
            },
            "fields": named("Custom fields of a session, and their allowed values.", "field"),
            "requirement": named("What agents must satisfy before they may use a tool.", "requirement")
        },
        "$defs": {
            "phase": phase(),
            "check": check(),
            "evidence": evidence(),
            "field": field(),
            "requirement": requirement()
        }
    })
}

fn version() -> Value {
    json!({
        "description": "Change it when the workflow's meaning changes. A session keeps the version it started with.",
        "type": ["string", "integer"],
        "default": "1"
    })
}

fn phase() -> Value {
    json!({
        "description": "A phase.",
        "type": "object",
        "required": ["id"],
        "additionalProperties": false,
        "properties": {
            "id": name("The name of the phase in commands. Unique in the workflow, ignoring case."),
            "title": text("The name shown to people. Default: the id."),
            "purpose": text("The task of this phase; shown to every agent that takes over."),
            "produces": {
                "description": "Files that this phase writes, relative to the session's workspace. {run} stands for the number of the run, {item} for the id of the item.",
                "type": "array",
                "uniqueItems": true,
                "items": path("A file.")
            },
            "needs": {
                "description": "Earlier phases that must be done first. Default: the one before.",
                "type": "array",
                "uniqueItems": true,
                "items": name("The id of an earlier phase.")
            },
            "when": text("A CEL expression. If it is false, or returns a list of reasons that is not empty, the phase is skipped."),
            "items": name("The kind of items in this phase, such as task."),
            "split": flag(false, "Every item is split into parts, which are the work; it cannot be done before it has any."),
            "strict": flag(true, "A failed check stops the phase; otherwise the phase passes with warnings."),
            "terminal": flag(
                false,
                "Entering this phase completes the run. Only for the last phase, without checks, evidence, items or a condition."
            ),
            "evidence": named("The evidence that the caller submits to complete the phase.", "evidence"),
            "check": {
                "description": "The phase's gate: every check must pass.",
                "type": "array",
                "items": { "$ref": "#/$defs/check" }
            }
        }
    })
}

fn check() -> Value {
    let stale = json!({
        "description": "Accept a file older than the phase's start: always, or from the second run on.",
        "enum": ["ok", "later-runs"]
    });
    let clean = json!({ "description": "The worktree has no uncommitted changes.", "type": "boolean" });
    let path = path(
        "A file, relative to the session's workspace. {run} stands for the number of the run, {item} for the id of the item.",
    );
    json!({
        "description": "A check of a phase's gate.",
        "oneOf": [
            check_of_kind(
                "artifact",
                "The file exists, is not empty, and is newer than the phase's start.",
                &["path"],
                json!({
                    "path": path,
                    "matches": text("A regular expression that the file's text must match."),
                    "stale": stale
                })
            ),
            check_of_kind("expr", "An expression is true.", &["expr"], json!({
                "expr": text("A CEL expression over evidence, artifacts, items, session and run.")
            })),
            check_of_kind("command", "A command ends with exit code 0.", &["run"], json!({
                "run": text("Run in the project's folder, after a person trusted this definition."),
                "timeout": duration("How long the command may take. Default: 10m.")
            })),
            check_of_kind("git", "The state of the worktree, according to git.", &["clean"], json!({ "clean": clean })),
            check_of_kind("items", "Every item of this phase is done.", &[], json!({})),
            check_of_kind("approval", "Approval by a person: leftoff approve ID.", &[], json!({
                "expires": duration("How long an approval is valid. Default: it does not expire.")
            }))
        ]
    })
}

fn check_of_kind(kind: &str, description: &str, required: &[&str], own: Value) -> Value {
    let mut properties = json!({
        "id": name("The name of the check in commands. Unique in the phase."),
        "kind": { "description": "What the check tests.", "const": kind },
        "help": text("How to fix it; shown when the check fails.")
    });
    if let (Value::Object(properties), Value::Object(own)) = (&mut properties, own) {
        properties.extend(own);
    }
    let required: Vec<&str> = ["id", "kind"].iter().chain(required).copied().collect();
    json!({
        "title": kind,
        "description": description,
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties
    })
}

fn evidence() -> Value {
    json!({
        "description": "One piece of evidence.",
        "type": "object",
        "required": ["type"],
        "additionalProperties": false,
        "properties": {
            "type": value_type(),
            "required": flag(false, "The phase cannot be completed without this evidence."),
            "describe": text("What the evidence means.")
        }
    })
}

fn field() -> Value {
    json!({
        "description": "One custom field.",
        "type": "object",
        "required": ["type"],
        "additionalProperties": false,
        "properties": {
            "type": value_type(),
            "one_of": {
                "description": "The allowed values, each of the field's type.",
                "type": "array",
                "minItems": 1,
                "uniqueItems": true
            },
            "default": { "description": "The value until it is set." },
            "describe": text("What the field means.")
        }
    })
}

fn requirement() -> Value {
    json!({
        "description": "A requirement.",
        "type": "object",
        "required": ["scope", "tools"],
        "additionalProperties": false,
        "properties": {
            "scope": {
                "description": "How long the requirement stays satisfied.",
                "enum": ["session", "branch", "single_use", "permanent"]
            },
            "tools": {
                "description": "The agent's tools that the requirement blocks.",
                "type": "array",
                "minItems": 1,
                "uniqueItems": true,
                "items": { "type": "string", "minLength": 1 }
            },
            "satisfied_by": {
                "description": "What satisfies the requirement: a phase of this workflow, or a skill of the agent.",
                "type": "array",
                "uniqueItems": true,
                "items": { "type": "string", "pattern": "^(phase|skill):.+$" }
            },
            "message": text("The message to an agent that is blocked.")
        }
    })
}

fn value_type() -> Value {
    let names = model::workflow::ValueType::ALL.map(model::workflow::ValueType::name);
    json!({ "description": "The type of the value.", "enum": names })
}

fn named(description: &str, definition: &str) -> Value {
    json!({
        "description": description,
        "type": "object",
        "propertyNames": { "pattern": NAME_PATTERN },
        "additionalProperties": { "$ref": format!("#/$defs/{definition}") }
    })
}

fn name(description: &str) -> Value {
    json!({ "description": description, "type": "string", "pattern": NAME_PATTERN })
}

fn text(description: &str) -> Value {
    json!({ "description": description, "type": "string", "minLength": 1 })
}

fn path(description: &str) -> Value {
    json!({ "description": description, "type": "string", "pattern": PATH_PATTERN })
}

fn duration(description: &str) -> Value {
    json!({
        "description": description,
        "type": "string",
        "pattern": DURATION_PATTERN,
        "examples": ["30s", "10m", "24h", "7d"]
    })
}

fn flag(default: bool, description: &str) -> Value {
    json!({ "description": description, "type": "boolean", "default": default })
}

fn one_of(values: &[&str], default: &str, description: &str) -> Value {
    json!({ "description": description, "enum": values, "default": default })
}
