//! Tests of sessions outside projects. They are found from any folder, and their log is in the user's own
//! store.

use super::*;
use crate::plain;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Creates a session in the temporary folder, as the pipeline leaves it.
fn lying(sandbox: &Sandbox, name: &str) -> PathBuf {
    let folder = sandbox.folder().join("tmp").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("session-state.yaml"), BY_HAND).unwrap();
    for artifact in ["stage-1-thesis.md", "stage-2-outline.md", "stage-3-section-1-arguments.md"] {
        std::fs::write(folder.join(artifact), "x\n").unwrap();
    }
    folder
}

/// Runs the program in a folder other than the project's.
fn run_in(sandbox: &Sandbox, folder: &Path, line: &str) -> Ran {
    let mut command = sandbox.command(line.split(' ').map(|word| word.replace('~', " ")));
    Ran::from(command.current_dir(folder).output().unwrap())
}

fn users_store(sandbox: &Sandbox) -> PathBuf {
    sandbox.folder().join("state/leftoff/user/leftoff.db")
}

#[test]
fn without_a_project_a_new_session_is_in_the_folder_for_temporary_files() {
    let sandbox = plain();
    sandbox.at("2026-11-14T10:00:00Z");
    let started = run(&sandbox, "start --layout essay --json").json();
    let folder = sandbox.folder().join("tmp").join(FOLDER).canonicalize().unwrap();
    assert_eq!(started["worktree"], folder.to_str().unwrap());
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(users_store(&sandbox).exists() && !sandbox.path(".leftoff").exists());
    let command = started["next"]["command"].as_str().unwrap().to_owned();
    assert!(command.ends_with(&format!("--session {FOLDER}")), "{command}");
    // The session is found from any folder, also from its own, and by the printed command.
    assert_eq!(run(&sandbox, "status --json").json()["session_id"], FOLDER);
    assert_eq!(run_in(&sandbox, &folder, "status --json").ok().json()["session_id"], FOLDER);
    let refused = sandbox.run_printed(&command).code(2).stderr;
    assert!(refused.contains("is a placeholder"), "what only the reader knows is not made up: {refused}");
    let told = command.replace("<true or false>", "true");
    assert_eq!(sandbox.run_printed(&told).code(5).code, 5, "the gate was tried");
    let failed = sandbox.run(["start", "--layout", "essay", "--set", "pushback_level=loud"]).code(2);
    assert!(failed.stderr.contains("pushback_level"), "{}", failed.stderr);
    assert_eq!(std::fs::read_dir(sandbox.folder().join("tmp")).unwrap().count(), 1, "nothing is left of it");
}

#[test]
fn a_session_that_lies_there_is_listed_and_worked_on_from_any_project() {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    let folder = lying(&sandbox, FOLDER);
    run(&sandbox, "start --id here");
    let list = run(&sandbox, "list").stdout;
    assert!(list.contains("here") && list.contains(FOLDER), "{list}");
    assert_eq!(run(&sandbox, "status --json").json()["session_id"], "here", "this project's own comes first");
    assert!(!users_store(&sandbox).exists(), "a question writes nothing");
    let view = run(&sandbox, &format!("show {FOLDER} --json")).json();
    assert!(
        view["own_words"].as_str().unwrap().starts_with("[Stage 3/4 - Argument Development - Section 2]")
    );
    run(&sandbox, &format!("item set section-2 --count verified_claims=7 --session {FOLDER}"));
    let text = std::fs::read_to_string(folder.join("session-state.yaml")).unwrap();
    assert!(text.contains("verified_claims: 7") && text.ends_with("# the end\n"), "{text}");
    assert!(users_store(&sandbox).exists());
    let log = run(&sandbox, &format!("log {FOLDER} --session {FOLDER}")).stdout;
    assert!(log.contains("adopted from"), "{log}");
    let paused = run(&sandbox, &format!("pause --session {FOLDER}"));
    assert!(paused.stderr.contains("Session paused at [Stage 3, Section 2]."), "{}", paused.stderr);
    run(&sandbox, &format!("resume {FOLDER}"));
    assert_eq!(
        run(&sandbox, "status --json").json()["status"],
        "active",
        "and nothing here was paused for it"
    );
    // The result of the previous stage is archived in the folder of the session.
    run(
        &sandbox,
        &format!("revisit essay_structuring --impact major --reason anew --yes --session {FOLDER}"),
    );
    assert!(folder.join("stage-3-section-1-arguments.v1.md").exists());
    let listed = run(&sandbox, "list --layout essay").stdout;
    assert_eq!(listed, format!("Sessions found:\n2. {FOLDER} -- Stage 2 -- Last active: just now\n"));
    assert!(run(&sandbox, "list").stdout.contains(&format!("2  {FOLDER}")));
    let view = run(&sandbox, "show 2 --json").json();
    assert_eq!(view["session_id"], FOLDER, "its number means it here, whatever it is elsewhere");
}

