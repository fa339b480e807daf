//! Tests of the author that is recorded for changes over MCP.

use crate::client::{Client, Era};
use crate::project;
use serde_json::{Value, json};

fn last_actor(sandbox: &testkit::Sandbox) -> Value {
    sandbox.run(["status", "--json"]).ok().json()["last_actor"].clone()
}

#[test]
fn an_agent_is_known_by_its_environment_first() {
    let sandbox = project();
    let mut client =
        Client::start_as(&sandbox, Era::Handshake, &[("LEFTOFF_AGENT_SESSION", "claude:a4326893")]);
    client.done("start", json!({}));
    let actor = last_actor(&sandbox);
    assert_eq!((&actor["agent"], &actor["id"]), (&json!("claude"), &json!("a4326893")), "{actor}");
}

#[test]
fn a_client_that_nobody_knows_is_called_as_it_calls_itself_and_is_the_same_at_its_next_server() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    client.done("start", json!({}));
    let first = last_actor(&sandbox);
    assert_eq!(first["agent"], "test-client", "{first}");
    client.done("item", json!({"action": "add", "title": "x"}));
    client.done("item", json!({"action": "claim"}));
    drop(client);
    let mut client = Client::start(&sandbox, Era::Stateless);
    let mine = client.done("item", json!({"action": "claim"}));
    assert_eq!(mine["item"]["mine"], true);
    assert_eq!(last_actor(&sandbox), first);
    let agents = sandbox.run(["list", "--agents", "--json"]).ok().json();
    assert_eq!(agents["agents"][0]["agent"], "test-client", "{agents}");
    assert_eq!(agents["agents"][0]["alive"], true, "{agents}");
}
