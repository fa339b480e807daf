//! Invariant 10: a query writes nothing.

use crate::tree::Tree;
use crate::{QUESTIONS, QUESTIONS_ABOUT_A_SESSION, git, git_with_session};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The last change of each folder, which shows a file that was created and deleted.
fn folders(root: &Path) -> BTreeMap<PathBuf, (i64, i64)> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let times = std::fs::metadata(&folder).unwrap();
        found.insert(folder.clone(), (times.mtime(), times.mtime_nsec()));
        let inside = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        open.extend(inside.filter(|path| path.is_dir()));
    }
    found
}

#[test]
fn questions_leave_no_file_behind_where_nothing_was_ever_kept() {
    let sandbox = git();
    let before = (Tree::of(sandbox.folder()), folders(sandbox.folder()));
    for question in QUESTIONS {
        sandbox.run(question).ok();
    }
    for question in QUESTIONS_ABOUT_A_SESSION.iter().filter(|question| question[0] != "list") {
        sandbox.run(*question).code(3);
    }
    for change in [&["note", "heard"][..], &["advance"], &["pause"], &["resume"], &["close"], &["abandon"]] {
        sandbox.run(change).code(3);
    }
    assert_eq!((Tree::of(sandbox.folder()), folders(sandbox.folder())), before);
}

#[test]
fn questions_about_a_session_change_no_byte() {
    let sandbox = git_with_session();
    let before = Tree::of(sandbox.folder());
    assert!(
        before.holds("leftoff.db-wal"),
        "the newest change is in the log alone, where a careless reader would move it"
    );
    for question in QUESTIONS.iter().chain(&QUESTIONS_ABOUT_A_SESSION) {
        sandbox.run(*question).ok();
    }
    assert_eq!(Tree::of(sandbox.folder()), before);
}

/// Invariant 2: a refused command changes nothing.
#[test]
fn refused_commands_change_no_byte() {
    let sandbox = git_with_session();
    sandbox.run(["start", "--id", "other"]).ok();
    let before = Tree::of(sandbox.folder());
    let refused: [(&[&str], i32); 13] = [
        (&["advance", "--phase", "review"], 4),
        (&["advance", "--phase", "no-such"], 3),
        (&["advance", "--evidence", "no-pair"], 2),
        (&["advance", "--session", "no-such"], 3),
        (&["note", ""], 2),
        (&["note", "resolve", "77"], 3),
        (&["note", "x", "--kind", "no-such"], 2),
        (&["close"], 4),
        (&["switch", "no-such"], 3),
        (&["start", "--id", "OTHER"], 4),
        (&["start", "--id", "../../etc"], 2),
        (&["start", "no-such"], 3),
        (&["run", "start", "no-such"], 3),
    ];
    for (arguments, code) in refused {
        sandbox.run(arguments).code(code);
    }
    assert_eq!(Tree::of(sandbox.folder()), before);
}
