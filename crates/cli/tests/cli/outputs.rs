//! The most frequent outputs, compared as a whole: commands and everything that they print.
#![allow(clippy::too_many_lines, reason = "a transcript is as long as the work that it shows")]

use crate::fresh;

#[test]
fn a_session_from_start_to_finish() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.shows(
        r"
$ leftoff
Next: No active session. Start one:
  leftoff start
$ leftoff start --id login --goal 'No log-out while a tab is open'
login started: No log-out while a tab is open (plan-implement-review)
Next: Phase 1, Plan: Understand the task and the code it touches, then write
  down what will be built, in which steps, and how it will be accepted. Settle
  open questions now; do not write production code yet. Produces
  .leftoff/sessions/login/PLAN.md.
  leftoff advance --phase plan
$ leftoff next
Phase 1, Plan: Understand the task and the code it touches, then write down what will be built, in which steps, and how it will be accepted. Settle open questions now; do not write production code yet. Produces .leftoff/sessions/login/PLAN.md.
leftoff advance --phase plan
",
    );
    sandbox.at("2026-11-14T10:15:00Z");
    sandbox.shows(
        r"
$ leftoff status
login No log-out while a tab is open  active
Goal: No log-out while a tab is open
plan-implement-review v1, 0 of 3 phases done (0 %)
  [>] 1 Plan (for 15 min)
  [ ] 2 Implement
  [ ] 3 Review
Next: Phase 1, Plan: Understand the task and the code it touches, then write
  down what will be built, in which steps, and how it will be accepted. Settle
  open questions now; do not write production code yet. Produces…
  leftoff advance --phase plan
$ leftoff advance plan
error: the gate of phase 'plan' did not pass: plan (.leftoff/sessions/login/PLAN.md is missing)
hint: Write what will be built, in which steps, and how it will be accepted, into .leftoff/sessions/login/PLAN.md. Then try phase 1 (plan) again.
  leftoff advance --phase plan
[5]
$ leftoff gate
FAIL plan (artifact): .leftoff/sessions/login/PLAN.md is missing
     needs .leftoff/sessions/login/PLAN.md
     Write what will be built, in which steps, and how it will be accepted, into
       PLAN.md.
error: the gate of phase 'plan' would not pass
hint: fix what failed, then: leftoff gate
[5]
$ leftoff status
login No log-out while a tab is open  checkpoint_failed
Goal: No log-out while a tab is open
plan-implement-review v1, 0 of 3 phases done (0 %)
  [!] 1 Plan (for 15 min)
  [ ] 2 Implement
  [ ] 3 Review
Next: Write what will be built, in which steps, and how it will be accepted,
  into .leftoff/sessions/login/PLAN.md. Then try phase 1 (plan) again.
  leftoff advance --phase plan
",
    );
    sandbox.write(".leftoff/sessions/login/PLAN.md", "Rotate the token on every use.\n");
    sandbox.shows(
        r"
$ leftoff note 'Rotate on every use' --kind decision
login decision 1 recorded
$ leftoff note 'Certificate expired' --kind blocker
login blocker 2 recorded
Next: Note 2 blocks: settle it (leftoff note resolve 2), or do what does not
  need it. What was missing is there now: try phase 1 (plan) again.
  leftoff advance --phase plan
$ leftoff note resolve 2
login note 2 resolved
Next: What was missing is there now: try phase 1 (plan) again.
  leftoff advance --phase plan
$ leftoff item add 'Rotate refresh tokens'
login task-1 added to implement: Rotate refresh tokens
$ leftoff item add 'Cookie flags' --needs task-1
login task-2 added to implement: Cookie flags
$ leftoff item list
implement: 0 of 2 done
  [ ] task-1 Rotate refresh tokens: ready
  [!] task-2 Cookie flags: waits for task-1
",
    );
    sandbox.at("2026-11-14T10:40:00Z");
    sandbox.shows(
        r#"
$ leftoff advance plan
login 1 of 3 phases done (33 %)
Next: Item task-1: "Rotate refresh tokens" (0 of 2 items done)
  leftoff item claim task-1
$ leftoff advance plan
login phase 1 (plan) already completed; nothing changed
Next: Item task-1: "Rotate refresh tokens" (0 of 2 items done)
  leftoff item claim task-1
$ LEFTOFF_AGENT_SESSION=claude:a4326893 leftoff item claim
login task-1 claimed until 11:10 UTC: Rotate refresh tokens
Next: Item task-1: "Rotate refresh tokens" (yours until 11:10 UTC; 0 of 2 items
  done)
  leftoff item done task-1
$ leftoff item claim task-1
error: cannot claim item 'task-1': claude a4326893 holds it until 14 Nov 11:10:00 UTC
hint: claim the first free item: leftoff item claim
[4]
$ leftoff item list
implement: 0 of 2 done
  [~] task-1 Rotate refresh tokens: held by claude a4326893 until 11:10 UTC
  [!] task-2 Cookie flags: waits for task-1
$ LEFTOFF_AGENT_SESSION=claude:a4326893 leftoff item done task-1
login task-1 done: Rotate refresh tokens
Next: Item task-2: "Cookie flags" (1 of 2 items done)
  leftoff item claim task-2
$ LEFTOFF_AGENT_SESSION=claude:a4326893 leftoff advance implement
error: the gate of phase 'implement' did not pass: tasks (1 of 2 are done; unfinished: task-2)
hint: Item task-2: "Cookie flags" (1 of 2 items done)
  leftoff item claim task-2
[5]
$ leftoff status
login No log-out while a tab is open  checkpoint_failed
Goal: No log-out while a tab is open
plan-implement-review v1, 1 of 3 phases done (33 %)
  [x] 1 Plan (40 min), 2 attempts
  [!] 2 Implement (for 0 s)
  [ ] 3 Review
Items of implement: 1 of 2 done
Next: Item task-2: "Cookie flags" (1 of 2 items done)
  leftoff item claim task-2
"#,
    );
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.shows(
        r#"
$ leftoff pause --reason 'waiting for review' --context 'half of the tests'
login paused in phase 2 (implement)
Next: Continue with phase 2, Implement.
  leftoff resume login
$ leftoff status
login No log-out while a tab is open  paused
Goal: No log-out while a tab is open
Paused: waiting for review
In the middle of: half of the tests
plan-implement-review v1, 1 of 3 phases done (33 %)
  [x] 1 Plan (40 min), 2 attempts
  [!] 2 Implement (for 20 min)
  [ ] 3 Review
Items of implement: 1 of 2 done
Next: Continue with phase 2, Implement.
  leftoff resume login
$ leftoff resume
login continues in phase 2 (implement); paused 11:00 UTC: waiting for review, in the middle of: half of the tests
Next: Item task-2: "Cookie flags" (1 of 2 items done)
  leftoff item claim task-2
$ leftoff item done task-2
login task-2 done: Cookie flags
Next: What was missing is there now: try phase 2 (implement) again.
  leftoff advance --phase implement
$ leftoff advance implement
login 2 of 3 phases done (67 %)
Next: Phase 3, Review: Read the whole change as a critical reviewer who did not
  write it, compare it with the plan's acceptance, and fix what falls short. Say
  plainly what was left undone. Produces .leftoff/sessions/login/REVIEW.md.
  leftoff advance --phase review
"#,
    );
    sandbox.write(".leftoff/sessions/login/REVIEW.md", "Nothing was left undone.\n");
    sandbox.at("2026-11-14T11:30:00Z");
    sandbox.shows(
        r"
$ leftoff advance review
login 3 of 3 phases done (100 %)
Next: Finished; nothing remaining.
$ leftoff status
login No log-out while a tab is open  completed
Goal: No log-out while a tab is open
plan-implement-review v1, 3 of 3 phases done (100 %)
  [x] 1 Plan (40 min), 2 attempts
  [x] 2 Implement (20 min), 2 attempts
  [x] 3 Review (30 min)
Next: Finished; nothing remaining.
$ leftoff list
no unfinished sessions; see all: leftoff list --all
$ leftoff list --all
1  login  completed  3/3 review  just now  No log-out while a tab is open
$ leftoff next
Finished; nothing remaining.
$ leftoff verify
login No log-out while a tab is open
plan-implement-review v1, run 1
  ✓ plan verified: plan: .leftoff/sessions/login/PLAN.md (31 bytes)
  ✓ implement verified: steps; tasks: 2 of 2 are done
  ✓ review verified: review: .leftoff/sessions/login/REVIEW.md (25 bytes)
2 files as recorded
head <hash> (24 events)
proven
$ leftoff log
   1         10:00 UTC  anna              session started: No log-out while a tab is open
   2         10:00 UTC  anna              run 1 of plan-implement-review v1 started, 3 phases
   3         10:00 UTC  anna              phase plan started
   4         10:15 UTC  anna              gate of plan did not pass: plan
   5         10:15 UTC  anna              decision 1: Rotate on every use
   6         10:15 UTC  anna              blocker 2: Certificate expired
   7         10:15 UTC  anna              note 2 resolved
   8         10:15 UTC  anna              item task-1 added: Rotate refresh tokens
   9         10:15 UTC  anna              item task-2 added, after task-1: Cookie flags
  10         10:40 UTC  anna              file .leftoff/sessions/login/PLAN.md recorded, version 1, 31 bytes
  11         10:40 UTC  anna              phase plan completed
  12         10:40 UTC  anna              phase implement started
  13         10:40 UTC  claude a4326893   item task-1 claimed for 30 min
  14         10:40 UTC  claude a4326893   item task-1 done
  15         10:40 UTC  claude a4326893   gate of implement did not pass: tasks
  16         11:00 UTC  anna              paused: waiting for review, in the middle of half of the tests
  17         11:00 UTC  anna              resumed
  18         11:00 UTC  anna              item task-2 done
  19         11:00 UTC  anna              phase implement completed
  20         11:00 UTC  anna              phase review started
  21         11:30 UTC  anna              file .leftoff/sessions/login/REVIEW.md recorded, version 1, 25 bytes
  22         11:30 UTC  anna              phase review completed
  23         11:30 UTC  anna              run completed
  24         11:30 UTC  anna              session completed
",
    );
}

