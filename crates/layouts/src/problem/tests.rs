//! Tests of the exact sentence for every problem. People and agents rely on these sentences, and so do some
//! end-to-end tests.

use super::{
    AgainstTheLog, Change, Damage, Disagreement, Elsewhere, Incomplete, OfItem, OfRegistry, Problem, Range,
    Relation, Stale, Taken, Then, Total, Type, Unknown, What, Why,
};
use model::id::{ItemId, SessionId};

fn item(id: &str) -> ItemId {
    ItemId::parse(id).expect("an id")
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[track_caller]
fn check(what: What, sentence: &str) {
    let problem = Problem::of_field("file", "key", what);
    assert_eq!(problem.to_string(), sentence, "{problem:?}");
}

#[test]
fn why_a_file_cannot_be_read_is_told_with_what_follows() {
    let damage = |field: &str, wanted| Damage { field: text(field), found: text("7"), wanted };
    let whys = [
        (Why::Missing, "it is missing"),
        (Why::IsFolder, "it is a folder"),
        (Why::NotRead, "it was not read"),
        (Why::FolderUnreadable(None), "it cannot be read, because its folder cannot be read"),
        (Why::FolderUnreadable(Some(text("no"))), "it cannot be read, because its folder cannot be read: no"),
        (Why::TooLarge { most: 9 }, "it is larger than 9 bytes, the maximum"),
        (Why::Unusable(text("it is a link")), "it is a link"),
        (Why::Syntax(text("it is empty")), "it is empty"),
        (Why::NoneOfTheKeys(&["a", "b"]), "it has none of the keys a, b"),
        (Why::NoKeyOfASession, "it has no key of a session's state"),
        (
            Why::Damaged(vec![damage("a", Type::Text), damage("b", Type::Flag)]),
            "a is 7, not a string, b is 7, not true or false",
        ),
    ];
    for (why, sentence) in whys {
        check(What::Unreadable { why, then: Then::Nothing }, sentence);
    }
    let thens = [
        (Then::Nothing, ""),
        (Then::LeftAsItIs, "; it is left as it is"),
        (Then::NothingShown, "; its contents are unknown"),
        (Then::WorkedOut, "; the position was derived from the other files"),
        (Then::WorkedOutWithRegistry, "; the position was derived from the registry and the other files"),
        (Then::PositionUnknown, "; the position is unknown"),
        (Then::ReadInstead { backup: text("s.bak") }, "; s.bak was read instead, and may be older"),
    ];
    for (then, words) in thens {
        check(What::Unreadable { why: Why::Missing, then }, &format!("it is missing{words}"));
    }
}

#[test]
fn values_are_told_with_their_key() {
    let found = || text("7");
    let none = |known: &[&str], taken| What::NotOneOf {
        found: text("'x'"),
        known: known.iter().map(|word| text(word)).collect(),
        taken,
    };
    check(What::Absent(Taken::Nothing), "key is missing");
    check(What::Absent(Taken::Pending), "key is missing; the task counts as pending");
    check(What::Absent(Taken::FileName), "key is missing; the file's name is used as the id");
    check(What::Absent(Taken::WorkedOut("PLAN")), "key is missing; PLAN was derived");
    check(What::Absent(Taken::Phase(2)), "key is missing; phase 2 is used");
    let types = [
        (Type::Text, "a string"),
        (Type::List, "a list"),
        (Type::Object, "an object"),
        (Type::Mapping, "a mapping"),
        (Type::WholeNumber, "a whole number"),
        (Type::WholeNumberFromZero, "a whole number of at least 0"),
        (Type::Number, "a number"),
        (Type::Numbers, "a list of numbers"),
        (Type::Seconds, "a number of seconds"),
        (Type::Time, "a time"),
        (Type::Flag, "true or false"),
        (Type::Path, "a path"),
    ];
    for (wanted, name) in types {
        check(What::WrongType { found: found(), wanted }, &format!("key is 7, not {name}"));
        check(What::WrongEntry { found: found(), wanted }, &format!("key holds 7, not {name}"));
    }
    check(What::NotA(Type::Object), "key is not an object");
    check(What::NotA(Type::PhaseList), "key is not a list of a phase");
    check(none(&["a", "b"], Taken::Nothing), "key is 'x', but must be one of a, b");
    check(none(&[], Taken::Nothing), "key is 'x', which is unknown");
    check(none(&[], Taken::Pending), "key is 'x', which is unknown; the task counts as pending");
    check(What::NotATime { found: text("x") }, "key is 'x', which is not a time");
    check(What::InFuture { found: text("2199") }, "key is in the future: 2199");
    check(
        What::Copied { found: text("2026") },
        "key is long before the session's start, looks copied from an example, and is not used: 2026",
    );
    let order = What::OutOfOrder { before: "started_at", later: text("1"), earlier: text("2") };
    check(order, "key is before started_at: 1, 2");
    check(What::ReadAs { found: text("\"3\""), number: 3 }, "key is \"3\", read as 3");
    check(What::Doubled, "key is set more than once; the last value is used");
    check(What::Twice { number: 3 }, "key contains 3 twice");
    check(What::SectionTwice { index: 3 }, "key lists section_index 3 more than once; the first one is used");
    check(
        What::NotJsonNumber { word: "NaN" },
        "key is NaN, which is not a JSON number: it is kept, but ignored",
    );
    check(What::EmptySection, "key is null: it is ignored");
    check(What::Setting(text("it is missing")), "key: it is missing");
}

#[test]
fn numbers_and_names_that_there_are_none_of_are_told_with_those_that_there_are() {
    let out = |range| What::OutOfRange { found: 7, range };
    check(out(Range::To(8)), "key 7 is not in the range 1 to 8");
    check(What::OutOfRange { found: 0, range: Range::FromOne }, "key is 0, but counting starts at 1");
    check(out(Range::Stages), "key is 7, but the stages are 1 to 4");
    check(out(Range::Sections(3)), "key is 7, but the sections are 1 to 3");
    check(out(Range::Paragraphs(3)), "key is 7, but the paragraphs are 1 to 3");
    check(out(Range::Indexes(3)), "key is 7, but only 1 to 3 are used");
    check(out(Range::AtMost(3)), "key is 7, but the maximum is 3");
    check(out(Range::AtLeast(8)), "key is 7, but the minimum is 8");
    check(out(Range::Of(3)), "key is 7, of 3");
    check(
        out(Range::Phases { first: 0, last: 3, taken: 2 }),
        "key is 7, but the phases are 0 to 3; phase 2 is used",
    );
    check(out(Range::Completed { taken: 2 }), "key is 7, which is already completed; phase 2 is used");
    check(
        out(Range::Folders { folder: "rounds/round", last: 2 }),
        "key is 7, but the last folder is rounds/round-2; the folder is used",
    );
    let no = |unknown| What::NoSuch(unknown);
    check(
        no(Unknown::PhaseOf { name: text("x"), workflow: "review" }),
        "key is 'x', but a review has no such phase",
    );
    check(
        no(Unknown::Phase { name: text("x"), last_valid: "PLAN" }),
        "there is no phase 'x'; the last valid one is PLAN",
    );
    check(no(Unknown::PhaseInList { name: text("x") }), "key names 'x', which is not a phase");
    check(no(Unknown::PhaseNumber { found: text("x") }), "key has x, which is not a phase number");
    check(no(Unknown::Stage { name: text("x") }), "key is 'x', which is not a stage");
}

#[test]
fn what_disagrees_is_told_with_what_counts() {
    let how = What::Disagrees;
    check(
        how(Disagreement::PhaseAndNumber { name: "reviews", number: 2 }),
        "current_phase is 'reviews', but phase_number is 2; the name is used",
    );
    check(
        how(Disagreement::StageAndName { number: 2, name: "essay" }),
        "current_stage is 2, but current_stage_name is 'essay'; the name is used",
    );
    check(
        how(Disagreement::EarlierStage { found: text("3"), other: text("4") }),
        "key is 3, but 4 in an earlier stage; the later stage is used",
    );
    check(
        how(Disagreement::IdAndFile { id: text("a"), file: text("b.json") }),
        "key is 'a', but the file's name is b.json",
    );
    let status = Disagreement::Status { said: "paused", counts: text("r.jsonl"), counting: "active" };
    check(how(status), "it says paused, but r.jsonl says active; the latter is used");
    check(
        how(Disagreement::Archived),
        "the session is among the archived sessions, so it counts as completed",
    );
    check(
        how(Disagreement::StatusAndFolder { status: text("active"), folder: "error" }),
        "key is 'active', but it is in the folder error; the folder is used",
    );
    check(
        how(Disagreement::TotalAndDefinition { recorded: 3, defined: 4 }),
        "key is 3, but its workflow has 4 phases; the recorded number is used",
    );
    check(
        What::TotalUnused(Total::Specification { recorded: 2, phases: 4 }),
        "key is 2, but the specification has 4 phases: it is wrong and not used",
    );
    check(
        What::TotalUnused(Total::Completed { recorded: 2, completed: 4 }),
        "key is 2, but 4 phases are completed: it is wrong and not used",
    );
    check(
        What::TotalUnused(Total::NotANumber { found: text("x") }),
        "key is x, which is not a number of phases: it is not used",
    );
}

#[test]
fn files_that_belong_together_are_told_with_the_one_that_is_not_there() {
    let how = What::Incomplete;
    check(how(Incomplete::File { name: text("a.md") }), "key is completed, but a.md is missing or empty");
    check(
        how(Incomplete::SectionFile { section: 2, name: text("a.md") }),
        "key: section 2 is completed, but a.md is missing or empty",
    );
    check(how(Incomplete::NoArgumentMap), "key is completed, but there is no argument map");
    check(
        how(Incomplete::Earlier { stage: "stage_1" }),
        "key is completed, but stage_1 before it is not_started",
    );
    check(What::FileMissing { path: text("a.md") }, "key is 'a.md', which is missing or empty");
    check(
        What::FileOutside { path: text("/a.md") },
        "key is '/a.md', outside the session's folder; it was not checked",
    );
    check(What::ElsewhereToo { counts: text("a") }, "the session is also in another folder; a is used");
    check(What::CutOff { most: 9 }, "there are more than 9 files and folders; the rest was not read");
    check(
        What::ByteOrderMark { tool: "Open Code Review" },
        "it starts with a byte order mark, which Open Code Review itself cannot read",
    );
    let session = SessionId::parse("s-1").expect("an id");
    check(
        What::Lost { report: text("Nothing."), session },
        "Nothing. Choose where to resume: leftoff repair --session s-1",
    );
}

#[test]
fn tasks_that_do_not_fit_are_told_one_by_one() {
    let how = What::Item;
    check(
        how(OfItem::BadId { found: text("a b"), why: text("no") }),
        "'a b' is not an id: no; the file is left as it is",
    );
    check(how(OfItem::SameAs { id: item("a"), file: text("b") }), "a is also in b; that file is used");
    let not_there = |relation| how(OfItem::NotThere { relation, name: text("x") });
    check(not_there(Relation::Part), "its subtask 'x' does not exist");
    check(not_there(Relation::Parent), "its parent 'x' does not exist");
    check(not_there(Relation::Need), "it depends on 'x', which does not exist");
    check(how(OfItem::ParentIsSilent { parent: item("a") }), "its parent a does not list it");
    check(how(OfItem::PartIsSilent { parent: item("a") }), "it does not list its parent a");
    check(
        how(OfItem::BothAreSilent { parent: item("a") }),
        "by its id it is part of a, but neither lists the other",
    );
    check(how(OfItem::PartOfItself), "it is part of itself; it is treated as a top-level task");
    check(how(OfItem::TooDeep { levels: 4, most: 2 }), "it is nested 4 levels deep; the maximum is 2");
    check(
        how(OfItem::Cycle { path: vec![text("a"), text("b")], left_out: item("a") }),
        "it waits for itself: a → b → a; its dependency on a is ignored",
    );
    check(how(OfItem::OpenParts { open: 1, all: 1 }), "it is marked done, but its subtask is not");
    check(how(OfItem::OpenParts { open: 1, all: 3 }), "it is marked done, but 1 of its 3 subtasks is not");
    check(how(OfItem::OpenParts { open: 2, all: 3 }), "it is marked done, but 2 of its 3 subtasks are not");
    check(how(OfItem::NoParts), "it is a container without subtasks");
}

#[test]
fn lines_of_a_registry_are_told_with_their_numbers() {
    let how = What::Registry;
    let line = |place| how(OfRegistry::LineElsewhere { line: 2, name: text("a"), path: text("p"), place });
    check(how(OfRegistry::BrokenLines(vec![2])), "line 2 is not a JSON object; it is left as it is");
    check(
        how(OfRegistry::BrokenLines(vec![2, 4])),
        "lines 2, 4 are not JSON objects; they are left as they are",
    );
    check(how(OfRegistry::Repeated { name: text("a"), lines: 2 }), "a has 2 lines; the last one is used");
    check(
        line(Elsewhere::Session { name: text("b") }),
        "line 2 lists 'a' in p, but the session there is 'b': the line must have that id",
    );
    check(
        line(Elsewhere::NoPlace { places: text("a folder") }),
        "line 2 lists 'a' in p, where no session can be; a session is a folder",
    );
    check(
        how(OfRegistry::NamesNothing(vec![text("'a'"), text("'b'")])),
        "it lists 'a', 'b', which nothing else mentions",
    );
    check(
        how(OfRegistry::StrayMarker { name: text("a") }),
        "it marks 'a' as active, but there is no such session",
    );
    check(
        how(OfRegistry::Strangers { prefix: "WFS-", names: vec![text("a")] }),
        "it contains no session (a folder WFS-…), only a",
    );
}

#[test]
fn some_problems_are_only_worth_knowing() {
    let known = [
        (What::Legacy, "legacy session format, limited resumption context"),
        (What::LastError { error: text("x") }, "the last recorded error: x"),
        (
            What::Undefined { workflow: text("w") },
            "workflow 'w' is not defined in this project: its phases have no names and no gates",
        ),
        (
            What::TotalUnknown,
            "the number of phases is unknown, so nobody can tell whether the session is complete",
        ),
        (
            What::NotJsonNumber { word: "NaN" },
            "key is NaN, which is not a JSON number: it is kept, but ignored",
        ),
        (What::EmptySection, "key is null: it is ignored"),
        (
            What::Registry(OfRegistry::BrokenLines(vec![3])),
            "line 3 is not a JSON object; it is left as it is",
        ),
    ];
    for (what, sentence) in known {
        check(what.clone(), sentence);
        assert!(!Problem::of_file("file", what).needs_repair(), "{sentence}");
    }
    assert!(Problem::of_file("file", What::Doubled).needs_repair());
}

#[test]
fn a_problem_below_a_place_has_the_name_of_that_place_before_its_key() {
    let problem = Problem::of_field("f", "status", What::Absent(Taken::Nothing)).below("stages.stage_1");
    assert_eq!(problem.to_string(), "stages.stage_1.status is missing");
}

#[test]
fn a_file_that_does_not_show_the_log_is_told_before_and_after_it_is_put_right() {
    let table = [
        (
            AgainstTheLog::Edited(Change::Changed),
            "f was changed by somebody else; the edit is shown, but not in the log yet",
            Some("f was changed by somebody else; the edit was adopted"),
        ),
        (
            AgainstTheLog::Edited(Change::TakenAway),
            "f was removed by somebody else; the edit is shown, but not in the log yet",
            Some("f was removed by somebody else; the edit was adopted"),
        ),
        (AgainstTheLog::Behind(Stale::Older), "f is older than the log: a write did not finish", None),
        (AgainstTheLog::Behind(Stale::StillThere), "f is still there: a write did not finish", None),
        (AgainstTheLog::Behind(Stale::NotThereYet), "f is not there yet: a write did not finish", None),
        (
            AgainstTheLog::LeftAlone { why: Some(text("it is a link")) },
            "f cannot be inspected (it is a link); it is left alone, and the log is used",
            Some("f could not be inspected (it is a link); it was quarantined and rewritten from the log"),
        ),
        (
            AgainstTheLog::Missing,
            "f is missing; the log has its content",
            Some("f was missing; it was rewritten from the log"),
        ),
        (
            AgainstTheLog::Damaged { why: Some(text("it is empty")) },
            "f is damaged: it is empty; the log is used instead",
            Some("f was damaged: it is empty; it was rewritten from the log"),
        ),
        (
            AgainstTheLog::Damaged { why: None },
            "f is damaged; the log is used instead",
            Some("f was damaged; it was rewritten from the log"),
        ),
        (AgainstTheLog::NotMoved { to: text("g") }, "f should be in g, but was not moved", None),
        (AgainstTheLog::Gone, "f is gone, with all files of the session; the log has their contents", None),
    ];
    for (how, before, after) in table {
        let problem = Problem::of_file("below", What::Log(how));
        assert_eq!(problem.sentence("f"), before);
        assert_eq!(problem.when_repaired("f").as_deref(), after);
    }
    for (is_unlisted, why) in [(false, "b changed last"), (true, "only b is registered")] {
        let what = What::CountsAsPaused { session: text("a"), other: text("b"), is_unlisted };
        let problem = Problem::of_file("", what.clone());
        check(what, &format!("several sessions are marked active; {why}, so a counts as paused"));
        let after = format!("several sessions were marked active; {why}, so a was paused");
        assert_eq!(problem.when_repaired("").as_deref(), Some(after.as_str()));
    }
}
