//! Tests of `serve` with hostile and honest clients. Their requests are written by hand and sent over
//! loopback.

mod browser;
mod client;

use crate::{fresh, git};
use client::Page;
use testkit::Sandbox;

const ASKED: &str = "name = \"asked\"\nversion = \"1\"\ntitle = \"Asked\"\n\n[[phase]]\nid = \"plan\"\ntitle = \"Plan\"\n\n  [[phase.check]]\n  id = \"agreed\"\n  kind = \"approval\"\n\n[[phase]]\nid = \"build\"\ntitle = \"Build\"\n";

/// A session whose gate needs nothing but a person's approval.
fn waiting() -> Sandbox {
    let sandbox = fresh();
    sandbox.write(".leftoff/workflows/asked.toml", ASKED);
    sandbox.run(["start", "asked", "--id", "login", "--title", "Stay logged in"]).ok();
    sandbox.run(["advance", "--phase", "plan"]).code(5);
    sandbox
}

#[test]
fn a_request_must_name_this_machine_and_bring_what_was_printed() {
    let sandbox = git();
    let page = Page::serve(&sandbox, &[]);
    let port = page.port;
    let ask = |host: &str| page.raw("GET", "/", &[("host", host), ("cookie", &page.cookie)], "").status;
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(ask(&host), 200, "{host}");
    }
    for host in [
        "evil.example",
        "127.evil.example",
        "127.0.0.1.evil.example",
        "localhost",
        "[::2]",
        "0",
        "localhost:1",
    ] {
        assert_eq!(ask(host), 403, "{host}");
        assert_eq!(
            ask(&format!("{host}:{port}").replace(":1:", ":")),
            if host == "localhost" || host == "localhost:1" { 200 } else { 403 },
            "{host}"
        );
    }
    let own = format!("127.0.0.1:{port}");
    let elsewhere = Page::sent_on(&sandbox, "//evil.example/x");
    assert_eq!(elsewhere, "/evil.example/x", "a token leads to no other server");
    assert_eq!(page.raw("GET", "/", &[("cookie", &page.cookie)], "").status, 400, "no Host");
    for path in ["/", "/approvals", "/session/x", "/style.css", "/script.js", "/events"] {
        assert_eq!(page.raw("GET", path, &[("host", &own)], "").status, 401, "{path} without a cookie");
    }
    assert_eq!(page.raw("GET", "/?token=0", &[("host", &own)], "").status, 403, "a wrong token");
    let replay = page.raw("GET", &format!("/?token={}", page.token), &[("host", &own)], "");
    assert_eq!(replay.status, 403, "the token was used");
    assert!(replay.body.contains("works only once"), "{}", replay.body);
    let foreign = page.raw(
        "GET",
        "/",
        &[("host", &own), ("cookie", &page.cookie), ("origin", "http://evil.example")],
        "",
    );
    assert_eq!(foreign.status, 403);
}

