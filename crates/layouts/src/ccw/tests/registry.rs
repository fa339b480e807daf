//! Tests of the lines of session_status.jsonl: a write changes the session's own line, and no other.

use super::*;
use crate::capabilities::shared_part;
use crate::ccw::registry;

fn paused() -> Event {
    Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() }
}

#[track_caller]
fn check(before: &str, events: &[Event], expected: &str) {
    let mut tree = seed();
    tree.insert("session_status.jsonl", Entry::File(before.as_bytes().to_vec()));
    assert_eq!(text(&after(&tree, events), "session_status.jsonl"), expected);
}

const OTHER: &str = r#"{ "id" : "WFS-login-2", "status":"active", "n": 1.50 }"#;

#[test]
fn only_this_sessions_line_changes_and_every_other_byte_stays() {
    let own = LINE.replace("\"active\"", "\"paused\"");
    check(
        &format!("{OTHER}\r\n{LINE}\r\n\r\n{{broken\r\n"),
        &[paused()],
        &format!("{OTHER}\r\n{own}\r\n\r\n{{broken\r\n"),
    );
    check(&format!("\u{feff}{LINE}"), &[paused()], &format!("\u{feff}{own}"));
    check(&format!("{OTHER}\n{LINE}\n"), &[], &format!("{OTHER}\n{LINE}\n"));
}

#[test]
fn a_missing_line_is_added_and_a_missing_registry_made() {
    let own = r#"{"id":"WFS-login","status":"active","description":"Log in with OAuth","created":"2026-01-28T10:00:00Z","directory":".workflow/WFS-login","complexity":"medium"}"#;
    check(OTHER, &[], &format!("{OTHER}\n{own}\n"));
    check("", &[], &format!("{own}\n"));
    let mut tree = seed();
    tree.remove("session_status.jsonl");
    assert_eq!(text(&after(&tree, &[]), "session_status.jsonl"), format!("{own}\n"));
}

#[test]
fn several_lines_of_one_session_are_folded_and_lose_nothing() {
    let old = r#"{"id":"WFS-login","status":"paused","complexity":"complex","mine":[1]}"#;
    let folded = LINE.replacen('}', ",\"complexity\":\"complex\",\"mine\":[1]}", 1);
    check(&format!("{old}\n{OTHER}\n{LINE}\n"), &[], &format!("{OTHER}\n{folded}\n"));
    let mut tree = seed();
    tree.insert("session_status.jsonl", Entry::File(format!("{old}\n{LINE}\n").into_bytes()));
    assert!(warnings(&tree)[0].contains("WFS-login has 2 lines; the last one is used"));
}

