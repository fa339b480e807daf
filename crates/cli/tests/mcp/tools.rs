//! Tests of every tool: its effect, its errors, and that its answers match its schema.

use crate::client::{BOTH, Client, Era};
use crate::project;
use serde_json::{Value, json};

#[test]
fn work_goes_from_start_to_end_in_both_eras() {
    for era in BOTH {
        let sandbox = project();
        let mut client = Client::start(&sandbox, era);
        assert_eq!(client.done("status", json!({}))["outcome"], "no_session");
        assert_eq!(client.done("brief", json!({}))["outcome"], "no_session");
        let started = client.done("start", json!({"goal": "no log-out while a tab is open"}));
        assert_eq!(started["current_phase"]["id"], "plan");
        let advanced = client.done("advance", json!({"phase": 1}));
        assert_eq!(
            (&advanced["outcome"], &advanced["current_phase"]["id"]),
            (&json!("done"), &json!("build"))
        );
        let again = client.done("advance", json!({"phase": "plan"}));
        assert_eq!((&again["outcome"], &again["already"]), (&json!("already"), &json!(true)));
        let passed = client.done("advance", json!({"phase": "build", "evidence": {"coverage": 91.5}}));
        assert_eq!(passed["current_phase"]["id"], "release");
        let status = client.done("status", json!({}));
        assert_eq!((&status["status"], &status["progress"]["percent"]), (&json!("active"), &json!(67)));
        assert_eq!(status["phases"].as_array().map(Vec::len), Some(3));
        let ended = client.done("advance", json!({"phase": "3"}));
        assert_eq!(ended["status"], "completed");
        assert!(client.done("brief", json!({}))["brief"].as_str().expect("text").contains("inished"));
    }
}

#[test]
fn status_is_the_session_view_of_the_command_line() {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z").run(["start", "--goal", "x"]).ok();
    let mut told = Client::start(&sandbox, Era::Handshake).done("status", json!({}));
    let mut view = sandbox.run(["status", "--json"]).ok().json();
    let fields = view.as_object_mut().expect("an object");
    fields.retain(|_, value| !value.is_null());
    told.as_object_mut().expect("an object").remove("outcome");
    assert_eq!(told, view);
}

#[test]
fn a_gate_that_does_not_pass_is_an_answer_with_what_is_missing_and_how_to_mend_it() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    client.done("start", json!({}));
    client.done("advance", json!({"phase": "plan"}));
    let tried = client.done("advance", json!({"dry_run": true, "evidence": {"coverage": 10}}));
    assert_eq!(tried["outcome"], "would_fail");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["phases"][1]["attempt_count"], 0);
    let failed = client.done("advance", json!({"phase": "build", "evidence": {"coverage": 65}}));
    assert_eq!(failed["outcome"], "gate_failed");
    assert_eq!(failed["status"], "checkpoint_failed");
    let missing = &failed["missing"][0];
    assert_eq!((&missing["id"], &missing["outcome"]), (&json!("enough"), &json!("failed")));
    assert_eq!(missing["help"], "Add tests until coverage reaches 80 %.");
    let nothing = client.done("advance", json!({"phase": "build"}));
    assert_eq!(nothing["missing"][0]["id"], "coverage");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["phases"][1]["attempt_count"], 2);
}

#[test]
fn arguments_are_taken_as_objects_and_as_text() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Stateless);
    client.done("start", json!({"fields": "{\"ticket\": \"A-1\"}"}));
    client.done("advance", json!({"phase": "plan"}));
    let params =
        json!({"name": "advance", "arguments": r#"{"phase":"2","evidence":"{\"coverage\": \"82.5\"}"}"#});
    let answer = client.request("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"]["current_phase"]["id"], "release", "{answer}");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["fields"]["ticket"], "A-1");
}

#[test]
fn items_are_the_to_do_list() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    client.done("start", json!({}));
    let first = client.done("item", json!({"action": "add", "title": "Rotate tokens", "id": "t-1"}));
    assert_eq!(first["item"]["id"], "t-1");
    client.done("item", json!({"action": "add", "title": "Cookie flags", "needs": ["t-1"]}));
    let claimed = client.done("item", json!({"action": "claim", "minutes": "10"}));
    assert_eq!((&claimed["item"]["id"], &claimed["item"]["mine"]), (&json!("t-1"), &json!(true)));
    client.done("item", json!({"action": "start", "id": "t-1"}));
    client.done("item", json!({"action": "block", "id": "t-1", "reason": "certificate"}));
    client.done("item", json!({"action": "unblock", "id": "t-1"}));
    client.done("item", json!({"action": "set", "id": "t-1", "fields": {"size": "s"}}));
    client.done("item", json!({"action": "release", "id": "t-1"}));
    client.done("item", json!({"action": "done", "id": "t-1"}));
    client.done("item", json!({"action": "split", "id": "task-2", "titles": ["Secure", "HttpOnly"]}));
    let listed = client.done("item", json!({"action": "list", "all": true}));
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(4));
    assert_eq!(listed["more"], false);
    assert_eq!(client.refused("item", json!({"action": "done"}))["kind"], "wrong_usage");
    assert_eq!(client.refused("item", json!({"action": "done", "id": "t-9"}))["kind"], "unknown_item");
    assert_eq!(client.refused("item", json!({"action": "finish", "id": "t-1"}))["valid"][0], "list");
}

