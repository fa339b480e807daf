//! Sessions loaded from a snapshot that is a few events behind equal those folded from the whole log.
#![allow(clippy::expect_used, reason = "a test that cannot go on should say where")]

use crate::{Engine, Intent, ItemAdd, ItemRequest, Options, Request, StartRequest};
use model::id::SessionId;
use store::Store;

/// Returns the request of a step: usually a note, sometimes a command that needs the whole log.
fn request(step: u32) -> Request {
    match step % 20 {
        6 => Request::Item(ItemRequest::Add(ItemAdd { title: "A task".to_owned(), ..ItemAdd::default() })),
        9 => Request::Undo { to: None },
        11 => Request::Redo,
        13 => Request::Checkpoint { name: Some(format!("step-{step}")) },
        15 => Request::ResolveNote { id: 1 },
        _ => Request::note("The proxy cuts off idle connections"),
    }
}

#[test]
fn a_snapshot_that_is_behind_leads_to_the_session_of_the_log() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join(".git")).expect("a repository");
    std::fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").expect("its head");
    let options = Options { project: Some(folder.path().to_owned()), ..Options::default() };
    let mut writer = Engine::open(options.clone(), Intent::Create).expect("a project");
    let started = writer.execute(Request::Start(StartRequest::default())).expect("a session");
    let id = SessionId::parse(&started.view.session_id).expect("its id");
    let mut furthest = 0;
    for step in 1..=80 {
        // A refused request changes nothing, and the next command starts from the stored session.
        let _ = writer.execute(request(step));
        let reader = Engine::open(options.clone(), Intent::Query).expect("the same project");
        let loaded = reader.store.load(&id).expect("a store").expect("the session");
        let snapshot = loaded.snapshot.as_ref().expect("its snapshot");
        furthest = furthest.max(loaded.row.version - snapshot.version);
        let from_log = reader.replay_kept(&id).expect("the log").trimmed();
        assert_eq!(
            reader.advanced_snapshot(&loaded).expect("the store"),
            Some(from_log),
            "after step {step}"
        );
    }
    assert!((1..8).contains(&furthest), "a snapshot is at most {furthest} events behind");
    let findings = crate::diagnose(options).expect("the project");
    assert!(findings.iter().all(|finding| finding.kind != "snapshot"), "{findings:?}");
}
