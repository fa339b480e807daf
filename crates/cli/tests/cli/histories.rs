//! Twelve histories. After each, the brief must tell a new reader certain facts, in all three formats.

use crate::agent::Agent;
use crate::{SHIP, git, try_build, with_gate, words_only};
use serde_json::{Value, json};
use testkit::{Ran, Sandbox};

/// A JSON path and its expected value.
type Fact = (&'static str, fn() -> Value);

/// A history, and what the brief after it must contain.
struct History {
    /// Creates the history, and sets the clock to the time at which somebody returns. Returns agents that
    /// must stay alive.
    given: fn() -> (Sandbox, Vec<Agent>),
    /// The agent that reads the brief; `None` for a person.
    asked_by: Option<&'static str>,
    /// Phases that must never be redone.
    done: &'static [&'static str],
    /// The number and the id of the current phase.
    at: (u32, &'static str),
    status: &'static str,
    /// The command that must be offered, and its exit code when it is run as printed.
    next: (&'static str, i32),
    /// Facts that the format for agents must contain. The format for people has the same words.
    markdown: &'static [&'static str],
    /// Text that would mislead any reader.
    never: &'static [&'static str],
    json: &'static [Fact],
}

impl Default for History {
    fn default() -> Self {
        Self {
            given: || (git(), Vec::new()),
            asked_by: None,
            done: &[],
            at: (1, "plan"),
            status: "active",
            next: ("leftoff start", 0),
            markdown: &[],
            never: &[],
            json: &[],
        }
    }
}

#[track_caller]
fn check(history: &History) {
    let (sandbox, _alive) = (history.given)();
    let ask = |words: &[&str]| -> Ran {
        match history.asked_by {
            Some(agent) => sandbox.run_as(agent, words).ok(),
            None => sandbox.run(words).ok(),
        }
    };
    let text = ask(&["brief"]).stdout;
    let markdown = ask(&["brief", "--format", "markdown"]).stdout;
    let brief = ask(&["brief", "--json"]).json();
    let view = &brief["session"];

    for fact in history.markdown {
        assert!(markdown.contains(fact), "{fact:?} is not told in\n{markdown}");
        assert!(words_only(&text).contains(&words_only(fact)), "{fact:?} is not told in\n{text}");
    }
    for form in [&text, &markdown] {
        for wrong in history.never {
            assert!(!form.contains(wrong), "{wrong:?} is told in\n{form}");
        }
        assert!(form.contains(history.next.0), "{:?} in\n{form}", history.next.0);
    }
    for (pointer, value) in history.json {
        assert_eq!(brief.pointer(pointer).unwrap_or(&Value::Null), &value(), "{pointer} in\n{brief:#}");
    }
    assert_eq!(view["status"], history.status);
    assert_eq!(view["current_phase"]["number"], history.at.0);
    assert_eq!(view["current_phase"]["id"], history.at.1);
    // For a finished session, no command is suggested.
    let next = if history.next.0.is_empty() { Value::Null } else { json!(history.next.0) };
    assert_eq!(view["next"]["command"], next);
    assert_done(history.done, view, &text, &markdown);
    assert_eq!(ask(&["status", "--json"]).json()["next"], view["next"]);
    assert_eq!(ask(&["next", "--json"]).json()["command"], next);
    if next.is_null() {
        return;
    }
    let words = testkit::words_of(history.next.0).into_iter().skip(1);
    let ran = match history.asked_by {
        Some(agent) => sandbox.run_as(agent, words),
        None => sandbox.run(words),
    };
    ran.code(history.next.1);
}

