//! Tests that adding and removing entries restores the original text.

use super::*;
use serde_json::json;

fn is_ours(value: &Json) -> bool {
    value["command"] == "leftoff"
}

fn ours() -> Json {
    json!({ "command": "leftoff", "args": ["hook"] })
}

/// The text after all edits that an installation makes: two lists and a key.
fn installed(text: &str) -> String {
    let text = with_element(text, &["hooks", "Start"], &is_ours, &ours()).expect("in");
    let text = with_element(&text, &["hooks", "Stop"], &is_ours, &ours()).expect("in");
    with_key(&text, &["servers"], "leftoff", &ours()).expect("in")
}

fn removed(text: &str) -> Option<String> {
    let text = without_key(text, &["servers"], "leftoff", &is_ours).expect("out")?;
    let text = without_element(&text, &["hooks", "Stop"], &is_ours).expect("out")?;
    without_element(&text, &["hooks", "Start"], &is_ours).expect("out")
}

const TEXTS: [&str; 22] = [
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "{ // mine\n}\n",
    "{\n  \"a\": 1\n}\n",
    "{\n  \"a\": 1,\n}\n",
    "{\n  \"a\": 1 // why\n}\n",
    "{\n  \"a\": 1, // why\n  // last\n}\n",
    "{\n  \"a\": 1 /* why */   \n\n}",
    "{\"a\":1}",
    "{\"a\":1,}",
    "{ \"a\" : 1 }\n",
    "{\n\t\"a\": {\n\t\t\"b\": []\n\t}\n}\n",
    "{\r\n    \"a\": 1\r\n}\r\n",
    "{\n  \"hooks\": {}\n}\n",
    "{\n  \"hooks\": { \"Start\": [] },\n  \"servers\": {}\n}\n",
    "{\n  \"hooks\": {\n    \"Start\": [\n      { \"command\": \"theirs\" } // keep\n    ]\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"Start\": [{ \"command\": \"theirs\" }],\n    \"Other\": [1, 2]\n  },\n  \"z\": \"ü // no comment\"\n}\n",
    "// first\n{\n  // in it\n  \"servers\": { \"x\": { \"command\": \"x\" } }, // end\n  \"hooks\": {\n    // none yet\n  }\n}\n// last\n",
    "\n\n  {\n      \"a\": [\n      ]\n  }",
    "{\n  \"servers\": {\n    \"x\": 1,\n    /* , */\n  },\n}\n",
];

#[test]
fn in_and_out_again_is_byte_for_byte_the_same() {
    for text in TEXTS {
        let once = installed(text);
        let value = read(&once).unwrap_or_else(|problem| panic!("{problem}: {once}"));
        assert_eq!(value["servers"]["leftoff"], ours(), "{once}");
        for list in ["Start", "Stop"] {
            let count =
                value["hooks"][list].as_array().unwrap().iter().filter(|value| is_ours(value)).count();
            assert_eq!(count, 1, "{once}");
        }
        assert_eq!(installed(&once), once, "twice is once");
        assert_eq!(removed(&once).as_deref(), Some(text), "from:\n{once}");
        assert_eq!(removed(text).as_deref(), Some(text), "nothing of ours: nothing happens");
    }
}

#[test]
fn a_text_of_ours_alone_leaves_nothing() {
    let text =
        fresh(&json!({ "hooks": { "Start": [ours()], "Stop": [ours()] }, "servers": { "leftoff": ours() } }));
    assert_eq!(installed(&text), text);
    assert_eq!(removed(&text), None);
    let shared = text.replacen("{\n", "{\n  \"mine\": true,\n", 1);
    assert_eq!(read(&removed(&shared).unwrap()).unwrap(), json!({ "mine": true }));
}

#[test]
fn what_others_added_beside_ours_stays() {
    let text = installed("{\n  \"a\": 1\n}\n");
    let behind = text.replacen("\"Stop\": [", "\"Mine\": [1],\n    \"Stop\": [", 1);
    let left = removed(&behind).unwrap();
    assert_eq!(read(&left).unwrap(), json!({ "a": 1, "hooks": { "Mine": [1] } }), "{left}");
    let changed = text.replacen("\"args\"", "\"timeout\": 3, \"args\"", 3);
    assert_eq!(removed(&changed).as_deref(), Some("{\n  \"a\": 1\n}\n"), "known by the command");
}

#[test]
fn what_has_another_shape_is_refused() {
    for text in
        ["", "[]", "{", "{'a': 1}", "{\"hooks\": 3}", "{\"hooks\": {\"Start\": {}}}", "{\"hooks\": []}"]
    {
        assert!(with_element(text, &["hooks", "Start"], &is_ours, &ours()).is_err(), "{text}");
    }
    assert_eq!(
        with_element("{\"hooks\": {\"Start\": 1}}", &["hooks", "Start"], &is_ours, &ours()),
        Err("'hooks.Start' is not an object".to_owned())
    );
}
