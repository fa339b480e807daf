//! Output in the words of the original program, for scripts that read its output. Makes no decisions.

use engine::words::one_line;
use engine::{RequirementList, RequirementView, SessionRecord, TrackedBranch};
use std::fmt::Write;

const LONGEST: usize = 200;

/// The part of the status to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Summary,
    /// Show only the requirements that are not satisfied.
    Focused,
    Whole,
}

/// The message for satisfied requirements. `at_branch` is true if they are satisfied for all agent sessions
/// of the branch.
pub fn satisfied(names: &[String], at_branch: bool, list: &RequirementList) -> String {
    let branch = branch(list);
    let find = |name: &String| list.requirements.iter().find(|one| one.name == *name);
    let scope = |name: &String| match find(name) {
        _ if at_branch => "branch",
        Some(one) => one.scope.name(),
        None => "session",
    };
    match names {
        [name] if at_branch => format!("✅ Satisfied '{}' at branch level for {branch}\n", cut(name)),
        [name] if find(name).is_some_and(|one| one.kind == "dynamic") => {
            format!("✅ Approved '{}' for {branch}\n", cut(name))
        }
        [name] => format!("✅ Satisfied '{}' for {branch} ({} scope)\n", cut(name), scope(name)),
        names => {
            let lines = names.iter().map(|name| format!("   - {} ({} scope)\n", cut(name), scope(name)));
            let first = format!("✅ Satisfied {} requirement(s) for {branch}\n", names.len());
            std::iter::once(first).chain(lines).collect()
        }
    }
}

/// The message for cleared requirements. If there are no names, all requirements were cleared.
pub fn cleared(names: &[String], list: &RequirementList) -> String {
    let branch = branch(list);
    if names.is_empty() {
        return format!("✅ Cleared all requirements for {branch}\n");
    }
    names.iter().map(|name| format!("✅ Cleared '{}' for {branch}\n", cut(name))).collect()
}

pub fn status(list: &RequirementList, look: Look) -> String {
    match look {
        Look::Summary => format!("{}\n", summary(list)),
        Look::Focused => focused(list),
        Look::Whole => whole(list),
    }
}

fn summary(list: &RequirementList) -> String {
    let open: Vec<String> = open(list).map(|one| cut(&one.name)).collect();
    let total = list.requirements.len();
    match (total, open.as_slice()) {
        (0, _) => "No requirements configured".to_owned(),
        (_, []) => format!("✅ All {total} requirements satisfied"),
        (_, open) => {
            let satisfied = total - open.len();
            format!("⚠️  {satisfied}/{total} requirements satisfied ({} needed)", open.join(", "))
        }
    }
}

fn focused(list: &RequirementList) -> String {
    let mut text = format!("📋 Requirements Status\nBranch: {}\n\n", branch(list));
    if list.requirements.is_empty() {
        text.push_str(
            "ℹ️  No requirements configured for this project.\n   Run 'req init' to set up requirements\n",
        );
        return text;
    }
    let names: Vec<String> = open(list).map(|one| cut(&one.name)).collect();
    if names.is_empty() {
        text.push_str("✅ All requirements satisfied\n\n💡 Use 'req status --verbose' for full details\n");
        return text;
    }
    text.push_str("❌ Unsatisfied Requirements:\n\n");
    for one in open(list) {
        let name = cut(&one.name);
        let _ = writeln!(text, "  • {name} ({} scope)\n    → req satisfy {name}", one.scope.name());
    }
    let _ = writeln!(text, "\n💡 Satisfy all: req satisfy {}", names.join(" "));
    text.push_str("   Use 'req status --verbose' for full details\n");
    text
}

fn whole(list: &RequirementList) -> String {
    let agent = list.agent_session.as_deref().unwrap_or("none");
    let mut text = format!("📋 Requirements Status\nBranch:  {}\nSession: {}\n\n", branch(list), cut(agent));
    if !list.warnings.is_empty() {
        text.push_str("⚠️  Configuration validation failed:\n");
        for warning in &list.warnings {
            let _ = writeln!(text, "   - {}", one_line(&warning.message, LONGEST));
        }
        text.push_str("   Fix .claude/requirements.yaml and rerun `req status`.\n\n");
    }
    for one in &list.requirements {
        let mark = if one.satisfied { "✅" } else { "❌" };
        let _ = writeln!(text, "  {mark} {} ({})", cut(&one.name), one.scope.name());
        if let Some(found) = &one.found {
            let _ = writeln!(text, "      {}", one_line(found, LONGEST));
        }
    }
    if list.requirements.is_empty() {
        text.push_str("ℹ️  No requirements configured.\n");
    }
    text
}

pub fn branches(tracked: &[TrackedBranch]) -> String {
    if tracked.is_empty() {
        return "ℹ️  No tracked branches in this project.\n".to_owned();
    }
    let line = |one: &TrackedBranch| format!("  {}: {} requirement(s)\n", cut(&one.branch), one.requirements);
    let first = format!("📋 Tracked Branches ({})\n", tracked.len());
    std::iter::once(first).chain(tracked.iter().map(line)).collect()
}

pub fn pruned(count: usize) -> String {
    format!("🧹 Cleaning up stale state files...\n✅ Removed {count} state file(s) for deleted branches\n")
}

/// The list of agent sessions. Live sessions come first, because the original program lists only these; then
/// come other recorded sessions.
pub fn sessions(sessions: &[SessionRecord], on_record: &str) -> String {
    let alive = sessions.iter().filter(|one| one.alive).count();
    match alive {
        0 => format!("ℹ️  No active Claude Code sessions found.\n{on_record}"),
        alive => format!("📋 Active Claude Code Sessions ({alive})\n{on_record}"),
    }
}

pub fn switched(name: Option<&str>, on: bool, path: &str) -> String {
    let (word, what) = (if on { "enabled" } else { "disabled" }, name.map(cut));
    match what {
        Some(name) => format!("✅ Updated {name}\n   Modified: {path}\n"),
        None => format!("✅ Requirements framework {word} for this project\n   Modified: {path}\n"),
    }
}

pub fn configured(name: &str, path: &str) -> String {
    format!("✅ Updated {}\n   Modified: {path}\n", cut(name))
}

pub fn created(preset: &str, path: &str) -> String {
    format!("✅ Created config ({preset} preset)\n   {path}\n")
}

pub fn verified(is_well: bool) -> &'static str {
    if is_well { "✅ Framework fully functional!\n" } else { "❌ Verification failed - issues found\n" }
}

fn open(list: &RequirementList) -> impl Iterator<Item = &RequirementView> {
    list.requirements.iter().filter(|one| !one.satisfied)
}

fn branch(list: &RequirementList) -> String {
    cut(list.branch.as_deref().unwrap_or_default())
}

fn cut(text: &str) -> String {
    one_line(text, LONGEST)
}