/// Expects that each format lists exactly the finished phases, and offers none of them again.
#[track_caller]
fn assert_done(done: &[&str], view: &Value, text: &str, markdown: &str) {
    let phases = view["phases"].as_array().expect("phases");
    for phase in phases {
        let (number, id) = (&phase["number"], phase["id"].as_str().expect("an id"));
        let is_done = done.contains(&id);
        assert_eq!(phase["status"] == "completed", is_done, "{id} in\n{view:#}");
        let is_listed = view["completed_phases"].as_array().expect("numbers").contains(number);
        assert_eq!(is_listed, is_done, "{id} in completed_phases");
        let title = phase["title"].as_str().expect("a title");
        let in_text =
            text.contains("Done (do not redo):\n") && text.contains(&format!("\n- {number} {title} ("));
        assert_eq!(in_text, is_done, "{id} in\n{text}");
        let in_markdown = markdown.contains("## Done (do not redo)\n")
            && markdown.contains(&format!("\n- {number} {title} ("));
        assert_eq!(in_markdown, is_done, "{id} in\n{markdown}");
        let offered = format!("--phase {id}");
        assert!(!is_done || !view["next"]["command"].to_string().contains(&offered), "{id} is offered again");
    }
}

const GOAL: &str = "No log-out while a tab is open";

fn started(sandbox: &Sandbox, workflow: &str) {
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", workflow, "--goal", GOAL, "--id", "login"]).ok();
}

fn planned(sandbox: &Sandbox, workflow: &str) {
    started(sandbox, workflow);
    sandbox.at("2026-11-14T10:30:00Z");
    sandbox.run(["advance", "--evidence", "commit=4e1f0aa"]).ok();
}

#[test]
fn a_fresh_start() {
    check(&History {
        given: || {
            let sandbox = git();
            started(&sandbox, "plan-implement-review");
            sandbox.at("2026-11-14T10:05:00Z");
            (sandbox, Vec::new())
        },
        next: ("leftoff advance --phase plan", 0),
        markdown: &[
            "# Where you left off (session login)\nGoal: \"No log-out while a tab is open\"\n",
            "Phase 1 of 3, **Plan**, for 5 min. 0 of 3 phases done (0 %).",
            "Workflow plan-implement-review v1, branch main.",
            "## Next\nPhase 1, Plan: Understand the task",
        ],
        never: &["Done", "average", "Failed", "left."],
        json: &[
            ("/session/goal", || json!(GOAL)),
            ("/session/completed_phases", || json!([])),
            ("/session/progress/percent", || json!(0)),
            ("/session/progress/time_in_phase_seconds", || json!(300)),
            ("/session/progress/estimated_remaining_seconds", || Value::Null),
        ],
        ..History::default()
    });
}

/// A session after a crash: the program ends just before or just after the change is committed.
fn crashed(place: &str) -> Sandbox {
    let sandbox = git();
    planned(&sandbox, "plan-implement-review");
    sandbox.at("2026-11-14T11:00:00Z");
    let mut command = sandbox.command(["advance", "--phase", "implement"]);
    let crashed = Ran::from(command.env("LEFTOFF_TEST_CRASH", place).output().expect("the program starts"));
    assert_eq!((crashed.code, crashed.stdout.as_str()), (134, ""), "it was ended by abort, unacknowledged");
    sandbox.at("2026-11-14T11:30:00Z");
    sandbox
}

#[test]
fn a_crash_in_the_middle_of_advance() {
    check(&History {
        given: || (crashed("before-append"), Vec::new()),
        done: &["plan"],
        at: (2, "implement"),
        next: ("leftoff advance --phase implement", 0),
        markdown: &[
            "Phase 2 of 3, **Implement**, for 1 h (average phase 30 min). 1 of 3 phases done (33 %).",
            "- 1 Plan (30 min, no gate): commit=4e1f0aa\n",
        ],
        never: &["2 implement (30", "2 Implement (30"],
        json: &[
            ("/session/version", || json!(5)),
            ("/session/phases/1/attempt_count", || json!(0)),
            ("/session/phases/0/attempts/0/evidence/commit", || json!("4e1f0aa")),
        ],
        ..History::default()
    });
}

#[test]
fn a_crash_just_after_advance() {
    check(&History {
        given: || (crashed("after-append"), Vec::new()),
        done: &["plan", "implement"],
        at: (3, "review"),
        next: ("leftoff advance --phase review", 0),
        markdown: &["Phase 3 of 3, **Review**, for 30 min", "(67 %)", "- 2 Implement (30 min, no gate)\n"],
        json: &[("/session/completed_phases", || json!([1, 2]))],
        ..History::default()
    });
}

