//! Tests of both versions of the protocol: the server's identity, its lists, and their size.

use crate::client::{BOTH, Client, Era};
use crate::project;
use serde_json::{Value, json};

const LONGEST_LIST: usize = 8 * 1024;

#[test]
fn a_client_with_a_handshake_is_told_who_this_is_and_how_to_use_it() {
    let sandbox = project();
    let mut client = Client::start_as(&sandbox, Era::Stateless, &[]);
    // The first message on this connection is the handshake.
    let answer = {
        let params = crate::client::handshake();
        client.say(&json!({"jsonrpc": "2.0", "id": "h", "method": "initialize", "params": params}));
        client.answer_to(&json!("h"))
    };
    let result = &answer["result"];
    assert_eq!(result["serverInfo"]["name"], "leftoff");
    assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert!(result["instructions"].as_str().expect("instructions").contains("to-do list"));
    assert_eq!(result["capabilities"]["resources"], json!({"subscribe": true, "listChanged": true}));
    assert!(result["capabilities"]["tools"].is_object());
}

#[test]
fn a_stateless_client_discovers_the_same() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Stateless);
    let answer = client.request("server/discover", json!({}));
    let result = &answer["result"];
    let versions = result["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{answer}");
    assert!(result["instructions"].as_str().expect("instructions").contains("advance"));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "leftoff", "{answer}");
}

#[test]
fn a_version_that_nobody_speaks_is_answered_with_those_that_we_do() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Stateless);
    let mut meta = crate::client::meta();
    meta["io.modelcontextprotocol/protocolVersion"] = json!("1999-01-01");
    client.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}));
    let answer = client.answer_to(&json!(1));
    assert!(answer["error"]["data"]["supported"].as_array().is_some_and(|list| !list.is_empty()), "{answer}");
}

#[test]
fn the_list_of_tools_is_short_and_whole_in_both_eras() {
    for era in BOTH {
        let sandbox = project();
        let mut client = Client::start(&sandbox, era);
        let answer = client.request("tools/list", json!({}));
        let size = answer["result"].to_string().len();
        assert!(size < LONGEST_LIST, "{era:?}: {size} bytes");
        let tools = answer["result"]["tools"].as_array().expect("tools");
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["status", "brief", "start", "advance", "item", "note", "control", "requirements"]);
        for tool in tools {
            is_told_well(tool);
        }
    }
}

fn is_told_well(tool: &Value) {
    assert!(tool["description"].as_str().is_some_and(|text| text.len() > 60), "{tool}");
    assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
    assert_eq!(tool["outputSchema"]["required"], json!(["outcome"]), "{tool}");
    let hints = &tool["annotations"];
    assert_eq!(hints["openWorldHint"], false, "{tool}");
    let reads = hints["readOnlyHint"] == true;
    let says_what_it_does = hints["destructiveHint"].is_boolean() && hints["idempotentHint"].is_boolean();
    assert!(reads || says_what_it_does, "{tool}");
}

#[test]
fn what_was_removed_or_never_offered_is_an_unknown_method() {
    for (era, methods) in [
        (Era::Stateless, &["ping", "resources/subscribe", "prompts/list"][..]),
        (Era::Handshake, &["prompts/list", "completion/complete", "logging/setLevel", "no/such"]),
    ] {
        let sandbox = project();
        let mut client = Client::start(&sandbox, era);
        if era == Era::Stateless {
            client.request("tools/list", json!({}));
        }
        for method in methods {
            let params = match *method {
                "logging/setLevel" => json!({"level": "info"}),
                "completion/complete" => {
                    json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}})
                }
                _ => json!({"uri": "leftoff://brief"}),
            };
            let answer = client.request(method, params);
            assert_eq!(answer["error"]["code"], -32601, "{era:?} {method}: {answer}");
        }
    }
}
