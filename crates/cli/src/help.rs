//! Help in addition to that of the parser: commands in groups, and pages about concepts. Does not read the
//! project.

use crate::arguments::subcommand;
use std::ffi::OsString;

/// The groups of commands in `leftoff help`. Everyday commands come first.
pub const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Every day",
        &["start", "status", "next", "advance", "note", "brief", "pause", "resume", "undo", "redo"],
    ),
    (
        "Phases and gates",
        &["gate", "approve", "retry", "skip", "rollback", "revisit", "fail", "verify", "trust", "run"],
    ),
    ("Items and files", &["item", "artifact", "set", "checkpoint", "diff"]),
    ("Sessions", &["list", "show", "switch", "close", "abandon", "reopen"]),
    ("Looking", &["progress", "serve", "history", "log"]),
    (
        "Agents and other tools",
        &["exec", "req", "hook", "mcp", "statusline", "import", "export", "bundle", "sync"],
    ),
    ("Setting up", &["init", "workflow", "store", "doctor", "repair", "purge", "completions", "man"]),
];

/// The pages about concepts, each with its name.
const TOPICS: [(&str, &str); 8] = [
    ("sessions", include_str!("help/sessions.md")),
    ("gates", include_str!("help/gates.md")),
    ("items", include_str!("help/items.md")),
    ("notes", include_str!("help/notes.md")),
    ("agents", include_str!("help/agents.md")),
    ("people", include_str!("help/people.md")),
    ("undo", include_str!("help/undo.md")),
    ("files", include_str!("help/files.md")),
];

/// The help to print. In the help of the program itself, commands are in groups.
pub fn grouped_if_root(help: String, arguments: &[OsString]) -> String {
    match subcommand(arguments) {
        Some(_) => help,
        None => grouped(&help),
    }
}

/// The help of the program, with its commands in groups.
fn grouped(help: &str) -> String {
    const HEADING: &str = "Commands:\n";
    let Some((before, rest)) = help.split_once(HEADING) else { return help.to_owned() };
    let (commands, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
    let line = |name: &&str| {
        let is_it = |line: &&str| line.split_whitespace().next() == Some(name);
        commands.lines().find(is_it).map(|line| format!("{line}\n")).unwrap_or_default()
    };
    let groups = GROUPS.iter().map(|(title, names)| {
        let lines: String = names.iter().map(line).collect();
        format!("{title}:\n{lines}\n")
    });
    let topics: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
    format!(
        "{before}{}Topics: leftoff help TOPIC\n  {}\n\n{after}",
        groups.collect::<String>(),
        topics.join(", ")
    )
}

/// Words that are accepted instead of a topic's name.
const SAME_TOPIC: [(&str, &str); 9] = [
    ("session", "sessions"),
    ("phase", "sessions"),
    ("phases", "sessions"),
    ("workflows", "sessions"),
    ("check", "gates"),
    ("checks", "gates"),
    ("tasks", "items"),
    ("database", "files"),
    ("hooks", "agents"),
];

/// The page that `leftoff help TOPIC` prints. `None` if there is no such topic.
pub fn topic(name: &str) -> Option<&'static str> {
    let name = SAME_TOPIC.iter().find(|(other, _)| *other == name).map_or(name, |(_, topic)| topic);
    TOPICS.iter().find(|(topic, _)| *topic == name).map(|(_, page)| *page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_is_in_one_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let all: BTreeSet<&str> = commands::names().collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), all);
        assert_eq!(grouped.len(), all.len());
    }

    /// On a terminal of 80 columns, the groups have one line for each command, so a longer description would
    /// be cut.
    #[test]
    fn every_command_is_described_on_one_line() {
        for command in commands::parser(None).get_subcommands() {
            let about = command.get_about().expect("a description").to_string();
            assert!(about.len() <= 64, "{}: {} characters", command.get_name(), about.len());
        }
    }

    #[test]
    fn no_command_is_called_a_topic() {
        let all: BTreeSet<&str> = commands::names().collect();
        for (name, _) in TOPICS {
            assert!(!all.contains(name) || name == "undo", "{name}");
        }
        for (other, name) in SAME_TOPIC {
            assert!(!all.contains(other) && TOPICS.iter().any(|(topic, _)| *topic == name), "{other}");
        }
    }

    #[test]
    fn commands_on_concept_pages_exist() {
        let all: BTreeSet<&str> = commands::names().collect();
        for (name, page) in TOPICS {
            let shown: Vec<&str> =
                page.lines().filter_map(|line| line.trim().strip_prefix("leftoff ")).collect();
            assert!(!shown.is_empty(), "{name} shows no command");
            for line in shown {
                let word = line.split_whitespace().next().expect("a word");
                assert!(all.contains(word), "{name}: {line}");
            }
        }
    }
}
