//! Tests of files that say that a review is finished: they never overrule the log. An agent that follows the
//! brief never closes a review that has a failed gate or an open item.

use super::*;
use serde_json::json;
use testkit::Ran;

const AGENT: &str = "claude:a4326893-7dc8";

fn as_agent(sandbox: &Sandbox, line: &str) -> Ran {
    sandbox.run_as(AGENT, testkit::words_of(line))
}

fn next(sandbox: &Sandbox) -> Value {
    as_agent(sandbox, "status --json").ok().json()["next"].clone()
}

fn close_in_file(sandbox: &Sandbox) {
    edit(sandbox, &json!({ "status": "closed", "current_phase": "complete", "phase_number": 8 }));
}

/// A review whose first three phases are verified.
fn at_reviews() -> Sandbox {
    let sandbox = begun();
    artifact(&sandbox, "discovered-standards.md", "S\n");
    artifact(&sandbox, "context.md", "C\n");
    for phase in ["context", "change-context", "analysis"] {
        as_agent(&sandbox, &format!("advance --phase {phase}")).ok();
    }
    sandbox
}

/// A review without the file of one reviewer, as its gate found. Its state says that the session is closed.
fn closed_over_a_missing_reviewer() -> Sandbox {
    let sandbox = at_reviews();
    for reviewer in ["security-1", "testing-1"] {
        as_agent(&sandbox, &format!("item add {reviewer} --id {reviewer}")).ok();
    }
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding 1\n");
    as_agent(&sandbox, "item done security-1").ok();
    as_agent(&sandbox, "advance --phase reviews").code(5);
    close_in_file(&sandbox);
    sandbox
}

#[test]
fn b1_reopening_goes_on_at_the_failed_gate_and_closing_needs_a_person() {
    let sandbox = closed_over_a_missing_reviewer();
    let said = next(&sandbox);
    assert_eq!(said["command"], Value::Null);
    assert!(said["summary"].as_str().unwrap().ends_with(&format!("leftoff reopen {ID}")), "{said}");
    as_agent(&sandbox, &format!("reopen {ID}")).ok();
    let view = as_agent(&sandbox, "status --json").ok().json();
    assert_eq!((&view["status"], phase(&view)), (&"checkpoint_failed".into(), "reviews"), "{view:#}");
    assert_eq!(view["next"]["command"], "leftoff advance --phase reviews");
    assert_eq!(state(&sandbox)["current_phase"], "reviews", "its file says so, too");
    as_agent(&sandbox, "close").code(4);
    as_agent(&sandbox, "close --force").code(6);
    // The missing review was written. Reviews that exist are not requested again.
    artifact(&sandbox, "rounds/round-1/reviews/testing-1.md", "## Finding 2\n");
    as_agent(&sandbox, "item done testing-1").ok();
    let view = as_agent(&sandbox, "advance --phase reviews --json").ok().json();
    assert_eq!((phase(&view), &view["phases"][3]["outcome"]), ("aggregation", &"verified".into()));
    assert_eq!(view["status"], "active", "what followed was claimed only");
}

#[test]
fn b1_a_finished_run_is_not_closed_over_a_contested_phase_or_an_open_item_without_a_person() {
    // In the log of an earlier version, the session is reopened, with its claims.
    let sandbox = at_reviews();
    as_agent(&sandbox, "advance --phase reviews").code(5);
    edit(&sandbox, &json!({ "current_phase": "complete", "phase_number": 8 }));
    let said = next(&sandbox);
    assert_eq!(said["command"], "leftoff advance --phase reviews", "{said}");
    as_agent(&sandbox, "close").code(4);
    as_agent(&sandbox, "skip --reason late").code(0);
    let view = as_agent(&sandbox, "status --json").ok().json();
    assert_eq!((&view["lifecycle"]["state"], phase(&view)), (&"active".into(), "reviews"), "{view:#}");
}

