//! Guarantees of disk operations. The command line's tests crash the whole program.

use super::*;
use std::cell::Cell;

const JOURNAL: &str = ".journal/one.json";
const PATIENCE: Duration = Duration::from_millis(50);

struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    journal: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let journal = root.join(JOURNAL);
    Place { _folder: folder, root, journal }
}

impl Place {
    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.join(name), text).unwrap();
    }

    /// Returns the files below the root as `name=content`, except those in the journal's folder.
    fn files(&self) -> Vec<String> {
        let mut found: Vec<String> = fs::read_dir(&self.root)
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| {
                let name = entry.file_name().into_string().unwrap();
                format!("{name}={}", fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        found.sort();
        found
    }

    fn operation(&self, steps: Vec<Step>) -> Operation {
        Operation { steps, ..Operation::new(&self.root) }
    }

    fn recover(&self, counts: bool) -> Recovered {
        recover(&self.root, JOURNAL, PATIENCE, |_| Ok(counts)).unwrap()
    }
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn every_step() -> Vec<Step> {
    vec![
        Step::Copy { from: text("a"), to: text("a.v1") },
        Step::Create { path: text("n"), bytes: b"new".to_vec(), like: None },
        Step::Rename { from: text("b"), to: text("b.v1") },
        Step::Replace { path: text("c"), bytes: b"after".to_vec() },
    ]
}

#[test]
fn an_operation_is_carried_out_and_leaves_no_journal() {
    let place = place();
    for name in ["a", "b", "c"] {
        place.write(name, name);
    }
    let prepared = place.operation(every_step()).prepare(JOURNAL).unwrap();
    assert!(place.journal.exists());
    assert_eq!(prepared.carry_out().unwrap(), Vec::<String>::new());
    assert_eq!(place.files(), ["a.v1=a", "a=a", "b.v1=b", "c=after", "n=new"]);
    assert!(!place.journal.exists());
    assert_eq!(place.recover(true), Recovered::Nothing);
}

#[test]
fn what_never_counted_is_taken_back_and_what_counts_is_finished() {
    for counts in [false, true] {
        let place = place();
        for name in ["a", "b", "c"] {
            place.write(name, name);
        }
        drop(place.operation(every_step()).prepare(JOURNAL).unwrap());
        let asked = Cell::new(String::new());
        let recovered = recover(&place.root, JOURNAL, PATIENCE, |id| {
            asked.set(id.to_owned());
            Ok(counts)
        });
        assert_eq!(asked.take().len(), 16);
        if counts {
            assert_eq!(recovered.unwrap(), Recovered::RolledForward(Vec::new()));
            assert_eq!(place.files(), ["a.v1=a", "a=a", "b.v1=b", "c=after", "n=new"]);
        } else {
            assert_eq!(recovered.unwrap(), Recovered::RolledBack);
            assert_eq!(place.files(), ["a=a", "b=b", "c=c"]);
        }
        assert!(!place.journal.exists());
    }
}

#[test]
fn a_step_that_was_done_is_not_done_again() {
    let place = place();
    place.write("b", "old");
    let operation = place.operation(vec![Step::Rename { from: text("b"), to: text("b.v1") }]);
    let prepared = operation.prepare(JOURNAL).unwrap();
    steps::carry_out(&place.root, &prepared.journal.record.id, 0, &prepared.journal.record.steps[0]).unwrap();
    drop(prepared);
    // The crash came after the step. Since then, somebody has created another file with the old name.
    place.write("b", "something new");
    assert_eq!(place.recover(true), Recovered::RolledForward(Vec::new()));
    assert_eq!(place.files(), ["b.v1=old", "b=something new"]);
}

#[test]
fn nothing_is_ever_written_over_a_file() {
    let place = place();
    place.write("a", "a");
    place.write("a.v1", "somebody's");
    for step in [
        Step::Copy { from: text("a"), to: text("a.v1") },
        Step::Create { path: text("a.v1"), bytes: Vec::new(), like: None },
        Step::Rename { from: text("a"), to: text("a.v1") },
    ] {
        let refused = place.operation(vec![step]).prepare(JOURNAL);
        assert!(matches!(refused, Err(Error::AlreadyThere { .. })), "{refused:?}");
    }
    // If somebody creates the target meanwhile, both that file and the operation's own file are kept.
    let prepared =
        place.operation(vec![Step::Copy { from: text("a"), to: text("a.v2") }]).prepare(JOURNAL).unwrap();
    place.write("a.v2", "somebody's too");
    let said = prepared.carry_out().unwrap();
    assert_eq!(said.len(), 1, "{said:?}");
    let files = place.files();
    assert!(files.contains(&text("a.v2=somebody's too")), "{files:?}");
    assert!(files.iter().any(|file| file.starts_with("a.v2.") && file.ends_with("=a")), "{files:?}");
}

#[test]
fn links_and_paths_that_lead_out_are_refused() {
    let place = place();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(outside.path(), place.root.join("out")).unwrap();
    std::os::unix::fs::symlink("a", place.root.join("link")).unwrap();
    place.write("a", "a");
    let copy = |from: &str, to: &str| Step::Copy { from: text(from), to: text(to) };
    for step in [
        copy("out/secret", "b"),
        copy("link", "b"),
        copy("a", "out/b"),
        copy("../a", "b"),
        copy("a", "../b"),
        copy("a", "/tmp/b"),
        copy("a", ""),
        Step::Rename { from: text("link"), to: text("b") },
        Step::Replace { path: text("link"), bytes: Vec::new() },
        Step::Replace { path: text("out/secret"), bytes: Vec::new() },
    ] {
        assert!(place.operation(vec![step.clone()]).prepare(JOURNAL).is_err(), "{step:?} was taken");
        assert!(!place.journal.exists());
    }
    assert_eq!(fs::read_to_string(outside.path().join("secret")).unwrap(), "secret");
}

#[test]
fn a_failure_while_staging_leaves_the_old_files_whole_and_nothing_else() {
    let place = place();
    place.write("a", "a");
    fs::create_dir(place.root.join("d")).unwrap();
    let steps = vec![
        Step::Create { path: text("n"), bytes: b"new".to_vec(), like: None },
        Step::Replace { path: text("a/under-a-file"), bytes: b"new".to_vec() },
    ];
    assert!(place.operation(steps).prepare(JOURNAL).is_err());
    let steps = vec![Step::Copy { from: text("d"), to: text("n") }];
    assert!(place.operation(steps).prepare(JOURNAL).is_err());
    assert_eq!(place.files(), ["a=a"]);
    assert!(!place.journal.exists());
}

#[test]
fn a_journal_that_was_cut_off_or_is_somebody_elses_removes_nothing() {
    let place = place();
    place.write("precious", "p");
    fs::create_dir(place.root.join(".journal")).unwrap();
    for journal in
        ["", "{\"id\":\"0123", "\u{0}", r#"{"id":"../../precious","steps":[{"step":"publish","to":"x"}]}"#]
    {
        fs::write(&place.journal, journal).unwrap();
        assert_eq!(place.recover(false), Recovered::RolledBack, "{journal:?}");
        assert!(!place.journal.exists());
    }
    let leading_out = r#"{"id":"0123456789abcdef","steps":[{"step":"publish","to":"../x"}]}"#;
    fs::write(&place.journal, leading_out).unwrap();
    assert_eq!(place.recover(false), Recovered::RolledBack);
    assert_eq!(place.files(), ["precious=p"]);
}

#[test]
fn an_operation_at_work_is_waited_for() {
    let place = place();
    let operation =
        place.operation(vec![Step::Create { path: text("n"), bytes: b"new".to_vec(), like: None }]);
    let prepared = operation.prepare(JOURNAL).unwrap();
    let impatient = recover(&place.root, JOURNAL, Duration::ZERO, |_| Ok(true));
    assert!(matches!(impatient, Err(Error::Io { .. })), "{impatient:?}");
    let root = place.root.clone();
    let waiting = std::thread::spawn(move || recover(&root, JOURNAL, Duration::from_secs(10), |_| Ok(true)));
    prepared.carry_out().unwrap();
    let found = waiting.join().unwrap().unwrap();
    assert_eq!(found, Recovered::Nothing, "its owner finished it");
    assert_eq!(place.files(), ["n=new"]);
}

#[test]
fn versions_are_one_more_than_the_highest_there_is() {
    let next = |name: &str, there: &[&str]| {
        let version = next_version(name, there.iter().map(std::ffi::OsStr::new));
        version_name(name, version)
    };
    assert_eq!(next("thesis.md", &["thesis.md"]), "thesis.v1.md");
    assert_eq!(next("thesis.md", &["thesis.v1.md", "thesis.v7.md", "other.v9.md"]), "thesis.v8.md");
    assert_eq!(
        next("thesis.md", &["thesis.v01.md", "thesis.v+4.md", "thesis.vx.md", "thesis.v3.txt"]),
        "thesis.v1.md"
    );
    assert_eq!(next("LICENSE", &["LICENSE.v2"]), "LICENSE.v3");
    assert_eq!(next(".env", &[]), ".env.v1");
    assert_eq!(next("a.tar.gz", &["a.tar.v1.gz"]), "a.tar.v2.gz");
}

#[test]
fn what_was_private_stays_private() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    place.write("a", "secret");
    fs::set_permissions(place.root.join("a"), fs::Permissions::from_mode(0o600)).unwrap();
    let steps = vec![
        Step::Copy { from: text("a"), to: text("a.v1") },
        Step::Create { path: text("a.v2"), bytes: b"older".to_vec(), like: Some(text("a")) },
        Step::Replace { path: text("a"), bytes: b"newer".to_vec() },
    ];
    place.operation(steps).prepare(JOURNAL).unwrap().carry_out().unwrap();
    for name in ["a", "a.v1", "a.v2"] {
        let mode = fs::metadata(place.root.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_journal_is_neither_written_nor_read_where_a_link_leads() {
    let place = place();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), place.root.join(".journal")).unwrap();
    let steps = vec![Step::Create { path: text("n"), bytes: b"new".to_vec(), like: None }];
    assert!(place.operation(steps).prepare(JOURNAL).is_err());
    fs::write(outside.path().join("one.json"), "{}").unwrap();
    assert_eq!(place.recover(true), Recovered::Nothing);
    assert!(outside.path().join("one.json").exists() && place.files().is_empty());
}
