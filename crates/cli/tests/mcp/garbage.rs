//! Tests of invalid input. Any input gets a proper error, and the next request is answered as usual.

use crate::client::{BOTH, Client, Era};
use crate::project;
use serde_json::{Value, json};

#[test]
fn garbage_between_messages_is_answered_and_forgotten() {
    for era in BOTH {
        let sandbox = project();
        let mut client = Client::start(&sandbox, era);
        let cases: [(&[u8], i64); 8] = [
            (b"hello", -32700),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,", -32700),
            (b"\x00\xff\xfe", -32700),
            (b"[]", -32600),
            (b"[1,2,3]", -32600),
            (b"42", -32600),
            (b"\"text\"", -32600),
            (b"null", -32600),
        ];
        for (line, code) in cases {
            client.raw(line);
            assert_eq!(
                client.answer_to_nobody()["error"]["code"],
                code,
                "{:?}",
                String::from_utf8_lossy(line)
            );
            assert_eq!(client.done("status", json!({}))["outcome"], "no_session");
        }
        client.raw("[".repeat(200_000).as_bytes());
        assert_eq!(client.answer_to_nobody()["error"]["code"], -32700);
        for quiet in [&b""[..], b"  ", b"{\"jsonrpc\":\"2.0\",\"method\":\"no/such/notification\"}"] {
            client.raw(quiet);
        }
        client.done("status", json!({}));
        let (rest, code) = client.close();
        assert_eq!((rest.len(), code), (0, 0), "{rest:?}");
    }
}

#[test]
fn what_is_said_before_the_handshake_ends_nothing() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Stateless);
    client.raw(b"garbage");
    client.answer_to_nobody();
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}));
    client.say(&json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
    client.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(client.answer_to(&json!(1))["error"]["code"], -32602);
    client.say(&json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"protocolVersion": 7}}));
    assert_eq!(client.answer_to(&json!(2))["error"]["code"], -32602);
    let params = crate::client::handshake();
    client.say(&json!({"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": params}));
    assert_eq!(client.answer_to(&json!(3))["result"]["serverInfo"]["name"], "leftoff");
}

#[test]
fn malformed_requests_are_answered_under_their_ids() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let cases = [
        (json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call"}), -32602),
        (json!({"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": 7}}), -32602),
        (json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": [1]}), -32602),
        (
            json!({"jsonrpc": "2.0", "id": "d", "method": "tools/call", "params": {"name": "status", "arguments": 7}}),
            -32602,
        ),
        (
            json!({"jsonrpc": "2.0", "id": "e", "method": "tools/call", "params": {"name": "status", "arguments": "no"}}),
            -32602,
        ),
        (json!({"jsonrpc": "2.0", "id": "f", "method": "resources/read", "params": {}}), -32602),
        (
            json!({"jsonrpc": "2.0", "id": "g", "method": "resources/subscribe", "params": {"uri": []}}),
            -32602,
        ),
        (json!({"jsonrpc": "1.0", "id": "h", "method": "tools/list"}), -32600),
        (json!({"id": "i", "method": "tools/list"}), -32600),
        (json!({"jsonrpc": "2.0", "id": "j", "method": 7}), -32600),
    ];
    for (message, code) in cases {
        client.say(&message);
        let answer = client.answer_to(&message["id"]);
        assert_eq!(answer["error"]["code"], code, "{message}\n{answer}");
    }
}

#[test]
fn huge_texts_are_refused_and_not_repeated() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Stateless);
    client.done("start", json!({}));
    let huge = "x".repeat(1 << 20);
    for (tool, arguments) in [
        ("note", json!({"text": huge})),
        ("status", json!({"session": huge})),
        ("advance", json!({"phase": huge})),
        ("advance", json!({"evidence": {"log": huge}})),
        ("start", json!({"goal": huge})),
        ("start", json!({"workflow": huge})),
        ("item", json!({"action": "add", "title": huge})),
        ("item", json!({"action": huge})),
        ("control", json!({"action": "switch", "session": huge})),
        ("note", json!({"text": "x", "key": huge})),
        ("note", json!({huge.as_str(): 1})),
    ] {
        let result = client.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}");
        assert!(result.to_string().len() < 10_000, "{tool}: {} bytes", result.to_string().len());
    }
    let read = client.request("resources/read", json!({"uri": format!("leftoff://session/{huge}")}));
    assert!(read["error"].is_object() && read.to_string().len() < 10_000);
    // A message that is longer than allowed.
    let longest = "y".repeat(5 << 20);
    client.raw(
        json!({"jsonrpc": "2.0", "id": 99, "method": "tools/list", "params": {"x": longest}})
            .to_string()
            .as_bytes(),
    );
    assert_eq!(client.answer_to_nobody()["error"]["code"], -32600);
    assert_eq!(client.done("status", json!({}))["version"], 3, "nothing of it was kept");
    drop(client);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn an_id_that_still_waits_for_its_answer_is_not_used_twice() {
    let sandbox = project();
    let mut client = Client::start(&sandbox, Era::Handshake);
    client.done("start", json!({}));
    let call = |text: &str| {
        let params = json!({"name": "note", "arguments": {"text": text}});
        json!({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": params}).to_string()
    };
    client.raw(format!("{}\n{}", call("one"), call("two")).as_bytes());
    let answers = [client.answer_to(&json!("same")), client.answer_to(&json!("same"))];
    let done = answers.iter().filter(|answer| answer["result"].is_object()).count();
    let kept = sandbox.run(["show", "--json"]).ok().json()["notes"].as_array().map_or(0, Vec::len);
    assert_eq!(done, kept, "what was answered as done was kept, and nothing else: {answers:?}");
    assert!(done >= 1);
}

#[test]
fn a_last_line_without_an_end_is_answered_before_the_server_ends() {
    let sandbox = project();
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": crate::client::handshake()}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "start", "arguments": {}}}),
    ];
    let input = messages.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let ran = sandbox.run_with_input(&["mcp"], &input).ok();
    let ids: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["id"].clone())
        .collect();
    assert_eq!(ids, [json!(1), json!(2)]);
    assert_eq!(ran.stderr, "");
    assert_eq!(sandbox.run_with_input(&["mcp"], "").ok().stdout, "");
}

#[test]
fn sockets_in_place_of_pipes_do_as_well() {
    use std::io::{BufRead, BufReader, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    let sandbox = project();
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    let output = theirs.try_clone().expect("the same");
    let mut command = sandbox.command(["mcp"]);
    let mut child =
        command.stdin(OwnedFd::from(theirs)).stdout(OwnedFd::from(output)).spawn().expect("starts");
    drop(command);
    let mut answers = BufReader::new(ours.try_clone().expect("the same"));
    for number in 1..=3 {
        let params = json!({"name": "status", "arguments": {}, "_meta": crate::client::meta()});
        let call = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
        writeln!(&ours, "{call}").expect("it reads");
        let mut line = String::new();
        answers.read_line(&mut line).expect("it answers");
        assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON")["id"], number);
    }
    ours.shutdown(std::net::Shutdown::Write).expect("closed");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn outside_of_any_project_there_is_an_answer_too() {
    let sandbox = testkit::Sandbox::plain(env!("CARGO_BIN_EXE_leftoff"));
    let mut client = Client::start(&sandbox, Era::Handshake);
    assert_eq!(client.refused("status", json!({}))["kind"], "no_project");
    let listed = client.request("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"].as_array().map(Vec::len), Some(2));
    client.done("start", json!({}));
    assert_eq!(client.done("status", json!({}))["outcome"], "session");
}
