//! Fifteen phases and sixty items. One item is blocked, and another was in progress when work stopped.

use super::{Answers, History, READER, check};

const TITLES: [&str; 15] = [
    "Scope",
    "Freeze",
    "Changelog",
    "Licences",
    "Build Linux",
    "Build macOS",
    "Build Windows",
    "Sign",
    "Smoke tests",
    "Migration rehearsal",
    "Docs",
    "Translations",
    "Staged rollout",
    "Announce",
    "Retrospective",
];

fn definition() -> String {
    let mut text = "name = \"train\"\nversion = \"1\"\ntitle = \"Release train\"\n".to_owned();
    for (number, title) in (1..).zip(TITLES) {
        text += &format!(
            "[[phase]]\nid = \"p{number}\"\ntitle = \"{title}\"\npurpose = \"Do this part of the release and \
             write down what you did, so that the next one is shorter. Ask before anything that cannot be undone.\"\n"
        );
        if title == "Smoke tests" {
            text += "items = \"case\"\n[[phase.check]]\nid = \"cases\"\nkind = \"items\"\n\
                     help = \"Run every case: leftoff item list\"\n";
        }
        if title == "Changelog" {
            text += "[[phase.check]]\nid = \"file\"\nkind = \"artifact\"\npath = \"Changelog.md\"\n";
        }
    }
    text
}

#[test]
fn a_long_workflow_with_many_items_answers_all_twelve() {
    let history = History::begin("release/9");
    let sandbox = &history.sandbox;
    sandbox.write(".leftoff/workflows/train.toml", &definition());
    history.at("2026-11-12T08:30:00Z");
    let goal =
        format!("Ship 9.0 to all customers by 1 December. {}", "Every regression is listed. ".repeat(20));
    sandbox.run_as(READER, ["start", "train", "--id", "nine", "--goal", &goal, "--title", "Release 9"]).ok();
    sandbox.write(".leftoff/sessions/nine/Changelog.md", "New.\n");
    for number in 1..=8 {
        if number == 6 {
            sandbox.run_as_person(["skip", "--reason", "no builder this month"]).ok();
        } else {
            history.run(&[&format!("advance --phase p{number}")]);
        }
    }
    history.at("2026-11-12T09:00:00Z");
    for number in 1..=60 {
        history.run(&[&format!("item add Case~{number}:~a~flow~on~a~clean~machine --id case-{number}")]);
    }
    for number in 1..=23 {
        history.run(&[&format!("item done case-{number}")]);
    }
    history.run(&["item block case-30 --reason printer~is~broken"]);
    history.fails("advance --phase p9");
    history.notes(&[
        ("blocker", "The vendor must send a driver; ticket OPS-88"),
        ("decision", "Only x86-64 on Windows, because ARM has no signed driver"),
        ("tried", "Running cases in parallel: they share one database"),
        ("assumption", "Pilot customers have 8.4 or later"),
        ("note", "The lab has a new key"),
    ]);
    sandbox.write("scripts/smoke.sh", "1\n");
    history.commit("Smoke");
    history.run(&["pause --reason the~lab~is~closed --context case-24,~step~3~of~7"]);
    history.at("2026-11-16T08:00:00Z");
    history.run(&["resume"]);
    history.at("2026-11-16T08:10:00Z");
    check(
        sandbox,
        &Answers {
            goal: &["Goal: \"Ship 9.0 to all customers by 1 December."],
            done_with_what_proof: &[
                "1 Scope, 2 Freeze, 3 Changelog",
                "6 Build macOS (skipped",
                "8 Sign (no gate)",
            ],
            where_exactly: &[
                "Phase 9 of 15, **Smoke tests** (Do this part of the release",
                "7 of 15 phases done",
            ],
            why_paused: &[
                "## Paused 12 Nov, resumed 10 minutes ago\n\"the lab is closed\", in the middle of \"case-24, step 3 of 7\"",
            ],
            failed_last: &[
                "## Failed: attempt 1 of Smoke tests, 12 Nov 09:00 UTC\n- cases: \"23 of 60 are done\"\n",
            ],
            touched: &["scripts/smoke.sh"],
            decided: &["\"Only x86-64 on Windows, because ARM has no signed driver\" (12 Nov)"],
            blocked_open_assumed: &[
                "\"The vendor must send a driver; ticket OPS-88\" (blocker 1, 12 Nov)",
                "[!] case-30 Case 30: a flow on a clean machine: blocked: \"printer is broken\"",
                "\"Pilot customers have 8.4 or later\"",
            ],
            not_again: &[
                "Done: case-1, case-2, case-3",
                "\"Running cases in parallel: they share one database\"",
            ],
            next_command: &["\n`leftoff item claim case-24`\n"],
            who_else: &[],
            unverified: &["1 skipped"],
        },
    );
}