#[test]
fn b1_a_session_closed_over_mere_claims_is_not_called_finished() {
    let sandbox = at_reviews();
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding 1\n");
    as_agent(&sandbox, "advance --phase reviews").ok();
    close_in_file(&sandbox);
    let brief = as_agent(&sandbox, "brief --format markdown").ok().stdout;
    assert!(brief.contains("Phase 5 of 8, **Aggregate Findings**"), "{brief}");
    assert!(brief.contains("(a file says 8 complete, unverified)"), "{brief}");
    assert!(!brief.contains("**Finished**"), "{brief}");
    let view = as_agent(&sandbox, "status --json").ok().json();
    assert_eq!(view["closed_over"], "aggregation");
    as_agent(&sandbox, &format!("reopen {ID}")).ok();
    assert_eq!(next(&sandbox)["command"], "leftoff advance --phase aggregation");
    // An open item in a finished phase counts, too, even if only leftoff knows it.
    let sandbox = at_reviews();
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding 1\n");
    as_agent(&sandbox, "item add security-1 --id security-1").ok();
    as_agent(&sandbox, "advance --phase reviews").ok();
    for file in ["discourse", "final"] {
        artifact(&sandbox, &format!("rounds/round-1/{file}.md"), "D\n");
    }
    for phase in ["aggregation", "discourse", "synthesis"] {
        as_agent(&sandbox, &format!("advance --phase {phase}")).ok();
    }
    as_agent(&sandbox, "advance --phase complete").code(4);
    close_in_file(&sandbox);
    let brief = as_agent(&sandbox, "brief --format markdown").ok().stdout;
    assert!(!brief.contains("**Finished**"), "{brief}");
    as_agent(&sandbox, &format!("reopen {ID}")).ok();
    assert_eq!(next(&sandbox)["command"], "leftoff item claim security-1");
    as_agent(&sandbox, "close").code(4);
}

#[test]
fn b1_a_claimed_last_phase_is_not_done_over_gates_that_failed() {
    let sandbox = at_reviews();
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding 1\n");
    as_agent(&sandbox, "advance --phase reviews").ok();
    close_in_file(&sandbox);
    as_agent(&sandbox, "advance --phase complete").code(4);
    as_agent(&sandbox, "advance --phase aggregation").ok();
    as_agent(&sandbox, "advance --phase discourse").code(5);
    for phase in ["synthesis", "complete"] {
        let refused = as_agent(&sandbox, &format!("advance --phase {phase}")).code(4).stderr;
        assert!(refused.contains("phase 'discourse' comes first"), "{refused}");
    }
    // The brief offers no command that would be refused.
    let text = as_agent(&sandbox, "brief").ok().stdout;
    assert!(text.contains("leftoff advance --phase discourse"), "{text}");
    assert!(
        !text.contains("advance --phase synthesis") && !text.contains("advance --phase complete"),
        "{text}"
    );
}

#[test]
fn b1_every_reviewer_of_a_round_has_a_review_of_its_own() {
    let sandbox = at_reviews();
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding 1\n");
    as_agent(&sandbox, "item add security-1 --id security-1").ok();
    as_agent(&sandbox, "item done security-1").ok();
    as_agent(&sandbox, "advance --phase reviews").ok();
    for file in ["discourse", "final"] {
        artifact(&sandbox, &format!("rounds/round-1/{file}.md"), "D\n");
    }
    for phase in ["aggregation", "discourse", "synthesis", "complete"] {
        as_agent(&sandbox, &format!("advance --phase {phase}")).ok();
    }
    as_agent(&sandbox, &format!("round --session {ID}")).ok();
    for phase in ["context", "change-context", "analysis"] {
        as_agent(&sandbox, &format!("advance --phase {phase}")).ok();
    }
    as_agent(&sandbox, "item add security-1 --id security-1").ok();
    as_agent(&sandbox, "item done security-1").ok();
    as_agent(&sandbox, "item add Accessibility --id a11y-1").ok();
    for file in ["security-1", "somebody-else"] {
        artifact(&sandbox, &format!("rounds/round-2/reviews/{file}.md"), "## Finding 1\n");
    }
    let failed = as_agent(&sandbox, "advance --phase reviews").code(5).stderr;
    assert!(failed.contains("a11y-1.md"), "{failed}");
    as_agent(&sandbox, "item block a11y-1 --reason 'no licence'").ok();
    as_agent(&sandbox, "advance --phase reviews").code(5);
    as_agent(&sandbox, "doctor").ok();
}

