//! Tests of MCP over HTTP, with both versions of the protocol, and of access control.

use crate::client::{handshake, meta};
use crate::project;
use crate::web::WebServer;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;

const TOKEN: &str = "0123456789abcdef0123456789";
const ANY_PORT: &str = "127.0.0.1:0";

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta()});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// The headers for a call of a tool without an earlier handshake.
fn named(tool: &str) -> [(&'static str, &str); 3] {
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", tool)]
}

#[test]
fn a_stateless_client_needs_no_session() {
    let sandbox = project();
    let server = WebServer::start(&sandbox, &[ANY_PORT], &[]);
    let started = server.post(&named("start"), &call(1, "start", &json!({"goal": "x"})));
    assert_eq!(started.status, 200, "{started:?}");
    assert_eq!(started.json()["result"]["structuredContent"]["outcome"], "done");
    let status = server.post(&named("status"), &call(2, "status", &json!({})));
    assert_eq!(status.json()["result"]["structuredContent"]["goal"], "x");
    let text = server.post(&named("status"), &call(3, "status", &json!("{}")));
    assert_eq!(text.json()["result"]["structuredContent"]["outcome"], "session", "{text:?}");
    let actor = sandbox.run(["status", "--json"]).ok().json()["last_actor"].clone();
    assert_eq!((&actor["agent"], &actor["id"]), (&json!("test-client"), &json!("http")), "{actor}");
    let agent = [named("note").as_slice(), &[("leftoff-agent-session", "codex:77")]].concat();
    server.post(&agent, &call(4, "note", &json!({"text": "x"})));
    let actor = sandbox.run(["status", "--json"]).ok().json()["last_actor"].clone();
    assert_eq!((&actor["agent"], &actor["id"]), (&json!("codex"), &json!("77")), "{actor}");
    assert_eq!(server.end(), "", "nothing on stdout");
}

#[test]
fn a_client_with_a_handshake_has_a_session() {
    let sandbox = project();
    let server = WebServer::start(&sandbox, &[ANY_PORT], &[]);
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake()});
    let begun = server.post(&[], &begin);
    assert_eq!(begun.json()["result"]["protocolVersion"], "2025-11-25", "{begun:?}");
    let session = begun.header("mcp-session-id").expect("a session").to_owned();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let ready = server.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(ready.status, 202, "{ready:?}");
    let params = json!({"name": "start", "arguments": "{\"goal\": \"x\"}"});
    let started =
        server.post(&headers, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
    assert_eq!(started.json()["result"]["structuredContent"]["outcome"], "done", "{started:?}");
    let unknown = [("mcp-session-id", "nosuch"), ("mcp-protocol-version", "2025-11-25")];
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    assert_eq!(server.post(&unknown, &list).status, 404);
    assert_eq!(server.send("DELETE", "/mcp", &headers, "").status, 202);
    assert_eq!(server.post(&headers, &list).status, 404);
}

#[test]
fn what_cannot_be_read_is_a_clean_error() {
    let sandbox = project();
    let server = WebServer::start(&sandbox, &[ANY_PORT], &[]);
    for (body, code) in [("hello", -32700), ("{\"jsonrpc\":", -32700), ("[]", -32600), ("{}", -32600)] {
        let reply = server.send("POST", "/mcp", &[], body);
        assert_eq!((reply.status, reply.json()["error"]["code"].as_i64()), (400, Some(code)), "{reply:?}");
    }
    let misfit = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": 7}});
    let reply = server.post(&[], &misfit);
    assert_eq!((reply.status, &reply.json()["id"]), (400, &json!("a")), "{reply:?}");
    let huge =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "y".repeat(5 << 20)}});
    assert_eq!(server.post(&[], &huge).status, 413);
    assert_eq!(server.send("POST", "/elsewhere", &[], "{}").status, 404);
    assert_eq!(server.send("PUT", "/mcp", &[], "{}").status, 405);
    assert_eq!(server.post(&named("status"), &call(1, "status", &json!({}))).status, 200);
}

#[test]
fn only_who_names_this_machine_and_is_no_foreign_page_is_let_in() {
    let sandbox = project();
    let server = WebServer::start(&sandbox, &[ANY_PORT], &[]);
    let port = server.address.port();
    let ask = |extra: &[(&str, &str)]| {
        let headers = [named("status").as_slice(), extra].concat();
        server.post(&headers, &call(1, "status", &json!({}))).status
    };
    let own = format!("http://localhost:{port}");
    assert_eq!(ask(&[]), 200);
    assert_eq!(ask(&[("host", &format!("localhost:{port}"))]), 200);
    assert_eq!(ask(&[("origin", &own)]), 200);
    assert_eq!(ask(&[("host", "evil.example")]), 403);
    assert_eq!(ask(&[("host", &format!("evil.example:{port}"))]), 403);
    assert_eq!(ask(&[("origin", "https://evil.example")]), 403);
    assert_eq!(ask(&[("origin", "null")]), 403);
    assert_eq!(ask(&[("origin", "http://localhost:1")]), 403);
}

