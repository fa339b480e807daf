//! Wrong words that people and models type, and the right words for them: commands, subcommands, options, values. These
//! are only tables; `usage_errors` looks words up in them.

/// Something that a wrong word may mean: an introduction, and the command for it.
type Meaning = (&'static str, &'static [&'static str]);

/// Wrong words where a command is expected, with everything that they may mean.
pub const COMMANDS: [(&[&str], &[Meaning]); 37] = [
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

/// A placeholder in a command. It stands for the word that was mistyped.
pub const TYPED: &str = "{}";
/// A placeholder in a command. It stands for all words after the command, as one quoted word.
pub const ALL: &str = "{all}";

/// A command, wrong words after it, an introduction to the advice, and the right command.
pub type Instead = (&'static str, &'static [&'static str], &'static str, &'static [&'static str]);

/// Wrong options, each with the right command.
pub const OPTIONS: [Instead; 43] = [
    ("note", &["--message", "-m", "--text"], "", &["note", "<text>"]),
    ("note", &["--type", "-k", "-t"], "", &["note", "<text>", "--kind", "decision"]),
    ("note", &["--decision", "--decided"], "", &["note", "<text>", "--kind", "decision"]),
    ("note", &["--tried", "--dead-end", "--failed"], "", &["note", "<text>", "--kind", "tried"]),
    ("note", &["--blocker", "--blocked"], "", &["note", "<text>", "--kind", "blocker"]),
    ("note", &["--question"], "", &["note", "<text>", "--kind", "question"]),
    ("list", &["--paused", "--done", "--completed", "--closed"], "", &["list", "--all"]),
    ("item list", &["--open", "--ready", "--done"], "", &["item", "list", "--all"]),
    ("item add", &["--parts", "--subtask", "--sub"], "", &["item", "add", "<title>", "--parent", "<item>"]),
    (
        "note",
        &["--answer"],
        "record the answer, then resolve the question: ",
        &["note", "<text>", "--kind", "decision"],
    ),
    ("brief", &["--markdown", "--md"], "", &["brief", "--format", "markdown"]),
    ("brief", &["--short", "--max-tokens", "--tokens"], "", &["brief", "--budget", "600"]),
    ("undo", &["--all", "--hard"], "choose a version to return to: ", &["undo", "--to", "<version>"]),
    ("checkpoint", &["--message"], "", &["checkpoint", "-m", "<name>"]),
    ("item add", &["--title", "--name", "--text", "--message", "-m"], "", &["item", "add", "<title>"]),
    ("item add", &["--description"], "", &["item", "add", "<title>", "--field", "description=<text>"]),
    (
        "item add",
        &["--depends-on", "--depends", "--after", "--deps"],
        "",
        &["item", "add", "<title>", "--needs", "<item>"],
    ),
    ("item done", &["--id", "--item"], "", &["item", "done", "<item>"]),
    ("item start", &["--id", "--item"], "", &["item", "start", "<item>"]),
    ("item claim", &["--id", "--item"], "", &["item", "claim", "<item>"]),
    ("item claim", &["--ttl", "--lease", "--duration"], "", &["item", "claim", "--for", "30m"]),
    ("item release", &["--id", "--item"], "", &["item", "release", "<item>"]),
    (
        "item block",
        &["--message", "-m", "--because"],
        "",
        &["item", "block", "<item>", "--reason", "<reason>"],
    ),
    ("item done", &["--message", "-m", "--note"], "add a remark as a note: ", &["note", "<text>"]),
    ("advance", &["--message", "-m", "--note"], "add a remark as a note: ", &["note", "<text>"]),
    ("advance", &["--dry-run", "-n", "--check"], "try the gate without completing the phase: ", &["gate"]),
    ("advance", &["--all"], "complete one phase at a time: ", &["advance"]),
    ("advance", &["-e", "--proof"], "", &["advance", "--evidence", "<name=value>"]),
    (
        "advance",
        &["--force", "-f", "--skip"],
        "only a person can override a failed gate: ",
        &["advance", "--override", "<reason>"],
    ),
    ("start", &["--name"], "", &["start", "--title", "<title>"]),
    ("start", &["--workflow", "-w"], "", &["start", "<workflow>", "--goal", "<goal>"]),
    ("start", &["--description", "--message", "-m", "--task"], "", &["start", "--goal", "<goal>"]),
    ("status", &["--all"], "all sessions: ", &["list", "--all"]),
    ("next", &["--all"], "all remaining items: ", &["item", "list", "--all"]),
    ("show", &["--all"], "all sessions: ", &["list", "--all"]),
    ("brief", &["-f", "-o", "--output"], "", &["brief", "--format", "markdown"]),
    ("list", &["--active"], "", &["list", "--status", "active"]),
    (
        "log",
        &["--limit", "-n", "--tail"],
        "the newest events come last; pipe the output into tail: ",
        &["log"],
    ),
    ("close", &["--reason", "--message", "-m"], "record the reason first: ", &["note", "<reason>"]),
    ("pause", &["--message", "-m"], "", &["pause", "--reason", "<reason>"]),
    ("undo", &["--steps", "-n"], "repeat the command to go further back: ", &["undo"]),
    (
        "resume",
        &["--last", "--latest", "--continue"],
        "without an option, the last session is resumed: ",
        &["resume"],
    ),
    ("import", &["--from", "--file"], "", &["import", "<path>"]),
];

/// Commands that take no further word, each with the right command.
pub const VALUES: [Instead; 17] = [
    ("skip", &[], "only the current phase can be skipped: ", &["skip", "--reason", "<reason>"]),
    ("fail", &[], "", &["fail", "--error", TYPED]),
    ("init", &[], "", &["init", "--agent", TYPED]),
    ("undo", &[], "return to a version: ", &["undo", "--to", TYPED]),
    ("item block", &[], "", &["item", "block", "<item>", "--reason", TYPED]),
    ("item drop", &[], "", &["item", "drop", "<item>", "--reason", TYPED]),
    ("item split", &[], "", &["item", "split", "<item>", "--into", TYPED]),
    ("item add", &[], "quote the whole title: ", &["item", "add", ALL]),
    ("item done", &[], "give one item at a time, by its id; see the items: ", &["item", "list"]),
    ("item start", &[], "give one item at a time, by its id; see the items: ", &["item", "list"]),
    ("item claim", &[], "give one item at a time, by its id; see the items: ", &["item", "list"]),
    ("start", &[], "this looks like a goal: ", &["start", "--goal", ALL]),
    ("pause", &[], "", &["pause", "--reason", ALL]),
    ("abandon", &[], "", &["abandon", "--reason", ALL]),
    ("checkpoint", &[], "", &["checkpoint", "-m", ALL]),
    ("exec", &[], "", &["exec", "--", ALL]),
    ("advance", &[], "complete one phase at a time: ", &["advance"]),
];

/// Wrong words where a subcommand is expected.
pub const SUBCOMMANDS: [Instead; 11] = [
    ("item", &["update", "edit", "mark", "status"], "mark an item as done: ", &["item", "done", "<item>"]),
    ("item", &["show", "get", "view", "info"], "", &["item", "list", "--all"]),
    ("item", &["next", "take", "pick"], "", &["item", "claim"]),
    ("item", &["remove", "rm", "delete"], "", &["item", "drop", "<item>", "--reason", "<reason>"]),
    ("item", &["reopen", "undone"], "undo your last command: ", &["undo"]),
    ("bundle", &["export", "save", "make"], "", &["bundle", "create", "<file>"]),
    ("bundle", &["import", "load", "open"], "", &["bundle", "take", "<file>"]),
    ("workflow", &["create", "add", "init"], "", &["workflow", "new", "<name>"]),
    ("workflow", &["validate", "lint"], "", &["workflow", "check"]),
    ("store", &["status", "show"], "", &["store", "info"]),
    ("artifact", &["save", "record", "new"], "", &["artifact", "add", "<path>"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands;
    use clap::error::ErrorKind;

    /// Every command in the tables exists, the wrong words are wrong, and the right commands can be parsed.
    #[test]
    fn mistakes_are_mistakes_and_what_is_meant_can_be_typed() {
        for (of, wrong, _, command) in OPTIONS.iter().chain(&VALUES).chain(&SUBCOMMANDS) {
            let typed = |words: Vec<&str>| {
                let words = std::iter::once("leftoff").chain(words);
                commands::parser(None).try_get_matches_from(words).map(drop)
            };
            for word in *wrong {
                let error = typed(of.split(' ').chain([*word]).collect()).expect_err("a mistake");
                let kinds = [
                    ErrorKind::UnknownArgument,
                    ErrorKind::InvalidSubcommand,
                    ErrorKind::MissingRequiredArgument,
                ];
                assert!(kinds.contains(&error.kind()), "{of} {word}: {:?}", error.kind());
            }
            assert!(typed(command.to_vec()).is_ok(), "{command:?}");
        }
    }

    #[test]
    fn no_command_is_a_wrong_word_and_meanings_are_commands() {
        let all: std::collections::BTreeSet<&str> = commands::names().collect();
        for (asked, meanings) in COMMANDS {
            assert!(asked.iter().all(|word| !all.contains(word)), "{asked:?}");
            for (_, command) in meanings {
                let name = command.first().expect("a command");
                assert!(all.contains(name) || *name == "--version", "{command:?}");
            }
        }
    }
}