#[test]
fn the_brief_for_the_next_agent() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--id", "login", "--goal", "No log-out while a tab is open"]).ok();
    sandbox.at("2026-11-14T10:15:00Z");
    sandbox.run(["note", "Rotate on every use", "--kind", "decision"]).ok();
    sandbox.run(["note", "Longer timeout", "--kind", "tried"]).ok();
    sandbox.run(["note", "Which key?", "--kind", "question"]).ok();
    sandbox.run(["item", "add", "Rotate refresh tokens"]).ok();
    sandbox.at("2026-11-14T10:40:00Z");
    sandbox.shows(
        r#"
$ LEFTOFF_AGENT_SESSION=claude:a4326893 leftoff advance plan
error: the gate of phase 'plan' did not pass: plan (.leftoff/sessions/login/PLAN.md is missing)
hint: Write what will be built, in which steps, and how it will be accepted, into .leftoff/sessions/login/PLAN.md. Then try phase 1 (plan) again.
  leftoff advance --phase plan
[5]
$ LEFTOFF_AGENT_SESSION=claude:a4326893 leftoff brief --format markdown
# Where you left off (session login)
Goal: "No log-out while a tab is open"
Phase 1 of 3, **Plan** (Understand the task and the code it touches, then write down what will be built, in which steps, and how it will be accepted. Settle open questions now; do not write production code yet), for 40 min. 0 of 3 phases done (0 %). Workflow plan-implement-review v1, branch main. Started 40 minutes ago. Last change by claude a4326893, just now.

## Next
Write what will be built, in which steps, and how it will be accepted, into .leftoff/sessions/login/PLAN.md. Then try phase 1 (plan) again.
`leftoff advance --phase plan`

## Failed: attempt 1 of Plan, 10:40 UTC
- plan: ".leftoff/sessions/login/PLAN.md is missing". Write what will be built, in which steps, and how it will be accepted, into PLAN.md.

## Blocked or open
- "Which key?" (question 3, 25 minutes ago, anna)
Once settled: `leftoff note resolve 3`

## Items
- 2 Implement: 0 of 1 done

## Decided
- "Rotate on every use" (25 minutes ago, anna)

## Tried, did not work
- "Longer timeout" (25 minutes ago, anna)
"#,
    );
    sandbox.at("2026-11-17T09:00:00Z");
    sandbox.shows(
        r#"
$ leftoff brief
Where you left off (session login)
Goal: "No log-out while a tab is open"
Phase 1 of 3, Plan (Understand the task and the code it touches, then write down
what will be built, in which steps, and how it will be accepted. Settle open
questions now; do not write production code yet), for 1 day. Paused 15 Nov:
"inactivity". 0 of 3 phases done (0 %). Workflow plan-implement-review v1,
branch main. Started 14 Nov. Last change by claude a4326893, 14 Nov.

Next:
Continue with phase 1, Plan.
  leftoff resume login

Failed: attempt 1 of Plan, 14 Nov 10:40 UTC
- plan: ".leftoff/sessions/login/PLAN.md is missing". Write what will be built,
  in which steps, and how it will be accepted, into PLAN.md.

Blocked or open:
- "Which key?" (question 3, 14 Nov, anna)
Once settled: `leftoff note resolve 3`

Items:
- 2 Implement: 0 of 1 done

Decided:
- "Rotate on every use" (14 Nov, anna)

Tried, did not work:
- "Longer timeout" (14 Nov, anna)
"#,
    );
}

