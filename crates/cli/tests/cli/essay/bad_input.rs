//! Tests of invalid files. Each is reported with a reason, and none is overwritten.

use super::*;
use std::os::unix::fs::{chown, symlink};

fn told(sandbox: &Sandbox) -> String {
    run(sandbox, "status --json").json()["warnings"].to_string()
}

fn raw(sandbox: &Sandbox) -> Vec<u8> {
    std::fs::read(sandbox.path(&file("session-state.yaml"))).unwrap()
}

fn put(sandbox: &Sandbox, bytes: &[u8]) {
    std::fs::write(sandbox.path(&file("session-state.yaml")), bytes).unwrap();
}

/// When one value changes, line endings and a byte order mark stay.
#[test]
fn line_ends_and_a_byte_order_mark_are_kept_by_a_change() {
    let changed = BY_HAND
        .replace("verified_claims: 0", "verified_claims: 2")
        .replace("last_activity: \"2026-11-14T09:00:00Z\"", "last_activity: \"2026-11-14T10:00:00Z\"");
    for (name, form) in [
        ("CRLF", &(|text: &str| text.replace('\n', "\r\n")) as &dyn Fn(&str) -> String),
        ("BOM", &|text: &str| format!("\u{feff}{text}")),
        ("both", &|text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"))),
    ] {
        let sandbox = by_hand();
        sandbox.write(&file("session-state.yaml"), &form(BY_HAND));
        run(&sandbox, "item set section-2 --count verified_claims=2");
        assert_eq!(state(&sandbox), form(&changed), "{name}");
        assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]), "{name}");
    }
}

/// The state file is too large, not text, a link, or a folder. The artifacts are used instead, and nothing is
/// overwritten.
#[test]
fn a_state_that_cannot_be_read_is_told_with_its_reason_and_kept() {
    let large = [BY_HAND.as_bytes(), b"\nbig: \"", &vec![b'x'; 10_000_000], b"\"\n"].concat();
    let mut no_text = BY_HAND.as_bytes().to_vec();
    no_text[20] = 0xff;
    for (bytes, why) in [(large, "larger than 1048576 bytes"), (no_text, "it is not UTF-8 (byte 20)")] {
        let sandbox = by_hand();
        put(&sandbox, &bytes);
        let said = told(&sandbox);
        assert!(said.contains(why) && said.contains("reconstructed from artifact files"), "{why}: {said}");
        assert!(raw(&sandbox) == bytes, "{why}: a question writes nothing");
        run(&sandbox, "repair");
        says(&sandbox, &["current_stage: 3"]);
        let aside = std::fs::read_dir(sandbox.path(&format!(".leftoff/aside/{FOLDER}"))).unwrap();
        assert!(aside.flatten().any(|entry| std::fs::read(entry.path()).unwrap() == bytes), "{why}");
    }
}

#[test]
fn a_large_state_of_a_session_with_a_log_is_left_alone_until_it_is_mended() {
    let sandbox = by_hand();
    run(&sandbox, "note mine");
    let bytes = vec![b'#'; 10_000_000];
    put(&sandbox, &bytes);
    assert!(told(&sandbox).contains("larger than 1048576 bytes"), "{}", told(&sandbox));
    run(&sandbox, "set pushback_level=full");
    assert!(raw(&sandbox) == bytes, "the log goes on without it");
    run(&sandbox, "repair");
    says(&sandbox, &["pushback_level: full", "# Ada's essay"]);
}

#[test]
fn a_state_that_is_a_link_is_neither_followed_nor_written_through() {
    let sandbox = by_hand();
    let path = sandbox.path(&file("session-state.yaml"));
    let real = sandbox.path("elsewhere.yaml");
    std::fs::rename(&path, &real).unwrap();
    symlink(&real, &path).unwrap();
    assert!(told(&sandbox).contains("it is a link"), "{}", told(&sandbox));
    run(&sandbox, "set pushback_level=full");
    run(&sandbox, "repair");
    assert_eq!(std::fs::read_to_string(&real).unwrap(), BY_HAND, "what it led to is as it was");
}

#[test]
fn a_folder_that_is_a_link_is_no_session_and_is_told() {
    let sandbox = by_hand();
    std::fs::rename(sandbox.path(FOLDER), sandbox.path("real")).unwrap();
    symlink(sandbox.path("real"), sandbox.path(FOLDER)).unwrap();
    assert!(told(&sandbox).contains("it is a link, and links are not followed"), "{}", told(&sandbox));
    sandbox.run(["set", "pushback_level=full"]).code(3);
    assert_eq!(sandbox.read("real/session-state.yaml"), BY_HAND);
}

/// A folder that belongs neither to the user nor to the owner of the project is not used, even in the
/// project.
#[test]
fn a_folder_of_somebody_else_in_the_project_is_left_alone_and_told() {
    let sandbox = by_hand();
    if chown(sandbox.path(FOLDER), Some(65534), None).is_err() {
        testkit::left_out("a folder of somebody else: this user cannot give one away");
        return;
    }
    assert!(told(&sandbox).contains("it belongs to another user, and is left alone"), "{}", told(&sandbox));
    sandbox.run(["set", "pushback_level=full"]).code(3);
    let list = run(&sandbox, "list --json").json();
    assert_eq!(list["sessions"], serde_json::json!([]));
    assert_eq!(state(&sandbox), BY_HAND);
    // Folders of the project's owner can be used, for example in a checkout of another user that is mounted.
    chown(sandbox.path(""), Some(65534), None).unwrap();
    assert_eq!(run(&sandbox, "list --json").json()["sessions"][0]["session_id"], FOLDER);
}

/// Other files next to the state: the pipeline's own temporary file, notes, folders.
#[test]
fn what_else_lies_in_the_folder_is_left_alone() {
    let sandbox = by_hand();
    sandbox.write(&file("session-state.yaml.tmp"), "half a wr");
    sandbox.write(&file("notes/private.md"), "mine\n");
    run(&sandbox, "set pushback_level=full");
    assert_eq!(sandbox.read(&file("session-state.yaml.tmp")), "half a wr");
    assert_eq!(sandbox.read(&file("notes/private.md")), "mine\n");
    assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
}

/// `current_section` is 9, but there are 6 sections. The value is shown, reported and kept. The next work on
/// a section corrects it.
#[test]
fn a_current_section_beyond_the_last_is_told_and_work_goes_on() {
    let sandbox = by_hand();
    let text = BY_HAND
        .replace("total_sections: 2", "total_sections: 6")
        .replace("current_section: 2", "current_section: 9");
    sandbox.write(&file("session-state.yaml"), &text);
    assert!(
        told(&sandbox).contains("current_section is 9, but the sections are 1 to 6"),
        "{}",
        told(&sandbox)
    );
    assert_eq!(state(&sandbox), text);
    run(&sandbox, "item add Three --id section-3");
    sandbox.write(&file("stage-3-section-2-arguments.md"), "map\n");
    run(&sandbox, "item done section-2");
    says(&sandbox, &["current_section: 3"]);
    assert!(!told(&sandbox).contains("current_section"), "{}", told(&sandbox));
}
