//! The instructions that a client gets when it connects, before it calls a tool.

pub(crate) const INSTRUCTIONS: &str = "\
leftoff keeps the state of work that takes many steps, so that any agent can continue where the last one stopped. A session follows the phases of a workflow; each phase ends at a gate that checks evidence.
1. Call status (or brief) before you plan anything. 2. Do the current phase; call advance with the evidence that its gate requires; if the gate does not pass, fix what is missing and call again. 3. Record decisions, dead ends and blockers with note, and tasks with item; do not keep your own to-do list or state file. 4. Before you stop unfinished, call control with action pause.
Where a hint shows a command line, such as `leftoff advance --phase build --evidence 'tests=<number>'`, call the tool of that \
name with those arguments. `session` selects a session other than the current one. A call repeated with the same `key` counts once: use one when you retry. Only a person can approve or override: ask for it.";