#[test]
fn several_sessions_and_ways_back() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--id", "login", "--goal", "No log-out"]).ok();
    sandbox.shows(
        r"
$ leftoff start --id search --goal Search
search started: Search (plan-implement-review)
Next: Phase 1, Plan: Understand the task and the code it touches, then write
  down what will be built, in which steps, and how it will be accepted. Settle
  open questions now; do not write production code yet. Produces
  .leftoff/sessions/search/PLAN.md.
  leftoff advance --phase plan
paused login (No log-out)
$ leftoff list
* 2  search  active  0/3 plan  just now  Search
  1  login   paused  0/3 plan  just now  No log-out
$ leftoff switch login
login is now active
Next: Phase 1, Plan: Understand the task and the code it touches, then write
  down what will be built, in which steps, and how it will be accepted. Settle
  open questions now; do not write production code yet. Produces
  .leftoff/sessions/login/PLAN.md.
  leftoff advance --phase plan
paused search (Search)
$ leftoff resume nothing
error: there is no session 'nothing'
hint: see all sessions: leftoff list --all
[3]
$ leftoff undo
login is back at version 4
Next: Continue with phase 1, Plan.
  leftoff resume login
undid 5: resumed (anna)
files and claims are unchanged; to revert this: leftoff redo
$ leftoff redo
login is back at version 5
Next: Phase 1, Plan: Understand the task and the code it touches, then write
  down what will be built, in which steps, and how it will be accepted. Settle
  open questions now; do not write production code yet. Produces
  .leftoff/sessions/login/PLAN.md.
  leftoff advance --phase plan
restored 5: resumed (anna)
files and claims are unchanged; to revert this: leftoff undo
$ leftoff checkpoint -m here
login checkpoint at version 8
$ leftoff diff here
login, version 8 to 8
nothing changed
$ leftoff close
error: cannot close session login: 0 of 3 phases of 'plan-implement-review' are done
hint: continue with phase 'plan', or close the session unfinished: leftoff close --force --session login
[4]
$ leftoff close --force
login completed, 0 of 3 phases done (0 %)
Next: Closed unfinished. Session search is paused; to continue it:
  leftoff resume search
$ leftoff status
login No log-out  completed
Goal: No log-out
Closed unfinished.
plan-implement-review v1, 0 of 3 phases done (0 %)
  [>] 1 Plan (for 0 s)
  [ ] 2 Implement
  [ ] 3 Review
Next: Closed unfinished. Session search is paused; to continue it:
  leftoff resume search
$ leftoff reopen
login reopened in phase 1 (plan)
Next: Phase 1, Plan: Understand the task and the code it touches, then write
  down what will be built, in which steps, and how it will be accepted. Settle
  open questions now; do not write production code yet. Produces
  .leftoff/sessions/login/PLAN.md.
  leftoff advance --phase plan
$ leftoff abandon --reason done
login abandoned
Next: Abandoned. Session search is paused; to continue it: leftoff resume search
$ leftoff status
login No log-out  abandoned
Goal: No log-out
Abandoned: done
plan-implement-review v1, 0 of 3 phases done (0 %)
  [>] 1 Plan (for 0 s)
  [ ] 2 Implement
  [ ] 3 Review
Next: Abandoned. Session search is paused; to continue it: leftoff resume search
$ leftoff list --all
1  login   abandoned  0/3 plan  just now  No log-out
2  search  paused     0/3 plan  just now  Search
$ leftoff show 9
error: there is no session '9'
hint: see all sessions: leftoff list --all
[3]
",
    );
}

