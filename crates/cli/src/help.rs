//! Help beyond the parser's: commands in groups, concept pages, and suggestions for mistyped words. Does not read the
//! project.

use crate::arguments::subcommand;
use crate::commands;
use crate::failure::Failure;
use model::hint::Hint;
use model::nearest_name::nearest;
use model::words;
use std::ffi::OsString;

/// The command groups of `leftoff help`, everyday commands first.
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

/// Concept pages, by name.
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

/// Words that people and language models type by mistake. A meaning is an introduction and a command.
type Meaning = (&'static str, &'static [&'static str]);
const MEANT: [(&[&str], &[Meaning]); 37] = [
    (
        &["plan", "implement", "review", "build", "design", "spec"],
        &[
            ("complete the current phase: ", &["advance"]),
            ("; start a session: ", &["start", "--goal", "<goal>"]),
        ],
    ),
    (
        &["done", "finish", "finished", "completed", "end"],
        &[
            ("if a phase is done: ", &["advance"]),
            ("; if an item is done: ", &["item", "done", "<item>"]),
            ("; if the session is over: ", &["close"]),
        ],
    ),
    (
        &["task", "tasks", "todo", "todos", "items", "issue", "issues", "ready"],
        &[("", &["item", "list"]), (" or ", &["item", "add", "<title>"])],
    ),
    (
        &["new", "begin", "create", "add"],
        &[
            ("start a session: ", &["start", "--goal", "<goal>"]),
            ("; add an item: ", &["item", "add", "<title>"]),
        ],
    ),
    (&["continue", "go", "join", "open", "use", "attach"], &[("", &["resume"])]),
    (&["stop", "suspend", "hold"], &[("", &["pause"])]),
    (&["save", "commit", "snapshot", "tag"], &[("", &["checkpoint", "-m", "<name>"])]),
    (&["ls", "session", "sessions", "all"], &[("", &["list"])]),
    (
        &["rm", "delete", "remove", "drop", "discard", "erase"],
        &[("abandon a session: ", &["abandon"]), ("; remove text from its history: ", &["purge", "<text>"])],
    ),
    (
        &["cancel", "abort"],
        &[("undo your last command: ", &["undo"]), ("; abandon a session: ", &["abandon"])],
    ),
    (
        &["archive", "clean", "cleanup", "clear", "prune", "gc", "reset"],
        &[
            ("abandon a session and archive its files: ", &["abandon"]),
            ("; see all sessions: ", &["list", "--all"]),
        ],
    ),
    (&["st", "state", "info", "where", "phase", "phases", "current"], &[("", &["status"])]),
    (&["step", "what", "now", "then"], &[("", &["next"])]),
    (&["mark", "tick", "check-off", "complete-task", "complete_task"], &[("", &["item", "done", "<item>"])]),
    (&["block", "blocked"], &[("", &["item", "block", "<item>", "--reason", "<reason>"])]),
    (&["release", "unclaim", "unlock"], &[("", &["item", "release", "<item>"])]),
    (
        &["title", "rename", "goal", "describe"],
        &[(
            "a session keeps its title and goal; record a change as a decision: ",
            &["note", "<text>", "--kind", "decision"],
        )],
    ),
    (&["version"], &[("", &["--version"])]),
    (&["uninstall", "disconnect", "deinit"], &[("", &["init", "--remove"])]),
    (&["agents", "who", "whoami"], &[("", &["list", "--agents"])]),
    (
        &["copy", "move", "migrate", "transfer"],
        &[
            ("copy a session to another machine: ", &["bundle", "create", "<file>"]),
            ("; copy all sessions to another store: ", &["store", "copy", "--help"]),
        ],
    ),
    (&["setup", "install", "configure", "config", "settings"], &[("", &["init"])]),
    (&["connect", "link", "agent", "hooks"], &[("", &["init", "--agent", "claude"])]),
    (&["check", "checks", "test", "gates", "try"], &[("see what a phase still needs: ", &["gate"])]),
    (
        &["complete-phase", "complete_phase", "submit", "pass", "prove", "evidence", "proceed", "forward"],
        &[("", &["advance"])],
    ),
    (&["fix", "health"], &[("", &["doctor", "--fix"])]),
    (
        &["revert", "back", "goto", "previous", "prev"],
        &[
            ("undo your last command: ", &["undo"]),
            ("; go back to an earlier phase: ", &["rollback", "<phase>"]),
        ],
    ),
    (&["search", "find", "grep"], &[("", &["list", "--search", "<text>"])]),
    (&["watch", "tui", "top", "monitor"], &[("", &["progress"])]),
    (&["web", "ui", "dashboard", "browser", "server"], &[("", &["serve"])]),
    (
        &["comment", "decision", "decide", "remember", "blocker", "question"],
        &[("", &["note", "<text>", "--kind", "decision"])],
    ),
    (
        &["context", "summary", "prompt", "handoff", "handover", "hand-over", "recap", "catchup"],
        &[("", &["brief"])],
    ),
    (&["claim", "pick", "grab"], &[("", &["item", "claim"])]),
    (&["backup", "backups", "dump"], &[("", &["store", "backup", "<file>"])]),
    (
        &["restore", "recover"],
        &[
            ("restore a lost database: ", &["store", "restore"]),
            ("; restore a recorded file: ", &["artifact", "restore", "<path>"]),
        ],
    ),
    (&["push", "pull", "fetch", "share"], &[("", &["sync"])]),
    (&["workflows", "template", "templates"], &[("", &["workflow", "list"])]),
];

/// The help text to print. In the help of the program itself, commands are grouped.
pub fn grouped_if_root(help: String, arguments: &[OsString]) -> String {
    match subcommand(arguments) {
        Some(_) => help,
        None => grouped(&help),
    }
}

/// The help of the program with its commands in groups.
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

/// Other words for a topic's name.
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

/// The page of `leftoff help TOPIC`; `None` if the name is not a topic.
pub fn topic(name: &str) -> Option<&'static str> {
    let name = SAME_TOPIC.iter().find(|(other, _)| *other == name).map_or(name, |(_, topic)| topic);
    TOPICS.iter().find(|(topic, _)| *topic == name).map(|(_, page)| *page)
}

/// The error for an unknown command, with a suggestion.
pub fn no_such_command(typed: &str) -> Failure {
    let message = format!("unknown command '{typed}'");
    let word = typed.to_lowercase();
    let meant = MEANT.iter().find(|(asked, _)| asked.contains(&word.as_str()));
    let hint = match (meant, nearest(&word, commands::names())) {
        (Some((_, meanings)), _) => meanings.iter().fold(Hint::default(), |hint, (when, command)| {
            let command: Vec<String> = command.iter().map(ToString::to_string).collect();
            hint.then(*when).run(command)
        }),
        (None, Some(name)) => Hint::new("did you mean: ").run(words![name]),
        (None, None) => Hint::new("see all commands: ").run(words!["help"]),
    };
    Failure::wrong_usage(message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_is_in_one_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let all: BTreeSet<&str> = commands::names().collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), all);
        assert_eq!(grouped.len(), all.len());
    }

    /// The groups show one line per command in a terminal of 80 columns, so a longer description would be cut.
    #[test]
    fn every_command_is_described_on_one_line() {
        for command in commands::parser(None).get_subcommands() {
            let about = command.get_about().expect("a description").to_string();
            assert!(about.len() <= 64, "{}: {} characters", command.get_name(), about.len());
        }
    }

    #[test]
    fn no_command_is_called_a_topic_or_a_mistake_and_meanings_are_commands() {
        let all: BTreeSet<&str> = commands::names().collect();
        for (name, _) in TOPICS {
            assert!(!all.contains(name) || name == "undo", "{name}");
        }
        for (other, name) in SAME_TOPIC {
            assert!(!all.contains(other) && TOPICS.iter().any(|(topic, _)| *topic == name), "{other}");
        }
        for (asked, meanings) in MEANT {
            assert!(asked.iter().all(|word| !all.contains(word)), "{asked:?}");
            for (_, command) in meanings {
                let name = command.first().expect("a command");
                assert!(all.contains(name) || *name == "--version", "{command:?}");
            }
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