#[test]
fn after_a_crash_the_same_command_is_not_done_twice() {
    let sandbox = crashed("after-append");
    let before = sandbox.run(["status", "--json"]).ok().json();
    let again = sandbox.run(["advance", "--phase", "implement", "--json"]).ok().json();
    assert_eq!((&again["already"], &again["version"]), (&json!(true), &before["version"]));
    assert_eq!(again["current_phase"]["id"], "review");
}

#[test]
fn a_failed_gate() {
    check(&History {
        given: || {
            let sandbox = with_gate();
            planned(&sandbox, "ship");
            sandbox.at("2026-11-14T11:00:00Z");
            try_build(&sandbox, 40, 45, 60).code(5);
            try_build(&sandbox, 42, 45, 65).code(5);
            sandbox.at("2026-11-14T11:05:00Z");
            (sandbox, Vec::new())
        },
        done: &["plan"],
        at: (2, "build"),
        status: "checkpoint_failed",
        next: (
            "leftoff advance --phase build --evidence 'tests_passed=<number>' --evidence 'tests_total=<number>' --evidence 'coverage=<number>'",
            2,
        ),
        markdown: &[
            "## Failed: attempt 2 of Build, 11:00 UTC\n- all-pass: ",
            "- all-pass: tests_passed=42, tests_total=45, needs evidence.tests_passed == evidence.tests_total\n",
            "- enough: coverage=65, needs evidence.coverage >= 80.0\n",
            "Make 'all-pass' pass: it needs evidence.tests_passed == evidence.tests_total. \
             Add tests until coverage reaches 80 %. Then try phase 2 (build) again.",
        ],
        never: &["coverage=60", "tests_passed=40"],
        json: &[
            ("/session/phases/1/gate/outcome", || json!("failed")),
            ("/session/phases/1/gate/checks/3/id", || json!("all-pass")),
            ("/session/phases/1/gate/checks/4/help", || json!("Add tests until coverage reaches 80 %.")),
            ("/session/phases/1/gate/checks/4/found", || json!("coverage=65")),
            ("/session/phases/1/attempt_count", || json!(2)),
            ("/session/phases/1/attempts/0/evidence/coverage", || json!(60)),
        ],
        ..History::default()
    });
}

/// A session that was paused half an hour after its second phase started.
fn paused() -> Sandbox {
    let sandbox = git();
    planned(&sandbox, "plan-implement-review");
    sandbox.at("2026-11-14T11:00:00Z");
    let (why, context) = ("waiting for the certificate", "half of the refresh tests");
    sandbox.run(["pause", "--reason", why, "--context", context]).ok();
    sandbox
}

#[test]
fn paused_with_a_reason() {
    check(&History {
        given: || {
            let sandbox = paused();
            sandbox.at("2026-11-14T13:00:00Z");
            (sandbox, Vec::new())
        },
        done: &["plan"],
        at: (2, "implement"),
        status: "paused",
        next: ("leftoff resume login", 0),
        markdown: &[
            "Phase 2 of 3, **Implement** (Carry out the plan step by step",
            "for 30 min (average phase 30 min). **Paused** 2 hours ago: \
             \"waiting for the certificate\", in the middle of \"half of the refresh tests\". 1 of 3 phases done (33 %)",
            "## Next\nContinue with phase 2, Implement.",
        ],
        json: &[
            ("/session/lifecycle/state", || json!("paused")),
            ("/session/lifecycle/reason", || json!("waiting for the certificate")),
            ("/session/lifecycle/context", || json!("half of the refresh tests")),
            ("/session/lifecycle/at", || json!("2026-11-14T11:00:00Z")),
        ],
        ..History::default()
    });
}

