//! The JSON Schema of a definition, for editors. The reader is authoritative: a schema cannot express every
//! rule.

use serde_json::{Value, json};

const NAME_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$";
const DURATION_PATTERN: &str = "^[0-9]+[smhd]$";
/// Relative and without '\'. Excluding '..' needs a look-ahead, which not every editor supports.
const PATH_PATTERN: &str = r"^[^/\\][^\\]*$";

/// Draft 2020-12.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "leftoff workflow",
        "description": "A workflow: the phases that a session goes through, and what proves each one.",
        "type": "object",
        "required": ["name", "phase"],
        "additionalProperties": false,
        "properties": {
            "name": name("What the workflow is started by: leftoff start NAME."),
            "version": version(),
            "title": text("What people read. Default: the name."),
            "indexing": one_of(&["one", "zero"], "one", "The number of the first phase, for people."),
            "on_complete": one_of(
                &["close", "stay"],
                "close",
                "What completing the last phase does to the session: close it, or leave it active."
            ),
            "keep_going": flag(false, "An agent that stops is sent on to the next ready step."),
            "hold_at_stop": flag(
                false,
                "An agent that stops while the current phase is claimed to be done and its gate is open is held once, and told what is missing."
            ),
            "phase": {
                "description": "The phases, in their order.",
                "type": "array",
                "minItems": 1,
                "items": { "$ref": "#/$defs/phase" }
            },
            "fields": named("Free fields of a session, and what they may be.", "field"),
            "requirement": named("What agents need before they may use a tool.", "requirement")
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
        "description": "Changes when the workflow means something else. A session keeps the version that it began with.",
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
            "id": name("What commands call the phase. Unique in the workflow, ignoring case."),
            "title": text("What people read. Default: the id."),
            "purpose": text("What is to be done, told to every agent that takes over."),
            "produces": {
                "description": "Files that this phase writes, relative to the session's workspace. {run} and {item} are filled in.",
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
            "when": text("A CEL expression; where it is false, or gives texts that say why not, the phase is skipped."),
            "items": name("The kind of items that live in this phase, such as task."),
            "strict": flag(true, "A failed check holds the phase; otherwise it passes with warnings."),
            "terminal": flag(
                false,
                "Entering this phase completes the run. Only for the last phase, without checks, evidence, items or a condition."
            ),
            "evidence": named("What the caller hands in when it completes the phase.", "evidence"),
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
        "description": "A file older than the phase's start will do: always, or from the second run on.",
        "enum": ["ok", "later-runs"]
    });
    let clean =
        json!({ "description": "The worktree has no changes that are not committed.", "type": "boolean" });
    let path = path("A file, relative to the session's workspace. {run} and {item} are filled in.");
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
            check_of_kind("git", "What git says about the worktree.", &["clean"], json!({ "clean": clean })),
            check_of_kind("items", "Every item of this phase is done.", &[], json!({})),
            check_of_kind("approval", "A person's yes: leftoff approve ID.", &[], json!({
                "expires": duration("How long a yes holds. Default: it does not expire.")
            }))
        ]
    })
}

fn check_of_kind(kind: &str, description: &str, required: &[&str], own: Value) -> Value {
    let mut properties = json!({
        "id": name("What commands call the check. Unique in the phase."),
        "kind": { "description": "What the check looks at.", "const": kind },
        "help": text("How to mend it, told when the check fails.")
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
            "required": flag(false, "The phase cannot be completed without it."),
            "describe": text("What it means.")
        }
    })
}

fn field() -> Value {
    json!({
        "description": "One free field.",
        "type": "object",
        "required": ["type"],
        "additionalProperties": false,
        "properties": {
            "type": value_type(),
            "one_of": {
                "description": "The only values it may have, each of the field's type.",
                "type": "array",
                "minItems": 1,
                "uniqueItems": true
            },
            "default": { "description": "What it is until it is set." },
            "describe": text("What it means.")
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
                "description": "For how long it stays satisfied.",
                "enum": ["session", "branch", "single_use", "permanent"]
            },
            "tools": {
                "description": "The agent's tools that it holds back.",
                "type": "array",
                "minItems": 1,
                "uniqueItems": true,
                "items": { "type": "string", "minLength": 1 }
            },
            "satisfied_by": {
                "description": "What satisfies it: a phase of this workflow, or a skill of the agent.",
                "type": "array",
                "uniqueItems": true,
                "items": { "type": "string", "pattern": "^(phase|skill):.+$" }
            },
            "message": text("What an agent is told that is held back.")
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
