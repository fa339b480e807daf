//! Tests of where sessions are found, which of their files are read, and how new sessions are named.

use super::*;
use crate::layout::Role;
use crate::layout::{NewAim, NewName, Occasion};

#[track_caller]
fn begin(title: &str, id: Option<&str>, taken: &[&str]) -> Result<String, String> {
    let is_taken = |path: &str| taken.contains(&path);
    let beginning = NewSession::new(
        id,
        Occasion {
            title,
            today: "2026-02-01".parse().expect("a date"),
            now: now(),
            branch: None,
            random: [0; 16],
        },
        &is_taken,
    );
    Ccw.place(&beginning).map(|spot| spot.path).map_err(|why| why.to_string())
}

#[test]
fn a_slug_is_lowercase_with_hyphens_and_at_most_50_characters() {
    assert_eq!(
        begin("Add OAuth2 log-in (API)!", None, &[]).as_deref(),
        Ok(".workflow/WFS-add-oauth2-log-in-api")
    );
    assert_eq!(begin("Größe ändern", None, &[]).as_deref(), Ok(".workflow/WFS-grosse-andern"));
    assert_eq!(begin("重构", None, &[]).as_deref(), Ok(".workflow/WFS-session"));
    let long = begin(&"words and more ".repeat(20), None, &[]).expect("a name");
    let id = long.strip_prefix(".workflow/").expect("below the home");
    assert!(id.len() <= MOST_IN_AN_ID && !id.ends_with('-'), "{id}");
    let solid = begin(&"x".repeat(300), None, &[]).expect("a name");
    assert_eq!(solid.len(), ".workflow/".len() + MOST_IN_AN_ID);
}

#[test]
fn a_number_follows_on_a_conflict_only() {
    let taken = [".workflow/WFS-fix", ".workflow/archives/WFS-fix-002"];
    assert_eq!(begin("Fix", None, &taken[..1]).as_deref(), Ok(".workflow/WFS-fix-002"));
    assert_eq!(begin("Fix", None, &taken).as_deref(), Ok(".workflow/WFS-fix-003"));
    let long = "y".repeat(60);
    let first = begin(&long, None, &[]).expect("a name");
    let second = begin(&long, None, &[&first]).expect("a name");
    assert!(second.ends_with("-002") && second.len() <= ".workflow/".len() + MOST_IN_AN_ID, "{second}");
}

#[test]
fn an_id_that_is_asked_for_is_checked_and_never_leaves_the_folder() {
    assert_eq!(begin("x", Some("WFS-fix"), &[]).as_deref(), Ok(".workflow/WFS-fix"));
    assert_eq!(begin("x", Some("fix"), &[]).as_deref(), Ok(".workflow/WFS-fix"));
    assert!(begin("x", Some("fix"), &[".workflow/WFS-fix"]).is_err_and(|why| why.contains("already")));
    for bad in ["WFS-", "../x", "WFS-a/b", "WFS-Ü", "Fix", "WFS-a b", "-x", &"x".repeat(60)] {
        assert!(begin("x", Some(bad), &[]).is_err(), "{bad}");
    }
}

#[test]
fn a_project_with_a_folder_for_active_ones_gets_its_new_ones_there() {
    assert_eq!(begin("Fix", None, &[".workflow/active"]).as_deref(), Ok(".workflow/active/WFS-fix"));
}

#[test]
fn only_folders_of_the_right_name_are_sessions() {
    for path in [".workflow/WFS-a", ".workflow/active/WFS-a", ".workflow/archives/WFS-a.b"] {
        let spot = Ccw.identify(path, true).expect(path);
        assert_eq!(
            (spot.path.as_str(), spot.home.as_str(), spot.workspace.as_str()),
            (path, ".workflow", path)
        );
    }
    for path in [
        ".workflow/.locks",
        ".workflow/active",
        ".workflow/WFS-",
        ".workflow/other/a",
        "docs/../WFS-a",
        "/WFS-a",
        ".workflow/.active-WFS-a",
    ] {
        assert_eq!(Ccw.identify(path, true), None, "{path}");
    }
    // A folder that only a registry line names also needs a state file. In the session's tree, the folder is
    // next to the home.
    for (path, in_tree) in
        [(".workflow/2026/WFS-a", "2026/WFS-a"), ("docs/WFS-a", "../docs/WFS-a"), ("WFS-a", "../WFS-a")]
    {
        let spot = Ccw.identify(path, true).expect(path);
        assert_eq!(spot.known_by, Some(format!("{path}/workflow-session.json")));
        assert_eq!((spot.folder().as_str(), spot.below_project(in_tree).as_str()), (in_tree, path));
    }
    assert_eq!(Ccw.identify(".workflow/WFS-a", false), None);
    // A folder with another name needs a state file.
    assert_eq!(spot_at(".workflow/WFS-a").known_by, None);
    let state = spot_at(".workflow/active/tmp").known_by;
    assert_eq!(state.as_deref(), Some(".workflow/active/tmp/workflow-session.json"));
    // Different names never lead to the same id.
    assert_ne!(spot_at(".workflow/WFS-ä").id, spot_at(".workflow/WFS-ö").id);
}