#[test]
fn setting_up_a_project_and_its_agents() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.shows(
        r"
$ leftoff init
made /project/.leftoff/config.toml
made /project/.leftoff/.gitignore
made /project/.git/leftoff/leftoff.db
Next: leftoff start --goal '<goal>'; to connect an agent: leftoff init --agent claude
$ leftoff init
kept /project/.leftoff/config.toml
kept /project/.leftoff/.gitignore
kept /project/.git/leftoff/leftoff.db
Next: leftoff start --goal '<goal>'; to connect an agent: leftoff init --agent claude
$ leftoff init --agent claude
kept /project/.leftoff/config.toml
kept /project/.leftoff/.gitignore
kept /project/.git/leftoff/leftoff.db
made /project/.claude/settings.json
made /project/.mcp.json
made /project/AGENTS.md
Claude Code's hooks take effect with its next conversation.
warning: agents will run 'leftoff', but no such program is in your PATH
Next: leftoff start --goal '<goal>', then open Claude Code here: its conversation starts with the brief.
$ leftoff doctor
not_in_path: agents run 'leftoff', but no such program is in the PATH
  install it in a folder of the PATH, such as ~/.local/bin
claude is connected in /project/.claude/settings.json, /project/.mcp.json
error: 1 finding
[4]
$ leftoff init --agent claude --remove
removed /project/.claude/settings.json
removed /project/.mcp.json
removed /project/AGENTS.md
$ leftoff sync status
Sessions of this project are not shared. Enable it: leftoff init --sync
$ leftoff sync
error: sessions of this project are not shared
hint: enable sharing: leftoff init --sync
[4]
$ leftoff store backups
no backups yet; the first is made after an hour of work; make one now: leftoff store backup FILE
$ leftoff workflow list
ccw                       built-in  3 phases  Claude-Code-Workflow
essay                     built-in  4 phases  Essay
map                       built-in  6 phases  Code review map
plan-implement-review     built-in  3 phases  Plan, implement, review
review                    built-in  8 phases  Code review
spec                      built-in  6 phases  Implement a specification
$ leftoff workflow new ship
/project/.leftoff/workflows/ship.toml
Edit it, then: leftoff workflow check ship && leftoff start ship
$ leftoff workflow check ship
1 definition, no mistakes
$ leftoff start ship --id s --goal Ship
s started: Ship (ship)
Next: Phase 1, Plan: Agree on what will be built and how it is accepted. Write
  both into PLAN.md. Produces .leftoff/sessions/s/PLAN.md.
  leftoff advance --phase plan
$ leftoff init --agent vim
error: unknown agent 'vim'
hint: the agents: claude, codex, gemini, cursor, copilot, opencode
[2]
",
    );
}

