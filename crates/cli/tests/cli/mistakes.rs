//! Mistakes of people and language models: each answer has the problem, an exit code and the next step.

use crate::fresh;

/// The words typed, the exit code, a part of the message, a part of the hint.
type Mistake = (&'static [&'static str], i32, &'static str, &'static str);

const OF_PEOPLE: [Mistake; 22] = [
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
    (&["--sesion", "login", "status"], 2, "unexpected argument '--sesion'", "did you mean --session?"),
    (
        &["close", "--reason", "x"],
        2,
        "unexpected argument '--reason'",
        "hint: record the reason first: leftoff note",
    ),
    (&["skip", "plan"], 2, "unexpected argument 'plan'", "leftoff skip --reason '<reason>'"),
    (&["fail", "broken"], 2, "unexpected argument 'broken'", "leftoff fail --error broken"),
    (&["init", "claude"], 2, "unexpected argument 'claude'", "leftoff init --agent claude"),
    (
        &["item", "add", "A", "B"],
        2,
        "unexpected argument 'B'",
        "quote the whole title: leftoff item add '<title>'",
    ),
    (&["item", "add"], 2, "<TITLE>", "usage: leftoff item add <TITLE>"),
    (&["bundle", "export", "x"], 2, "unrecognized subcommand 'export'", "leftoff bundle create '<file>'"),
    (&["list", "--limit", "3"], 2, "unexpected argument '--limit'", "leftoff list --help"),
    (&["pause", "-m", "lunch"], 2, "unexpected argument '-m'", "leftoff pause --reason '<reason>'"),
];

const OF_MODELS: [Mistake; 23] = [
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
    (
        &["status", "--session-id", "login"],
        2,
        "unexpected argument '--session-id'",
        "did you mean --session?",
    ),
    (&["note", "--message", "x"], 2, "unexpected argument '--message'", "hint: leftoff note '<text>'"),
    (
        &["note", "x", "--type", "decision"],
        2,
        "unexpected argument '--type'",
        "leftoff note '<text>' --kind decision",
    ),
    (&["status", "--all"], 2, "unexpected argument '--all'", "all sessions: leftoff list --all"),
    (&["advance", "--force"], 2, "unexpected argument '--force'", "only a person can pass a failed gate"),
    (&["advance", "--message", "x"], 2, "unexpected argument '--message'", "leftoff note '<text>'"),
    (&["item", "add", "--title", "x"], 2, "unexpected argument '--title'", "leftoff item add '<title>'"),
    (&["item", "done", "--id", "task-1"], 2, "unexpected argument '--id'", "leftoff item done '<item>'"),
    (&["item", "update", "task-1"], 2, "unrecognized subcommand 'update'", "leftoff item done '<item>'"),
    (&["start", "--workflow", "review"], 2, "unexpected argument '--workflow'", "leftoff start '<workflow>'"),
    (&["complete", "plan"], 2, "'plan' is a phase", "leftoff advance plan"),
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
            // The parser's own advice misleads: "to pass '--all' as a value, use '-- --all'".
            assert!(!told.contains("tip:"), "{words:?}: {told}");
        }
    }
}
