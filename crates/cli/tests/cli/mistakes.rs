//! Mistakes of people and language models: each answer has the problem, an exit code and the next step.

use crate::fresh;

/// The words typed, the exit code, a part of the message, a part of the hint.
type Mistake = (&'static [&'static str], i32, &'static str, &'static str);

const OF_PEOPLE: [Mistake; 12] = [
    (&["done"], 2, "unknown command 'done'", "leftoff advance"),
    (&["statsu"], 2, "unknown command 'statsu'", "leftoff status"),
    (&["finish"], 2, "unknown command 'finish'", "leftoff close"),
    (&["advance", "paln"], 3, "there is no phase 'paln'", "did you mean 'plan'"),
    (&["advance", "implement"], 4, "the current phase is 'plan'", "leftoff advance --phase plan"),
    (&["resume", "logni"], 3, "there is no session 'logni'", "login"),
    (&["start", "reviw"], 3, "there is no workflow 'reviw'", "review"),
    (&["start", "--goal", ""], 2, "the goal is empty", "leftoff start --goal"),
    (&["note", "x", "--kind", "decison"], 2, "unknown kind of note 'decison'", "did you mean 'decision'"),
    (&["close"], 4, "cannot close session login", "leftoff close --force"),
    (&["redo"], 4, "nothing to redo", "leftoff undo --to"),
    (&["undo"], 4, "cannot undo the start", "leftoff abandon"),
];

const OF_MODELS: [Mistake; 12] = [
    (&["complete_phase", "--phase", "plan"], 2, "unknown command 'complete_phase'", "leftoff advance"),
    (&["task", "list"], 2, "unknown command 'task'", "leftoff item list"),
    (&["create", "--goal", "x"], 2, "unknown command 'create'", "leftoff start"),
    (&["advance", "plan", "--evidence", "tests_passed"], 2, "no '='", "NAME=VALUE"),
    (&["advance", "plan", "--evidence", "coverage=<number>"], 2, "<number>", "hint: "),
    (&["advance", "plan"], 5, "PLAN.md is missing", "leftoff advance --phase plan"),
    (&["item", "complete", "task-9"], 3, "task-9", "leftoff item"),
    (&["skip", "--reason", "trivial"], 6, "needs a person", "hint: "),
    (&["advance", "plan", "--override", "trust me"], 6, "needs a person", "hint: "),
    (&["status", "--format", "json"], 2, "unexpected argument '--format'", "--help"),
    (&["brief", "--format", "yaml"], 2, "'yaml'", "markdown"),
    (&["store", "restore", "--replace", "--yes"], 3, "no backup", "leftoff store restore"),
];

#[test]
fn every_mistake_is_answered_with_what_is_wrong_and_what_to_do() {
    for (mistakes, agent) in [(&OF_PEOPLE[..], None), (&OF_MODELS[..], Some("claude:a4326893"))] {
        for (words, code, message, next) in mistakes {
            let sandbox = fresh();
            sandbox.run(["start", "--id", "login", "--goal", "No log-out"]).ok();
            let answer = match agent {
                Some(agent) => sandbox.run_as(agent, *words),
                None => sandbox.run(*words),
            };
            assert_eq!(answer.code, *code, "{words:?}: {}{}", answer.stdout, answer.stderr);
            let told = answer.stderr.replace("\n  ", " ");
            assert!(told.contains(message), "{words:?}: {message:?} is not in\n{told}");
            assert!(told.contains(next), "{words:?}: {next:?} is not in\n{told}");
        }
    }
}