#[test]
fn the_cookie_and_every_answer_have_their_guards() {
    let sandbox = git();
    let page = Page::serve(&sandbox, &[]);
    assert!(page.set_cookie.starts_with(&format!("leftoff-{}=", page.port)), "{}", page.set_cookie);
    assert!(page.set_cookie.contains("; HttpOnly; SameSite=Strict"), "{}", page.set_cookie);
    for path in ["/", "/approvals", "/nowhere", "/style.css"] {
        let reply = page.get(path);
        let policy = reply.header("content-security-policy").unwrap_or_default();
        assert!(
            policy.starts_with("default-src 'self';") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
    }
    let html = page.get("/").body;
    let outside = ["http://", "https://", "//"].map(|prefix| format!("=\"{prefix}"));
    assert!(!outside.iter().any(|link| html.contains(link)), "nothing is asked of other servers: {html}");
    assert!(!html.contains("style=\"") && !html.contains("onclick"), "nothing that the policy forbids");
}

#[test]
fn a_change_needs_leave_the_pages_own_origin_and_its_form() {
    let sandbox = waiting();
    let body = |csrf: &str| format!("csrf={csrf}&text=from+the+page");
    let closed = Page::serve(&sandbox, &[]);
    assert_eq!(
        closed.post("/session/login/note", Some(&closed.origin()), &body("x")).status,
        403,
        "read-only"
    );
    assert!(!closed.get("/session/login").body.contains("<form method=\"post\""), "no buttons");

    let page = Page::serve(&sandbox, &["--allow-actions"]);
    let csrf = page.csrf("/session/login");
    let own = page.origin();
    for origin in [None, Some("null"), Some("http://evil.example"), Some("http://localhost:1"), Some("")] {
        assert_eq!(page.post("/session/login/note", origin, &body(&csrf)).status, 403, "{origin:?}");
    }
    assert_eq!(page.post("/session/login/note", Some(&own), &body("")).status, 403);
    assert_eq!(
        page.post("/session/login/note", Some(&own), &body(&csrf.replace('a', "b"))).status,
        if csrf.contains('a') { 403 } else { 303 }
    );
    let notes = || sandbox.run(["status", "--json"]).ok().json()["notes"].clone();
    let before = notes().as_array().unwrap().len();
    let done = page.post("/session/login/note", Some(&own), &body(&csrf));
    assert_eq!((done.status, done.header("location")), (303, Some("/session/login")), "{}", done.body);
    assert_eq!(notes().as_array().unwrap().len(), before + 1);
    assert_eq!(page.post("/session/login/unknown", Some(&own), &body(&csrf)).status, 400);
    assert_eq!(page.post("/session/none/note", Some(&own), &body(&csrf)).status, 404);
    let huge = format!("csrf={csrf}&text={}", "x".repeat(1 << 20));
    assert_eq!(page.post("/session/login/note", Some(&own), &huge).status, 413);
    assert_eq!(page.raw("DELETE", "/", &[("host", &page.host()), ("cookie", &page.cookie)], "").status, 405);
}

#[test]
fn only_a_server_that_a_person_started_approves() {
    let sandbox = waiting();
    let approve = |page: &Page| {
        let body = format!("csrf={}&check=agreed", page.csrf("/approvals"));
        page.post("/session/login/approve", Some(&page.origin()), &body)
    };
    let by_nobody = Page::serve(&sandbox, &["--allow-actions"]);
    let refused = approve(&by_nobody);
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(!sandbox.run(["log"]).ok().stdout.contains("approved"));
    let by_a_person = Page::serve_at_terminal(&sandbox, &["--allow-actions"]);
    assert!(by_a_person.get("/approvals").body.contains("All other checks pass"));
    let other = format!("csrf={}&check=agreed&files=another", by_a_person.csrf("/approvals"));
    let refused = by_a_person.post("/session/login/approve", Some(&by_a_person.origin()), &other);
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(by_a_person.get("/approvals").body.contains("name=\"files\""));
    let done = approve(&by_a_person);
    assert_eq!(done.status, 303, "{}", done.body);
    assert!(sandbox.run(["log"]).ok().stdout.contains("check agreed of plan approved by anna"));
    assert!(
        by_a_person.get("/approvals").body.contains("Nothing needs"),
        "{}",
        by_a_person.get("/approvals").body
    );
}

/// The page shows the command once. A missing approval is not shown as a failure.
#[test]
fn a_waiting_session_says_how_to_approve_and_who_acted_last() {
    let sandbox = waiting();
    let page = Page::serve(&sandbox, &[]);
    let session = page.get("/session/login").body;
    assert_eq!(session.matches("<code>leftoff approve agreed</code>").count(), 1, "{session}");
    assert!(session.contains("plan waits for approval: agreed"), "{session}");
    assert!(session.contains("attempts at a gate: … waits for approval."), "{session}");
    assert!(page.get("/").body.contains("last change by anna, "), "{}", page.get("/").body);
}

#[test]
fn a_finished_session_shows_what_was_overridden_and_skipped() {
    let sandbox = waiting();
    sandbox.allow_anyone(&["override"]);
    sandbox.run(["advance", "--override", "agreed by phone"]).ok();
    sandbox.run(["skip", "--reason", "nothing to build"]).ok();
    let page = Page::serve(&sandbox, &[]);
    for path in ["/", "/session/login"] {
        let html = page.get(path).body;
        for part in [
            "Plan: anna overrode &quot;agreed&quot;",
            "agreed by phone",
            "was skipped by anna",
            "2 of 2 phases not verified",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
    assert!(page.get("/session/login").body.contains("\">skipped</text>"));
}

#[test]
fn hostile_texts_are_shown_and_never_run() {
    let sandbox = git();
    let title = "<script>alert(1)</script>\u{1b}[2J\u{202e}\"><img src=x onerror=alert(2)>";
    sandbox.run(["start", "--id", "login", "--title", title, "--goal", title]).ok();
    sandbox.run(["note", title, "--kind", "blocker"]).ok();
    sandbox.run(["note", &"long ".repeat(13_000)]).ok();
    let page = Page::serve(&sandbox, &[]);
    let file = sandbox.run(["show", "login", "--format", "html"]).ok().stdout;
    let brief = sandbox.run(["brief", "--format", "html"]).ok().stdout;
    let mut pages = ["/", "/approvals", "/session/login"].map(|path| page.get(path).body).to_vec();
    pages.extend([file.clone(), brief.clone()]);
    for html in &pages {
        for hostile in ["<script>alert", "<img", "\u{1b}", "\u{202e}"] {
            assert!(!html.contains(hostile), "{hostile:?} in {html}");
        }
        assert!(html.len() < 400_000, "a long note is cut");
    }
    for html in pages.iter().take(4) {
        assert!(html.contains("&lt;script&gt;alert(1)"), "{html}");
    }
    for html in [file, brief] {
        assert!(!html.contains("<script") && !html.contains("<link"), "it needs no server: {html}");
    }
    let found = page.get("/?q=%3Cscript%3E");
    assert!(found.body.contains("value=\"&lt;script&gt;\""), "{}", found.body);
}

#[test]
fn pages_are_told_of_changes_and_seven_tabs_are_no_problem() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    let page = Page::serve(&sandbox, &[]);
    let mut tabs: Vec<client::Events> = (0..7).map(|_| page.events("login", None)).collect();
    assert_eq!(page.get("/").status, 200, "beside all streams");
    sandbox.run(["note", "x"]).ok();
    for tab in &mut tabs {
        tab.until("event: changed");
    }
    let mut again = page.events("login", Some("1"));
    again.until("event: changed");

    let id = "2026-11-14-login";
    let path = format!(".ocr/sessions/{id}/state.json");
    let state = |phase: &str, number: u32| {
        format!(
            r#"{{"session_id":"{id}","status":"active","workflow_type":"review","current_phase":"{phase}","phase_number":{number},"started_at":"2026-11-14T10:00:00Z"}}"#
        )
    };
    sandbox.write(&path, &state("context", 1));
    let mut files = page.events(id, None);
    sandbox.write(&path, &state("analysis", 3));
    files.until("event: changed");
    assert!(page.get(&format!("/session/{id}")).body.contains("Tech Lead Analysis"));
}

#[test]
fn files_are_shown_with_their_versions_and_what_changed() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    for text in ["one\ntwo\n", "one\n<b>2</b>\n"] {
        sandbox.write("plan.md", text);
        sandbox.run(["artifact", "add", "plan.md"]).ok();
    }
    sandbox.write("plan.md", "one\n<b>2</b>\nthree\n");
    let html = Page::serve(&sandbox, &[]).get("/session/login").body;
    for part in [
        "<code>plan.md</code>: version 1 to 2",
        "<del>-two\n</del><ins>+&lt;b&gt;2&lt;/b&gt;\n</ins>",
        "<code>plan.md</code>: version 2 to the file as it is now",
        "<ins>+three\n</ins>",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
}

#[test]
fn what_other_machines_reach_needs_a_flag() {
    let sandbox = git();
    let refused = sandbox.run(["serve", "--listen", "0.0.0.0:0"]).code(2);
    assert!(refused.stderr.contains("--plain-http"), "{}", refused.stderr);
}

#[test]
fn sessions_are_found_filtered_and_paged() {
    let sandbox = git();
    for number in 0..60 {
        sandbox
            .run(["start", "--id", &format!("s{number:02}"), "--title", &format!("Work {number:02}")])
            .ok();
    }
    sandbox.run(["close", "--force", "--session", "s07"]).ok();
    let page = Page::serve(&sandbox, &[]);
    let first = page.get("/").body;
    assert!(first.contains("Work 59") && first.contains("rel=\"next\""), "{first}");
    let second = page.get("/?page=1").body;
    assert!(second.contains("Work 03") && second.contains("rel=\"prev\""), "{second}");
    let closed = page.get("/?status=completed").body;
    assert!(closed.contains("/session/s07\"") && !closed.contains("Work 08</a> <span"), "{closed}");
    assert!(page.get("/?q=work+13").body.contains("/session/s13"));
    assert!(page.get("/?q=nothing-like-this").body.contains("No session matches."));
}