#[test]
fn notes_are_kept_and_resolved() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Stateless);
    client.done("start", json!({}));
    let noted = client.done("note", json!({"kind": "blocker", "text": "certificate expired"}));
    assert_eq!(noted["note"]["kind"], "blocker");
    client.done("note", json!({"resolve": 1}));
    assert!(!sandbox.run(["show", "--json"]).ok().json()["notes"][0]["resolved_at"].is_null());
    assert_eq!(client.refused("note", json!({"text": " "}))["kind"], "wrong_usage");
    assert_eq!(client.refused("note", json!({"text": "x", "kind": "override"}))["kind"], "wrong_usage");
    assert_eq!(client.refused("note", json!({"resolve": 7}))["kind"], "unknown_note");
}

#[test]
fn a_session_is_paused_resumed_switched_closed_and_goes_back() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let first = client.done("start", json!({"title": "first"}))["session_id"].clone();
    client.done("advance", json!({"phase": "plan"}));
    assert_eq!(client.done("control", json!({"action": "pause", "reason": "lunch"}))["status"], "paused");
    assert_eq!(client.done("control", json!({"action": "resume"}))["status"], "active");
    client.done("start", json!({"title": "second"}));
    assert_eq!(client.done("control", json!({"action": "switch", "session": first}))["session_id"], first);
    let preview = client.done("control", json!({"action": "revisit", "phase": "plan", "reason": "API"}));
    assert_eq!((&preview["outcome"], &preview["preview"]["phase"]), (&json!("preview"), &json!("plan")));
    assert_eq!(client.done("status", json!({}))["current_phase"]["id"], "build");
    let arguments = json!({"action": "revisit", "phase": "plan", "reason": "API", "confirm": true});
    assert_eq!(client.done("control", arguments)["current_phase"]["id"], "plan");
    client.done("advance", json!({"phase": "plan"}));
    let back = client.done("control", json!({"action": "rollback", "phase": 1, "reason": "again"}));
    assert_eq!(back["current_phase"]["id"], "plan");
    assert_eq!(client.refused("control", json!({"action": "close"}))["kind"], "unfinished");
    let force = json!({"action": "close", "force": true});
    assert_eq!(client.refused("control", force.clone())["kind"], "needs_a_person");
    sandbox.allow_anyone(&["close"]);
    assert_eq!(client.done("control", force)["status"], "completed");
    assert_eq!(client.refused("control", json!({"action": "switch"}))["kind"], "wrong_usage");
}

#[test]
fn what_is_a_persons_is_refused_whatever_the_project_allows() {
    let sandbox = project();
    sandbox.write(
        ".leftoff/config.toml",
        "workflow = \"ship\"\n[policy]\noverride = \"anyone\"\napprove = \"anyone\"\n",
    );
    let mut client = Client::start(&sandbox, Era::Handshake);
    client.done("start", json!({}));
    client.done("advance", json!({"phase": "plan"}));
    for (tool, arguments) in [
        ("advance", json!({"phase": "build", "override": "because"})),
        ("advance", json!({"phase": "build", "override_reason": "because"})),
        ("control", json!({"action": "approve"})),
        ("control", json!({"action": "override"})),
        ("control", json!({"action": "trust"})),
    ] {
        let error = client.refused(tool, arguments);
        assert_eq!(error["kind"], "needs_a_person");
        assert!(error["hint"].as_str().expect("a hint").contains("ask a person"), "{error}");
    }
    assert_eq!(client.done("status", json!({}))["current_phase"]["id"], "build");
}

