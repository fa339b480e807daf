//! The text that `init` adds to a project's instructions for agents (AGENTS.md, CLAUDE.md). `marked_section` inserts
//! it.

/// The section for Claude Code. Claude Code does not read AGENTS.md, so the section refers to it.
pub(super) const POINTER: &str = "Work in this project is tracked with leftoff; see @AGENTS.md.";

/// The section in AGENTS.md, and in the corresponding files of other agents.
pub(super) const AGENTS_SECTION: &str = "\
## Work here is tracked with leftoff

Another agent may have started this work, and another may continue it. leftoff keeps its state: read it first, and keep it up to date.

- `leftoff brief --format markdown` before you start, and after your conversation was compacted: the goal, finished work, failures, the next step. Do not redo finished work.
- `leftoff next`: the next step and its command.
- `leftoff advance --phase PHASE --evidence NAME=VALUE` when a phase is done. It runs the phase's gate: report only what is true, fix what the gate lists, try again.
- `leftoff note \"…\" --kind decision|tried|assumption|blocker|question`: what the next agent must know.
- `leftoff item claim ID`, then `leftoff item done ID`, in a phase with items: nobody else works on an item that you hold.

No active session? `leftoff start --goal \"…\"`. Only a person can approve or override: ask for it.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_for_agents_is_short() {
        assert!(AGENTS_SECTION.lines().count() + 2 <= 20);
        assert_eq!(AGENTS_SECTION.matches("\n- `leftoff ").count(), 5);
    }
}
