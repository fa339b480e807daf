//! `docs/reference/cli.md`: every command's help, and the schema that `workflow schema` prints.

use crate::{GENERATED, PROGRAM, blessed, root};
use testkit::Sandbox;

#[test]
fn the_command_reference_is_what_help_says() {
    let sandbox = Sandbox::plain(PROGRAM);
    let root = help(&sandbox, &[]);
    let mut page = format!(
        "# The command line\n\n{GENERATED}\nWhat `leftoff help` says, and `leftoff help COMMAND` of every command. The options under *Everywhere* are left out after the first.\n\n## leftoff\n\n{}",
        fenced(&root)
    );
    for command in commands_in(&root) {
        describe(&sandbox, &[&command], &mut page);
    }
    blessed::check("docs/reference/cli.md", &page);
}

#[test]
fn the_schema_is_what_the_program_prints() {
    let sandbox = Sandbox::plain(PROGRAM);
    let schema = sandbox.run(["workflow", "schema"]).ok().stdout;
    blessed::check("docs/reference/workflow.schema.json", &schema);
}

#[test]
fn every_command_is_in_the_table_of_the_readme() {
    let sandbox = Sandbox::plain(PROGRAM);
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    let is_there = |command: &str| {
        let ways = [format!("`{command}`"), format!("`{command} ")];
        rows.iter().any(|row| ways.iter().any(|way| row.contains(way.as_str())))
    };
    let missing: Vec<String> =
        commands_in(&help(&sandbox, &[])).into_iter().filter(|command| !is_there(command)).collect();
    assert!(missing.is_empty(), "not in the README's table of commands: {}", missing.join(", "));
}

/// The command's own help, then that of the commands below it.
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

/// Names under `Commands:`; a continued description is indented further.
fn commands_in(help: &str) -> Vec<String> {
    let section = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    section
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next().map(ToOwned::to_owned))
        .collect()
}

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
