//! A table of cases, each with leftoff's write, the current content, pending writes, and the expected
//! verdict.

mod wholeness;

use super::*;

const BEFORE: &str = "v1";
const OURS: &str = "v2";
const EDIT: &str = "v1 and an edit";
const EDIT_OF_OURS: &str = "v2 and an edit";
const ME: &str = "session";

/// A format in which several sessions may share a file. Lines that begin with `me` belong to the session.
/// Content that ends in "…" is incomplete.
struct Format {
    is_shared: bool,
}

impl Own for Format {
    fn part(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let own = bytes.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"me"));
        self.is_shared.then(|| own.collect::<Vec<_>>().join(&b'\n'))
    }

    fn is_whole(&self, bytes: &[u8]) -> bool {
        self.is_shared || !(bytes.is_empty() || bytes.ends_with("…".as_bytes()))
    }

    fn onto(&self, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8> {
        let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
            let all = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            all.map(<[u8]>::to_vec).collect()
        };
        let (known, mut all) = (lines(base), lines(onto));
        let new = lines(theirs).into_iter().filter(|line| !known.contains(line));
        for line in new {
            if !all.contains(&line) {
                all.push(line);
            }
        }
        if all == lines(onto) { onto.to_vec() } else { all.join(&b'\n') }
    }
}

