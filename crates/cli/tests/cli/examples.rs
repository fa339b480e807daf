//! Tests that the help of every command has an example, and that every example is valid usage.

use crate::fresh;
use testkit::{Sandbox, words_of};

/// Examples that run until somebody stops them, or whose exit code depends on another program.
const NOT_RUN: [&str; 5] =
    ["leftoff serve", "leftoff mcp", "leftoff exec", "leftoff hook", "leftoff progress"];

/// The commands under `Examples:` in a help text, without pipes and redirections.
fn examples(help: &str) -> Vec<String> {
    let section = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let lines = section.map_while(|line| line.strip_prefix("  "));
    let plain = |line: &str| {
        let line = line.split(" | ").next().unwrap_or(line);
        let line = line.split(" > ").next().unwrap_or(line).split(" < ").next().unwrap_or(line);
        line.split("  ").next().unwrap_or(line).trim().replace('"', "'")
    };
    lines.filter(|line| line.contains("leftoff ")).map(plain).collect()
}

fn commands(help: &str) -> Vec<String> {
    let groups = help.lines().skip_while(|line| *line != "Every day:");
    let listed = groups.take_while(|line| !line.starts_with("Topics:"));
    let names = listed.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    names.filter_map(|line| line.split_whitespace().next().map(ToOwned::to_owned)).collect()
}

fn prepared() -> Sandbox {
    let sandbox = fresh();
    sandbox.run(["start", "--id", "k3v9", "--goal", "No log-out"]).ok();
    sandbox.write("PLAN.md", "a plan\n");
    sandbox.write("evidence.json", "{\"tests_passed\": 42}");
    sandbox.write("docs/draft.md", "a draft\n");
    sandbox.write("notes.md", "notes\n");
    sandbox.write("specs/001-albums/tasks.md", "- [ ] T001 Models\n");
    sandbox
}

#[test]
fn every_command_has_examples_that_run() {
    let help = prepared().run(["help"]).ok().stdout;
    let commands = commands(&help);
    assert!(commands.len() > 50, "{commands:?}");
    for command in commands {
        let sandbox = prepared();
        let examples = examples(&sandbox.run([command.as_str(), "--help"]).ok().stdout);
        assert!(!examples.is_empty(), "{command} has no example");
        for example in examples {
            let ends = !example.contains(" -f") && !example.contains("--watch");
            let is_plain = example.starts_with("leftoff ");
            if !ends || !is_plain || NOT_RUN.iter().any(|begins| example.starts_with(begins)) {
                continue;
            }
            let ran = sandbox.run(words_of(&example).into_iter().skip(1).filter(|word| !word.is_empty()));
            assert_ne!(ran.code, 2, "{example}:\n{}", ran.stderr);
            assert_ne!(ran.code, 101, "{example}:\n{}", ran.stderr);
        }
    }
}
