//! Tests of invalid files. Each leads to a warning that names the file and the field. Everything else works,
//! and nothing is overwritten.

use super::*;
use serde_json::json;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use testkit::Ran;

const BAD: &str = "2026-11-15-bad";
const HEALTHY: &str = "2026-11-10-healthy";

/// Cases, each with a name, the content of the file, and the expected messages.
fn cases() -> Vec<(&'static str, Vec<u8>, Vec<&'static str>)> {
    let fields = |more: &str| {
        format!(
            "{{\"session_id\":\"x\",\"status\":\"active\",\"current_phase\":\"reviews\",\"phase_number\":4{more}}}"
        )
        .into_bytes()
    };
    vec![
        ("truncated", b"{\"session_id\":\"x\",\"status\":".to_vec(), vec!["it is not JSON (EOF"]),
        ("empty", Vec::new(), vec!["it is empty"]),
        ("blank", b" \n".to_vec(), vec!["it is empty"]),
        ("null", b"null".to_vec(), vec!["it is not a JSON object"]),
        ("list", b"[1,2]".to_vec(), vec!["it is not a JSON object"]),
        (
            "an empty object",
            b"{}".to_vec(),
            vec!["session_id is missing", "current_phase is missing", "phase_number is missing"],
        ),
        ("10 MB of brackets", vec![b'['; 10_000_000], vec!["it is larger than 1048576 bytes"]),
        (
            "deep",
            [&b"{\"a\":"[..], &vec![b'['; 900_000]].concat(),
            vec!["it is not JSON (recursion limit exceeded"],
        ),
        (
            "doubled keys",
            fields(",\"phase_number\":3,\"current_phase\":\"analysis\""),
            vec![
                "phase_number is set more than once; the last value is used",
                "current_phase is set more than once; the last value is used",
            ],
        ),
        (
            "wrong types",
            br#"{"session_id":1,"status":2,"workflow_type":[],"current_phase":{},"phase_number":"four",
                "current_round":"2","current_map_run":1.5,"started_at":5,"round_started_at":true,
                "map_started_at":[],"updated_at":{}}"#
                .to_vec(),
            vec![
                "session_id is 1, not a string",
                "status is 2, not a string",
                "workflow_type is [], not a string",
                "current_phase is {}, not a string",
                "phase_number is \"four\", not a whole number",
                "current_round is \"2\", read as 2",
                "current_map_run is 1.5, not a whole number",
                "started_at is 5, not a string",
                "round_started_at is true, not a string",
                "map_started_at is [], not a string",
                "updated_at is {}, not a string",
            ],
        ),
        (
            "unknown words",
            fields(",\"workflow_type\":\"audit\""),
            vec!["workflow_type is 'audit', but must be one of review, map"],
        ),
        (
            "rounds from 0",
            fields(",\"current_round\":0,\"current_map_run\":-1"),
            vec!["current_round is 0, but counting starts at 1", "current_map_run is -1, not a whole number"],
        ),
        ("invalid UTF-8", b"{\"session_id\":\"\xff\xfe\"}".to_vec(), vec!["it is not UTF-8 (byte 15)"]),
        ("a mark", [&b"\xef\xbb\xbf"[..], &fields("")].concat(), vec!["it starts with a byte order mark"]),
        (
            "phase 9",
            fields("").iter().map(|byte| if *byte == b'4' { b'9' } else { *byte }).collect(),
            vec!["phase_number 9 is not in the range 1 to 8"],
        ),
        (
            "a number of another phase",
            fields(",\"x\":1").iter().map(|byte| if *byte == b'4' { b'7' } else { *byte }).collect(),
            vec!["current_phase is 'reviews', but phase_number is 7; the name is used"],
        ),
        (
            "a phase of a map",
            fields(",\"workflow_type\":\"map\""),
            vec!["current_phase is 'reviews', but a map has no such phase"],
        ),
        (
            "no time",
            fields(",\"started_at\":\"soon\",\"updated_at\":\"2026-11-14 09:00\""),
            vec![
                "started_at is 'soon', which is not a time",
                "updated_at is '2026-11-14 09:00', which is not a time",
            ],
        ),
    ]
}

