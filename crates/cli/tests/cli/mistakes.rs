//! Mistakes of people and language models, each with the whole answer to it: the problem, the next step, the
//! exit code.

use crate::fresh;

/// Mistakes of people. Each is made in its own project, with a session `login` in its first phase.
const OF_PEOPLE: &str = r#"
$ leftoff done
error: unknown command 'done'
hint: if a phase is done: leftoff advance; if an item is done: leftoff item done '<item>'; if the session is over: leftoff close
[2]
$ leftoff statsu
error: unknown command 'statsu'
hint: did you mean: leftoff status
[2]
$ leftoff finish
error: unknown command 'finish'
hint: if a phase is done: leftoff advance; if an item is done: leftoff item done '<item>'; if the session is over: leftoff close
[2]
$ leftoff advance paln
error: there is no phase 'paln' in workflow 'plan-implement-review'
hint: did you mean 'plan'? The phases are plan, implement, review
[3]
$ leftoff advance implement
error: cannot complete phase 'implement': the current phase is 'plan'
hint: complete 'plan' first: leftoff advance --phase plan --session login
[4]
$ leftoff resume logni
error: there is no session 'logni'
hint: did you mean 'login'? See all sessions: leftoff list --all
[3]
$ leftoff start reviw
error: there is no workflow 'reviw'
hint: did you mean 'review'? The workflows are ccw, essay, map, plan-implement-review, review, spec
[3]
$ leftoff start --goal ''
error: the goal is empty
hint: say what the work should achieve: leftoff start --goal '<goal>'
[2]
$ leftoff note x --kind decison
error: unknown kind of note 'decison'
hint: did you mean 'decision'?
[2]
$ leftoff close
error: cannot close session login: 0 of 3 phases of 'plan-implement-review' are done
hint: continue with phase 'plan', or close the session unfinished: leftoff close --force --session login
[4]
$ leftoff redo
error: nothing to redo in session login: its last change is not an undo
hint: see the numbers of all versions: leftoff log; return to a version: leftoff undo --to '<version>'
[4]
$ leftoff undo
error: cannot undo the start of session login
hint: abandon the session instead: leftoff abandon --session login
[4]
$ leftoff --sesion login status
error: unexpected argument '--sesion' found
hint: did you mean --session?; all options: leftoff status --help
[2]
$ leftoff close --reason x
error: unexpected argument '--reason' found
hint: record the reason first: leftoff note '<reason>'; all options: leftoff close --help
[2]
$ leftoff skip plan
error: unexpected argument 'plan' found
hint: only the current phase can be skipped: leftoff skip --reason '<reason>'; all options: leftoff skip --help
[2]
$ leftoff fail broken
error: unexpected argument 'broken' found
hint: leftoff fail --error broken; all options: leftoff fail --help
[2]
$ leftoff init claude
error: unexpected argument 'claude' found
hint: leftoff init --agent claude; all options: leftoff init --help
[2]
$ leftoff item add A B
error: unexpected argument 'B' found
hint: quote the whole title: leftoff item add 'A B'; all options: leftoff item add --help
[2]
$ leftoff item add
error: the following required arguments were not provided: <TITLE>
hint: usage: leftoff item add <TITLE>; all options: leftoff item add --help
[2]
$ leftoff bundle export x
error: unrecognized subcommand 'export'
hint: leftoff bundle create '<file>'; all options: leftoff bundle --help
[2]
$ leftoff list --limit 3
error: unexpected argument '--limit' found
hint: usage: leftoff list; all options: leftoff list --help
[2]
$ leftoff pause -m lunch
error: unexpected argument '-m' found
hint: leftoff pause --reason '<reason>'; all options: leftoff pause --help
[2]
$ leftoff start fix the bug
error: unexpected argument 'the' found
hint: this looks like a goal: leftoff start --goal 'fix the bug'; all options: leftoff start --help
[2]
$ leftoff start --goal Fix the bug
error: unexpected argument 'bug' found
hint: this looks like a goal: leftoff start --goal 'Fix the bug'; all options: leftoff start --help
[2]
$ leftoff start 'fix the bug'
error: "fix the bug" cannot be a workflow's name: ' ' is not allowed in it
hint: this looks like a goal: leftoff start --goal 'fix the bug'
[2]
$ leftoff workflow new 'My flow'
error: "My flow" cannot be a workflow's name: ' ' is not allowed in it
hint: use letters, digits, '-' and '_': leftoff workflow new my-flow
[2]
$ leftoff pause for lunch
error: unexpected argument 'lunch' found
hint: leftoff pause --reason 'for lunch'; all options: leftoff pause --help
[2]
$ leftoff checkpoint before it
error: unexpected argument 'before' found
hint: leftoff checkpoint -m 'before it'; all options: leftoff checkpoint --help
[2]
$ leftoff item done 1
error: there is no item '1' in this session
hint: see all items: leftoff item list --all
[3]
$ leftoff import tasks.md
error: tasks.md is not a session: there is no such file, folder or session
hint: see the sessions here: leftoff list --all
[3]
$ leftoff start --from tasks.md
error: there is no file or folder tasks.md
hint: name a task list, or a folder with one
[2]
$ leftoff list --paused
error: unexpected argument '--paused' found
hint: leftoff list --all; all options: leftoff list --help
[2]
$ leftoff connect claude
error: unknown command 'connect'
hint: leftoff init --agent claude
[2]
$ leftoff uninstall
error: unknown command 'uninstall'
hint: leftoff init --remove
[2]
$ leftoff version
error: unknown command 'version'
hint: leftoff --version
[2]
$ leftoff rename Log-in
error: unknown command 'rename'
hint: a session keeps its title and goal; record a change as a decision: leftoff note '<text>' --kind decision
[2]
$ leftoff archive
error: unknown command 'archive'
hint: abandon a session and archive its files: leftoff abandon; see all sessions: leftoff list --all
[2]
$ leftoff cancel
error: unknown command 'cancel'
hint: undo your last command: leftoff undo; abandon a session: leftoff abandon
[2]
$ leftoff undo --all
error: unexpected argument '--all' found
hint: choose a version to return to: leftoff undo --to '<version>'; all options: leftoff undo --help
[2]
$ leftoff bundle take nowhere.leftoff
error: reading nowhere.leftoff: No such file or directory (os error 2)
hint: make sure that the file or folder exists, then run the command again
[1]
$ leftoff help fases
error: unknown command 'fases'
hint: see all commands: leftoff help
[2]
"#;