#[test]
fn of_the_home_only_the_registry_the_own_folder_and_the_own_marker_are_looked_at() {
    let spot = spot_at(FOLDER);
    let rules = Ccw.files(&spot);
    for (path, is_folder, expected) in [
        ("session_status.jsonl", false, Role::Shared),
        ("WFS-login/workflow-session.json", false, Role::State),
        ("WFS-login/.task/impl-1.1.json", false, Role::State),
        ("WFS-login/IMPL_PLAN.md", false, Role::Evidence),
        ("active/WFS-login/workflow-session.json", false, Role::State),
        (".active-WFS-login", false, Role::Marker),
        ("WFS-login", true, Role::Listed),
        ("WFS-login/REVIEW.md", false, Role::Listed),
        ("WFS-login/.chat", true, Role::Skip),
        ("WFS-other", true, Role::Skip),
        ("WFS-login-2", true, Role::Skip),
        (".active-WFS-other", false, Role::Skip),
    ] {
        assert_eq!(rules.role(path, is_folder), expected, "{path}");
    }
    // State files are read at every depth: otherwise an edit would go unnoticed.
    for path in ["session_status.jsonl", "WFS-login/workflow-session.json", "WFS-login/.task/impl-1.1.json"] {
        assert!(rules.is_state(path), "{path}");
    }
}

#[test]
fn the_place_is_the_state() {
    let json = r#"{"current_phase":"IMPLEMENT","status":"active","created_at":"2026-01-28T10:00:00Z"}"#;
    let archived = tree(&[("archives/WFS-login/workflow-session.json", json)]);
    let reading = read_at(".workflow/archives/WFS-login", &archived);
    let session = reading.value.fold(&actor()).expect("a session").1;
    assert_eq!(session.lifecycle.name(), "completed");
    assert!(reading.warnings[0].to_string().contains("is among the archived sessions"));
    let active = tree(&[("active/WFS-login/workflow-session.json", json)]);
    let session = read_at(".workflow/active/WFS-login", &active).value.fold(&actor()).expect("a session").1;
    assert_eq!(session.lifecycle.name(), "active");
    // The session was moved, and is found at its new place.
    let session = read_at(".workflow/active/WFS-login", &archived).value.fold(&actor()).expect("a session").1;
    assert_eq!(session.lifecycle.name(), "completed");
    // Later releases have no registry, and leftoff does not create one for them.
    let spot = spot_at(".workflow/active/WFS-login");
    let folder = Folder {
        spot: &spot,
        id: &spot.id,
        worktree: "/w",
        tree: &active,
        now: now(),
        read_as: ReadAs::Found,
    };
    let (all, session, items) =
        read_at(".workflow/active/WFS-login", &active).value.fold(&actor()).expect("one");
    assert_eq!(updated(&SessionToPublish::new(&session, &items, &all), &folder), []);
}

#[test]
fn a_new_folder_has_a_plans_template_and_a_place_for_tasks() {
    let (session, _) = folded(&seed());
    let ops = initial_files(&session, &spot_at(FOLDER));
    let [FileOp::Folder(folder), FileOp::Create(plan)] = &ops[..] else { panic!("{ops:?}") };
    assert_eq!((folder.as_str(), plan.path.as_str()), ("WFS-login/.task", "WFS-login/IMPL_PLAN.md"));
    let mut tree = seed();
    tree.insert("WFS-login/IMPL_PLAN.md", Entry::File(plan.content.clone()));
    assert!(!documents::has(&details(&tree).documents, PLAN));
}

