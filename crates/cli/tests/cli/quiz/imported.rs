//! Two sessions: one was started from a task list with a ticked task, and one was imported from a bundle into a clone
//! that does not have its workflow.

use super::{Answers, History, READER, check};

const LIST: &str = "# Upgrade to Node 24\n\n- [x] List the packages\n- [ ] Bump engines\n  - [ ] in api\n  - [ ] in web\n- [ ] Run the suite\n";

const CLAIMED: &str = "- Done only according to TODO.md: list-the-packages";

#[test]
fn a_session_from_a_task_list_answers_all_twelve() {
    let history = History::begin("chore/node");
    let sandbox = &history.sandbox;
    sandbox.write("TODO.md", LIST);
    history.commit("The list");
    history.at("2026-11-14T09:00:00Z");
    history.run(&["start --from TODO.md --id node --goal Run~on~Node~24"]);
    sandbox.write(".leftoff/sessions/node/PLAN.md", "The plan.\n");
    history.notes(&[
        ("decision", "npm stays at 10: its lock file is read by 9"),
        ("tried", "nvm in CI: the cache misses"),
        ("assumption", "There is an Alpine image"),
        ("question", "Who owns web?"),
    ]);
    let before = sandbox.run_as(READER, ["brief", "--format", "markdown"]).ok().stdout;
    assert!(before.contains(CLAIMED), "also before the phase of the tasks:\n{before}");
    history.run(&["advance --phase plan"]);
    sandbox.write("package.json", "{}\n");
    history.at("2026-11-14T09:10:00Z");
    history.fails("advance --phase implement");
    check(
        sandbox,
        &Answers {
            goal: &["Upgrade to Node 24", "Goal: \"Run on Node 24\""],
            done_with_what_proof: &["- 1 Plan (", "verified): .leftoff/sessions/node/PLAN.md"],
            where_exactly: &["Phase 2 of 3, **Implement**"],
            why_paused: &[],
            failed_last: &["## Failed: attempt 1 of Implement", "1 of 5 are done"],
            touched: &["package.json"],
            decided: &["\"npm stays at 10: its lock file is read by 9\""],
            blocked_open_assumed: &["\"Who owns web?\" (question", "\"There is an Alpine image\""],
            not_again: &["\"nvm in CI: the cache misses\""],
            next_command: &["\n`leftoff item claim in-api`\n"],
            who_else: &[],
            unverified: &[CLAIMED],
        },
    );
}

const OWN: &str = "name = \"own\"\nversion = \"1\"\n[[phase]]\nid = \"build\"\n[[phase]]\nid = \"check\"\n";

#[test]
fn a_run_whose_workflow_is_not_defined_here_says_so_and_prints_no_command_about_it() {
    let from = History::begin("main");
    from.sandbox.write(".leftoff/workflows/own.toml", OWN);
    from.run(&["start own --id moved --goal Move~house", "advance --phase build", "pause --reason the~van"]);
    let bundle = from.sandbox.folder().join("moved.bundle").display().to_string();
    from.sandbox.run_as(READER, ["bundle", "create", &bundle]).ok();
    let here = History::begin("main");
    here.sandbox.run_as(READER, ["bundle", "take", &bundle]).ok();
    let warning = "workflow 'own' is not defined in this project; the run keeps its original definition";
    for command in [&["brief", "--format", "markdown"][..], &["brief"], &["status"]] {
        let ran = here.sandbox.run_as(READER, command).ok();
        let told = crate::unbroken(&format!("{}{}", ran.stdout, ran.stderr));
        assert!(told.contains(warning) && !told.contains("workflow show"), "{command:?}: {told}");
    }
    here.run(&["resume moved", "advance --phase check"]);
}