const OF_MODELS: &str = r#"
$ leftoff complete_phase --phase plan
error: unknown command 'complete_phase'
hint: leftoff advance
[2]
$ leftoff task list
error: unknown command 'task'
hint: leftoff item list or leftoff item add '<title>'
[2]
$ leftoff create --goal x
error: unknown command 'create'
hint: start a session: leftoff start --goal '<goal>'; add an item: leftoff item add '<title>'
[2]
$ leftoff advance plan --evidence tests_passed
error: invalid value 'tests_passed' for '--evidence <K=V>': there is no '='; write NAME=VALUE
hint: see all options: leftoff advance --help
[2]
$ leftoff advance plan --evidence 'coverage=<number>'
error: 'coverage=<number>' is a placeholder, not a value; nothing was done
hint: replace it with the value of coverage
[2]
$ leftoff advance plan
error: the gate of phase 'plan' did not pass: plan (.leftoff/sessions/login/PLAN.md is missing)
hint: Write what will be built, in which steps, and how it will be accepted, into .leftoff/sessions/login/PLAN.md. Then try phase 1 (plan) again.
  leftoff advance --phase plan
[5]
$ leftoff item complete task-9
error: there is no item 'task-9' in this session
hint: see all items: leftoff item list --all
[3]
$ leftoff skip --reason trivial
error: skipping a phase that has a gate needs a person at a terminal; this runs under claude
hint: ask a person to run this command in a terminal; `[policy]` in .leftoff/config.toml can allow it for anyone
[6]
$ leftoff advance plan --override 'trust me'
error: passing a gate by --override needs a person at a terminal; this runs under claude
hint: ask a person to run this command in a terminal; `[policy]` in .leftoff/config.toml can allow it for anyone
[6]
$ leftoff status --format json
error: unexpected argument '--format' found
hint: as JSON: leftoff status --json; all options: leftoff status --help
[2]
$ leftoff brief --budget small
error: invalid value 'small' for '--budget <TOKENS>': write a whole number
hint: see all options: leftoff brief --help
[2]
$ leftoff session list
error: unknown command 'session'
hint: leftoff list
[2]
$ leftoff brief --format yaml
error: invalid value 'yaml' for '--format <FORMAT>' [possible values: text, markdown, json, html]
hint: see all options: leftoff brief --help
[2]
$ leftoff status --session-id login
error: unexpected argument '--session-id' found
hint: did you mean --session?; all options: leftoff status --help
[2]
$ leftoff note --message x
error: unexpected argument '--message' found
hint: leftoff note '<text>'; all options: leftoff note --help
[2]
$ leftoff note x --type decision
error: unexpected argument '--type' found
hint: leftoff note '<text>' --kind decision; all options: leftoff note --help
[2]
$ leftoff status --all
error: unexpected argument '--all' found
hint: all sessions: leftoff list --all; all options: leftoff status --help
[2]
$ leftoff advance --force
error: unexpected argument '--force' found
hint: only a person can override a failed gate: leftoff advance --override '<reason>'; all options: leftoff advance --help
[2]
$ leftoff advance --message x
error: unexpected argument '--message' found
hint: add a remark as a note: leftoff note '<text>'; all options: leftoff advance --help
[2]
$ leftoff item add --title x
error: unexpected argument '--title' found
hint: leftoff item add '<title>'; all options: leftoff item add --help
[2]
$ leftoff item done --id task-1
error: unexpected argument '--id' found
hint: leftoff item done '<item>'; all options: leftoff item done --help
[2]
$ leftoff item update task-1
error: unrecognized subcommand 'update'
hint: mark an item as done: leftoff item done '<item>'; all options: leftoff item --help
[2]
$ leftoff start --workflow review
error: unexpected argument '--workflow' found
hint: leftoff start '<workflow>' --goal '<goal>'; all options: leftoff start --help
[2]
$ leftoff complete plan
error: 'plan' is a phase, not a session
hint: complete the phase: leftoff advance plan
[2]
$ leftoff store restore --replace --yes
error: there is no backup of /project/.git/leftoff/leftoff.db
hint: name a backup that you have: leftoff store restore '<file>'
[3]
$ leftoff handover
error: unknown command 'handover'
hint: leftoff brief
[2]
$ leftoff complete_task task-1
error: unknown command 'complete_task'
hint: leftoff item done '<item>'
[2]
$ leftoff note x --decision
error: unexpected argument '--decision' found
hint: leftoff note '<text>' --kind decision; all options: leftoff note --help
[2]
$ leftoff note x --tried
error: unexpected argument '--tried' found
hint: leftoff note '<text>' --kind tried; all options: leftoff note --help
[2]
$ leftoff brief --markdown
error: unexpected argument '--markdown' found
hint: leftoff brief --format markdown; all options: leftoff brief --help
[2]
$ leftoff exec env
error: unexpected argument 'env' found
hint: leftoff exec -- env; all options: leftoff exec --help
[2]
$ leftoff item add write a test
error: unexpected argument 'a' found
hint: quote the whole title: leftoff item add 'write a test'; all options: leftoff item add --help
[2]
$ leftoff advance plan --evidence '{"n": 1}'
error: invalid value '{"n": 1}' for '--evidence <K=V>': give each value with an option of its own: 'n=1'
hint: see all options: leftoff advance --help
[2]
$ leftoff close --force
error: closing a session with unfinished phases needs a person at a terminal; this runs under claude
hint: ask a person to run this command in a terminal; `[policy]` in .leftoff/config.toml can allow it for anyone
[6]
$ leftoff approve plan
error: approving a check needs a person at a terminal; this runs under claude
hint: ask a person to run this command in a terminal; `[policy]` in .leftoff/config.toml can allow it for anyone
[6]
"#;

