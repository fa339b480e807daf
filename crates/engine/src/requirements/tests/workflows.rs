//! Tests requirements that workflows declare, and phases that satisfy them.

use super::*;
use crate::{AdvanceRequest, StartRequest};

const SHIP: &str = r#"
name = "ship"
version = "1"

[[phase]]
id = "plan"
produces = ["PLAN.md", "parts/{item}.md"]

[[phase]]
id = "build"

[requirement.commit_plan]
scope = "session"
tools = ["Edit"]
satisfied_by = ["phase:plan", "skill:my-review"]
message = "Finish the plan first: leftoff brief"
"#;

fn started() -> Place {
    let place = Place::with("");
    place.write(".leftoff/workflows/ship.toml", SHIP);
    let request = StartRequest { workflow: Some("ship".to_owned()), ..StartRequest::default() };
    place.engine_in("", Intent::Create).start(&request).expect("it starts");
    place
}

#[test]
fn a_phase_satisfies_while_it_is_done_and_nothing_is_stored() {
    let place = started();
    let message = denied(place.edit(ANNA));
    assert!(
        message.contains("Finish the plan first") && message.contains("leftoff advance --phase plan"),
        "{message}"
    );
    place.engine().advance(&AdvanceRequest::default()).expect("the plan is done");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    let sessions = &place.state("feature-auth")["requirements"]["commit_plan"]["sessions"];
    assert_eq!(sessions["a4326893"]["satisfied"], Value::Null, "it is computed each time");
    let list = place.engine().requirements().list(None, Some(ANNA)).expect("a list");
    assert_eq!(list.requirements[0].satisfied_by.as_deref(), Some("phase:plan"));
    place.pass(10);
    place.engine().roll_back("plan", None).expect("back");
    denied(place.edit(ANNA));
}

#[test]
fn a_skill_satisfies_what_a_workflow_declares_and_the_log_tells_it() {
    let place = started();
    assert_eq!(place.skill(ANNA, "my-review"), ["commit_plan"]);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    place.clear(Some(ANNA), "commit_plan");
    let events = place.engine().sessions().log(None, 0).expect("a log").events;
    let kinds: Vec<&str> = events.iter().map(|recorded| recorded.event.kind()).collect();
    assert!(kinds.ends_with(&["requirement_satisfied", "requirement_cleared"]), "{kinds:?}");
    let satisfied = crate::event_text::json(&events[events.len() - 2]);
    assert_eq!(
        (&satisfied["requirement"], &satisfied["by"], &satisfied["branch"], &satisfied["agent_session"]),
        (&"commit_plan".into(), &"skill".into(), &"feature/auth".into(), &ANNA.into())
    );
    assert_eq!(satisfied["actor"]["kind"], "agent", "{satisfied}");
}

#[test]
fn undoing_leaves_requirements_alone() {
    let place = started();
    place.pass(1);
    place.engine().note(model::note::NoteKind::Note, "x", std::collections::BTreeMap::new()).expect("a note");
    place.pass(1);
    assert_eq!(place.skill(ANNA, "my-review"), ["commit_plan"]);
    let undone = place.engine().undo(None).expect("undone");
    assert!(undone.view.notes.is_empty(), "the note is taken back, not the requirement");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
}

#[test]
fn who_configures_it_decides_and_the_phase_still_satisfies() {
    let place = started();
    place.write(
        ".claude/requirements.yaml",
        "requirements: {commit_plan: {enabled: true, trigger_tools: [Write]}}",
    );
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    denied(place.uses(ANNA, "Write", None, &["a"]));
    place.engine().advance(&AdvanceRequest::default()).expect("the plan is done");
    assert_eq!(place.uses(ANNA, "Write", None, &["a"]), Verdict::Allow);
}

#[test]
fn a_session_shows_what_is_required() {
    let place = started();
    let view = place.engine().sessions().show(None, crate::Detail::Whole).expect("a view");
    assert_eq!(view.requirements.len(), 1);
    assert_eq!((view.requirements[0].name.as_str(), view.requirements[0].satisfied), ("commit_plan", false));
}

#[test]
fn t7_what_satisfies_a_requirement_is_never_held_by_it() {
    let place = started();
    let session = place.engine().sessions().show(None, crate::Detail::Whole).expect("a view").session_id;
    let workspace = format!(".leftoff/sessions/{session}");
    let writes = |files: &[&str]| {
        place.pass(10);
        place.uses(ANNA, "Edit", None, files)
    };
    assert_eq!(writes(&[&format!("{workspace}/PLAN.md")]), Verdict::Allow);
    assert_eq!(writes(&[&format!("{workspace}/parts/a.md")]), Verdict::Allow);
    let absolute = place.root().join(&workspace).join("PLAN.md").display().to_string();
    assert_eq!(writes(&[&absolute]), Verdict::Allow);
    denied(writes(&[&format!("{workspace}/OTHER.md")]));
    denied(writes(&[&format!("{workspace}/PLAN.md"), "src/a.rs"]));
    denied(writes(&[&format!("{workspace}/PLAN.md/../../../../src/a.rs")]));
}

#[test]
fn t7_what_a_phase_satisfies_is_not_satisfied_by_hand() {
    let place = started();
    let message = denied(place.edit(ANNA));
    assert!(!message.contains("leftoff req satisfy"), "{message}");
    let request = SatisfyRequest {
        names: vec!["commit_plan".to_owned()],
        agent_session: Some(ANNA.to_owned()),
        ..SatisfyRequest::default()
    };
    for bypass in [false, true] {
        let error = place.engine().satisfy_requirements(&SatisfyRequest { bypass, ..request.clone() });
        assert_eq!(error.expect_err("refused").kind(), "proved_by_phase");
    }
    let error = place.engine().approve_requirements(&["commit_plan".to_owned()], Some(ANNA), None);
    assert_eq!(error.expect_err("refused").kind(), "proved_by_phase");
    // Another program may write anything into the branch's file.
    let state = r#"{"version":"1.0","branch":"feature/auth","requirements":{"commit_plan":{"scope":"session","satisfied":true,"satisfied_by":"cli","satisfied_at":1}}}"#;
    place.write(".git/requirements/feature-auth.json", state);
    place.pass(10);
    denied(place.edit(ANNA));
    let list = place.engine().requirements().list(None, Some(ANNA)).expect("a list");
    assert!(!list.requirements[0].satisfied);
}
