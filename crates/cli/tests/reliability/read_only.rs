//! A folder without write permission: queries are answered, changes fail, nothing is touched.

use crate::nobody::{Nobody, Sealed};
use crate::tree::Tree;
use crate::{CHANGES, QUESTIONS, QUESTIONS_ABOUT_A_SESSION, git_with_session};

#[test]
fn questions_are_answered_and_write_nothing() {
    let sandbox = git_with_session();
    let nobody = Nobody::in_sandbox(&sandbox);
    let _sealed = Sealed::new(sandbox.project());
    let before = Tree::of(sandbox.folder());
    for question in QUESTIONS.iter().chain(&QUESTIONS_ABOUT_A_SESSION) {
        let ran = nobody.run(question).ok();
        assert!(
            !ran.stdout.is_empty() || *question == ["doctor"] || *question == ["list", "--agents"],
            "{question:?}"
        );
    }
    let status = nobody.run(&["status", "--json"]).ok().json();
    assert_eq!(status["goal"], "kept");
    assert_eq!(status["notes"][0]["text"], "written before", "the newest change is seen");
    assert_eq!(Tree::of(sandbox.folder()), before);
}

#[test]
fn changes_fail_cleanly() {
    let sandbox = git_with_session();
    let nobody = Nobody::in_sandbox(&sandbox);
    let sealed = Sealed::new(sandbox.project());
    let before = Tree::of(sandbox.folder());
    for change in CHANGES {
        let arguments: Vec<&str> = change.iter().copied().chain(["--json"]).collect();
        let ran = nobody.run(&arguments).code(1);
        assert_eq!(ran.error()["kind"], "read_only", "{change:?}");
        assert!(ran.error()["message"].as_str().unwrap().contains("cannot be written"));
        assert_eq!(ran.stdout, "");
    }
    assert_eq!(Tree::of(sandbox.folder()), before, "no store was begun elsewhere either");
    drop(sealed);
    nobody.run(&["note", "writable again"]).ok();
}
