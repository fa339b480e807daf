//! Work from elsewhere keeps its author, and every view judges it as `verify` does.

use crate::clones::{Clone, Hub};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

const SMALL: &str = "name = \"small\"\n[[phase]]\nid = \"plan\"\n[[phase.check]]\nid = \"plan\"\nkind = \"artifact\"\n\
    path = \"PLAN.md\"\n[[phase]]\nid = \"agree\"\n[[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n\
    [[phase]]\nid = \"talk\"\n[[phase]]\nid = \"end\"\n";

/// A clone in which three phases of a session are done: a recorded file, an approval, and one without a gate.
fn three_phases_done(clone: &Clone<'_>, approve: &[&str]) {
    let folder = clone.project.join(".leftoff/workflows");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("small.toml"), SMALL).unwrap();
    clone.ok(&["start", "small", "--goal", "no log-out", "--id", "login"]);
    let workspace = clone.project.join(".leftoff/sessions/login");
    fs::create_dir_all(&workspace).unwrap();
    fs::write(workspace.join("PLAN.md"), "a plan").unwrap();
    clone.ok(&["advance", "--phase", "plan"]);
    clone.as_person(approve);
    clone.ok(&["advance", "--phase", "agree"]);
    clone.ok(&["advance", "--phase", "talk"]);
    clone.ok(&["pause", "--reason", "lunch"]);
    clone.sync();
}

fn outcomes<'a>(phases: impl Iterator<Item = &'a Value>) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or("open").to_owned();
    phases.map(|phase| (text(&phase["id"]), text(&phase["outcome"]))).collect()
}

/// The outcomes of the phases as `verify` tells them.
fn verified(clone: &Clone<'_>) -> BTreeMap<String, String> {
    let output = clone.run(&["verify", "--session", "login", "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    outcomes(report["sessions"][0]["runs"][0]["phases"].as_array().unwrap().iter())
}

#[test]
fn every_view_calls_an_outcome_what_verify_calls_it() {
    for (approve, told) in
        [(&["approve", "agreed"][..], "claimed"), (&["approve", "agreed", "--sign"], "verified")]
    {
        let hub = Hub::new();
        let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
        let (key, public) = crate::told::signing_key(&hub);
        hub.git(&anna.project, &["config", "user.signingkey", &key.to_string_lossy()]);
        for clone in [&anna, &ben] {
            let folder = clone.project.join(".leftoff");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("allowed_signers"), format!("anna namespaces=\"leftoff\" {public}"))
                .unwrap();
            clone.as_person(&["trust", "--policy", "--yes"]);
        }
        three_phases_done(&anna, approve);
        ben.sync();
        ben.ok(&["resume", "login"]);
        let expected = verified(&ben);
        assert_eq!((expected["agree"].as_str(), expected["talk"].as_str()), (told, "done"), "{expected:?}");
        let (status, brief) = (ben.json(&["status"]), ben.json(&["brief"]));
        for view in [&status, &brief["session"], &ben.json(&["show", "login"])] {
            assert_eq!(outcomes(view["phases"].as_array().unwrap().iter()), expected);
            assert_eq!(view["progress"]["outcomes"][told], 2, "{view}");
        }
        assert_eq!(ben.json(&["list"])["sessions"][0]["outcomes"][told], 2);
        assert_eq!(ben.ok(&["status"]).contains("claimed, unsigned"), told == "claimed");
        let brief = ben.ok(&["brief", "--format", "markdown"]);
        assert_eq!(brief.contains("claimed, not signed by an allowed key"), told == "claimed", "{brief}");
        assert_eq!(brief.contains("verified"), told == "verified", "{brief}");
        assert_eq!(ben.ok(&["list"]).contains("2 claimed"), told == "claimed");
        // Nothing changes where the work was done.
        assert_eq!(anna.json(&["status"])["progress"]["outcomes"]["verified"], 2);
    }
}

#[test]
fn merged_work_keeps_its_author_and_its_time() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    ben.sync();
    hub.at("2026-11-16T09:00:00Z");
    ben.ok(&["resume", "login"]);
    ben.ok(&["note", "of ben"]);
    ben.ok(&["item", "add", "log out late"]);
    ben.ok(&["pause", "--reason", "away"]);
    hub.at("2026-11-16T10:00:00Z");
    anna.ok(&["resume", "login"]);
    for text in ["one", "two", "three", "four"] {
        anna.ok(&["note", text]);
    }
    anna.sync();
    hub.at("2026-11-16T12:00:00Z");
    ben.sync();
    anna.sync();
    anna.ok(&["sync", "resolve", "login"]);
    let merged = |clone: &Clone<'_>| {
        let view = clone.json(&["show", "login"]);
        let notes = view["notes"].as_array().unwrap().iter();
        let of_ben = notes.filter(|note| note["actor"]["name"] == "ben");
        of_ben.map(|note| (note["text"].to_string(), note["at"].to_string())).collect::<Vec<_>>()
    };
    let told = merged(&anna);
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], ("\"of ben\"".to_owned(), "\"2026-11-16T09:00:00Z\"".to_owned()));
    assert!(told[1].0.contains("item task-1 came from login.fork-"), "{told:?}");
    assert_eq!(told[1].1, "\"2026-11-16T09:00:00Z\"");
    let log = anna.ok(&["log", "login"]);
    assert!(log.contains("of ben (by ben, 2026-11-16 09:00 UTC)"), "{log}");
    // It stays so on its way to others, in exports and in a merge of the merged history.
    anna.ok(&["pause", "--reason", "done"]);
    anna.sync();
    ben.sync();
    assert_eq!(merged(&ben), told);
    let exported = ben.ok(&["export", "--session", "login"]);
    let exported: Value = serde_json::from_str(&exported).unwrap();
    assert!(exported.to_string().contains("\"2026-11-16T09:00:00Z\""), "{exported}");
}

#[test]
fn what_two_people_merged_is_there_once() {
    let hub = Hub::new();
    let (anna, ben, carla) = (hub.clone("anna"), hub.clone("ben"), hub.clone("carla"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    ben.sync();
    for (clone, notes) in [(&anna, &["of anna"][..]), (&ben, &["of ben", "more of ben", "still of ben"])] {
        clone.ok(&["resume", "login"]);
        clone.ok(&["item", "add", &format!("item {}", notes[0])]);
        for note in notes {
            clone.ok(&["note", note]);
        }
        clone.ok(&["pause", "--reason", "away"]);
    }
    hub.at("2026-11-16T10:00:00Z");
    for clone in [&ben, &anna, &carla] {
        clone.sync();
    }
    for clone in [&anna, &carla] {
        clone.ok(&["resume", "login"]);
        let told = clone.ok(&["sync", "resolve", "login"]);
        assert!(!told.contains("this history lacks"), "the fork is gone: {told}");
        clone.ok(&["note", &format!("after the merge by {}", clone.name)]);
        clone.ok(&["pause", "--reason", "away"]);
    }
    hub.at("2026-11-16T12:00:00Z");
    for clone in [&anna, &carla, &anna, &ben] {
        clone.sync();
    }
    ben.ok(&["resume", "login"]);
    ben.ok(&["sync", "resolve", "login"]);
    let notes = ben.notes("login");
    let count = |text: &str| notes.iter().filter(|note| *note == text).count();
    for text in ["of anna", "of ben", "after the merge by anna", "after the merge by carla"] {
        assert_eq!(count(text), 1, "{text}: {notes:?}");
    }
    let items = ben.json(&["item", "list"]);
    let titles = items["items"].as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap());
    assert_eq!(titles.collect::<Vec<_>>(), ["item of ben", "item of anna"], "{items}");
}