#[test]
fn t3_an_edit_that_is_not_taken_in_yet_is_no_tampering() {
    let sandbox = at_reviews();
    let head = |sandbox: &Sandbox| {
        let report = crate::verify::report(&as_agent(sandbox, "verify --json").code(5));
        assert!(report["head"].is_string(), "{report:#}");
        (report["head"].clone(), report["events"].clone())
    };
    let before = head(&sandbox);
    edit(&sandbox, &json!({ "current_phase": "synthesis", "phase_number": 7 }));
    let findings = as_agent(&sandbox, "doctor").stdout;
    assert!(!findings.contains("does not match its hash chain"), "{findings}");
    assert_eq!(head(&sandbox), before, "the head is that of the stored events, and so is their number");
    as_agent(&sandbox, "note 'taken in'").ok();
    as_agent(&sandbox, "doctor").ok();
    assert_ne!(head(&sandbox), before);
}

/// The state determines the phase, and no command of leftoff changes that.
#[test]
fn o11_a_review_closed_in_the_middle_stays_at_its_phase_and_is_reopened_there() {
    for is_known in [true, false] {
        let sandbox = project();
        let open = json!({ "session_id": ID, "workflow_type": "review", "status": "active", "current_round": 1,
            "current_phase": "analysis", "phase_number": 3, "started_at": NOW, "updated_at": NOW });
        foreign(&sandbox, ID, &open);
        if is_known {
            sandbox.run(["note", "adopted"]).ok();
        }
        edit(&sandbox, &json!({ "status": "closed" }));
        for words in [&["note", "after it"][..], &["set", "team=ours"]] {
            sandbox.run(words.iter().chain(&["--session", ID])).ok();
            let written = state(&sandbox);
            let said = (&written["status"], &written["current_phase"], &written["phase_number"]);
            assert_eq!(said, (&"closed".into(), &"analysis".into(), &3.into()), "known: {is_known}");
        }
        sandbox.at("2026-11-14T10:05:00Z");
        edit(&sandbox, &json!({ "status": "active" }));
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!((&view["status"], phase(&view)), (&"active".into(), "analysis"), "known: {is_known}");
        let begun = crate::statuses(&view).iter().filter(|status| **status == "in_progress").count();
        assert_eq!(begun, 1, "known: {is_known}");
    }
}

/// The tool closed the session in a later phase than the last proven one. The phases between them stay
/// claims, as in a session that was never closed.
#[test]
fn o11_a_review_closed_in_the_middle_over_claims_is_reopened_by_a_command_where_it_was() {
    let sandbox = project();
    let closed = json!({ "session_id": ID, "workflow_type": "review", "status": "closed", "current_round": 2,
        "current_phase": "discourse", "phase_number": 6, "started_at": NOW, "round_started_at": NOW,
        "updated_at": NOW });
    foreign(&sandbox, ID, &closed);
    for path in
        ["discovered-standards.md", "context.md", "rounds/round-1/final.md", "rounds/round-2/notes.md"]
    {
        artifact(&sandbox, path, "there\n");
    }
    sandbox.run(["reopen", ID]).ok();
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&view["status"], phase(&view)), (&"active".into(), "discourse"));
    let written = state(&sandbox);
    assert_eq!((&written["status"], &written["phase_number"]), (&"active".into(), &6.into()));
    assert_eq!(crate::statuses(&view).iter().filter(|status| **status == "in_progress").count(), 1);
}

/// The last phase presents the result, and writes no file. The tool shows that it is done by closing the
/// session.
#[test]
fn a_review_whose_files_are_all_there_and_that_its_tool_closed_is_finished() {
    let sandbox = at_reviews();
    for file in ["reviews/security-1", "discourse", "final"] {
        artifact(&sandbox, &format!("rounds/round-1/{file}.md"), "there\n");
    }
    close_in_file(&sandbox);
    for is_adopted in [false, true] {
        if is_adopted {
            as_agent(&sandbox, &format!("note presented --session {ID}")).ok();
        }
        let view = as_agent(&sandbox, "status --json").ok().json();
        assert_eq!((&view["status"], &view["closed_over"]), (&"completed".into(), &Value::Null));
        assert_eq!(view["next"]["command"], Value::Null, "adopted: {is_adopted}");
        assert_eq!(view["phases"][7]["outcome"], "claimed", "nothing but its word");
    }
}