/// In any folder, paused sessions are listed, and the user selects one. In a project, the sessions of the
/// project come first.
#[test]
fn of_several_paused_sessions_that_belong_to_no_project_one_is_selected() {
    let sandbox = plain();
    sandbox.at("2026-11-14T10:00:00Z");
    let paused = BY_HAND.replace("\nstatus: in_progress", "\nstatus: paused");
    let names = [FOLDER, "essay-pipeline-20261113-080000"];
    for name in names {
        std::fs::write(lying(&sandbox, name).join("session-state.yaml"), &paused).unwrap();
    }
    let asked = sandbox.run(["resume"]).code(6).stderr;
    assert!(asked.starts_with("error: Sessions found:\n1. essay-pipeline-20261114"), "{asked}");
    for (name, number) in names.into_iter().zip([1, 2]) {
        let line = format!("\n{number}. {name} -- Stage 3, Section 2 -- Last active: 1 hour ago");
        assert!(asked.contains(&line) && asked.contains(&format!("\n  leftoff resume {name}\n")), "{asked}");
    }
    let resumed = sandbox.run_printed(&format!("leftoff resume {FOLDER}")).ok().stderr;
    assert!(resumed.contains("Resuming at [Stage 3]."), "{resumed}");
    let view = |sandbox: &Sandbox| run(sandbox, "list --layout essay --json").json()["sessions"].clone();
    let numbers = |sandbox: &Sandbox| {
        let mut numbers: Vec<u64> =
            view(sandbox).as_array().unwrap().iter().map(|line| line["number"].as_u64().unwrap()).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers(&sandbox), [1, 2], "one that was taken in keeps its number");
    run(&sandbox, "resume 1");
    assert_eq!(numbers(&sandbox), [1, 2]);
}

#[test]
fn e1_after_an_older_one_is_resumed_commands_without_a_name_mean_it() {
    let sandbox = plain();
    sandbox.at("2026-11-14T10:00:00Z");
    let older = "essay-pipeline-20261113-080000";
    let (old, new) = (lying(&sandbox, older), lying(&sandbox, FOLDER));
    let meant = |sandbox: &Sandbox| run(sandbox, "status --json").json()["session_id"].clone();
    assert_eq!(meant(&sandbox), FOLDER, "the newest, as long as none was chosen");
    run(&sandbox, &format!("resume {older}"));
    let before = std::fs::read_to_string(new.join("session-state.yaml")).unwrap();
    sandbox.at("2026-11-14T10:10:00Z");
    run(&sandbox, "set pushback_level=light");
    run(&sandbox, "note remember");
    assert_eq!(meant(&sandbox), older);
    // This holds after a command that names another session, too.
    run(&sandbox, &format!("note elsewhere --session {FOLDER}"));
    assert_eq!(meant(&sandbox), older);
    run(&sandbox, "pause");
    let text = std::fs::read_to_string(old.join("session-state.yaml")).unwrap();
    assert!(text.contains("pushback_level: light") && text.contains("\nstatus: paused"), "{text}");
    let after = std::fs::read_to_string(new.join("session-state.yaml")).unwrap();
    assert!(
        !after.contains("pushback_level: light") && !after.contains("status: paused"),
        "{before}\n{after}"
    );
    assert_eq!(meant(&sandbox), older, "paused, it is still the one that was chosen");
    sandbox.at("2026-11-14T11:00:00Z");
    run(&sandbox, "start --layout essay");
    assert_eq!(meant(&sandbox), "essay-pipeline-20261114-110000", "begun since");
    run(&sandbox, &format!("resume {older}"));
    run(&sandbox, &format!("abandon {older} --yes"));
    assert_ne!(meant(&sandbox), older, "it is over");
}