#[test]
fn paused_for_days() {
    check(&History {
        given: || {
            let sandbox = paused();
            sandbox.at("2026-11-17T16:00:00Z");
            (sandbox, Vec::new())
        },
        done: &["plan"],
        at: (2, "implement"),
        status: "paused",
        next: ("leftoff resume login", 0),
        markdown: &["for 30 min", "**Paused** 14 Nov", "Last change by anna, 14 Nov."],
        // A time without work is not a sign that something is wrong.
        never: &["longer than", "stalled"],
        json: &[
            ("/session/progress/time_in_phase_seconds", || json!(1800)),
            ("/session/progress/stalled", || json!(false)),
        ],
        ..History::default()
    });
}

#[test]
fn after_days_of_pause_the_work_goes_on_where_it_was() {
    let sandbox = paused();
    sandbox.at("2026-11-17T16:00:00Z");
    sandbox.run(["resume"]).ok();
    sandbox.at("2026-11-17T16:20:00Z");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&view["status"], &view["current_phase"]["id"]), (&json!("active"), &json!("implement")));
    assert_eq!(view["progress"]["time_in_phase_seconds"], 50 * 60);
    assert_eq!(view["phases"][1]["paused_seconds"], (3 * 24 + 5) * 3600);
    assert_eq!(view["resume_count"], 1);
}

#[test]
fn handed_from_one_agent_to_another() {
    check(&History {
        given: || {
            let sandbox = git();
            let claude = "claude:a4326893-7dc8-405b";
            sandbox.at("2026-11-14T10:00:00Z");
            sandbox.run_as(claude, ["start", "--goal", GOAL, "--id", "login", "--target", "src/auth"]).ok();
            sandbox.at("2026-11-14T10:30:00Z");
            sandbox.run_as(claude, ["advance", "--phase", "plan", "--output", "plan=PLAN.md"]).ok();
            for (kind, text) in [
                ("decision", "Rotate on every use: replay is then visible"),
                ("tried", "Longer proxy timeout: the cookie still expires first"),
                ("assumption", "The proxy keeps headers"),
                ("blocker", "Staging certificate expired"),
                ("note", "Refresh tests are half written"),
            ] {
                sandbox.run_as(claude, ["note", text, "--kind", kind]).ok();
            }
            sandbox.at("2026-11-15T09:00:00Z");
            (sandbox, Vec::new())
        },
        asked_by: Some("codex:01a1de4b-0000-7000"),
        done: &["plan"],
        at: (2, "implement"),
        // Nobody paused the session, so the night is included in its time, and the brief says that it may be
        // stalled.
        status: "possibly_stalled",
        next: ("leftoff advance --phase implement", 0),
        markdown: &[
            "Last change by claude a4326893, 22 hours ago.",
            "- 1 Plan (30 min, no gate): plan=PLAN.md\n",
            "## Decided\n- \"Rotate on every use: replay is then visible\" (22 hours ago)\n",
            "## Tried, did not work\n- \"Longer proxy timeout: the cookie still expires first\"",
            "## Assumed\n- \"The proxy keeps headers\"",
            "## Blocked or open\n- \"Staging certificate expired\" (blocker 4, 22 hours ago)\n\
             Once settled: `leftoff note resolve 4`\n",
            "## Notes\n- \"Refresh tests are half written\"",
            "longer than usual",
        ],
        json: &[
            ("/session/last_actor/agent", || json!("claude")),
            ("/session/last_actor/id", || json!("a4326893-7dc8-405b")),
            ("/session/notes/0/kind", || json!("decision")),
            ("/session/notes/0/actor/id", || json!("a4326893-7dc8-405b")),
            ("/session/phases/0/attempts/0/outputs/plan", || json!("PLAN.md")),
        ],
        ..History::default()
    });
}

