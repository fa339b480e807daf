//! Tests of the rules for tasks: ids, three levels, parents and children, dependencies. Violations are
//! reported, and the rest is read.

use super::*;
use model::item::{Item, ItemState};

fn project(tasks: &[(&str, &str)]) -> Tree {
    let mut tree = with_state(r#"{"current_phase":"IMPLEMENT","progress":{"completed_phases":["PLAN"]}}"#);
    tree.insert("WFS-login/.task", Entry::Folder);
    for (file, json) in tasks {
        tree.insert(format!("WFS-login/.task/{file}.json"), Entry::File(json.as_bytes().to_vec()));
    }
    tree
}

fn one(id: &str, status: &str, relations: &str) -> String {
    format!("{{\"id\":\"{id}\",\"title\":\"T\",\"status\":\"{status}\",\"relations\":{{{relations}}}}}")
}

fn item<'a>(items: &'a ItemBook, id: &str) -> &'a Item {
    items.get(&model::id::ItemId::parse(id).expect("an id")).unwrap_or_else(|| panic!("{id} is not there"))
}

#[test]
fn dotted_ids_are_read_three_levels_deep() {
    let tree = project(&[
        ("impl-1", &one("impl-1", "container", r#""subtasks":["impl-1.1"]"#)),
        ("impl-1.1", &one("impl-1.1", "container", r#""parent":"impl-1","subtasks":["impl-1.1.1"]"#)),
        ("impl-1.1.1", &one("impl-1.1.1", "pending", r#""parent":"impl-1.1""#)),
    ]);
    check_warnings(&tree, &[]);
    let (_, items) = folded(&tree);
    assert_eq!(item(&items, "impl-1.1.1").level(), 3);
    assert_eq!(item(&items, "impl-1").state(), ItemState::Waiting);
    assert_eq!(item(&items, "impl-1.1.1").state(), ItemState::Ready);
}

#[test]
fn impl_1_and_impl_001_are_the_same_task() {
    let tree = project(&[
        ("IMPL-001", &one("IMPL-001", "completed", "")),
        ("impl-2", &one("impl-2", "pending", r#""dependencies":["impl-1"]"#)),
        ("impl-10", &one("IMPL-10", "pending", r#""dependencies":["IMPL-002"]"#)),
    ]);
    check_warnings(&tree, &[]);
    let (_, items) = folded(&tree);
    assert_eq!(item(&items, "impl-2").state(), ItemState::Ready);
    assert_eq!(item(&items, "impl-10").waits_for[0].as_str(), "impl-2");
    let mut order: Vec<&Item> = items.iter().collect();
    order.sort_by_key(|item| item.sort_key());
    let order: Vec<&str> = order.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(order, ["IMPL-001", "impl-2", "IMPL-10"]);
    let twice = project(&[
        ("IMPL-001", &one("IMPL-001", "completed", "")),
        ("impl-1", &one("impl-1", "pending", "")),
    ]);
    assert_eq!(warnings(&twice).len(), 1, "ids are unique");
    assert_eq!(folded(&twice).1.iter().count(), 1);
}

#[test]
fn a_new_id_is_written_as_its_neighbours_are_and_any_spelling_means_the_same() {
    for (id, known, expected) in [
        ("impl-3", &["IMPL-001", "IMPL-002"][..], Some("IMPL-003")),
        ("impl-10", &["IMPL-9"], Some("IMPL-10")),
        ("impl-2", &["impl-1"], Some("impl-2")),
        ("impl-2", &["Task-1"], None),
        ("impl-2", &["IMPL-1.1"], None),
        ("impl-2", &[], None),
    ] {
        assert_eq!(Ccw.like(id, known).as_deref(), expected, "{id} among {known:?}");
    }
    for (one, other) in [("impl-1", "IMPL-001"), ("impl-1.2", "IMPL-01.002"), ("impl-10", "Impl-010")] {
        assert_eq!(Ccw.plain(one), Ccw.plain(other));
    }
    assert_ne!(Ccw.plain("impl-1"), Ccw.plain("impl-10"));
    assert_ne!(Ccw.plain("impl-1.1"), Ccw.plain("impl-11"));
}

#[test]
fn every_type_of_a_task_is_known() {
    for kind in ["feature", "bugfix", "refactor", "test", "docs"] {
        let json = format!("{{\"id\":\"impl-1\",\"status\":\"pending\",\"type\":\"{kind}\"}}");
        let tree = project(&[("impl-1", &json)]);
        check_warnings(&tree, &[]);
        assert_eq!(item(&folded(&tree).1, "impl-1").fields["type"], kind);
    }
}

#[test]
fn every_status_of_both_eras_is_known() {
    let words = ["pending", "active", "in_progress", "completed", "blocked", "cancelled"];
    let tasks: Vec<(String, String)> = words
        .iter()
        .zip(1..)
        .map(|(word, n)| (format!("impl-{n}"), one(&format!("impl-{n}"), word, "")))
        .collect();
    let tasks: Vec<(&str, &str)> = tasks.iter().map(|(file, json)| (file.as_str(), json.as_str())).collect();
    let tree = project(&tasks);
    check_warnings(&tree, &[]);
    let (_, items) = folded(&tree);
    let found: Vec<&str> = (1..=6).map(|n| item(&items, &format!("impl-{n}")).status.name()).collect();
    // A cancelled task is completed, because nothing remains to be done for it; its outcome says that it was
    // not carried out.
    assert_eq!(found, ["pending", "active", "active", "completed", "blocked", "completed"]);
    assert_eq!(item(&items, "impl-6").fields["outcome"], "cancelled");
    check_warnings(&project(&[("impl-1", &one("impl-1", "sleeping", ""))]), &["status is 'sleeping'"]);
    check_warnings(
        &project(&[("impl-1", r#"{"id":"impl-1","status":"pending","type":"chore"}"#)]),
        &["type is 'chore'"],
    );
}

#[test]
fn parent_and_child_that_do_not_name_each_other_are_told() {
    let child = one("impl-1.1", "pending", r#""parent":"impl-1""#);
    let tree = project(&[("impl-1", &one("impl-1", "container", "")), ("impl-1.1", &child)]);
    check_warnings(&tree, &["its parent impl-1 does not list it"]);
    assert_eq!(item(&folded(&tree).1, "impl-1.1").level(), 2);
    let parent = one("impl-1", "container", r#""subtasks":["impl-1.1","impl-1.2"]"#);
    let tree = project(&[("impl-1", &parent), ("impl-1.1", &one("impl-1.1", "pending", ""))]);
    check_warnings(&tree, &["its subtask 'impl-1.2' does not exist", "it does not list its parent impl-1"]);
    let tree =
        project(&[("impl-1", &one("impl-1", "pending", "")), ("impl-1.1", &one("impl-1.1", "pending", ""))]);
    check_warnings(&tree, &["by its id it is part of impl-1, but neither lists the other"]);
    let tree = project(&[("impl-2", &one("impl-2", "pending", r#""parent":"impl-9""#))]);
    check_warnings(&tree, &["its parent 'impl-9' does not exist"]);
}

#[test]
fn dependencies_that_are_missing_or_go_in_a_circle_are_told_and_hold_nobody_up() {
    let tree = project(&[("impl-1", &one("impl-1", "pending", r#""dependencies":["impl-7"]"#))]);
    check_warnings(&tree, &["it depends on 'impl-7', which does not exist"]);
    assert_eq!(item(&folded(&tree).1, "impl-1").state(), ItemState::Ready);
    let tree = project(&[
        ("impl-1", &one("impl-1", "pending", r#""dependencies":["impl-2"]"#)),
        ("impl-2", &one("impl-2", "pending", r#""dependencies":["impl-3"]"#)),
        ("impl-3", &one("impl-3", "pending", r#""dependencies":["impl-1"]"#)),
    ]);
    check_warnings(
        &tree,
        &["it waits for itself: impl-1 → impl-2 → impl-3 → impl-1; its dependency on impl-1 is ignored"],
    );
    assert!(folded(&tree).1.iter().any(|item| item.state() == ItemState::Ready));
    let own =
        project(&[("impl-1", &one("impl-1", "pending", r#""dependencies":["impl-1"],"parent":"impl-1""#))]);
    check_warnings(
        &own,
        &["its parent impl-1 does not list it", "it is part of itself", "it waits for itself"],
    );
    let part = project(&[
        ("impl-1", &one("impl-1", "container", r#""subtasks":["impl-1.1"]"#)),
        ("impl-1.1", &one("impl-1.1", "pending", r#""parent":"impl-1","dependencies":["impl-1"]"#)),
    ]);
    check_warnings(&part, &["it waits for itself"]);
    let circle = project(&[
        ("impl-1", &one("impl-1", "pending", r#""parent":"impl-2","subtasks":["impl-2"]"#)),
        ("impl-2", &one("impl-2", "pending", r#""parent":"impl-1","subtasks":["impl-1"]"#)),
    ]);
    check_warnings(&circle, &["it is part of itself"]);
}

#[test]
fn a_chain_of_a_thousand_and_a_fourth_level_are_read() {
    let tasks: Vec<(String, String)> = (1..=1_000)
        .map(|n| {
            (
                format!("impl-{n}"),
                one(&format!("impl-{n}"), "pending", &format!("\"dependencies\":[\"impl-{}\"]", n + 1)),
            )
        })
        .collect();
    let tasks: Vec<(&str, &str)> = tasks.iter().map(|(file, json)| (file.as_str(), json.as_str())).collect();
    let tree = project(&tasks);
    check_warnings(&tree, &["it depends on 'impl-1001'"]);
    let ready = folded(&tree).1.iter().filter(|item| item.state() == ItemState::Ready).count();
    assert_eq!(ready, 1);
    let deep = project(&[
        ("impl-1", &one("impl-1", "container", r#""subtasks":["impl-1.1"]"#)),
        ("impl-1.1", &one("impl-1.1", "container", r#""parent":"impl-1","subtasks":["impl-1.1.1"]"#)),
        ("impl-1.1.1", &one("impl-1.1.1", "container", r#""parent":"impl-1.1","subtasks":["impl-1.1.1.1"]"#)),
        ("impl-1.1.1.1", &one("impl-1.1.1.1", "pending", r#""parent":"impl-1.1.1""#)),
    ]);
    check_warnings(
        &deep,
        &["it is nested 4 levels deep; the maximum is 3", "it is a container without subtasks"],
    );
    assert_eq!(item(&folded(&deep).1, "impl-1.1.1.1").level(), 3);
}

#[test]
fn a_container_is_complete_only_after_its_children() {
    let parts = |status: &str| {
        project(&[
            ("impl-1", &one("impl-1", status, r#""subtasks":["impl-1.1"]"#)),
            ("impl-1.1", &one("impl-1.1", "pending", r#""parent":"impl-1""#)),
        ])
    };
    check_warnings(&parts("completed"), &["it is marked done, but its subtask is not"]);
    assert!(!item(&folded(&parts("completed")).1, "impl-1").is_done());
    let mut done = parts("container");
    let part = one("impl-1.1", "completed", r#""parent":"impl-1""#);
    done.insert("WFS-login/.task/impl-1.1.json", Entry::File(part.into_bytes()));
    check_warnings(&done, &[]);
    assert!(item(&folded(&done).1, "impl-1").is_done());
    check_warnings(
        &project(&[("impl-1", &one("impl-1", "container", ""))]),
        &["a container without subtasks"],
    );
}

/// A container that is blocked or unfinished according to its file has work of its own.
#[test]
fn a_parent_that_is_no_container_stays_what_its_file_says() {
    for part in ["completed", "pending"] {
        for (status, expected) in [("blocked", "blocked"), ("in_progress", "active"), ("pending", "pending")]
        {
            let tree = project(&[
                ("impl-1", &one("impl-1", status, r#""subtasks":["impl-1.1"]"#)),
                ("impl-1.1", &one("impl-1.1", part, r#""parent":"impl-1""#)),
            ]);
            assert_eq!(item(&folded(&tree).1, "impl-1").status.name(), expected, "its part is {part}");
            assert_eq!(written(&tree, &[]), [], "{status}");
        }
    }
}

#[test]
fn a_broken_task_hides_no_other_and_is_never_written() {
    let tree = project(&[
        ("impl-1", "{\"id\":"),
        ("impl-2", &one("impl-2", "pending", "")),
        ("impl-3", &one("../../etc", "pending", "")),
        ("notes", "[]"),
        ("impl-4", "{}"),
    ]);
    let found = warnings(&tree);
    assert!(found.iter().any(|found| found.contains("impl-1.json: it is not JSON")), "{found:?}");
    assert!(found.iter().any(|found| found.contains("impl-3.json: '../../etc' is not an id")), "{found:?}");
    assert!(found.iter().any(|found| found.contains("impl-4.json: id is missing")), "{found:?}");
    let ids: Vec<String> = folded(&tree).1.iter().map(|item| item.id.to_string()).collect();
    assert_eq!(ids, ["impl-2", "impl-4"]);
    assert_eq!(details(&tree).tasks.broken.len(), 3);
    let add = Event::Item(model::event::ItemEvent::ItemAdded {
        item: model::item::NewItem {
            id: model::id::ItemId::parse("impl-1").expect("an id"),
            kind: name("impl"),
            title: "Of ours".to_owned(),
            run: model::item::RunRef { workflow: name("ccw"), ordinal: 1 },
            phase: name("implement"),
            parent: None,
            order: 10,
            depends_on: Vec::new(),
            fields: std::collections::BTreeMap::new(),
        },
    });
    assert!(written(&tree, &[add]).iter().all(|change| !change.path.ends_with("impl-1.json")));
}

#[test]
fn tasks_of_later_releases_are_read() {
    let later = r#"{"id":"IMPL-2","title":"Later","status":"in_progress","meta":{"type":"bugfix","agent":"@code"},
        "context":{"requirements":["x"],"depends_on":["IMPL-1"],"parent":null},"flow_control":{"steps":[1.0]}}"#;
    let tree = project(&[("IMPL-1", &one("IMPL-1", "pending", "")), ("IMPL-2", later)]);
    check_warnings(&tree, &[]);
    let (_, items) = folded(&tree);
    let found = item(&items, "impl-2");
    assert_eq!((&found.fields["type"], &found.fields["agent"]), (&"bugfix".into(), &"@code".into()));
    assert_eq!(found.waits_for[0].as_str(), "IMPL-1");
}
