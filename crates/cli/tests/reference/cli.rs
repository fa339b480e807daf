//! `docs/reference/cli.md`: every command's help, and the schema from `workflow schema`.

use crate::{GENERATED, PROGRAM, blessed};
use testkit::Sandbox;

#[test]
fn the_command_reference_is_what_help_says() {
    let sandbox = Sandbox::plain(PROGRAM);
    let root = help(&sandbox, &[]);
    let mut page = format!(
        "# The command line\n\n{GENERATED}\nThe output of `leftoff help`, and of `leftoff help COMMAND` for every command. The options under *Everywhere* are shown once.\n\n## leftoff\n\n{}",
        fenced(&root)
    );
    for command in commands_in(&root) {
        describe(&sandbox, &[&command], &mut page);
    }
    let topics = root.lines().skip_while(|line| !line.starts_with("Topics:")).nth(1).expect("topics");
    page.push_str("\n## Topics\n\nWhat `leftoff help TOPIC` says.\n");
    for topic in topics.trim().split(", ") {
        page.push_str(&format!("\n### {topic}\n\n{}", fenced(&sandbox.run(["help", topic]).ok().stdout)));
    }
    blessed::check("docs/reference/cli.md", &page);
}

#[test]
fn the_schema_is_what_the_program_prints() {
    let sandbox = Sandbox::plain(PROGRAM);
    let schema = sandbox.run(["workflow", "schema"]).ok().stdout;
    blessed::check("docs/reference/workflow.schema.json", &schema);
}

/// Appends the help of a command, then that of its subcommands.
fn describe(sandbox: &Sandbox, words: &[&str], page: &mut String) {
    let text = help(sandbox, words);
    let heading = if words.len() == 1 { "##" } else { "###" };
    let own = without_everywhere(&text);
    page.push_str(&format!("\n{heading} leftoff {}\n\n{}", words.join(" "), fenced(&own)));
    for command in commands_in(&text) {
        describe(sandbox, &[words, &[&command]].concat(), page);
    }
}

fn help(sandbox: &Sandbox, words: &[&str]) -> String {
    let text = sandbox.run([words, &["--help"]].concat()).ok().stdout;
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The names of commands under `Commands:`, or in the groups of the root command. Continued descriptions,
/// which are indented further, are ignored.
fn commands_in(help: &str) -> Vec<String> {
    let mut is_inside = false;
    let is_listed = |line: &&str| {
        if !line.is_empty() && !line.starts_with(' ') {
            let heading = line.trim_end_matches(':');
            is_inside = heading == "Commands" || GROUPS.contains(&heading);
        }
        is_inside
    };
    help.lines()
        .filter(is_listed)
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next().map(ToOwned::to_owned))
        .collect()
}

const GROUPS: [&str; 7] = [
    "Every day",
    "Phases and gates",
    "Items and files",
    "Sessions",
    "Looking",
    "Agents and other tools",
    "Setting up",
];

fn without_everywhere(help: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in help.lines() {
        let is_heading = !line.is_empty() && !line.starts_with(' ');
        inside = if is_heading { line == "Everywhere:" } else { inside };
        if !inside {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn fenced(text: &str) -> String {
    format!("```text\n{}\n```\n", text.trim_end())
}