#[test]
fn compacted_in_phase_3() {
    check(&History {
        given: || {
            let sandbox = git();
            planned(&sandbox, "spec");
            for phase in ["setup", "implementation"] {
                sandbox.run(["advance", "--phase", phase]).ok();
            }
            sandbox.run(["note", "Exports are streamed", "--kind", "decision"]).ok();
            sandbox.at("2026-11-14T10:40:00Z");
            let mut agent = Agent::new(&sandbox, "agent-a");
            agent.hook(&sandbox, "a4326893-7dc8-405b", "startup").ok();
            let told = agent.hook(&sandbox, "a4326893-7dc8-405b", "compact").ok().json();
            let told = told["hookSpecificOutput"]["additionalContext"].as_str().expect("a brief").to_owned();
            let brief = agent.run(&sandbox, &["brief", "--format", "markdown", "--budget", "600"]).ok();
            assert!(told.starts_with("Your conversation was compacted."), "{told}");
            assert!(told.ends_with(&brief.stdout), "the hook gives the brief: {told}");
            (sandbox, vec![agent])
        },
        asked_by: Some("claude:a4326893-7dc8-405b"),
        done: &["planning", "setup", "implementation"],
        at: (3, "testing"),
        next: ("leftoff advance --phase testing", 0),
        markdown: &[
            "Phase 3 of 6, **Testing**, for 10 min",
            "(50 %)",
            "Phase 3, Testing: Prove every acceptance criterion",
            "## Decided\n- \"Exports are streamed\"",
        ],
        // No other agent is here.
        never: &["Here now"],
        json: &[("/here_now", || json!([])), ("/session/completed_phases", || json!([0, 1, 2]))],
        ..History::default()
    });
}

/// Two live agents, each with a session. The second session is parallel to the first.
fn two_agents() -> (Sandbox, Vec<Agent>) {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["init"]).ok();
    let mut first = Agent::new(&sandbox, "agent-a");
    let mut second = Agent::new(&sandbox, "agent-b");
    first.hook(&sandbox, "aaaa0000-1", "startup").ok();
    second.hook(&sandbox, "bbbb0000-2", "startup").ok();
    first.run(&sandbox, &["start", "--goal", GOAL, "--id", "login"]).ok();
    sandbox.at("2026-11-14T10:30:00Z");
    let beside =
        second.run(&sandbox, &["start", "review", "--title", "Cookie flags", "--id", "cookies"]).ok();
    assert!(
        beside.stderr.contains("login stays active too: claude aaaa0000 is working on that session"),
        "{}",
        beside.stderr
    );
    first.run(&sandbox, &["advance", "--phase", "plan"]).ok();
    sandbox.at("2026-11-14T11:00:00Z");
    (sandbox, vec![first, second])
}

#[test]
fn two_agents_in_one_worktree_as_the_first_one_sees_it() {
    check(&History {
        given: two_agents,
        asked_by: Some("claude:aaaa0000-1"),
        done: &["plan"],
        at: (2, "implement"),
        next: ("leftoff advance --phase implement", 0),
        markdown: &["(session login)", "## Here now\n- claude bbbb0000 on session cookies, seen 1 hour ago"],
        never: &["aaaa0000 on", "Paused"],
        json: &[
            ("/session/session_id", || json!("login")),
            ("/here_now/0/agent_session", || json!("bbbb0000-2")),
            ("/here_now/0/session_id", || json!("cookies")),
            ("/here_now/1", || Value::Null),
        ],
        ..History::default()
    });
}

#[test]
fn two_agents_in_one_worktree_as_the_second_one_sees_it() {
    check(&History {
        given: two_agents,
        asked_by: Some("claude:bbbb0000-2"),
        at: (1, "context"),
        next: ("leftoff advance --phase context", 0),
        markdown: &["(session cookies)", "## Here now\n- claude aaaa0000 on session login, seen 1 hour ago"],
        never: &["bbbb0000 on"],
        json: &[("/session/session_id", || json!("cookies")), ("/session/parallel", || json!(true))],
        ..History::default()
    });
}

#[test]
fn when_the_other_agent_is_gone_it_is_not_here() {
    let (sandbox, mut agents) = two_agents();
    drop(agents.pop());
    let brief = agents[0].run(&sandbox, &["brief", "--json"]).ok().json();
    assert_eq!(brief["here_now"], json!([]));
}

