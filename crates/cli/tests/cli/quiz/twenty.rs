//! Twenty phases with one skipped, sixty items, forty notes, and twelve files. The brief says once what a list leaves
//! out, so that every question can still be answered.

use super::{Answers, History, READER, check};

fn definition() -> String {
    let mut text =
        "name = \"train\"\nversion = \"1\"\ntitle = \"Release train of the platform\"\n".to_owned();
    for number in 1..=20 {
        text += &format!(
            "[[phase]]\nid = \"step-{number}\"\ntitle = \"Step {number} of the train\"\npurpose = \"Do part {number} of \
             the release and write down what was done, so that the next is shorter. Ask before anything irreversible.\"\n"
        );
        if number == 3 {
            text += "[[phase.check]]\nid = \"file\"\nkind = \"artifact\"\npath = \"out.md\"\n";
        }
        if number == 14 {
            text += "items = \"case\"\n  [phase.evidence]\n  flaky = { type = \"integer\", required = true }\n\
                     [[phase.check]]\nid = \"cases\"\nkind = \"items\"\n\
                     [[phase.check]]\nid = \"flaky\"\nkind = \"expr\"\nexpr = \"evidence.flaky == 0\"\n\
                     help = \"Quarantine or fix each flaky case.\"\n";
        }
    }
    text
}

#[test]
fn twenty_phases_and_forty_notes_answer_all_twelve() {
    let history = History::begin("release/10");
    let sandbox = &history.sandbox;
    sandbox.write(".leftoff/workflows/train.toml", &definition());
    history.at("2026-11-12T08:30:00Z");
    history.run(&[
        "start train --id ten --title Release~10 --goal Ship~10.0~to~every~region~without~a~maintenance~window",
    ]);
    sandbox.write(".leftoff/sessions/ten/out.md", "Out.\n");
    for number in 1..=13 {
        if number == 6 {
            sandbox.run_as_person(["skip", "--reason", "no builder this month"]).ok();
        } else {
            history.run(&[&format!("advance --phase step-{number}")]);
        }
    }
    history.at("2026-11-12T09:00:00Z");
    for number in 1..=60 {
        history.run(&[&format!("item add Case~{number}:~a~flow~on~a~clean~machine --id case-{number}")]);
    }
    for number in 1..=27 {
        history.run(&[&format!("item done case-{number}")]);
    }
    history.run(&["item block case-40 --reason printer~is~broken", "item claim case-28"]);
    let texts = [
        (
            "decision",
            "Region N goes before the others, because replication lags behind there for minutes",
            10,
        ),
        ("tried", "Running the cases of group N in parallel: they share one database", 10),
        ("assumption", "Customers of group N have version 9.4 or later", 8),
        ("question", "Who signs for region N?", 6),
        ("blocker", "Vendor ticket OPS-N must be answered", 3),
        ("note", "Remark N", 3),
    ];
    for (kind, text, count) in texts {
        for number in 1..=count {
            history.notes(&[(kind, &text.replace('N', &number.to_string()))]);
        }
    }
    for number in 1..=12 {
        sandbox.write(&format!("src/region/part{number}.rs"), "1\n");
    }
    history.commit("Regions");
    sandbox.write("scripts/smoke.sh", "1\n");
    history.fails("advance --phase step-14 --evidence flaky=3");
    history.run(&["pause --reason the~lab~is~closed --context case-28,~step~3~of~7"]);
    history.at("2026-11-16T08:00:00Z");
    history.run(&["resume", "item claim case-28"]);
    history.at("2026-11-16T08:10:00Z");
    check(
        sandbox,
        &Answers {
            goal: &["Goal: \"Ship 10.0 to every region without a maintenance window\""],
            done_with_what_proof: &[
                "- 1 Step 1 of the train to",
                "among them 6 Step 6 of the train (skipped)",
                "13 Step 13 of the train (no gate)",
            ],
            where_exactly: &[
                "Phase 14 of 20, **Step 14 of the train**",
                "12 of 20 phases done (60 %), 1 verified, 1 skipped",
            ],
            why_paused: &["\"the lab is closed\", in the middle of \"case-28, step 3 of 7\"\n"],
            failed_last: &["- cases: \"27 of 60 are done\"", "- flaky: flaky=3, needs evidence.flaky == 0"],
            touched: &["scripts/smoke.sh", "src/region/"],
            decided: &["\"Region 10 goes before the others"],
            blocked_open_assumed: &[
                "Notes 35, 36, 37 block",
                "(yours until 08:30 UTC; 27 of 60 items done)",
                "\"Vendor ticket OPS-3 must be answered\" (blocker 37",
                "[!] case-40",
                "\"Customers of group 8 have",
            ],
            not_again: &["Done: case-1,", "\"Running the cases of group 10 in parallel"],
            next_command: &["\n`leftoff item done case-28`\n"],
            who_else: &[],
            unverified: &["1 skipped"],
        },
    );
    let brief = sandbox.run_as(READER, ["brief", "--format", "markdown"]).ok().stdout;
    assert_eq!(brief.matches("`leftoff show ten`").count(), 1, "{brief}");
}
