//! `docs/reference/mcp.md`: every tool and resource of the server, from its own descriptions.

use crate::{GENERATED, blessed};
use serde_json::Value;

#[test]
fn the_reference_of_tools_is_what_clients_are_told() {
    let tools = mcp::tools();
    let size = tools.to_string().len();
    let mut page = format!(
        "# MCP: tools and resources\n\n{GENERATED}\nWhat `leftoff mcp` sends to its clients. [The guide](../guides/mcp.md) shows how to set it up.\n\n## Instructions\n\n"
    );
    for line in mcp::instructions().lines() {
        page.push_str(&format!("> {line}\n>\n"));
    }
    page.truncate(page.len() - ">\n".len());
    page.push_str(&format!("\n## Tools\n\nThe whole list is {:.1} KB. Every tool takes `session` (another than the current one); every one that changes something takes `key` (a call repeated with it counts once). Objects and lists are also taken as JSON text, a phase by its id or its number.\n", f64::from(u32::try_from(size).unwrap()) / 1024.0));
    for tool in tools.as_array().unwrap() {
        page.push_str(&described(tool));
    }
    page.push_str("\n## Errors\n\nA call that cannot be done is a result with `isError` and `structuredContent.error`: `kind` (a stable name), `message`, `hint` (what to do) and, where there are such, `valid` (what could be given instead). A gate that does not pass is no error but the outcome `gate_failed`.\n");
    page.push_str("\n## Resources\n\n| address | what | type |\n|---|---|---|\n");
    page.push_str("| `leftoff://sessions` | All sessions, one line each | application/json |\n");
    page.push_str("| `leftoff://brief` | The hand-over of the current session | text/markdown |\n");
    for template in mcp::resource_templates().as_array().unwrap() {
        let field = |name: &str| template[name].as_str().unwrap_or_default().to_owned();
        page.push_str(&format!(
            "| `{}` | {} | {} |\n",
            field("uriTemplate"),
            field("description"),
            field("mimeType")
        ));
    }
    blessed::check("docs/reference/mcp.md", &page);
}

fn described(tool: &Value) -> String {
    let name = tool["name"].as_str().unwrap();
    let mut text = format!(
        "\n### {name}\n\n{}\n\n*{}*\n",
        tool["description"].as_str().unwrap(),
        hints(&tool["annotations"])
    );
    let required = tool["inputSchema"]["required"].clone();
    let own = tool["inputSchema"]["properties"].as_object().unwrap().iter();
    let own: Vec<_> = own.filter(|(name, _)| !["session", "key"].contains(&name.as_str())).collect();
    if !own.is_empty() {
        text.push_str("\n| argument | type | |\n|---|---|---|\n");
    }
    for (name, schema) in own {
        let words = schema["enum"].as_array().map(|words| {
            words
                .iter()
                .filter_map(Value::as_str)
                .map(|word| format!("`{word}`"))
                .collect::<Vec<_>>()
                .join(", ")
        });
        let kind = words.unwrap_or_else(|| schema["type"].as_str().unwrap().to_owned());
        let is_required = required.as_array().is_some_and(|names| names.contains(&name.as_str().into()));
        let help = schema["description"].as_str().unwrap_or_default();
        let remark = if is_required { format!("required. {help}") } else { help.to_owned() };
        text.push_str(&format!("| `{name}` | {kind} | {} |\n", remark.trim()));
    }
    let answers: Vec<String> = tool["outputSchema"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(|name| format!("`{name}`"))
        .collect();
    text.push_str(&format!("\nAnswers with {}.\n", answers.join(", ")));
    text
}

fn hints(annotations: &Value) -> &'static str {
    match (&annotations["readOnlyHint"], &annotations["destructiveHint"], &annotations["idempotentHint"]) {
        (Value::Bool(true), _, _) => "Reads only.",
        (_, Value::Bool(true), _) => "May reopen what was finished.",
        (_, _, Value::Bool(true)) => "Changes the session; again is not twice.",
        _ => "Changes the session.",
    }
}