#[test]
fn a_definition_that_changed_since() {
    check(&History {
        given: || {
            let sandbox = with_gate();
            planned(&sandbox, "ship");
            let changed = SHIP.replace("id = \"build\"", "id = \"construct\"").replace("80.0", "95.0");
            sandbox.write(
                ".leftoff/workflows/ship.toml",
                &changed.replace("version = \"1\"", "version = \"2\""),
            );
            sandbox.at("2026-11-14T11:00:00Z");
            (sandbox, Vec::new())
        },
        done: &["plan"],
        at: (2, "build"),
        next: (
            "leftoff advance --phase build --evidence 'tests_passed=<number>' --evidence 'tests_total=<number>' --evidence 'coverage=<number>'",
            2,
        ),
        markdown: &[
            "Workflow ship v1",
            "## Warnings\n- workflow 'ship' changed since this run started; the run keeps its original definition",
        ],
        never: &["construct", "v2"],
        json: &[
            ("/session/workflow/version", || json!("1")),
            ("/session/warnings/0/kind", || json!("definition_changed")),
        ],
        ..History::default()
    });
}

#[test]
fn a_run_keeps_the_gate_that_it_began_with() {
    let sandbox = with_gate();
    planned(&sandbox, "ship");
    sandbox.write(".leftoff/workflows/ship.toml", &SHIP.replace("80.0", "95.0"));
    try_build(&sandbox, 45, 45, 85).ok();
}

#[test]
fn finished() {
    check(&History {
        given: || {
            let sandbox = git();
            planned(&sandbox, "plan-implement-review");
            sandbox.at("2026-11-14T11:30:00Z");
            sandbox.run(["advance", "--phase", "implement", "--output", "change=4e1f0aa"]).ok();
            sandbox.at("2026-11-14T12:00:00Z");
            sandbox.run(["advance", "--phase", "review"]).ok();
            sandbox.at("2026-11-16T12:00:00Z");
            (sandbox, Vec::new())
        },
        done: &["plan", "implement", "review"],
        at: (3, "review"),
        status: "completed",
        next: ("", 0),
        markdown: &[
            "**Finished** 14 Nov: 3 of 3 phases done (100 %).",
            "- 2 Implement (1 h, no gate): change=4e1f0aa\n",
        ],
        never: &["remaining", "left.", "Phase 3", "longer than"],
        json: &[
            ("/session/lifecycle/state", || json!("completed")),
            ("/session/progress/remaining", || json!(0)),
            ("/session/progress/time_in_phase_seconds", || Value::Null),
        ],
        ..History::default()
    });
}

#[test]
fn abandoned() {
    check(&History {
        given: || {
            let sandbox = git();
            planned(&sandbox, "plan-implement-review");
            sandbox.at("2026-11-14T11:00:00Z");
            sandbox.run(["abandon", "--reason", "the feature was dropped"]).ok();
            sandbox.at("2026-11-14T12:00:00Z");
            (sandbox, Vec::new())
        },
        done: &["plan"],
        at: (2, "implement"),
        status: "abandoned",
        next: ("", 0),
        markdown: &[
            "**Abandoned** 1 hour ago: \"the feature was dropped\", in phase 2 (implement). 1 of 3 phases done (33 %).",
        ],
        never: &["leftoff advance", "leftoff resume", "## Next"],
        json: &[
            ("/session/lifecycle/state", || json!("abandoned")),
            ("/session/lifecycle/reason", || json!("the feature was dropped")),
        ],
        ..History::default()
    });
}

#[test]
fn where_nothing_is_going_on_one_line_says_so() {
    let sandbox = git();
    for form in ["text", "markdown"] {
        let brief = sandbox.run(["brief", "--format", form]).ok().stdout;
        assert_eq!(brief, "No active session. Start one: leftoff start\n");
    }
    let next = json!({ "summary": "No active session. Start one:", "command": "leftoff start" });
    let nothing = json!({ "session": null, "session_id": null, "next": next, "warnings": [] });
    assert_eq!(sandbox.run(["brief", "--json"]).ok().json(), nothing);
}