/// A write journal and files, given as texts. Hashes are computed from the texts.
#[derive(Clone)]
struct Case {
    role: Role,
    is_left: bool,
    same_boot: bool,
    there: Option<&'static str>,
    is_hidden: bool,
    is_unusable: bool,
    wrote: Option<(&'static str, &'static str, Vec<&'static str>, bool)>,
    waiting: Option<&'static str>,
    /// The content that was written, the content that it should replace, true if it was the write of this
    /// row, and the session that wrote it.
    put: Option<(&'static str, Option<&'static str>, bool, &'static str)>,
    backup: Option<&'static str>,
    /// The content of the backup when it became the backup, and true if it is still the same file.
    noted: Option<(&'static str, Option<bool>)>,
}

/// A file that leftoff wrote over [`BEFORE`], and that has not changed since.
fn file() -> Case {
    Case {
        role: Role::State,
        is_left: false,
        same_boot: true,
        there: Some(OURS),
        is_hidden: false,
        is_unusable: false,
        wrote: Some((OURS, BEFORE, vec![BEFORE], true)),
        waiting: None,
        put: None,
        backup: None,
        noted: None,
    }
}

/// A file that leftoff wrote over [`BEFORE`]; the write is not confirmed.
fn unconfirmed() -> Case {
    Case { wrote: Some((OURS, BEFORE, vec![], false)), ..file() }
}

impl Case {
    fn there(mut self, there: &'static str) -> Self {
        self.there = Some(there);
        self
    }

    fn gone(mut self) -> Self {
        self.there = None;
        self
    }

    fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    fn waiting(mut self, waiting: &'static str) -> Self {
        self.waiting = Some(waiting);
        self
    }

    fn put_by(mut self, by: &'static str) -> Self {
        self.put = Some((OURS, Some(BEFORE), by == ME, by));
        self
    }

    /// The case after the last write of this row: the replaced content became the backup.
    fn dealt_with(mut self) -> Self {
        self.put = Some((OURS, None, true, ME));
        self
    }

    fn put(self) -> Self {
        self.put_by(ME)
    }

    fn rebooted(mut self) -> Self {
        self.same_boot = false;
        self
    }

    fn backup(mut self, now: &'static str, noted: &'static str) -> Self {
        self.backup = Some(now);
        self.noted = Some((noted, Some(true)));
        self
    }

    fn judged(&self) -> Verdict {
        let earlier: Vec<String> = self
            .wrote
            .iter()
            .flat_map(|(_, _, earlier, _)| earlier)
            .map(|text| hash(text.as_bytes()))
            .collect();
        let written = self.wrote.as_ref().map(|(body, ..)| hash(body.as_bytes()));
        let wrote = self.wrote.as_ref().map(|(body, previous, _, confirmed)| Wrote {
            hash: written.as_deref().unwrap(),
            body: body.as_bytes(),
            previous: previous.as_bytes(),
            earlier: &earlier,
            confirmed: *confirmed,
        });
        let hashed = |text: &str| hash(text.as_bytes());
        let put =
            self.put.map(|(put, expected, is_this, by)| (hashed(put), expected.map(hashed), is_this, by));
        let noted = self.noted.map(|(text, is_same_file)| (text.len(), hash(text.as_bytes()), is_same_file));
        let there = match self.there {
            _ if self.is_hidden => There::Hidden,
            _ if self.is_unusable => There::Unusable,
            Some(text) => There::Bytes(text.as_bytes()),
            None => There::Nothing,
        };
        let evidence = Evidence {
            session: ME,
            role: self.role,
            is_left: self.is_left,
            same_boot: self.same_boot,
            there,
            wrote,
            waiting: self.waiting.map(str::as_bytes),
            put: put.as_ref().map(|(put, expected, is_this, by)| Put {
                hash: put,
                expected: expected.as_deref(),
                is_this: *is_this,
                by,
            }),
            backup: self.backup.map(str::as_bytes),
            noted: noted.as_ref().map(|(length, hash, is_same_file)| Noted {
                length: *length,
                hash,
                is_same_file: *is_same_file,
            }),
        };
        verdict(&evidence, &Format { is_shared: self.role == Role::Shared })
    }
}

fn check_states(cases: Vec<(&str, Case, FileState)>) {
    for (name, case, state) in cases {
        assert_eq!(case.judged().state, state, "{name}");
    }
}

fn check(cases: Vec<(&str, Case, Verdict)>) {
    for (name, case, verdict) in cases {
        assert_eq!(case.judged(), verdict, "{name}");
    }
}

fn is(state: FileState) -> Verdict {
    Verdict::of(state)
}

fn edit(bytes: &str, before: &str) -> DisplacedEdit {
    DisplacedEdit { bytes: bytes.as_bytes().to_vec(), before: before.as_bytes().to_vec() }
}

#[test]
fn a_file_is_told_by_its_bytes() {
    use FileState::{Damaged, Edited, Leftover, Missing, Moved, Same, Unreadable};
    check_states(vec![
        ("as we wrote it", file(), Same),
        ("somebody changed it", file().there(EDIT_OF_OURS), Edited),
        ("somebody went back to an earlier version of ours", file().there(BEFORE), Edited),
        ("an earlier version after the machine started anew", file().there(BEFORE).rebooted(), Leftover),
        ("an edit after the machine started anew", file().there(EDIT).rebooted(), Edited),
        ("it is gone", file().gone(), Missing),
        ("a folder above it cannot be looked into", Case { is_hidden: true, ..file() }, Unreadable),
        ("it cannot be opened", Case { is_unusable: true, ..file() }, Unreadable),
        ("its place was left, whatever is there now", Case { is_left: true, ..file().there(EDIT) }, Moved),
        ("its place was left, and it with it", Case { is_left: true, ..file().gone() }, Moved),
        ("emptied", file().there(""), Damaged),
        ("cut off", file().there("v2 and…"), Damaged),
        ("cut off before our write got there", unconfirmed().there("v1 and…"), Damaged),
        ("initial, and not there yet", unconfirmed().role(Role::Initial).gone(), Leftover),
    ]);
}

#[test]
fn a_file_that_we_never_wrote_is_an_edit_unless_it_is_a_part_that_nobody_can_read() {
    let new = |there| Case { wrote: None, ..file().there(there) };
    check_states(vec![
        ("new", new(EDIT), FileState::Edited),
        ("a new part", new(EDIT).role(Role::Part), FileState::Edited),
        ("a broken part", new("v…").role(Role::Part), FileState::NeverRead),
        (
            "a broken part with a good backup",
            new("v…").role(Role::Part).backup(BEFORE, BEFORE),
            FileState::Damaged,
        ),
        (
            "a broken part with a broken backup",
            new("v…").role(Role::Part).backup("v…", "v…"),
            FileState::NeverRead,
        ),
        ("a state that nobody can read", new("v…"), FileState::Edited),
    ]);
}

#[test]
fn a_marker_is_told_by_being_there() {
    let marker = |is_on, confirmed, there| {
        let wrote = Some(("", "", vec![], confirmed));
        Case { role: Role::Marker { is_on }, there, wrote, ..file() }
    };
    check_states(vec![
        ("there, as it is to be", marker(true, true, Some("")), FileState::Same),
        ("away, as it is to be", marker(false, true, None), FileState::Same),
        ("somebody took it away", marker(true, true, None), FileState::Edited),
        ("somebody made it", marker(false, true, Some("")), FileState::Edited),
        ("not made yet", marker(true, false, None), FileState::Leftover),
        ("not taken away yet", marker(false, false, Some("")), FileState::Leftover),
    ]);
}

/// A command is in the log, and the write of its file is not confirmed.
#[test]
fn a_write_that_did_not_get_there_is_a_leftover_and_an_edit_before_it_takes_nothing_back() {
    let early = |state| Verdict { base: Base::Previous, ..is(state) };
    check(vec![
        ("it got there", unconfirmed(), is(FileState::Same)),
        ("what was seen is there still", unconfirmed().there(BEFORE), is(FileState::Leftover)),
        (
            "an older version that others had there",
            Case { wrote: Some((OURS, BEFORE, vec!["v0"], false)), ..unconfirmed().there("v0") },
            is(FileState::Leftover),
        ),
        ("somebody edited what was before it", unconfirmed().there(EDIT), early(FileState::Edited)),
        (
            "edited, and ours waits",
            unconfirmed().there(EDIT).waiting(OURS).put(),
            Verdict { waiting: Waiting::Remove, ..early(FileState::Edited) },
        ),
        (
            "what is there was seen, and ours waits",
            unconfirmed().there(BEFORE).waiting(OURS).put(),
            Verdict { waiting: Waiting::Remove, ..is(FileState::Leftover) },
        ),
        (
            "there was nothing before it, so nothing is taken back",
            Case { wrote: Some((OURS, "", vec![], false)), ..unconfirmed().there(EDIT_OF_OURS) },
            is(FileState::Edited),
        ),
    ]);
}

/// The row's own previous version decides whether leftoff's write reached the file.
#[test]
fn an_edit_is_of_ours_only_if_this_very_write_has_arrived() {
    let edited = |base| Verdict { base, ..is(FileState::Edited) };
    let after = || unconfirmed().there(EDIT_OF_OURS);
    let becomes_backup = |base| Verdict { waiting: Waiting::BecomesBackup, ..edited(base) };
    check(vec![
        ("the version before waits", after().waiting(BEFORE).put(), becomes_backup(Base::Written)),
        (
            "the version before waits, and nothing is noted",
            after().waiting(BEFORE),
            becomes_backup(Base::Written),
        ),
        ("what it replaced is dealt with", after().dealt_with(), edited(Base::Written)),
        (
            "what it replaced is the backup by now",
            after().dealt_with().backup(BEFORE, BEFORE),
            edited(Base::Written),
        ),
        (
            "a backup alone proves nothing: an earlier write may have left the same content",
            after().backup(BEFORE, BEFORE),
            edited(Base::Previous),
        ),
        (
            "an earlier write of ours is dealt with: this one did not arrive",
            Case { put: Some((BEFORE, None, false, ME)), ..after().backup(BEFORE, BEFORE) },
            edited(Base::Previous),
        ),
        (
            "it was noted, and did not get as far as a file",
            after().put().backup(BEFORE, BEFORE),
            edited(Base::Previous),
        ),
        (
            "what it replaced is a new backup, which is not noted yet",
            Case { noted: Some(("v0", Some(false))), ..after().put().backup(BEFORE, "v0") },
            edited(Base::Written),
        ),
        (
            "nor was there one before",
            Case { noted: None, ..after().put().backup(BEFORE, "v0") },
            edited(Base::Written),
        ),
        (
            "that backup is somebody else's",
            Case { noted: Some(("v0", Some(false))), ..after().put().backup("v7", "v0") },
            edited(Base::Previous),
        ),
        (
            "the backup is of an earlier write: this one did not arrive",
            after().backup("v0", "v0"),
            edited(Base::Previous),
        ),
        (
            "what waits came out by an earlier write: this one did not arrive",
            Case { put: Some(("v1", Some("v0"), false, ME)), ..after().waiting("v0") },
            becomes_backup(Base::Previous),
        ),
        (
            "another session put its own row there",
            Case { put: Some(("v9", Some(BEFORE), false, "other")), ..after().waiting(BEFORE) },
            becomes_backup(Base::Previous),
        ),
        ("nothing at all is known of it", after(), edited(Base::Previous)),
        (
            "confirmed: whatever the backup is",
            file().there(EDIT_OF_OURS).backup("v0", "v0"),
            edited(Base::Written),
        ),
    ]);
}

#[test]
fn an_edit_that_our_write_took_out_counts_unless_somebody_edited_since() {
    let out = || unconfirmed().waiting(EDIT).put();
    let adopt_by = |by: &str| Waiting::TakeIn(by.to_owned());
    check(vec![
        (
            "nobody wrote since: the edit counts, against what was before",
            out(),
            Verdict {
                counts: Counts::Replaced,
                base: Base::Previous,
                waiting: adopt_by(ME),
                ..is(FileState::Edited)
            },
        ),
        (
            "somebody edited ours since: that edit is there, the other slipped",
            out().there(EDIT_OF_OURS),
            Verdict { displaced: vec![edit(EDIT, BEFORE)], waiting: adopt_by(ME), ..is(FileState::Edited) },
        ),
        (
            "somebody took the file away since",
            out().gone(),
            Verdict { displaced: vec![edit(EDIT, BEFORE)], waiting: adopt_by(ME), ..is(FileState::Missing) },
        ),
        (
            "another session's write took it out: that one takes it in",
            unconfirmed().waiting(EDIT).put_by("other"),
            Verdict { waiting: adopt_by("other"), ..is(FileState::Same) },
        ),
        (
            "what came out cannot be read: it counts as damage",
            unconfirmed().waiting("v1 and…").put(),
            Verdict { counts: Counts::Replaced, waiting: adopt_by(ME), ..is(FileState::Damaged) },
        ),
        (
            "it was taken in meanwhile",
            Case { wrote: Some((OURS, BEFORE, vec![EDIT], false)), ..out() },
            Verdict { waiting: Waiting::BecomesBackup, ..is(FileState::Same) },
        ),
        (
            "it was taken in, and confirmed",
            Case { wrote: Some((OURS, BEFORE, vec![EDIT], true)), ..out() },
            Verdict { waiting: Waiting::BecomesBackup, ..is(FileState::Same) },
        ),
    ]);
}

#[test]
fn what_waits_without_a_note_is_told_by_what_we_wrote() {
    let waits = |text| file().waiting(text);
    let with = |waiting| Verdict { waiting, ..is(FileState::Same) };
    check(vec![
        ("ours", waits(OURS), with(Waiting::Remove)),
        ("ours, cut off", unconfirmed().waiting("v"), with(Waiting::Remove)),
        ("the version before", waits(BEFORE), with(Waiting::BecomesBackup)),
        (
            "an edit",
            waits(EDIT),
            Verdict { displaced: vec![edit(EDIT, BEFORE)], ..with(Waiting::TakeIn(ME.to_owned())) },
        ),
        (
            "an edit that is there as well",
            waits(EDIT).there(EDIT),
            Verdict { waiting: Waiting::TakeIn(ME.to_owned()), ..is(FileState::Edited) },
        ),
    ]);
}

#[test]
fn an_edit_of_the_backup_by_somebody_who_had_it_open_is_displaced() {
    let with = |displaced| Verdict { displaced, ..is(FileState::Same) };
    check(vec![
        ("as it was", file().backup(BEFORE, BEFORE), with(vec![])),
        ("written on", file().backup(EDIT, BEFORE), with(vec![edit(EDIT, BEFORE)])),
        ("being written", file().backup("v1 and…", BEFORE), with(vec![])),
        ("emptied", file().backup("", BEFORE), with(vec![])),
        (
            "written on, and known by now",
            Case { wrote: Some((OURS, BEFORE, vec![EDIT], true)), ..file().backup(EDIT, BEFORE) },
            with(vec![]),
        ),
        (
            "somebody else's own backup",
            Case { noted: Some((BEFORE, Some(false))), ..file().backup(EDIT, BEFORE) },
            with(vec![]),
        ),
        (
            "files cannot be told apart",
            Case { noted: Some((BEFORE, None)), ..file().backup(EDIT, BEFORE) },
            with(vec![]),
        ),
        (
            "written on, and another edit waits: both, the earlier first",
            file().backup(EDIT, BEFORE).waiting("v1 and another"),
            Verdict {
                waiting: Waiting::TakeIn(ME.to_owned()),
                ..with(vec![edit(EDIT, BEFORE), edit("v1 and another", BEFORE)])
            },
        ),
    ]);
}

const REGISTRY: &str = "me 2\nyou 1\n";
const REGISTRY_BEFORE: &str = "me 1\nyou 1\n";

/// A registry that contains this session's part. Once a write is confirmed, only that part is stored.
fn registry() -> Case {
    let wrote = Some(("me 2", "me 1", vec![REGISTRY_BEFORE, REGISTRY], true));
    Case { role: Role::Shared, there: Some(REGISTRY), wrote, ..file() }
}

fn registry_on_its_way() -> Case {
    let wrote = Some((REGISTRY, REGISTRY_BEFORE, vec![], false));
    Case { role: Role::Shared, there: Some(REGISTRY), wrote, ..file() }
}

#[test]
fn of_a_shared_file_only_the_own_part_is_an_edit() {
    let early = |state| Verdict { base: Base::Previous, ..is(state) };
    check(vec![
        ("others' lines changed", registry().there("me 2\nyou 2\n"), is(FileState::OfOthers)),
        ("others' lines are gone", registry().there("me 2\n"), is(FileState::OfOthers)),
        ("ours changed", registry().there("me 3\nyou 1\n"), is(FileState::Edited)),
        ("ours is gone", registry().there("you 1\n"), is(FileState::Edited)),
        ("emptied: line by line it can be read", registry().there(""), is(FileState::Edited)),
        ("it did not get there", registry_on_its_way().there(REGISTRY_BEFORE), is(FileState::Leftover)),
        (
            "it did not get there, and others changed theirs",
            registry_on_its_way().there("me 1\nyou 2\n"),
            early(FileState::Behind),
        ),
        (
            "another process of ours put our part there beside new lines of others",
            registry_on_its_way().there("me 2\nyou 2\n"),
            early(FileState::OfOthers),
        ),
        (
            "somebody changed ours before it got there",
            registry_on_its_way().there("me 3\nyou 1\n"),
            early(FileState::Edited),
        ),
    ]);
}

/// Two sessions were about to replace the same content. The other session's write did so, and made the
/// content the backup. This session's row has lines of other sessions that no file contains, so the file must
/// not be read as an edit of that row.
#[test]
fn f1_a_write_of_another_session_does_not_make_ours_arrive() {
    let early = |state| Verdict { base: Base::Previous, ..is(state) };
    let by = |by, is_this| Case {
        put: Some(("me 1\nyou 2\n", None, is_this, by)),
        ..registry_on_its_way().there("me 1\nyou 2\n").backup(REGISTRY_BEFORE, REGISTRY_BEFORE)
    };
    check(vec![
        ("another session wrote last", by("you", false), early(FileState::Behind)),
        ("whatever its own row says", by("you", true), early(FileState::Behind)),
        ("an earlier row of this session", by(ME, false), early(FileState::Behind)),
        ("this very row", by(ME, true), is(FileState::Behind)),
    ]);
}

/// Another process saw the content and adopted this session's part of it. Then a write that did not know the
/// content replaced it.
#[test]
fn f1_replaced_lines_of_others_are_displaced_although_the_own_part_was_adopted() {
    const SEEN: &str = "me 1\nyou 2\n";
    let seen = |there: &'static str| Case {
        wrote: Some(("me 2", "me 1", vec![SEEN, REGISTRY], true)),
        put: Some((REGISTRY, Some(REGISTRY_BEFORE), false, ME)),
        ..registry().there(there).waiting(SEEN)
    };
    check(vec![
        (
            "only the other line is new",
            seen(REGISTRY),
            Verdict {
                displaced: vec![edit(SEEN, "me 2\nyou 1\nme 1")],
                waiting: Waiting::TakeIn(ME.to_owned()),
                ..is(FileState::OfOthers)
            },
        ),
        (
            "somebody edited the file since: that edit stands",
            seen("me 2\nyou 3\n"),
            Verdict { waiting: Waiting::BecomesBackup, ..is(FileState::OfOthers) },
        ),
    ]);
}

#[test]
fn lines_that_came_late_to_the_backup_of_a_shared_file_slip() {
    let with = |displaced| Verdict { displaced, ..is(FileState::OfOthers) };
    let there = || registry().there("me 2\nyou 1\n");
    let late = "me 1\nyou 1\nthey 1\n";
    check(vec![
        ("no line came", there().backup(REGISTRY_BEFORE, REGISTRY_BEFORE), with(vec![])),
        ("a line came", there().backup(late, REGISTRY_BEFORE), with(vec![edit("me 1\nthey 1\n", "me 1")])),
        (
            "it is there by now",
            registry().there("me 2\nyou 1\nthey 1\n").backup(late, REGISTRY_BEFORE),
            with(vec![]),
        ),
        (
            "the end of a line came: the whole line slips",
            there().backup(late, "me 1\nyou 1\nth"),
            with(vec![edit("me 1\nthey 1\n", "me 1")]),
        ),
        (
            "it was written over from its beginning",
            there().backup("me 9\nyou 9\n", REGISTRY_BEFORE),
            with(vec![]),
        ),
    ]);
}

#[test]
fn the_beginning_of_a_late_line_leaves_the_file_when_the_line_is_whole() {
    let evidence = Evidence {
        session: ME,
        role: Role::Shared,
        is_left: false,
        same_boot: true,
        there: There::Nothing,
        wrote: None,
        waiting: None,
        put: None,
        backup: Some(b"you 1\nthey 1\n"),
        noted: Some(Noted { length: 8, hash: &hash(b"you 1\nth"), is_same_file: Some(true) }),
    };
    let late = late(&evidence).unwrap();
    assert_eq!(late.completed_in(b"me 2\nth\nyou 1\n"), b"me 2\nyou 1\n");
}

#[test]
fn a_backup_of_somebody_else_is_told_from_ours() {
    let wrote =
        Wrote { hash: &hash(b"v2"), body: b"v2", previous: b"v1", earlier: &[hash(b"v0")], confirmed: true };
    let noted = |is_same_file| Some(Noted { length: 5, hash: "noted", is_same_file });
    let of = |backup: Option<&'static str>, noted| {
        let evidence = Evidence {
            session: ME,
            role: Role::State,
            is_left: false,
            same_boot: true,
            there: There::Nothing,
            wrote: Some(wrote),
            waiting: None,
            put: None,
            backup: backup.map(str::as_bytes),
            noted,
        };
        others_backup(&evidence).is_some()
    };
    assert!(!of(None, None));
    assert!(!of(Some(""), None), "empty");
    assert!(!of(Some("v1"), None) && !of(Some("v0"), None) && !of(Some("v2"), None), "ours by its bytes");
    assert!(
        of(Some("theirs"), None) && of(Some("theirs"), noted(Some(false))) && of(Some("theirs"), noted(None))
    );
    assert!(!of(Some("theirs"), noted(Some(true))), "written into by somebody who had it open");
}