/// The documents are `IMPL_PLAN.md`, `TODO_LIST.md`, `.summaries/`, `.brainstorming/`, `reports/`, `issues/`,
/// `REVIEW.md` and `test-results.json`.
#[test]
fn every_document_of_the_format_is_seen_and_what_was_said_is_not_looked_at() {
    let files = [
        "IMPL_PLAN.md",
        "TODO_LIST.md",
        "REVIEW.md",
        "test-results.json",
        ".summaries/IMPL-1-summary.md",
        ".brainstorming/synthesis.md",
        "reports/SYNC_REPORT.md",
        "issues/ISS-001.json",
    ];
    let mut tree = seed();
    for file in files {
        tree.insert(format!("WFS-login/{file}"), Entry::File(b"Something.".to_vec()));
        let folder = file.split_once('/').map_or("", |(folder, _)| folder);
        tree.insert(format!("WFS-login/{folder}"), Entry::Folder);
    }
    let session = details(&tree);
    let seen: Vec<&str> =
        session.documents.iter().filter(|found| found.says_something).map(|found| found.path).collect();
    for file in files {
        let name = file.split_once('/').map_or(file, |(folder, _)| folder);
        assert!(seen.contains(&name), "{name} in {seen:?}");
        let role = Ccw.files(&spot_at(FOLDER)).role(&format!("WFS-login/{file}"), false);
        assert!(role.is_listed(Depth::Whole), "{file}");
    }
    assert_eq!(Ccw.files(&spot_at(FOLDER)).role("WFS-login/.chat", true), Role::Skip);
}

#[test]
fn a_home_that_holds_something_else_is_not_an_empty_one() {
    let index = |names: &[&str]| {
        let mut tree = Tree::default();
        for name in names {
            tree.insert(*name, Entry::Unread { size: 0 });
        }
        Ccw.survey(&tree, &|path| path == ".workflow/mine/workflow-session.json")
            .unknown
            .map(|problem| problem.to_string())
    };
    let message = index(&["sessions", ".lite"]).expect("told");
    assert!(message.contains("it contains no session") && message.contains(".lite, sessions"));
    for names in [
        &[][..],
        &["WFS-a", "other"],
        &["active", "other"],
        &["session_status.jsonl"],
        &[".active-WFS-a"],
        &["mine"],
    ] {
        assert_eq!(index(names), None, "{names:?}");
    }
}

#[test]
fn a_session_that_gets_another_name_is_called_so_in_all_of_its_files() {
    let from = spot_at(".workflow/active/WFS-fix");
    let beside = |spot: &Spot, number| {
        Ccw.place(&NewSession {
            name: NewName::Beside(spot, number),
            aim: NewAim::Start,
            is_taken: &|_| false,
        })
        .expect("a name")
    };
    let to = beside(&from, 2);
    assert_eq!(to.path, ".workflow/active/WFS-fix-002");
    let long = spot_at(&format!(".workflow/WFS-{}", "y".repeat(46)));
    assert!(beside(&long, 12).id.as_str().len() <= MOST_IN_AN_ID);
    let renamed = |path: &str, content: &str| {
        String::from_utf8(Ccw.rename(path, content.as_bytes(), &from, &to)).expect("text")
    };
    assert_eq!(
        renamed("active/WFS-fix/workflow-session.json", r#"{ "session_id": "WFS-fix", "n": 1.0 }"#),
        r#"{ "session_id": "WFS-fix-002", "n": 1.0 }"#
    );
    assert_eq!(
        renamed("active/WFS-fix/.task/impl-1.json", r#"{"context":{"inherited_from":"WFS-plan"}}"#),
        r#"{"context":{"inherited_from":"WFS-plan"}}"#,
        "another session's name stays"
    );
    let lines = concat!(
        r#"{"id":"WFS-other","directory":".workflow/WFS-other"}"#,
        "\n",
        r#"{"id":"WFS-fix","x":1,"directory":".workflow/WFS-fix"}"#,
        "\n"
    );
    assert_eq!(
        renamed(REGISTRY, lines),
        r#"{"id":"WFS-fix-002","x":1,"directory":".workflow/active/WFS-fix-002"}"#
    );
}