/// If the project has no paused session, sessions outside projects are offered.
#[test]
fn in_a_project_without_a_session_those_that_belong_to_none_are_offered() {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    lying(&sandbox, FOLDER);
    let asked = sandbox.run(["resume"]).code(6).stderr;
    assert_eq!(
        asked,
        format!(
            "error: Sessions found:\n1. {FOLDER} -- Stage 3, Section 2 -- Last active: 1 hour ago\nhint: choose one:\n  leftoff resume {FOLDER}\n"
        )
    );
    let resumed = run(&sandbox, "resume 1").stderr;
    assert!(resumed.contains("Resuming at [Stage 3]."), "{resumed}");
    run(&sandbox, "start --id here");
    run(&sandbox, "pause");
    assert!(run(&sandbox, "resume").stdout.contains("here continues"), "the project's own comes first");
}

/// The folder is moved to another temporary folder. Its new place is used, and nothing is created in the old
/// one.
#[test]
fn a_session_whose_folder_was_moved_goes_on_where_it_is() {
    let sandbox = plain();
    sandbox.at("2026-11-14T10:00:00Z");
    let folder = lying(&sandbox, FOLDER);
    let text = BY_HAND.replace("session_dir: \".\"", &format!("session_dir: \"{}\"", folder.display()));
    std::fs::write(folder.join("session-state.yaml"), &text).unwrap();
    run(&sandbox, &format!("set audience=expert --session {FOLDER}"));
    let place = sandbox.folder().join("elsewhere");
    std::fs::create_dir(&place).unwrap();
    std::fs::rename(&folder, place.join(FOLDER)).unwrap();
    let there = |line: &str| {
        let mut command = sandbox.command(line.split(' '));
        Ran::from(command.env("TMPDIR", &place).output().unwrap()).ok()
    };
    let view = there(&format!("set audience=general --session {FOLDER} --json")).json();
    let id = view["session_id"].as_str().unwrap().to_owned();
    assert!(id.starts_with(FOLDER), "{id}");
    let text = std::fs::read_to_string(place.join(FOLDER).join("session-state.yaml")).unwrap();
    let now = format!("session_dir: \"{}\"", place.join(FOLDER).display());
    assert!(text.contains(&now) && text.contains("audience: general"), "{text}");
    assert_eq!(there(&format!("status --session {id} --json")).json()["session_id"], id.as_str());
    assert!(there("list").stdout.contains(&format!("2  {FOLDER}")));
    assert!(!folder.exists(), "nothing is made where it was");
}

/// The position of the session is unknown. A person gives it, from any folder.
#[test]
fn a_lost_session_that_belongs_to_no_project_goes_on_where_a_person_says() {
    let sandbox = plain();
    sandbox.at("2026-11-14T10:00:00Z");
    let folder = lying(&sandbox, FOLDER);
    for entry in std::fs::read_dir(&folder).unwrap().flatten() {
        std::fs::remove_file(entry.path()).unwrap();
    }
    std::fs::write(folder.join("session-state.yaml"), "{{{").unwrap();
    let asked = sandbox.run(["resume", FOLDER]).code(6).stderr;
    let command = format!("leftoff repair --session {FOLDER} --at essay_structuring");
    assert!(asked.contains(&command), "{asked}");
    sandbox.run_printed(&command).ok();
    let text = std::fs::read_to_string(folder.join("session-state.yaml")).unwrap();
    assert!(text.contains("current_stage: 2"), "{text}");
}