#[test]
fn a_line_without_an_id_is_found_by_its_directory_and_keys_it_lacks_are_added() {
    let line = r#"{"directory":".workflow/WFS-login/","status":"interrupted"}"#;
    let mut tree = seed();
    tree.insert("session_status.jsonl", Entry::File(line.as_bytes().to_vec()));
    let written = text(&after(&tree, &[]), "session_status.jsonl");
    let json: serde_json::Value = serde_json::from_str(&written).expect("one line");
    assert_eq!((&json["id"], &json["status"]), (&NAME.into(), &"active".into()));
    assert!(written.starts_with(r#"{"directory":".workflow/WFS-login/","#) && !written.contains('\n'));
}

#[test]
fn ten_thousand_lines_with_three_broken_ones() {
    let mut lines: Vec<String> =
        (0..10_000).map(|n| LINE.replace("WFS-login", &format!("WFS-s{n}"))).collect();
    for (at, broken) in [(17, "{\"id\":\"WFS-s17\","), (5_000, "not JSON"), (9_999, "[]")] {
        broken.clone_into(&mut lines[at]);
    }
    lines.insert(7_000, LINE.to_owned());
    let before = lines.join("\n");
    let survey = registry::check(before.as_bytes(), &|path| path.starts_with(".workflow/WFS-s"));
    assert_eq!(survey.problems.len(), 1, "{:?}", survey.problems);
    assert!(survey.problems[0].to_string().starts_with("lines 18, 5001, 10001 are not JSON objects"));
    assert_eq!(survey.lost.iter().map(|spot| spot.id.as_str()).collect::<Vec<_>>(), [NAME]);
    assert_eq!(registry::active_in(before.as_bytes()).len(), 9_998);
    lines[7_000] = LINE.replace("active", "paused");
    check(&before, &[paused()], &lines.join("\n"));
}

#[test]
fn the_active_ones_are_those_whose_last_line_says_so_in_whatever_word() {
    let line = |id: &str, status: &str| format!("{{\"id\":\"{id}\",\"status\":\"{status}\"}}\n");
    let text = [
        line("WFS-a", "active"),
        line("WFS-b", "Implementing"),
        line("WFS-c", "active"),
        line("WFS-d", "interrupted"),
        "{\"directory\":\".workflow/WFS-e/\",\"status\":\"reviewing\"}\n".to_owned(),
        line("WFS-c", "paused"),
        "active, and no JSON\n".to_owned(),
    ]
    .concat();
    assert_eq!(registry::active_in(text.as_bytes()), ["WFS-a", "WFS-b", "WFS-e"]);
}

#[test]
fn a_line_without_a_folder_is_lost_unless_it_is_finished_or_its_folder_is_in_another_place() {
    let line = |id: &str, status: &str, at: &str| {
        format!("{{\"id\":\"{id}\",\"status\":\"{status}\",\"directory\":\"{at}\"}}\n")
    };
    let text = [
        line("WFS-here", "active", ".workflow/WFS-here"),
        line("WFS-moved", "paused", ".workflow/WFS-moved"),
        line("WFS-done", "completed", ".workflow/WFS-done"),
        line("WFS-lost", "paused", ".workflow/active/WFS-lost"),
        line("WFS-odd", "active", "somewhere/else"),
    ]
    .concat();
    let there = [".workflow/WFS-here", ".workflow/archives/WFS-moved"];
    let survey = registry::check(text.as_bytes(), &|path| there.contains(&path));
    let lost: Vec<&str> = survey.lost.iter().map(|spot| spot.path.as_str()).collect();
    assert_eq!(lost, [".workflow/active/WFS-lost", ".workflow/WFS-odd"]);
    assert_eq!(survey.problems, []);
}

/// The warning about a missing session names the line that refers to it.
#[test]
fn a_line_that_means_a_folder_in_no_place_of_a_session_is_told_with_where_it_points() {
    let line = |id: &str, status: &str, at: &str| {
        format!("{{\"id\":\"{id}\",\"status\":\"{status}\",\"directory\":\"{at}\"}}\n")
    };
    let text = [
        line("feature-x", "active", ".workflow/feature-x"),
        line("WFS-a", "paused", "sub/WFS-a"),
        line("WFS-gone", "completed", "attic/WFS-gone"),
        line("WFS-plain", "completed", ".workflow/plain"),
        line("WFS-b", "paused", "sub/WFS-b"),
    ]
    .concat();
    let there = [
        ".workflow/feature-x",
        "sub/WFS-a",
        "attic/WFS-gone",
        ".workflow/plain",
        ".workflow/plain/workflow-session.json",
        ".workflow/WFS-b",
        "sub/WFS-b",
    ];
    let survey = registry::check(text.as_bytes(), &|path| there.contains(&path));
    let told: Vec<String> = survey.problems.iter().map(ToString::to_string).collect();
    let expected = [
        "line 2 lists 'WFS-a' in sub/WFS-a, where no session can be; a session is a folder WFS-",
        "line 4 lists 'WFS-plain' in .workflow/plain, but the session there is 'plain'",
        "line 1 lists 'feature-x' in .workflow/feature-x, where no session can be; a session is a folder WFS-",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}");
    }
    assert_eq!(survey.lost, []);
}

#[test]
fn a_session_with_several_lines_is_told_of_as_such() {
    let text = format!("{LINE}\n{OTHER}\n{LINE}\n");
    let survey = registry::check(text.as_bytes(), &|path| path.starts_with(".workflow/"));
    assert_eq!(survey.repeated.iter().map(|spot| spot.id.as_str()).collect::<Vec<_>>(), [NAME]);
}

#[test]
fn a_marker_of_a_session_that_is_not_there_is_told() {
    let mut index = Tree::default();
    for name in [".active-WFS-ghost", ".active-WFS-login", "WFS-login"] {
        index.insert(name, Entry::Unread { size: 0 });
    }
    let survey = Ccw.survey(&index, &|path| path == ".workflow/archives/WFS-login");
    let told: Vec<(&str, String)> =
        survey.problems.iter().map(|problem| (problem.path.as_str(), problem.to_string())).collect();
    let said = "it marks 'WFS-ghost' as active, but there is no such session".to_owned();
    assert_eq!(told, [(".active-WFS-ghost", said)]);
}

#[test]
fn a_registry_that_cannot_be_read_is_told_and_never_written() {
    for entry in [Entry::Folder, Entry::Unusable("it is larger than 4194304 bytes".to_owned())] {
        let mut tree = seed();
        tree.insert("session_status.jsonl", entry);
        assert_eq!(warnings(&tree).len(), 1);
        assert!(written(&tree, &[paused()]).iter().all(|change| change.path != "session_status.jsonl"));
    }
}

#[test]
fn a_broken_line_of_this_session_is_told_and_kept() {
    let mut tree = seed();
    let cut = &LINE[..40];
    tree.insert("session_status.jsonl", Entry::File(format!("{cut}\n").into_bytes()));
    assert!(warnings(&tree)[0].contains("line 1 is not a JSON object; it is left as it is"));
    assert!(text(&after(&tree, &[]), "session_status.jsonl").starts_with(&format!("{cut}\n")));
}

#[test]
fn a_share_is_the_sessions_lines_and_edits_of_others_are_kept() {
    let share = |text: &str| shared_part(&Ccw, &spot_at(FOLDER), "session_status.jsonl", text.as_bytes());
    assert_eq!(share(&format!("{OTHER}\n{LINE}\r\n")), Some(LINE.as_bytes().to_vec()));
    assert_eq!(share(OTHER), Some(Vec::new()));
    assert_eq!(shared_part(&Ccw, &spot_at(FOLDER), "WFS-login/workflow-session.json", b"{}"), None);
    // While leftoff writes its own line, another writer changes the other session's line and adds a line.
    let base = format!("{OTHER}\n{LINE}\n");
    let changed = OTHER.replace("active", "paused");
    let theirs = format!("{changed}\n{LINE}\n{{\"id\":\"WFS-new\"}}\n");
    let ours = LINE.replace("active", "paused");
    let onto = format!("{OTHER}\n{ours}\n");
    let merged = Ccw.merge(
        "session_status.jsonl",
        Merge::Onto { base: base.as_bytes(), theirs: theirs.as_bytes(), onto: onto.as_bytes() },
    );
    assert_eq!(
        String::from_utf8(merged).expect("text"),
        format!("{changed}\n{ours}\n{{\"id\":\"WFS-new\"}}\n")
    );
}

/// If a session has several lines, the last one is used, even if it equals, byte for byte, an older line in
/// `base` that was not the last there.
#[test]
fn a_session_that_is_written_beside_others_has_one_line_then() {
    let paused = LINE.replace("active", "paused");
    let other_paused = OTHER.replace("active", "paused");
    let base = format!("{LINE}\n{OTHER}\n{paused}\n");
    let ours = format!("{OTHER}\n{LINE}\n");
    let onto = format!("{LINE}\r\n{other_paused}\r\n{paused}\r\n");
    let merge = |theirs: &str| {
        let merged = Ccw.merge(
            "session_status.jsonl",
            Merge::Onto { base: base.as_bytes(), theirs: theirs.as_bytes(), onto: onto.as_bytes() },
        );
        String::from_utf8(merged).expect("text")
    };
    assert_eq!(merge(&ours), format!("{other_paused}\r\n{LINE}\r\n"));
    assert_eq!(merge(&base), onto, "nobody changed anything");
    let mine = LINE.replacen('}', ",\"mine\":1}", 1);
    let twice = format!("{mine}\n{}\n", paused.replace("paused", "completed"));
    let folded = mine.replace("active", "completed");
    assert_eq!(merge(&twice), format!("{other_paused}\r\n{folded}\r\n"));
}

#[test]
fn keys_that_another_writer_dropped_from_a_line_come_back_and_dropped_lines_do_not() {
    let base = format!("{}\n{OTHER}\n", LINE.replacen('}', ",\"mine\":1}", 1));
    let theirs = format!("{}\n", LINE.replace("active", "paused"));
    let merged = Ccw
        .merge("session_status.jsonl", Merge::Dropped { base: base.as_bytes(), theirs: theirs.as_bytes() });
    let expected = LINE.replace("active", "paused").replacen('}', ",\"mine\":1}", 1);
    assert_eq!(String::from_utf8(merged).expect("text"), format!("{expected}\n"));
}

/// Splitting the registry gives each session the lines that it would find in the whole registry.
#[test]
fn the_lines_of_each_session_are_cut_from_the_whole() {
    let other = LINE.replace("WFS-login", "WFS-other");
    let text = format!("{LINE}\n{other}\nbroken WFS-login\n\n{}\n", LINE.replace("active", "paused"));
    let cut = registry::by_session(text.as_bytes());
    let names: Vec<&str> = cut.keys().map(model::id::SessionId::as_str).collect();
    assert_eq!(names, [NAME, "WFS-other"]);
    for (id, lines) in &cut {
        assert_eq!(registry::share(lines, id.as_str()), registry::share(text.as_bytes(), id.as_str()));
    }
}

/// A session without a line is reported if the project has a registry, or could have one.
#[test]
fn sessions_without_a_line_are_told_except_in_later_releases() {
    let there = [".workflow/WFS-a/workflow-session.json", ".workflow/WFS-login/workflow-session.json"];
    let survey = |names: &[&str]| {
        let mut index = tree(&[("session_status.jsonl", &format!("{LINE}\n"))]);
        for name in names {
            index.insert(*name, Entry::Unread { size: 0 });
        }
        let survey = Ccw.survey(&index, &|path| there.contains(&path) || path == ".workflow/WFS-login");
        survey.unlisted.into_iter().map(|spot| spot.path).collect::<Vec<_>>()
    };
    assert_eq!(survey(&["WFS-login", "WFS-a", "WFS-empty", "active", "notes"]), [".workflow/WFS-a"]);
    assert_eq!(survey(&["WFS-login", "WFS-a", ".active-WFS-a"]), Vec::<String>::new());
}
