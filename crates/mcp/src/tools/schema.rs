//! The schemas of tools. They are made from the same tables by which arguments are read.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// One argument.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: ArgumentType,
    /// The description of the argument. Empty if the name is enough.
    pub(crate) help: &'static str,
    pub(crate) required: bool,
}

/// The type of an argument. In place of an object or a list, a string of JSON is accepted; in place of a
/// number, a string.
#[derive(Clone, Copy)]
pub(crate) enum ArgumentType {
    Text,
    /// The name of a layout. Its description starts with the names of all layouts.
    Layout,
    Flag,
    Number,
    Object,
    List,
    Choice(&'static [&'static str]),
}

/// A field of the structured content: its name and its type.
pub(crate) type Field = (&'static str, &'static str);

pub(crate) const fn optional(name: &'static str, kind: ArgumentType, help: &'static str) -> Parameter {
    Parameter { name, kind, help, required: false }
}

pub(crate) const fn required(name: &'static str, kind: ArgumentType, help: &'static str) -> Parameter {
    Parameter { name, kind, help, required: true }
}

/// The parameter that every tool has. Only the server's instructions describe it.
pub(crate) const EVERYWHERE: [Parameter; 1] = [optional("session", ArgumentType::Text, "")];
pub(crate) const KEY: Parameter = optional("key", ArgumentType::Text, "");

pub(crate) fn input(parameters: impl Iterator<Item = &'static Parameter>) -> JsonObject {
    let mut properties = JsonObject::new();
    let mut needed = Vec::new();
    for parameter in parameters {
        properties.insert(parameter.name.to_owned(), schema(parameter));
        if parameter.required {
            needed.push(parameter.name);
        }
    }
    let mut whole = JsonObject::new();
    whole.insert("type".to_owned(), "object".into());
    whole.insert("properties".to_owned(), properties.into());
    if !needed.is_empty() {
        whole.insert("required".to_owned(), json!(needed));
    }
    whole.insert("additionalProperties".to_owned(), false.into());
    whole
}

/// The schema of an answer. Every answer has an outcome, which determines its other fields.
pub(crate) fn output(fields: &[Field]) -> JsonObject {
    let mut properties = JsonObject::new();
    properties.insert("outcome".to_owned(), json!({ "type": "string" }));
    let always = [("session_id", "string"), ("error", "object")];
    for (name, kind) in fields.iter().chain(&always) {
        properties.insert((*name).to_owned(), json!({ "type": kind }));
    }
    let mut whole = JsonObject::new();
    whole.insert("type".to_owned(), "object".into());
    whole.insert("properties".to_owned(), properties.into());
    whole.insert("required".to_owned(), json!(["outcome"]));
    whole
}

fn schema(parameter: &Parameter) -> Value {
    let mut schema = match parameter.kind {
        ArgumentType::Text | ArgumentType::Layout => json!({ "type": "string" }),
        ArgumentType::Flag => json!({ "type": "boolean" }),
        ArgumentType::Number => json!({ "type": "integer" }),
        ArgumentType::Object => json!({ "type": "object" }),
        ArgumentType::List => json!({ "type": "array", "items": { "type": "string" } }),
        ArgumentType::Choice(words) => json!({ "type": "string", "enum": words }),
    };
    let help = match parameter.kind {
        ArgumentType::Layout => format!("{}: {}", engine::layout_names().join(", "), parameter.help),
        ArgumentType::Text
        | ArgumentType::Flag
        | ArgumentType::Number
        | ArgumentType::Object
        | ArgumentType::List
        | ArgumentType::Choice(_) => parameter.help.to_owned(),
    };
    if !help.is_empty() {
        schema["description"] = help.into();
    }
    schema
}
