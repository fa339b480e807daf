//! Schedules that end at every step in turn.

use super::replica::{Folder, Replica};
use super::{MOST_STEPS_OF_A_SYNC, ended_after};

#[test]
fn a_sync_that_ends_between_any_two_steps_loses_nothing() {
    let folder = Folder::new();
    let (anna, ben) = (folder.replica("anna"), folder.replica("ben"));
    anna.share();
    ben.share();
    anna.start("shared");
    anna.sync().expect("the remote is there");
    let mut notes = Vec::new();
    let mut steps = 0;
    loop {
        folder.an_hour_later();
        let id = format!("of-ben-{steps}");
        ben.start(&id);
        ben.sync().expect("the remote is there");
        notes.push(format!("before step {steps}"));
        assert!(anna.work("shared", &notes[steps]));
        let was_ended = ended_after(steps, || drop(anna.sync()));
        anna.sync().expect("the remote is there");
        ben.sync().expect("the remote is there");
        assert_eq!(ben.notes("shared"), notes, "ended before step {steps}");
        assert!(anna.has(&id), "ended before step {steps}");
        for replica in [&anna, &ben] {
            assert_eq!(replica.forks(), Vec::<String>::new(), "ended before step {steps}");
            assert_eq!(replica.findings(), Vec::<String>::new(), "ended before step {steps}");
        }
        if !was_ended {
            break;
        }
        steps += 1;
    }
    assert!((12..MOST_STEPS_OF_A_SYNC).contains(&steps), "a sync has {steps} steps");
    assert_eq!(folder.hub(&["for-each-ref"]).lines().count(), 2, "each is the replica that it was");
}

#[test]
fn a_purge_that_ends_between_any_two_steps_leaves_nothing_once_all_have_synced() {
    let folder = Folder::new();
    let (anna, ben) = (folder.replica("anna"), folder.replica("ben"));
    anna.share();
    ben.share();
    anna.start("shared");
    let sync = |replica: &Replica| drop(replica.sync().expect("the remote is there"));
    for steps in 0.. {
        folder.an_hour_later();
        let text = format!("the secret before step {steps}.");
        assert!(anna.work("shared", &text));
        // Ben continues the session, so that both send its first part and remember answers that contain the text.
        sync(&anna);
        sync(&ben);
        assert!(ben.work("shared", &format!("continued {steps}")));
        sync(&ben);
        sync(&anna);
        let purge = || anna.purge("shared", &text).expect("a purge");
        let mut was_ended = ended_after(steps, purge);
        if anna.notes("shared").contains(&text) {
            purge();
        }
        was_ended |= ended_after(steps, || sync(&anna));
        sync(&anna);
        was_ended |= ended_after(steps, || sync(&ben));
        for replica in [&ben, &anna, &ben] {
            sync(replica);
        }
        for replica in [&anna, &ben] {
            let about = format!("{}, ended before step {steps}", replica.name);
            assert_eq!(replica.files_with(&text), Vec::<String>::new(), "{about}");
            assert_eq!(replica.findings(), Vec::<String>::new(), "{about}");
        }
        assert_eq!(anna.log("shared"), ben.log("shared"));
        if !was_ended {
            assert!(
                (12..2 * MOST_STEPS_OF_A_SYNC).contains(&steps),
                "a sync after a purge has {steps} steps"
            );
            return;
        }
    }
}

#[test]
fn whoever_merges_a_fork_or_loses_to_one_stays_the_replica_that_they_were() {
    let folder = Folder::new();
    let (anna, ben) = (folder.replica("anna"), folder.replica("ben"));
    anna.share();
    ben.share();
    anna.start("shared");
    anna.sync().expect("the remote is there");
    ben.sync().expect("the remote is there");
    for round in 0..3 {
        folder.an_hour_later();
        assert!(anna.work("shared", &format!("of anna {round}")));
        assert!(ben.work("shared", &format!("of ben {round}")));
        assert!(ben.work("shared", &format!("more of ben {round}")));
        // A sync in which the other history wins is ended at each of its steps.
        ben.sync().expect("the remote is there");
        let mut steps = 0;
        while ended_after(steps, || drop(anna.sync())) {
            steps += 1;
        }
        ben.sync().expect("the remote is there");
        let fork = ben.forks().pop().expect("the history of anna");
        ben.engine().resolve_fork(&fork).expect("a fork is resolved where its session is");
        for replica in [&ben, &anna, &ben] {
            replica.sync().expect("the remote is there");
            assert_eq!(replica.findings(), Vec::<String>::new());
        }
        assert_eq!((anna.forks(), ben.forks()), (Vec::new(), Vec::new()));
        assert_eq!(anna.notes("shared").len(), 3 * (round + 1));
        assert_eq!(anna.log("shared"), ben.log("shared"));
        assert_eq!(folder.hub(&["for-each-ref"]).lines().count(), 2, "round {round}");
    }
}
