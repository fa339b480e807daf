//! Tests of copying a store to a server and back. Sessions and hash chains stay the same, and no other
//! session is overwritten.

use crate::proxy::{Proxy, Way};
use crate::{PROGRAM, notes, server};
use testkit::Sandbox;
use testkit::postgres::PASSWORD;

#[test]
fn a_store_goes_to_a_server_and_back() {
    let Some(url) = testkit::postgres::schema("copies of a store") else { return };
    let sandbox = Sandbox::git(PROGRAM).without_gates();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--id", "first"]).ok();
    sandbox.write("plan.md", "# A plan\n");
    sandbox.run(["artifact", "add", "plan.md"]).ok();
    for text in ["one", "two"] {
        sandbox.run(["note", text]).ok();
    }
    sandbox.run(["start", "--id", "second", "--parallel"]).ok();
    let copied = sandbox.run(["store", "copy", "--from", "sqlite", "--to", &url, "--json"]).ok().json();
    assert_eq!((&copied["sessions"], &copied["there_already"]), (&2.into(), &0.into()), "{copied}");
    assert!(!copied.to_string().contains(testkit::postgres::PASSWORD));
    // A second copy has nothing to copy.
    let again = sandbox.run(["store", "copy", "--from", "sqlite", "--to", &url, "--json"]).ok().json();
    assert_eq!((&again["sessions"], &again["there_already"]), (&0.into(), &2.into()), "{again}");

    let there = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        testkit::Ran::from(command.env("LEFTOFF_STORE", &url).output().unwrap())
    };
    let shown = |ran: testkit::Ran| ran.ok().json();
    let mut here = shown(sandbox.run(["show", "first", "--json"]));
    let mut copy = shown(there(&["show", "first", "--json"]));
    for view in [&mut here, &mut copy] {
        view.as_object_mut().unwrap().remove("warnings");
    }
    assert_eq!(here, copy);
    there(&["note", "--session", "first", "three"]).ok();
    // The source has not changed. Copying back to it is refused, because the sessions differ now.
    assert_eq!(notes(&sandbox), ["one", "two"]);
    let refused = sandbox.run(["store", "copy", "--from", &url, "--to", "sqlite", "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "copy_refused");
    let back = sandbox.path("back.db");
    let back = back.to_str().unwrap();
    sandbox.run(["store", "copy", "--from", &url, "--to", back]).ok();
    let again = sandbox.run(["store", "copy", "--from", back, "--to", "sqlite"]).code(4);
    assert!(again.stderr.contains("first"), "{}", again.stderr);
}

#[test]
fn a_copy_that_was_interrupted_goes_on() {
    let Some(server) = server("an interrupted copy") else { return };
    let url = server.url();
    let sandbox = Sandbox::git(PROGRAM).without_gates();
    for number in 0..12 {
        sandbox.run(["start", "--parallel", "--id", &format!("s{number}")]).ok();
    }
    // The connection fails in the middle of the copy.
    let proxy = Proxy::to(server.port());
    proxy.set(Way::EighthCommitFails);
    let port = proxy.port;
    let by_proxy = format!("postgres://postgres:{PASSWORD}@127.0.0.1:{port}/postgres?sslmode=disable");
    let copy = |to: &str| sandbox.run(["store", "copy", "--from", "sqlite", "--to", to, "--json"]);
    let failed = copy(&by_proxy);
    assert_ne!(failed.code, 0);
    crate::without_password(&failed);
    let is_there = |count: &str| server.sql("SELECT count(*) FROM leftoff.sessions") == count;
    assert!(!is_there("0") && !is_there("12"), "some were copied");
    // A change that somebody else made to the copied part is noticed.
    server.sql("UPDATE leftoff.events SET actor=actor||' '");
    assert_eq!(copy(&url).code(4).error()["kind"], "copy_refused");
    server.sql("UPDATE leftoff.events SET actor=rtrim(actor)");
    let done = copy(&url).ok().json();
    let count = |name: &str| done[name].as_u64().unwrap();
    assert_eq!(count("sessions") + count("there_already"), 12);
    assert!(count("there_already") > 0 && count("sessions") > 0, "{done}");
    let mut command = sandbox.command(["list", "--all", "--json"]);
    let list = testkit::Ran::from(command.env("LEFTOFF_STORE", &url).output().unwrap()).ok().json();
    let ids = |list: &serde_json::Value| -> Vec<String> {
        list["sessions"].as_array().unwrap().iter().map(|line| line["session_id"].to_string()).collect()
    };
    assert_eq!(ids(&list), ids(&sandbox.run(["list", "--all", "--json"]).ok().json()), "in the same order");
}