#[test]
fn a_person_decides() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.write(".leftoff/workflows/ship.toml", "name = \"ship\"\nversion = \"1\"\n\n[[phase]]\nid = \"design\"\n\n  [[phase.check]]\n  id = \"agreed\"\n  kind = \"approval\"\n\n[[phase]]\nid = \"build\"\n\n  [[phase.check]]\n  id = \"tests\"\n  kind = \"command\"\n  run = \"test -f done.txt\"\n");
    sandbox.shows(
        r"
$ leftoff start ship --id s
s started: main (ship)
Next: Phase 1, design.
  leftoff advance --phase design
$ leftoff advance design
error: the gate of phase 'design' did not pass: agreed (not approved yet)
hint: Needs approval by a person: leftoff approve agreed. Then try phase 1 (design) again.
  leftoff approve agreed
[5]
$ LEFTOFF_AGENT_SESSION=claude:a4326893 leftoff approve agreed
error: approving a check needs a person at a terminal; this runs under claude
hint: ask a person to run this command in a terminal; `[policy]` in .leftoff/config.toml can allow it for anyone
[6]
$ person leftoff approve agreed
s agreed approved
Next: What was missing is there now: try phase 1 (design) again.
  leftoff advance --phase design
$ leftoff advance design
s 1 of 2 phases done (50 %)
Next: Phase 2, build.
  leftoff advance --phase build
$ leftoff advance build
error: the gate of phase 'build' did not pass: tests (the command is not trusted on this machine)
hint: A person must review the commands and trust them: leftoff trust ship. Then try phase 2 (build) again.
  leftoff trust ship
[5]
$ person leftoff trust ship --yes
trusted here: 1 command of ship
build/tests:
    test -f done.txt
",
    );
    sandbox.at("2026-11-14T10:05:00Z");
    sandbox.shows(
        r"
$ leftoff next
What was missing is there now: try phase 2 (build) again.
leftoff advance --phase build
$ leftoff advance build
error: the gate of phase 'build' did not pass: tests (exited with 1 after 0 s)
hint: What was missing is there now: try phase 2 (build) again.
  leftoff advance --phase build
[5]
$ LEFTOFF_AGENT_SESSION=claude:a4326893 leftoff skip --reason trivial
error: skipping a phase that has a gate needs a person at a terminal; this runs under claude
hint: ask a person to run this command in a terminal; `[policy]` in .leftoff/config.toml can allow it for anyone
[6]
$ LEFTOFF_AGENT_SESSION=claude:a4326893 leftoff advance build --override 'trust me'
error: passing a gate by --override needs a person at a terminal; this runs under claude
hint: ask a person to run this command in a terminal; `[policy]` in .leftoff/config.toml can allow it for anyone
[6]
$ leftoff verify
s main
ship v1, run 1
  ✓ design verified: agreed: approved by anna, just now
  ✗ build open
head <hash> (9 events)
error: not proven: phase build is open
[5]
",
    );
}
