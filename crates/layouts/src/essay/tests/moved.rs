//! Tests of a session whose folder was moved. Its state contains the old paths until the state is written.

use super::*;

const OLD: &str = "/home/ada/old/essay-pipeline-20260101-000000";

fn set(name: &str, value: &str) -> Event {
    let fields = std::collections::BTreeMap::from([(name.to_owned(), value.into())]);
    Event::FieldsSet { phase: None, fields }
}

#[test]
fn files_are_found_where_the_folder_is_now() {
    let moved = read(whole(&LATE.replace(FOLDER, OLD)));
    let (here, there) = (read(whole(LATE)), &moved.session);
    assert_eq!(moved.warnings, here.warnings);
    let fields = |session: &Session| {
        let run = session.run().expect("a run");
        run.phases.iter().map(|phase| phase.fields.clone()).collect::<Vec<_>>()
    };
    assert_eq!(fields(there), fields(&here.session), "a session knows its files where they are");
    assert_eq!(moved.item("section-1").fields, here.item("section-1").fields);
}

#[test]
fn a_write_names_the_folder_as_it_is_now_and_none_without_a_change() {
    let moved = read(whole(&LATE.replace(FOLDER, OLD)));
    assert_eq!(moved.written_after(Vec::new()), None);
    let text = moved.written_after(vec![set("audience", "expert")]).expect("a change");
    let here = read(whole(LATE)).written_after(vec![set("audience", "expert")]).expect("a change");
    assert_eq!(text, here);
}

/// The log of a known session contains the old paths.
#[test]
fn the_old_place_in_the_log_is_not_written_over_the_new_one() {
    let known = read(whole(LATE));
    let old = "/elsewhere/essay-pipeline-20260214-143022/stage-1-thesis.md";
    let fields = std::collections::BTreeMap::from([("thesis_file".to_owned(), old.into())]);
    let phase = known.session.run().expect("a run").phases[0].id().clone();
    assert_eq!(known.written_after(vec![Event::FieldsSet { phase: Some(phase), fields }]), None);
}
