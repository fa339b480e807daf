use super::*;
use serde_json::json;

#[test]
fn behaviour_1_a_uuid_is_eight_characters_and_stays_so() {
    assert_eq!(agent(UUID).short(), "cad0ac4d");
    assert_eq!(agent("cad0ac4d393345ad9a1c14aec05bb940").short(), "cad0ac4d");
    assert_eq!(agent("cad0ac4d").short(), "cad0ac4d");
    assert_eq!(agent("abc").short(), "abc");
    assert_eq!(agent("a-b-c").short(), "abc");
    for nothing in ["", "-", "---"] {
        assert_eq!(AgentKey::new(nothing), None);
    }
}

#[test]
fn ids_that_begin_alike_stay_apart() {
    let mut document = document();
    document.satisfy("plan", Session, Some(&agent("session-10")), &by_skill(), 10);
    assert!(is_met(&document, "plan", Session, "session-10", 11));
    assert!(!is_met(&document, "plan", Session, "session-11", 11));
    document.satisfy("plan", Session, Some(&agent("session-11")), &by_skill(), 12);
    assert!(is_met(&document, "plan", Session, "session-10", 13));
    assert!(is_met(&document, "plan", Session, "session-11", 13));
    assert!(document.clear("plan", Some(&agent("session-10"))));
    assert!(!is_met(&document, "plan", Session, "session-10", 13));
    assert!(is_met(&document, "plan", Session, "session-11", 13));
    let again = Document::read(&document.text()).expect("reads");
    assert!(is_met(&again, "plan", Session, "session-11", 13), "also after it was written: {}", again.text());
}

#[test]
fn r8_an_id_without_hyphens_is_the_same_agent_session() {
    let undashed = UUID.replace('-', "");
    let mut document = document();
    document.satisfy("plan", Session, Some(&agent(UUID)), &by_skill(), 10);
    assert!(is_met(&document, "plan", Session, &undashed, 11));
    assert!(document.trigger("plan", Session, &agent(&undashed), 12));
    assert_eq!(document.text().matches("\"satisfied\"").count(), 1, "{}", document.text());
    assert!(agent(UUID).is(&agent(&undashed)) && !agent("session-10").is(&agent("session-11")));
    assert_eq!(agent(UUID).spare(), agent(&undashed).spare());
}

#[test]
fn the_second_name_is_one_that_nobody_shortens() {
    let spare = agent("session-11").spare();
    assert_eq!(agent(&spare).short(), spare);
    assert_ne!(spare, agent("session-10").spare());
}

#[test]
fn the_originals_own_entry_counts_for_the_whole_id_and_eight_characters_for_whoever_has_them() {
    let text = json!({ "version": "1.0", "branch": "b", "requirements": { "plan": {
        "scope": "session", "sessions": { "cad0ac4d": { "satisfied": true, "satisfied_at": 5 } } } } });
    let document = Document::read(&text.to_string()).expect("reads");
    assert!(is_met(&document, "plan", Session, UUID, 6));
    let mut ours = super::document();
    ours.satisfy("plan", Session, Some(&agent(UUID)), &by_skill(), 5);
    assert!(is_met(&ours, "plan", Session, "cad0ac4d", 6));
}

#[test]
fn behaviour_5_a_migrated_key_keeps_when_it_was_first_triggered() {
    for (old, new, kept) in [
        (json!({}), json!({ "triggered": true, "triggered_at": 5 }), 5),
        (json!({ "triggered": true, "triggered_at": 7 }), json!({ "triggered": true, "triggered_at": 5 }), 5),
        (json!({ "triggered": true, "triggered_at": 4 }), json!({ "triggered": true, "triggered_at": 5 }), 4),
    ] {
        let mut satisfied = json!({ "satisfied": true, "satisfied_at": 50 });
        satisfied.as_object_mut().unwrap().extend(old.as_object().unwrap().clone());
        let text = json!({ "version": "1.0", "requirements": { "plan": { "scope": "session", "sessions": {
            UUID: satisfied, "cad0ac4d": new } } } });
        let written: serde_json::Value =
            serde_json::from_str(&Document::read(&text.to_string()).expect("reads").text()).unwrap();
        let entry = &written["requirements"]["plan"]["sessions"]["cad0ac4d"];
        assert_eq!((&entry["triggered"], &entry["triggered_at"]), (&json!(true), &json!(kept)), "{entry}");
        assert_eq!(entry["satisfied_at"], 50);
    }
}

#[test]
fn whole_ids_as_keys_are_migrated_and_the_newer_satisfaction_wins() {
    for (old_at, new_at, by) in [(10, 20, "cli"), (20, 10, "skill")] {
        let text = json!({ "version": "1.0", "requirements": { "plan": { "scope": "session", "sessions": {
            UUID: { "satisfied": true, "satisfied_at": old_at, "satisfied_by": "skill", "extra": 1 },
            "cad0ac4d": { "satisfied": true, "satisfied_at": new_at, "satisfied_by": "cli" } } } } });
        let document = Document::read(&text.to_string()).expect("reads");
        let found = document.satisfaction("plan", Session, Some(&agent(UUID)), 30).expect("satisfied");
        assert_eq!(found.by, by);
        assert_eq!(document.text().matches("satisfied_by").count(), 1, "{}", document.text());
    }
    let two = json!({ "version": "1.0", "requirements": { "plan": { "sessions": {
        "session-10": { "satisfied": true, "satisfied_at": 1 },
        "session-11": { "satisfied": false, "satisfied_at": 2 } } } } });
    let document = Document::read(&two.to_string()).expect("reads");
    assert!(is_met(&document, "plan", Session, "session-10", 3));
    assert!(!is_met(&document, "plan", Session, "session-11", 3), "{}", document.text());
}
