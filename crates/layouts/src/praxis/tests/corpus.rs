//! Reads all files of real sessions on this machine, and expects that a write changes no byte of them.

use super::*;
use std::io::Write;
use std::path::PathBuf;

#[test]
#[allow(clippy::disallowed_methods, reason = "a test reads what it is about")]
#[allow(clippy::print_stderr, reason = "what was left out must be seen")]
fn every_real_file_is_read_and_written_as_it_was() {
    let Some(folder) =
        std::env::var_os("LEFTOFF_CORPUS").map(|folder| PathBuf::from(folder).join("praxis-v1"))
    else {
        leave_out(
            "real praxis files, read and written: LEFTOFF_CORPUS names no folder with praxis-v1/*.json in it",
        );
        return;
    };
    let mut files = 0;
    for entry in std::fs::read_dir(&folder).expect("a folder of files").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("a file");
        let case = Case::first(&text);
        let told = case.told();
        assert!(told.value.unreadable.is_empty(), "{:?}", entry.path());
        case.warns("legacy session format, limited resumption context");
        let session = case.session();
        let run = session.run().expect("a run");
        assert!(run.phases.iter().any(|phase| phase.id() == run.current().id()));
        assert_eq!(case.written(&session), None, "{:?}", entry.path());
        files += 1;
    }
    assert!(files > 0, "{} has no files", folder.display());
    eprintln!("{files} real files were read");
}

/// Records that this machine has no such files. `./test` reports this at its end.
#[allow(clippy::disallowed_methods, clippy::print_stderr, reason = "what was left out must be seen")]
fn leave_out(what: &str) {
    eprintln!("LEFT OUT: {what}");
    if let Some(list) = std::env::var_os("LEFTOFF_TEST_LEFT_OUT") {
        let list = std::fs::OpenOptions::new().create(true).append(true).open(list);
        list.and_then(|mut list| writeln!(list, "{what}")).expect("the list of what was left out");
    }
}