/// Further cases, with words and fields of particular releases.
fn cases_of_some_releases() -> Vec<(&'static str, Vec<u8>, Vec<&'static str>)> {
    vec![
        (
            "a status that the tool does not have",
            br#"{"session_id":"x","status":"paused","current_phase":"reviews","phase_number":4}"#.to_vec(),
            vec!["status is 'paused', but must be one of active, closed"],
        ),
        (
            "wrong types in what early releases wrote",
            br#"{"session_id":"x","current_phase":"reviews","phase_number":4,"branch":5,
                "completed_phases":"context","reviewers":3}"#
                .to_vec(),
            vec![
                "completed_phases is \"context\", not a list",
                "reviewers is 3, not an object",
                "branch is 5, not a string",
            ],
        ),
    ]
}

fn with_a_healthy_one() -> Sandbox {
    let sandbox = project();
    foreign(
        &sandbox,
        HEALTHY,
        &json!({ "session_id": HEALTHY, "status": "active", "current_phase": "analysis", "phase_number": 3,
            "updated_at": NOW }),
    );
    sandbox
}

#[test]
fn every_bad_file_is_a_warning_and_the_rest_works() {
    let path = format!(".ocr/sessions/{BAD}/state.json");
    for (name, bytes, expected) in cases().into_iter().chain(cases_of_some_releases()) {
        let sandbox = with_a_healthy_one();
        sandbox.write(&path, "");
        std::fs::write(sandbox.path(&path), &bytes).unwrap();
        let before = everything(sandbox.project());
        let list = sandbox.run(["list", "--json"]).ok().json();
        assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "{name}");
        let said = warnings(&list);
        for expected in &expected {
            assert!(said.contains(&format!("{path}: {expected}")), "{name}: {expected:?} is not in\n{said}");
        }
        assert_eq!(said.lines().count(), expected.len(), "{name}: {said}");
        for words in [&["status"][..], &["show"], &["brief"], &["next"], &["log"], &["progress", "--once"]] {
            sandbox.run(words.iter().chain(&["--session", BAD])).ok();
        }
        sandbox.run(["doctor"]).code(4);
        assert_eq!(everything(sandbox.project()), before, "{name}: nothing is written");
        // A healthy session next to the broken one can be used, and using it does not change the broken one.
        sandbox.run(["note", "on the healthy one", "--session", HEALTHY]).ok();
        assert_eq!(std::fs::read(sandbox.path(&path)).unwrap(), bytes, "{name}: nothing is overwritten");
    }
}

#[test]
fn what_is_wrong_with_a_session_stands_at_its_line() {
    let sandbox = with_a_healthy_one();
    sandbox.write(
        &format!(".ocr/sessions/{BAD}/state.json"),
        r#"{"current_phase": "reviews", "phase_number": 9}"#,
    );
    let listed = sandbox.run(["list"]).ok();
    assert_eq!(listed.stderr, "", "it is said once");
    let lines: Vec<&str> = listed.stdout.lines().collect();
    let at = |id: &str| lines.iter().position(|line| line.contains(id) && !line.contains('!')).unwrap();
    assert!(
        lines[at(BAD) + 1].trim().starts_with(&format!("! .ocr/sessions/{BAD}/state.json: ")),
        "{lines:?}"
    );
    let below_the_healthy_one = lines.get(at(HEALTHY) + 1).copied().unwrap_or_default();
    assert!(!below_the_healthy_one.contains('!'), "{lines:?}");

    let list = sandbox.run(["list", "--json"]).ok().json();
    let lines = list["sessions"].as_array().unwrap();
    let of = |id: &str| lines.iter().find(|line| line["session_id"] == id).unwrap();
    assert_eq!(of(BAD)["warnings"], list["warnings"]);
    assert_eq!(of(HEALTHY)["warnings"], Value::Null);
}

