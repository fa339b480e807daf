//! Tests of listing and reading resources, and of notifications about their changes, in each version of the
//! protocol.

use crate::client::{BOTH, Client, Era};
use crate::project;
use serde_json::{Value, json};

fn uris(client: &mut Client) -> Vec<String> {
    let mut all = Vec::new();
    let mut params = json!({});
    loop {
        let result = client.request("resources/list", params)["result"].clone();
        let page = result["resources"].as_array().expect("resources");
        all.extend(page.iter().filter_map(|resource| resource["uri"].as_str()).map(ToOwned::to_owned));
        match result.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return all,
        }
    }
}

fn read(client: &mut Client, uri: &str) -> (String, String) {
    let answer = client.request("resources/read", json!({ "uri": uri }));
    let content = &answer["result"]["contents"][0];
    let text = |name: &str| content[name].as_str().unwrap_or_else(|| panic!("{uri}: {answer}")).to_owned();
    (text("mimeType"), text("text"))
}

#[test]
fn whatever_is_listed_can_be_read() {
    for era in BOTH {
        let sandbox = project();
        let id = sandbox.run(["start", "--goal", "x", "--json"]).ok().json()["session_id"].clone();
        let id = id.as_str().expect("an id");
        let theirs = r#"{"phases": [{"phase_number": 0, "phase_name": "Plan"}]}"#;
        sandbox.write(".praxis-os/workflows/ship_v1/metadata.json", theirs);
        let mut client = Client::start(&sandbox, era);
        let listed = uris(&mut client);
        for uri in
            ["leftoff://sessions", "leftoff://brief", "leftoff://workflow/ship", "leftoff://workflow/ship_v1"]
        {
            assert!(listed.iter().any(|found| found == uri), "{uri} in {listed:?}");
        }
        for uri in &listed {
            let (kind, text) = read(&mut client, uri);
            assert!(!text.is_empty(), "{uri}");
            if kind == "application/json" {
                serde_json::from_str::<Value>(&text).expect("JSON");
            }
        }
        let (_, log) = read(&mut client, &format!("leftoff://session/{id}/log"));
        let log: Value = serde_json::from_str(&log).expect("JSON");
        assert_eq!(log["events"][0]["type"], "session_started");
        let (kind, brief) = read(&mut client, &format!("leftoff://session/{id}/brief"));
        assert_eq!(kind, "text/markdown");
        assert!(brief.starts_with("# Where you left off"), "{brief}");
        assert!(read(&mut client, "leftoff://workflow/ship").1.contains("name = \"ship\""));
        let (kind, text) = read(&mut client, "leftoff://workflow/ship_v1");
        assert!(kind == "text/plain" && text.contains(theirs), "another tool's own: {kind}: {text}");
        let templates = client.request("resources/templates/list", json!({}));
        assert_eq!(templates["result"]["resourceTemplates"].as_array().map(Vec::len), Some(4));
    }
}

#[test]
fn what_is_not_there_is_an_error_with_its_address() {
    for (era, code) in [(Era::Handshake, -32002), (Era::Stateless, -32602)] {
        let sandbox = project();
        let mut client = Client::start(&sandbox, era);
        for uri in [
            "leftoff://session/nosuch",
            "leftoff://workflow/nosuch",
            "leftoff://workflow/..%2f",
            "leftoff://nothing",
            "file:///etc/passwd",
        ] {
            let answer = client.request("resources/read", json!({ "uri": uri }));
            assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
            assert_eq!(answer["error"]["data"]["uri"], uri);
        }
        let answer = client.request("resources/list", json!({"cursor": "x"}));
        assert_eq!(answer["error"]["code"], -32602);
    }
}

#[test]
fn a_long_list_comes_in_pages() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Stateless);
    for _ in 0..40 {
        client.done("start", json!({"parallel": true}));
    }
    let listed = uris(&mut client);
    let sessions = listed.iter().filter(|uri| uri.starts_with("leftoff://session/")).count();
    assert_eq!(sessions, 3 * 40);
    let first = client.request("resources/list", json!({}));
    assert_eq!(first["result"]["resources"].as_array().map(Vec::len), Some(100));
}

#[test]
fn with_a_handshake_changes_are_told_to_whoever_subscribed() {
    let sandbox = project();
    sandbox.run(["start"]).ok();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let answer = client.request("resources/subscribe", json!({"uri": "leftoff://brief"}));
    assert!(answer["result"].is_object(), "{answer}");
    let answer = client.request("resources/subscribe", json!({"uri": "file:///x"}));
    assert!(answer["error"].is_object(), "{answer}");
    // The server watches for changes from the subscription on. Another process makes the change.
    let mut told = None;
    for _ in 0..3 {
        sandbox.run(["note", "something happened"]).ok();
        told = Some(client.notification("notifications/resources/updated"));
    }
    assert_eq!(told.expect("told")["params"]["uri"], "leftoff://brief");
    sandbox.run(["start", "--parallel"]).ok();
    client.notification("notifications/resources/list_changed");
    sandbox.write(".leftoff/workflows/mine.toml", "name = \"mine\"\n[[phase]]\nid = \"a\"\n");
    client.notification("notifications/resources/list_changed");
    client.request("resources/unsubscribe", json!({"uri": "leftoff://brief"}));
    let (rest, code) = client.close();
    assert_eq!(code, 0, "{rest:?}");
}

#[test]
fn a_stateless_client_listens_to_a_stream_of_its_own() {
    let sandbox = project();
    sandbox.run(["start"]).ok();
    let mut client = Client::start(&sandbox, Era::Stateless);
    let wanted =
        json!({"resourcesListChanged": true, "resourceSubscriptions": ["leftoff://sessions", "file:///x"]});
    let id = client.ask("subscriptions/listen", json!({ "notifications": wanted }));
    let accepted = client.notification("notifications/subscriptions/acknowledged");
    assert_eq!(
        accepted["params"]["notifications"]["resourceSubscriptions"],
        json!(["leftoff://sessions"]),
        "{accepted}"
    );
    sandbox.run(["note", "something happened"]).ok();
    let told = client.notification("notifications/resources/updated");
    assert_eq!(told["params"]["uri"], "leftoff://sessions");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!(id), "{told}");
    sandbox.run(["start", "--parallel"]).ok();
    client.notification("notifications/resources/list_changed");
    // The server answers other requests while the stream is open. When the input ends, the stream ends, too.
    client.done("status", json!({}));
    assert_eq!(client.close().1, 0);
}