#[test]
fn errors_say_what_is_wrong_what_to_do_and_what_would_be_right() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    assert_eq!(client.refused("advance", json!({}))["kind"], "no_session");
    assert_eq!(
        client.refused("start", json!({"workflow": "shp"}))["valid"].as_array().map(Vec::len),
        Some(7)
    );
    client.done("start", json!({}));
    let error = client.refused("advance", json!({"phase": 2}));
    assert_eq!(error["kind"], "phase_not_current");
    assert_eq!(error["message"], "cannot complete phase 'build': the current phase is 'plan'");
    assert!(error["hint"].as_str().expect("a hint").starts_with("complete 'plan' first"), "{error}");
    assert_eq!(error["valid"], json!(["plan"]));
    assert_eq!(
        client.refused("advance", json!({"phase": "biuld"}))["valid"],
        json!(["plan", "build", "release"])
    );
    let unknown = client.refused("status", json!({"session": "nosuch"}));
    assert_eq!(unknown["kind"], "unknown_session");
    assert_eq!(unknown["valid"], json!([client.done("status", json!({}))["session_id"]]));
    assert_eq!(client.refused("advance", json!({"evidence": [1]}))["kind"], "wrong_type");
    assert_eq!(client.refused("advance", json!({"phase": {"a": 1}}))["kind"], "wrong_type");
    let unknown = client.request("tools/call", json!({"name": "aprove", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["data"]["valid"].as_array().expect("names").contains(&json!("advance")));
}

#[test]
fn a_call_repeated_with_its_key_counts_once() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let first = client.done("start", json!({"goal": "x", "key": "k1"}));
    drop(client);
    // The answer was lost with the server. The call is repeated with another server.
    let mut client = Client::start(&sandbox, Era::Stateless);
    assert_eq!(client.done("start", json!({"goal": "x", "key": "k1"}))["session_id"], first["session_id"]);
    for _ in 0..3 {
        client.done("note", json!({"text": "once", "key": "k2"}));
    }
    assert_eq!(client.refused("note", json!({"text": "another", "key": "k2"}))["kind"], "key_used");
    let view = sandbox.run(["show", "--json"]).ok().json();
    assert_eq!(view["notes"].as_array().map(Vec::len), Some(1));
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn answers_are_as_the_schemas_say() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let mut check = |tool: &str, arguments: Value| {
        let declared = tools.as_array().expect("tools").iter().find(|found| found["name"] == tool);
        let properties = declared.expect("the tool")["outputSchema"]["properties"].clone();
        let content = client.call(tool, arguments)["structuredContent"].clone();
        for (name, schema) in properties.as_object().expect("properties") {
            let Some(value) = content.get(name) else { continue };
            let kind = match value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            assert_eq!(schema["type"], kind, "{tool}.{name}");
        }
    };
    check("status", json!({}));
    check("start", json!({}));
    check("status", json!({}));
    check("brief", json!({"budget": 400}));
    check("note", json!({"text": "x"}));
    check("item", json!({"action": "add", "title": "x"}));
    check("item", json!({"action": "list"}));
    check("advance", json!({"phase": "plan"}));
    check("advance", json!({"phase": "build"}));
    check("advance", json!({"dry_run": true}));
    check("control", json!({"action": "pause"}));
    check("advance", json!({"phase": "nosuch"}));
}

#[test]
fn files_are_named_from_the_projects_folder() {
    let sandbox = project();
    sandbox.write("docs/plan.md", "# Plan\n");
    sandbox.write("src/x", "");
    let mut client = Client::start(&sandbox, Era::Handshake);
    client.done("start", json!({}));
    client.done("advance", json!({"phase": "plan", "artifacts": ["docs/plan.md"]}));
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(view["artifacts"][0]["path"], "docs/plan.md");
    assert_eq!(
        client.refused("advance", json!({"phase": "build", "artifacts": "../../etc/passwd"}))["kind"],
        "wrong_usage"
    );
}

#[test]
fn requirements_are_listed_satisfied_and_cleared_and_never_approved() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    assert_eq!(client.done("requirements", json!({"action": "list"}))["requirements"], json!([]));
    sandbox.write(
        ".claude/requirements.yaml",
        "version: \"1.0\"\nenabled: true\nrequirements:\n  commit_plan:\n    enabled: true\n    scope: session\n    trigger_tools: [Edit]\n    message: Plan the commit first\n",
    );
    let open = client.done("requirements", json!({"action": "list"}));
    assert_eq!(open["requirements"][0]["name"], "commit_plan", "{open}");
    assert_eq!(open["requirements"][0]["satisfied"], false);
    let satisfied = client.done("requirements", json!({"action": "satisfy", "names": "commit_plan"}));
    assert_eq!(satisfied["requirements"][0]["satisfied"], true, "{satisfied}");
    let cleared = client.done("requirements", json!({"action": "clear", "names": ["commit_plan"]}));
    assert_eq!(cleared["requirements"][0]["satisfied"], false, "{cleared}");
    assert_eq!(
        client.refused("requirements", json!({"action": "satisfy", "names": ["comit_plan"]}))["valid"],
        json!(["commit_plan"])
    );
    for action in ["approve", "bypass", "pause"] {
        assert_eq!(
            client.refused("requirements", json!({"action": action, "names": ["commit_plan"]}))["kind"],
            "needs_a_person"
        );
    }
    assert_eq!(client.refused("requirements", json!({"action": "satisfy"}))["kind"], "wrong_usage");
}

#[test]
fn a_session_can_be_begun_in_another_tools_files() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    client.done("start", json!({"layout": "ocr", "workflow": "review"}));
    assert_eq!(std::fs::read_dir(sandbox.path(".ocr/sessions")).unwrap().count(), 1);
    let refused = client.request("tools/call", json!({"name": "start", "arguments": {"layout": "nowhere"}}));
    assert!(refused.to_string().contains("there is no layout 'nowhere'"), "{refused}");
}