#[test]
fn a_command_on_a_bad_file_keeps_what_was_in_it() {
    let path = format!(".ocr/sessions/{BAD}/state.json");
    for (name, bytes, _) in cases().into_iter().chain(cases_of_some_releases()) {
        let sandbox = project();
        sandbox.write(&path, "");
        std::fs::write(sandbox.path(&path), &bytes).unwrap();
        let skip = ["skip", "--reason", "to see what is written", "--session", BAD];
        let ran = sandbox.run(skip);
        if ran.code == 6 {
            // The position of the session is unknown, so its file stays as it is until a person gives the
            // position.
            assert_eq!(std::fs::read(sandbox.path(&path)).unwrap(), bytes, "{name}");
            sandbox.run(["repair", "--session", BAD]).code(6);
            sandbox.run(["repair", "--session", BAD, "--at", "context"]).ok();
            sandbox.run(skip).ok();
        } else {
            ran.ok();
        }
        let written: Value = serde_json::from_slice(
            std::fs::read(sandbox.path(&path))
                .unwrap()
                .strip_prefix(b"\xef\xbb\xbf")
                .unwrap_or(&std::fs::read(sandbox.path(&path)).unwrap()),
        )
        .unwrap();
        assert!(written["phase_number"].as_u64().is_some_and(|number| number > 1), "{name}: {written}");
        let kept = everything(sandbox.project());
        let is_kept = |found: &Vec<u8>| *found == bytes;
        assert!(kept.values().any(is_kept), "{name}: what was in it is nowhere: {:?}", kept.keys());
    }
}

#[test]
fn carriage_returns_are_kept() {
    let sandbox = project();
    let text = "{\r\n  \"session_id\": \"x\",\r\n  \"current_phase\": \"reviews\",\r\n  \"phase_number\": 4\r\n}\r\n";
    sandbox.write(&format!("{FOLDER}/state.json"), text);
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((phase(&view), warnings(&view).as_str()), ("reviews", ""));
    sandbox.run(["skip", "--reason", "x"]).ok();
    let written = sandbox.read(&format!("{FOLDER}/state.json"));
    assert!(written.contains("\r\n  \"phase_number\": 5"), "{written:?}");
}

