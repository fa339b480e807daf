//! Tests of the phase at which a session continues, whatever its file says.

use super::*;

#[test]
fn a_session_whose_current_phase_is_completed_goes_on_with_the_first_that_is_open() {
    let sandbox = with_old();
    edit(&sandbox, OLD, |value| value["current_phase"] = json!(0));
    sandbox.run(["advance", "--phase", "1", "--session", ID]).ok();
    sandbox.run(["advance", "--phase", "2", "--session", ID]).ok();
    assert_eq!(sandbox.run(["show", ID, "--json"]).ok().json()["lifecycle"]["state"], "completed");
}

#[test]
fn a_session_of_unknown_length_goes_on_to_a_next_phase_and_ends_only_by_being_closed() {
    let sandbox = with_old();
    edit(&sandbox, OLD, |value| value["metadata"] = json!({}));
    for number in ["1", "2", "3"] {
        sandbox.run(["advance", "--phase", number, "--session", ID]).ok();
    }
    let found = file(&sandbox, OLD);
    assert_eq!((&found["current_phase"], &found["completed_phases"]), (&json!(4), &json!([0, 1, 2, 3])));
    let seen = view(&sandbox);
    assert_eq!(
        (&seen["current_phase"]["number"], &seen["lifecycle"]["state"]),
        (&json!(4), &json!("active")),
        "{seen:#}"
    );
    sandbox.run(["rollback", "3", "--session", ID]).ok();
    let refused = sandbox.run(["close", "--session", ID]).code(4).stderr;
    assert!(refused.contains("3 of an unknown number of phases"), "{refused}");
    sandbox.run(["advance", "--phase", "3", "--session", ID]).ok();
    sandbox.run(["close", "--session", ID]).ok();
    let closed = sandbox.run(["show", ID]).ok().stdout;
    assert!(!closed.contains("run start"), "its workflow is not known: {closed}");
    // In this format, the current phase of a finished session is the one after the last. This is not a
    // problem.
    sandbox.run(["doctor"]).ok();
    assert_eq!(sandbox.run(["show", ID, "--json"]).ok().json()["lifecycle"]["state"], "completed");
}

#[test]
fn a_session_does_not_end_while_an_earlier_phase_is_open() {
    let sandbox = with_old();
    edit(&sandbox, OLD, |value| {
        value["completed_phases"] = json!([1]);
        value["current_phase"] = json!(2);
        value["workflow_structure"] = json!({"total_phases": 3, "starting_phase": 0});
    });
    sandbox.run(["advance", "--phase", "2", "--session", ID]).ok();
    let seen = view(&sandbox);
    assert_eq!(
        (&seen["current_phase"]["number"], &seen["lifecycle"]["state"]),
        (&json!(0), &json!("active")),
        "{seen:#}"
    );
    sandbox.run(["advance", "--phase", "0", "--session", ID]).ok();
    assert_eq!(sandbox.run(["show", ID, "--json"]).ok().json()["lifecycle"]["state"], "completed");
}