#[test]
fn the_folder_that_tmpdir_names_is_looked_into_as_well() {
    let sandbox = plain();
    sandbox.at("2026-11-14T10:00:00Z");
    lying(&sandbox, FOLDER);
    let other = sandbox.folder().join("other");
    std::fs::create_dir_all(other.join("essay-pipeline-20261101-080000")).unwrap();
    std::fs::write(other.join("essay-pipeline-20261101-080000/session-state.yaml"), BY_HAND).unwrap();
    let mut command = sandbox.command(["list", "--json"]);
    let list = Ran::from(command.env("TMPDIR", &other).output().unwrap()).ok().json();
    let mut ids: Vec<&str> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["session_id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, ["essay-pipeline-20261101-080000", FOLDER]);
}

#[test]
fn configured_places_are_looked_into() {
    let sandbox = by_hand();
    let away = sandbox.folder().join("away");
    for (folder, name) in [
        (sandbox.path("drafts"), "essay-pipeline-20261102-080000"),
        (away.clone(), "essay-pipeline-20261103-080000"),
    ] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("session-state.yaml"), BY_HAND).unwrap();
    }
    sandbox.write(".leftoff/config.toml", &format!("places = [\"drafts\", {:?}]\n", away.to_str().unwrap()));
    let list = run(&sandbox, "list --json").json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 3, "{list:#}");
    for name in ["essay-pipeline-20261102-080000", "essay-pipeline-20261103-080000"] {
        run(&sandbox, &format!("note mine --session {name}"));
    }
    assert!(users_store(&sandbox).exists(), "what is not below the project is not the project's");
}

#[test]
fn a_link_and_somebody_elses_folder_are_refused() {
    let sandbox = plain();
    sandbox.at("2026-11-14T10:00:00Z");
    let real = lying(&sandbox, "real");
    symlink(&real, sandbox.folder().join("tmp").join(FOLDER)).unwrap();
    let refused = sandbox.run(["status", "--session", FOLDER]).code(4);
    assert!(refused.stderr.contains("it is a symbolic link"), "{}", refused.stderr);
    assert_eq!(sandbox.run(["list"]).code, 3, "and it is not listed");
    let theirs = lying(&sandbox, "essay-pipeline-20261101-080000");
    if std::os::unix::fs::chown(&theirs, Some(65534), Some(65534)).is_err() {
        testkit::left_out("a folder of somebody else: this user cannot give one away");
    } else {
        let refused = sandbox.run(["note", "x", "--session", "essay-pipeline-20261101-080000"]).code(4);
        assert!(refused.stderr.contains("it belongs to another user"), "{}", refused.stderr);
    }
    assert!(!users_store(&sandbox).exists());
}

/// A folder that leftoff creates has the mode 0700. A mode that the user has set stays.
#[test]
fn reading_the_users_own_folder_needs_no_special_mode() {
    let sandbox = plain();
    sandbox.at("2026-11-14T10:00:00Z");
    let folder = lying(&sandbox, FOLDER);
    for mode in [0o755, 0o700, 0o777] {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(run(&sandbox, "list --json").json()["sessions"][0]["session_id"], FOLDER, "{mode:o}");
    }
    run(&sandbox, &format!("note mine --session {FOLDER}"));
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o777, "left as it is");
}

/// Two folders of the same name are two sessions.
#[test]
fn a_session_of_the_project_comes_before_one_of_the_same_name_elsewhere() {
    let sandbox = by_hand();
    let folder = lying(&sandbox, FOLDER);
    run(&sandbox, &format!("set pushback_level=full --session {FOLDER}"));
    says(&sandbox, &["pushback_level: full"]);
    assert_eq!(std::fs::read_to_string(folder.join("session-state.yaml")).unwrap(), BY_HAND);
    let list = run(&sandbox, "list --json").json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2);
}
