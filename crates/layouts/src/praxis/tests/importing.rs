//! Tests of importing an older file into the newest format: all of its content is kept.

use super::*;

fn imported(case: &Case) -> Map<String, Value> {
    let (session, items) = (case.session(), ItemBook::default());
    let publication = SessionToPublish::new(&session, &items, &[]);
    let changes = puts(
        Praxis.write(&WriteRequest { purpose: Purpose::Newest, publication: &publication }, &case.folder()),
    );
    crate::json::object(&changes[0].content).expect("an object")
}

#[test]
fn an_import_into_the_newest_shape_keeps_the_id_and_what_is_the_files_own() {
    let case = Case::first_with(|fields| {
        fields["session_id"] = json!("theirs");
        fields["checkpoints"]["1"] = json!("skipped");
        fields["phase_artifacts"]["0"]["own"] = json!({"kept": true});
        fields.insert("lifecycle".to_owned(), json!({"paused": false, "own": 1}));
    });
    let found = imported(&case);
    assert_eq!(found["session_id"], json!("theirs"));
    assert_eq!(found["phase_artifacts"]["0"]["own"], json!({"kept": true}));
    assert_eq!(found["phase_artifacts"]["1"]["outputs"], json!({"note": "caf\u{e9}"}), "of a skipped phase");
    assert_eq!(found["lifecycle"]["own"], json!(1));
}

#[test]
fn an_import_of_a_list_of_artifacts_keeps_every_one_of_them() {
    let list = json!([
        {"phase": 1, "artifact_type": "doc", "file_path": "a.md", "metadata": {"k": 1}, "timestamp": "2025-11-02T09:30:00"},
        "no object",
        {"phase": 1, "artifact_type": "code", "file_path": "b.rs", "metadata": {}, "timestamp": "2025-11-02T09:59:00"},
    ]);
    let mut fields = crate::json::object(SECOND_FILE.as_bytes()).expect("an object");
    fields["phase_artifacts"]["1"] = list.clone();
    let case = Case::new(&second("active"), &Value::Object(fields).to_string());
    case.warns("artifact 1 is not an object");
    let found = imported(&case);
    assert_eq!(found["phase_artifacts"]["1"]["outputs"]["artifacts"], list);
    assert_eq!(found["phase_artifacts"]["1"]["evidence"], json!({"done": true}));
    let after = Case::new(&second("active"), &Value::Object(found).to_string());
    let run = after.session().run().cloned().expect("a run");
    assert_eq!(run.phases[1].attempts.len(), 1);
    assert_eq!(run.phases[1].attempts[0].report.outputs["artifacts"], list, "and it is read again");
}

#[test]
fn an_import_tells_when_an_artifact_was_put_down_not_when_its_phase_was_completed() {
    let found = imported(&Case::new(&second("active"), SECOND_FILE));
    assert_eq!(found["phase_artifacts"]["1"]["timestamp"], json!("2025-11-02T08:59:00Z"));
    assert_eq!(found["phase_artifacts"]["1"]["artifact_type"], json!("report"));
    assert_eq!(found["phase_timing"]["1"]["completed_at"], json!("2025-11-02T09:00:00Z"));
    let after = Case::new(&second("active"), &Value::Object(found).to_string());
    let session = after.session();
    assert_eq!(session.run().expect("a run").phases[1].attempts.len(), 1);
    assert_eq!(after.written(&session), None);
}

#[test]
fn a_list_of_artifacts_in_the_newest_shape_is_not_written_over_by_an_attempt() {
    let list = json!([{"file_path": "a.md"}, {"file_path": "b.md"}]);
    let mut fields = crate::json::object(SEED_FILE.as_bytes()).expect("an object");
    fields["phase_artifacts"]["1"] = list.clone();
    let case = Case::first(&Value::Object(fields).to_string());
    let (text, _) = case.after(&[("2025-11-02T09:50:00Z", completed(1, json!({"n": 3})))]);
    let found = crate::json::object(text.as_bytes()).expect("an object");
    assert_eq!(found["phase_artifacts"]["1"]["outputs"]["artifacts"], list);
    assert_eq!(found["phase_artifacts"]["1"]["evidence"], json!({"n": 3}));
}

#[test]
fn an_import_keeps_what_python_writes_for_no_number() {
    let case = Case::first(&FIRST_FILE.replace("\"files_read\": 4", "\"files_read\": NaN"));
    let (session, items) = (case.session(), ItemBook::default());
    let publication = SessionToPublish::new(&session, &items, &[]);
    let changes = puts(
        Praxis.write(&WriteRequest { purpose: Purpose::Newest, publication: &publication }, &case.folder()),
    );
    let text = String::from_utf8(changes[0].content.clone()).expect("text");
    assert!(text.contains("\"files_read\": NaN"), "{text}");
}