#[test]
fn links_pipes_and_folders_are_named_and_not_followed() {
    let sandbox = with_a_healthy_one();
    let at = |path: &str| sandbox.path(&format!(".ocr/sessions/{path}"));
    std::os::unix::fs::symlink("loop-b", at("loop-a")).unwrap();
    std::os::unix::fs::symlink("loop-a", at("loop-b")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("z-broken")).unwrap();
    std::fs::create_dir_all(at("link")).unwrap();
    std::os::unix::fs::symlink("state.json", at("link/state.json")).unwrap();
    std::fs::create_dir_all(at("folder/state.json")).unwrap();
    std::fs::create_dir_all(at("pipe")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe/state.json"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    std::fs::create_dir_all(at("out/rounds/round-1")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at("out/rounds/round-1/final.md")).unwrap();
    let before = everything(sandbox.project());
    let list = sandbox.run(["list", "--json"]).ok().json();
    let said = warnings(&list);
    for expected in [
        ".ocr/sessions/loop-a: it is a link, and links are not followed",
        ".ocr/sessions/loop-b: it is a link",
        ".ocr/sessions/z-broken: it is a link",
        ".ocr/sessions/link/state.json: it is a link",
        ".ocr/sessions/folder/state.json: it is a folder",
        ".ocr/sessions/pipe/state.json: it is not a regular file",
        ".ocr/sessions/out/rounds/round-1/final.md: it is a link; its contents are unknown",
    ] {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], HEALTHY);
    assert_eq!(everything(sandbox.project()), before);
    // The session is repaired when a person gives its position. Nothing is lost.
    sandbox.run(["repair"]).code(6);
    for id in ["folder", "pipe", "link"] {
        let mended = sandbox.run(["repair", "--session", id, "--at", "reviews"]).ok().stdout;
        assert!(mended.contains(&format!("{id}: repaired as chosen; it is at review")), "{mended}");
    }
    let aside = |id: &str| {
        let entries = std::fs::read_dir(sandbox.path(&format!(".leftoff/aside/{id}"))).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    assert_eq!((aside("folder").len(), aside("pipe").len()), (1, 1));
    assert_eq!(std::fs::read_link(&aside("link")[0]).unwrap(), Path::new("state.json"));
    sandbox.run(["repair"]).ok();
}

#[test]
fn a_link_in_the_place_of_a_folder_of_sessions_is_named_and_not_followed() {
    for link in [".ocr", ".ocr/sessions"] {
        let sandbox = project();
        let elsewhere = sandbox.folder().join("elsewhere");
        let state = r#"{"session_id":"x","current_phase":"reviews","phase_number":4}"#;
        let below = if link == ".ocr" { "sessions/2026-11-14-x" } else { "2026-11-14-x" };
        std::fs::create_dir_all(elsewhere.join(below)).unwrap();
        std::fs::write(elsewhere.join(below).join("state.json"), state).unwrap();
        if link == ".ocr/sessions" {
            std::fs::create_dir(sandbox.path(".ocr")).unwrap();
        }
        std::os::unix::fs::symlink(&elsewhere, sandbox.path(link)).unwrap();
        std::os::unix::fs::symlink(&elsewhere, sandbox.path("node_modules")).unwrap();
        let list = sandbox.run(["list", "--json"]).ok().json();
        assert_eq!(list["sessions"].as_array().unwrap().len(), 0, "{link}: {list}");
        let said = warnings(&list);
        assert!(said.contains(&format!("{link}: it is a link, and links are not followed")), "{said}");
        assert!(!said.contains("node_modules"), "{said}");
    }
}

#[test]
fn a_link_in_the_place_of_our_own_file_is_set_aside_by_repair_and_led_nowhere() {
    let sandbox = begun();
    let real = sandbox.path("elsewhere.json");
    std::fs::rename(sandbox.path(&format!("{FOLDER}/state.json")), &real).unwrap();
    std::os::unix::fs::symlink(&real, sandbox.path(&format!("{FOLDER}/state.json"))).unwrap();
    let before = std::fs::read(&real).unwrap();
    sandbox.run(["note", "left alone"]).ok();
    assert!(sandbox.path(&format!("{FOLDER}/state.json")).is_symlink());
    let said = sandbox.run(["doctor"]).code(4).stdout;
    assert!(said.contains("(it is a link); it is left alone"), "{said}");
    sandbox.run(["repair"]).ok();
    let written = std::fs::symlink_metadata(sandbox.path(&format!("{FOLDER}/state.json"))).unwrap();
    assert!(written.is_file() && written.permissions().mode() & 0o777 == 0o644, "{written:?}");
    assert_eq!(std::fs::read(&real).unwrap(), before, "where it led to");
    sandbox.run(["doctor"]).ok();
}

/// Runs the program as a user without privileges, because root may read everything.
fn as_nobody(sandbox: &Sandbox, words: &[&str]) -> Ran {
    const NOBODY: u32 = 65534;
    let program = sandbox.folder().join("leftoff");
    std::fs::copy(env!("CARGO_BIN_EXE_leftoff"), &program).unwrap();
    for path in [&program, sandbox.folder()] {
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    let inner = sandbox.command(words);
    let mut command = Command::new(program);
    command.args(inner.get_args()).current_dir(sandbox.project()).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    loop {
        match command.output() {
            // Another test is starting a process, which still has the copy open for writing.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            done => return Ran::from(done.unwrap()),
        }
    }
}

#[test]
fn a_folder_without_permission_is_named_and_hides_no_other() {
    let sandbox = with_a_healthy_one();
    let locked = sandbox.path(&format!(".ocr/sessions/{BAD}"));
    sandbox.write(&format!(".ocr/sessions/{BAD}/state.json"), "{}");
    sandbox.write(".ocr/sessions/2026-11-09-reviews/rounds/round-1/reviews/a-1.md", "## Finding\n");
    let reviews = sandbox.path(".ocr/sessions/2026-11-09-reviews/rounds/round-1/reviews");
    for folder in [&locked, &reviews] {
        std::fs::set_permissions(folder, Permissions::from_mode(0o000)).unwrap();
    }
    let list = as_nobody(&sandbox, &["list", "--json"]).ok().json();
    let current = as_nobody(&sandbox, &["status", "--json"]).ok().json();
    let all = sandbox.path(".ocr/sessions");
    std::fs::set_permissions(&all, Permissions::from_mode(0o000)).unwrap();
    let none = as_nobody(&sandbox, &["list", "--json"]).ok().json();
    for folder in [&all, &locked, &reviews] {
        std::fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    }
    let said = warnings(&list);
    for expected in [
        format!(".ocr/sessions/{BAD}/state.json: it cannot be read, because its folder cannot be read"),
        // The error is reported once for each file, with its name.
        "Permission denied".to_owned(),
        ".ocr/sessions/2026-11-09-reviews/rounds/round-1/reviews".to_owned(),
    ] {
        assert!(said.contains(&expected), "{expected} is not in\n{said}");
    }
    assert_eq!(list["sessions"].as_array().unwrap().len(), 3);
    assert_eq!(current["session_id"], HEALTHY);
    assert!(warnings(&none).contains(".ocr/sessions: Permission denied"), "{}", warnings(&none));
}

#[test]
fn what_stands_in_a_file_neither_steers_the_terminal_nor_floods_it() {
    let sandbox = project();
    let long = "x".repeat(500_000);
    for (id, name) in [("2026-11-14-steers", "a\u{1b}[31mred\nline"), ("2026-11-14-floods", &long)] {
        foreign(
            &sandbox,
            id,
            &json!({ "session_id": id, "status": "active", "current_phase": name, "phase_number": 4 }),
        );
    }
    let said = sandbox.run(["doctor"]).code(4).stdout;
    assert!(said.contains("current_phase is 'a [31mred line'"), "{said}");
    assert!(!said.contains('\u{1b}') && said.len() < 10_000, "{} bytes: {said:.2000}", said.len());
    let list = sandbox.run(["list"]).ok();
    let said = format!("{}{}", list.stdout, list.stderr);
    assert!(!said.contains('\u{1b}') && said.len() < 10_000, "{} bytes: {said:.2000}", said.len());
}

#[test]
fn a_round_of_the_highest_number_is_the_last() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "closed", "workflow_type": "review", "current_phase": "complete",
            "phase_number": 8, "current_round": u32::MAX, "updated_at": NOW }),
    );
    artifact(&sandbox, &format!("rounds/round-{}/final.md", u32::MAX), "F\n");
    let said = sandbox.run(["round", "--session", ID]).code(4).stderr;
    assert!(said.contains("cannot start another run of 'review': the last run has the highest"), "{said}");
}

