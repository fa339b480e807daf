//! Tests that times written by the tool stay as they are.

use super::*;

fn written_at(sandbox: &Sandbox, at: &str) {
    let at: jiff::Timestamp = at.parse().unwrap();
    let file = std::fs::File::options().write(true).open(sandbox.path(NEW)).unwrap();
    file.set_modified(std::time::SystemTime::from(at)).unwrap();
}

/// The tool completes two phases, the second more than an hour after it started. It writes its file at 12:55.
fn two_phases_later(ends: [&str; 2]) -> Sandbox {
    let sandbox = started();
    edit(&sandbox, NEW, |value| {
        let [first, second] = ends.map(|end| format!("2026-11-14T{end}Z"));
        let artifact = |number: u32, at: &str| {
            json!({"phase_number": number, "evidence": {"tests": 1}, "outputs": {}, "commands_executed": [],
                "timestamp": at})
        };
        value["phase_timing"] = json!({
            "0": {"started_at": "2026-11-14T11:00:00Z", "completed_at": first, "duration_seconds": 1200},
            "1": {"started_at": first, "completed_at": second, "duration_seconds": 5400},
            "2": {"started_at": second}});
        value["completed_phases"] = json!([0, 1]);
        value["current_phase"] = json!(2);
        value["checkpoints"] = json!({"0": "passed", "1": "passed", "2": "pending"});
        value["phase_artifacts"] = json!({"0": artifact(0, &first), "1": artifact(1, &second)});
        value["updated_at"] = json!(second);
    });
    written_at(&sandbox, "2026-11-14T12:55:00Z");
    sandbox.at("2026-11-14T13:00:00Z");
    sandbox
}

fn durations(sandbox: &Sandbox) -> Value {
    let phases = view(sandbox)["phases"].clone();
    phases.as_array().unwrap().iter().map(|phase| phase["duration_seconds"].clone()).collect()
}

fn times_in_log(sandbox: &Sandbox) -> Vec<jiff::Timestamp> {
    let log = sandbox.run(["log", "--json"]).ok().json();
    let times = log["events"].as_array().unwrap().iter();
    let mut times: Vec<(u64, jiff::Timestamp)> = times
        .map(|event| (event["version"].as_u64().unwrap(), event["at"].as_str().unwrap().parse().unwrap()))
        .collect();
    times.sort_by_key(|(version, _)| *version);
    times.into_iter().map(|(_, at)| at).collect()
}

#[test]
fn phases_that_the_tool_completed_took_as_long_as_it_says_and_its_times_stay() {
    let sandbox = two_phases_later(["11:20:00", "12:50:00"]);
    let timing = file(&sandbox, NEW)["phase_timing"].clone();
    assert_eq!(durations(&sandbox), json!([1200, 5400, null]));
    sandbox.run(["note", "seen"]).ok();
    assert_eq!(durations(&sandbox), json!([1200, 5400, null]), "as taken in");
    assert_eq!(file(&sandbox, NEW)["phase_timing"], timing);
    sandbox.run(["import", "s", "--layout", "praxis"]).ok();
    assert_eq!(file(&sandbox, NEW)["phase_timing"], timing, "also when all of it is written again");
    assert!(times_in_log(&sandbox).is_sorted());
}

#[test]
fn times_that_cannot_be_are_not_taken_in() {
    for ends in [
        ["09:00:00", "10:00:00"],
        ["14:00:00", "15:00:00"],
        ["12:50:00", "11:20:00"],
        ["15:00:00", "09:00:00"],
        ["11:00:00", "11:00:00"],
    ] {
        let sandbox = two_phases_later(ends);
        let sum = |durations: Value| -> u64 {
            durations.as_array().unwrap().iter().filter_map(Value::as_u64).sum()
        };
        assert!(sum(durations(&sandbox)) <= 2 * 60 * 60, "{ends:?}: {}", durations(&sandbox));
        sandbox.run(["note", "seen"]).ok();
        let times = times_in_log(&sandbox);
        assert!(times.is_sorted(), "{ends:?}: {times:?}");
        assert!(*times.last().unwrap() <= "2026-11-14T13:00:00Z".parse().unwrap(), "{ends:?}");
    }
}