#[test]
fn a_persons_mistake_is_answered_with_what_is_wrong_and_what_to_do() {
    each_is_answered(OF_PEOPLE, "leftoff");
}

#[test]
fn a_models_mistake_is_answered_with_what_is_wrong_and_what_to_do() {
    each_is_answered(OF_MODELS, "LEFTOFF_AGENT_SESSION=claude:a4326893 leftoff");
}

fn each_is_answered(mistakes: &str, who: &str) {
    const MOST_LINES: usize = 5;
    testkit::assert_transcript(mistakes, |line| {
        let sandbox = fresh();
        sandbox.at("2026-11-14T10:00:00Z").run(["start", "--id", "login", "--goal", "No log-out"]).ok();
        let answer = sandbox.printed(&line.replacen("leftoff", who, 1));
        assert!(answer.lines().count() <= MOST_LINES + 1, "{line}: {answer}");
        // The parser's own tips mislead: "to pass '--all' as a value, use '-- --all'".
        assert!(!answer.contains("tip:"), "{line}: {answer}");
        answer
    });
}

/// Earlier releases recorded these mistakes, or answered with another mistake than the one that was made.
#[test]
fn what_was_meant_is_named_and_nothing_is_recorded() {
    let sandbox = fresh();
    sandbox.run(["start", "--id", "login"]).ok();
    sandbox.run(["note", "How long does a cookie live?", "--kind", "question"]).ok();
    let before = sandbox.run(["show", "--json"]).ok().json();
    for (words, message, hint) in [
        (
            ["note", "resolve", "1", "30 minutes"].as_slice(),
            "'resolve' takes only the number of a note; nothing was changed",
            "leftoff note '<answer>' --kind decision; then: leftoff note resolve 1",
        ),
        (
            &["advance", "--phase", "plan", "--evidence", "coverage=90", "tests_passed=12"],
            "'tests_passed=12' is not a phase",
            "--evidence tests_passed=12",
        ),
        (&["pause", "--reason", ""], "the reason is empty", "in a few words"),
        (&["abandon", "--reason", " "], "the reason is empty", "in a few words"),
    ] {
        let refused = sandbox.run(words.iter().copied()).code(2).stderr;
        assert!(refused.contains(message) && refused.contains(hint), "{words:?}: {refused}");
    }
    assert_eq!(sandbox.run(["show", "--json"]).ok().json()["version"], before["version"]);
}