#[test]
fn a_folder_among_the_reviews_is_no_reviewer() {
    let sandbox = begun();
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding 1\n");
    std::fs::create_dir_all(sandbox.path(&format!("{FOLDER}/rounds/round-1/reviews/folder.md"))).unwrap();
    edit(&sandbox, &json!({ "current_phase": "reviews", "phase_number": 4 }));
    let screen = sandbox.run(["progress", "--once"]).ok().stdout;
    assert!(screen.contains("security-1") && !screen.contains("folder"), "{screen}");
    let gate = sandbox.run(["gate"]).ok().stdout;
    assert!(!gate.contains("folder.md"), "{gate}");
}

#[test]
fn a_list_of_requirements_sets_nothing_up() {
    let sandbox = with_a_healthy_one();
    let before = everything(sandbox.folder());
    sandbox.run(["req", "list"]).ok();
    assert_eq!(everything(sandbox.folder()), before);
}

#[test]
fn a_link_in_the_place_of_our_own_folder_is_not_followed() {
    let sandbox = begun();
    let elsewhere = sandbox.folder().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("views.lock"), "somebody's").unwrap();
    std::fs::remove_dir_all(sandbox.path(".leftoff")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.path(".leftoff")).unwrap();
    let answer = sandbox.run(["skip", "--reason", "x", "--json"]).ok().json();
    assert_eq!(answer["view_stale"], true, "{answer}");
    assert_eq!(std::fs::read(elsewhere.join("views.lock")).unwrap(), b"somebody's");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 1);
}

#[test]
fn a_link_where_our_file_waits_goes_aside_and_leads_nowhere() {
    let sandbox = begun();
    let elsewhere = sandbox.folder().join("elsewhere.json");
    std::fs::write(&elsewhere, "somebody's").unwrap();
    let waiting = sandbox.path(&format!("{FOLDER}/.state.json.leftoff"));
    std::os::unix::fs::symlink(&elsewhere, &waiting).unwrap();
    let answer = sandbox.run(["skip", "--reason", "x", "--json"]).ok().json();
    assert_eq!(answer["view_stale"], false, "{answer}");
    assert_eq!(state(&sandbox)["phase_number"], 2);
    assert_eq!(std::fs::read(&elsewhere).unwrap(), b"somebody's");
    assert!(waiting.symlink_metadata().is_err());
    let aside = sandbox.path(&format!(".leftoff/aside/{ID}/state.json.waiting.0"));
    assert_eq!(std::fs::read_link(aside).unwrap(), elsewhere);
}