#[test]
fn with_a_token_only_who_knows_it_is_let_in() {
    let sandbox = project();
    let server = WebServer::start(&sandbox, &[ANY_PORT], &[("LEFTOFF_MCP_TOKEN", TOKEN)]);
    let ask = |value: Option<&str>| {
        let mut headers = named("status").to_vec();
        headers.extend(value.map(|value| ("authorization", value)));
        server.post(&headers, &call(1, "status", &json!({})))
    };
    assert_eq!(ask(Some(&format!("Bearer {TOKEN}"))).status, 200);
    for wrong in [None, Some("Bearer"), Some("Bearer 0123456789abcdef"), Some(TOKEN)] {
        let reply = ask(wrong);
        assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")), "{reply:?}");
        assert!(!format!("{reply:?}").contains(TOKEN));
    }
    sandbox.write("token", &format!("{TOKEN}\n"));
    let server =
        WebServer::start(&sandbox, &["0.0.0.0:0", "--token-file", "token", "--host", "build.example"], &[]);
    let bearer = format!("Bearer {TOKEN}");
    let from = |host: &str| {
        let headers = [named("status").as_slice(), &[("host", host), ("authorization", &bearer)]].concat();
        server.post(&headers, &call(1, "status", &json!({}))).status
    };
    assert_eq!((from("build.example"), from("192.0.2.1:80"), from("evil.example")), (200, 200, 403));
}

#[test]
fn an_address_that_others_reach_needs_a_token_that_cannot_be_guessed() {
    let sandbox = project();
    let refused = sandbox.run(["mcp", "--http", "0.0.0.0:0", "--json"]).code(2).error();
    assert!(refused["hint"].as_str().expect("a hint").contains("LEFTOFF_MCP_TOKEN"), "{refused}");
    sandbox.write("short", "abc\n");
    sandbox.run(["mcp", "--http", ANY_PORT, "--token-file", "short"]).code(2);
    sandbox.run(["mcp", "--http", ANY_PORT, "--token-file", "nosuch"]).code(2);
    sandbox.run(["mcp", "--http", "nowhere"]).code(2);
    sandbox.run(["mcp", "--token-file", "short"]).code(2);
    let server = WebServer::start(&sandbox, &[ANY_PORT], &[]);
    sandbox.run(["mcp", "--http", &server.address.to_string()]).code(1);
}

#[test]
fn many_clients_at_once_are_all_served() {
    let sandbox = project();
    sandbox.run(["start"]).ok();
    let server = WebServer::start(&sandbox, &[ANY_PORT], &[]);
    std::thread::scope(|scope| {
        for client in 0..8 {
            let server = &server;
            scope.spawn(move || {
                for number in 0..10 {
                    let text = format!("{client}-{number}");
                    let reply = server
                        .post(&named("note"), &call(number, "note", &json!({"text": text, "key": text})));
                    assert_eq!(reply.json()["result"]["isError"], false, "{reply:?}");
                }
            });
        }
    });
    let log = sandbox.run(["log", "--json"]).ok().json();
    let notes =
        log["events"].as_array().expect("events").iter().filter(|event| event["type"] == "note_added");
    assert_eq!(notes.count(), 80);
}

/// Reads a stream until a message with this method arrives.
fn told(stream: &mut BufReader<TcpStream>, method: &str) -> Value {
    loop {
        let mut line = String::new();
        assert_ne!(stream.read_line(&mut line).expect("the stream goes on"), 0, "{method} before the end");
        let message = line.strip_prefix("data:").and_then(|data| serde_json::from_str::<Value>(data).ok());
        if let Some(message) = message.filter(|message| message["method"] == method) {
            return message;
        }
    }
}

#[test]
fn changes_are_told_on_a_stream_in_both_eras() {
    let sandbox = project();
    sandbox.run(["start"]).ok();
    let server = WebServer::start(&sandbox, &[ANY_PORT], &[]);
    let listen = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen")];
    let params = json!({"notifications": {"resourceSubscriptions": ["leftoff://brief"]}, "_meta": meta()});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    let mut stateless = BufReader::new(server.open("POST", "/mcp", &listen, &request.to_string()));
    told(&mut stateless, "notifications/subscriptions/acknowledged");
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake()});
    let session = server.post(&[], &begin).header("mcp-session-id").expect("a session").to_owned();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    server.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let mut legacy = BufReader::new(server.open("GET", "/mcp", &headers, ""));
    let params = json!({"uri": "leftoff://brief"});
    let subscribe = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": params});
    assert!(server.post(&headers, &subscribe).json()["result"].is_object());
    sandbox.run(["note", "something happened"]).ok();
    for stream in [&mut stateless, &mut legacy] {
        assert_eq!(told(stream, "notifications/resources/updated")["params"]["uri"], "leftoff://brief");
    }
}
