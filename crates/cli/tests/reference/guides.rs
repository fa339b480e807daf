//! Runs the commands shown in pages. Every page has its own sandbox, with a fixed clock.
//!
//! - A `console` block is a transcript: lines after `$ ` are run by a shell, in order, and the lines below
//!   one must be its output. `...` stands for any lines. A command must succeed unless `$ echo $?` follows
//!   it.
//! - In a `sh` block, lines that begin with `leftoff` are run, as are the arguments of `cargo run … --`.
//! - A `toml` block with phases is a workflow definition, and must have no mistakes.
//! - Comments above a block: `<!-- at TIME -->` sets the clock, `<!-- file PATH -->` writes the block to a
//!   file, `<!-- new repository -->` and `<!-- new folder -->` start again with an empty one, `<!-- a person
//!   -->` runs the block at a terminal.
//! - Files that a command writes to a session's workspace, or among another tool's sessions, are dated by
//!   that clock.
//!
//! With `LEFTOFF_BLESS` the output replaces what was shown.

use crate::page::anonymous;
use crate::{PROGRAM, blessed, root};
use jiff::Timestamp;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use testkit::Sandbox;

const SHOWN_PROJECT: &str = "/home/anna/shop";
const BEGINNING: &str = "2026-11-14T10:00:00Z";

#[test]
fn every_command_of_the_pages_does_what_is_shown() {
    let mut mistakes = Vec::new();
    let mut count = 0;
    for path in pages() {
        let mut reader = Reader::new(&path);
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        let shown = reader.read(&text);
        count += reader.commands;
        mistakes.append(&mut reader.mistakes);
        if shown != text && blessed::is_blessing() {
            std::fs::write(root().join(&path), shown).unwrap();
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n\n"));
    assert!(count > 30, "only {count} commands were found in the pages");
}

/// Pages whose commands are run.
pub fn pages() -> Vec<PathBuf> {
    let folders = ["docs", "docs/guides", "docs/concepts"];
    let found = folders.iter().flat_map(|folder| markdown_in(folder));
    std::iter::once(PathBuf::from("README.md")).chain(found).collect()
}

/// The pages of a folder, by name.
pub fn markdown_in(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let mut pages: Vec<PathBuf> = entries
        .map(|entry| Path::new(folder).join(entry.unwrap().file_name()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages
}

/// Processes a page from top to bottom.
struct Reader {
    page: PathBuf,
    sandbox: Sandbox,
    /// The time of the sandbox's clock.
    moment: SystemTime,
    /// Files in workspaces, with the times assigned to them.
    dated: HashMap<PathBuf, SystemTime>,
    /// The path of the file to which the next block is written.
    file: Option<String>,
    /// True if a person types the next block.
    at_terminal: bool,
    last_code: i32,
    commands: usize,
    mistakes: Vec<String>,
}

impl Reader {
    fn new(page: &Path) -> Self {
        let mut reader = Self {
            page: page.to_owned(),
            sandbox: Sandbox::git(PROGRAM),
            moment: SystemTime::UNIX_EPOCH,
            dated: HashMap::new(),
            file: None,
            at_terminal: false,
            last_code: 0,
            commands: 0,
            mistakes: Vec::new(),
        };
        reader.at(BEGINNING);
        reader
    }

    fn at(&mut self, moment: &str) {
        self.sandbox.at(moment);
        self.moment = moment.parse::<Timestamp>().expect("a time").into();
    }

    fn begin_again(&mut self, sandbox: Sandbox) {
        self.sandbox = sandbox;
        self.at(BEGINNING);
    }

    /// The page as it should be.
    fn read(&mut self, text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let mut shown: Vec<String> = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            shown.push(line.to_owned());
            at += 1;
            if let Some(directive) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
                self.obey(directive);
            } else if let Some(language) = line.strip_prefix("```").filter(|language| !language.is_empty()) {
                let length = lines[at..].iter().position(|line| *line == "```").expect("a block that ends");
                shown.extend(self.block(language, &lines[at..at + length], at));
                shown.push("```".to_owned());
                at += length + 1;
            }
        }
        shown.join("\n") + "\n"
    }

    fn obey(&mut self, directive: &str) {
        match directive.split_once(' ') {
            Some(("at", moment)) => self.at(moment),
            Some(("file", path)) => self.file = Some(path.to_owned()),
            Some(("new", "repository")) => self.begin_again(Sandbox::git(PROGRAM)),
            Some(("a", "person")) => self.at_terminal = true,
            Some(("new", "folder")) => self.begin_again(Sandbox::plain(PROGRAM)),
            _ => {}
        }
    }

    fn block(&mut self, language: &str, body: &[&str], line: usize) -> Vec<String> {
        let text = format!("{}\n", body.join("\n"));
        if let Some(file) = self.file.take() {
            self.sandbox.write(&file, &self.real(&text));
        }
        let shown = self.shown(language, body, &text, line);
        self.at_terminal = false;
        shown
    }

    fn shown(&mut self, language: &str, body: &[&str], text: &str, line: usize) -> Vec<String> {
        match language {
            "console" => return self.transcript(body, line),
            "sh" => {
                for command in body.iter().filter_map(|line| of_ours(line)) {
                    self.must(&command, line);
                }
            }
            "toml" if text.contains("[[phase]]") => self.check_definition(text, line),
            "json" => {
                let read: Result<serde_json::Value, _> = serde_json::from_str(text);
                if let Err(error) = read {
                    self.mistake(line, &format!("the JSON cannot be read: {error}"));
                }
            }
            _ => {}
        }
        body.iter().map(|line| (*line).to_owned()).collect()
    }

    fn transcript(&mut self, body: &[&str], line: usize) -> Vec<String> {
        let mut shown = Vec::new();
        let mut at = 0;
        while at < body.len() {
            let Some(first) = body[at].strip_prefix("$ ") else {
                shown.push(body[at].to_owned());
                at += 1;
                continue;
            };
            let place = line + at + 1;
            let mut command = first.to_owned();
            shown.push(body[at].to_owned());
            at += 1;
            while command.ends_with('\\') && at < body.len() {
                command = format!("{command}\n{}", body[at]);
                shown.push(body[at].to_owned());
                at += 1;
            }
            let length = body[at..].iter().take_while(|line| !line.starts_with("$ ")).count();
            let below = &body[at..at + length];
            at += length;
            let code_is_shown = body.get(at).is_some_and(|line| *line == "$ echo $?");
            shown.extend(self.step(&command, below, code_is_shown, place));
        }
        shown
    }

    /// Runs a command, and returns the output that should be shown.
    fn step(&mut self, command: &str, below: &[&str], code_is_shown: bool, line: usize) -> Vec<String> {
        let kept = || below.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let printed = if command == "echo $?" {
            format!("{}\n", self.last_code)
        } else {
            self.run(&with_shown_id(command, below))
        };
        if self.last_code != 0 && !code_is_shown && command != "echo $?" {
            self.mistake(line, &format!("$ {command}\nended with exit code {}:\n{printed}", self.last_code));
        }
        let empty = below.iter().rev().take_while(|line| line.is_empty()).count();
        let expected = &below[..below.len() - empty];
        let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
        if expected.is_empty() || matches(expected, &printed) {
            return kept();
        }
        if blessed::is_blessing() {
            return printed.iter().chain(&vec![""; empty]).map(|line| (*line).to_owned()).collect();
        }
        let (expected, printed) = (expected.join("\n"), printed.join("\n"));
        self.mistake(line, &format!("$ {command}\nis shown with:\n{expected}\nand prints:\n{printed}"));
        kept()
    }

    fn must(&mut self, command: &str, line: usize) {
        let printed = self.run(command);
        if self.last_code != 0 {
            self.mistake(line, &format!("{command}\nended with exit code {}:\n{printed}", self.last_code));
        }
    }

    /// The command's output, stdout and stderr interleaved.
    fn run(&mut self, command: &str) -> String {
        self.commands += 1;
        let ours = self.sandbox.command([""; 0]);
        let beside = Path::new(PROGRAM).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = if self.at_terminal {
            testkit::at_terminal(&self.real(command))
        } else {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!("exec 2>&1 </dev/null\n{}", self.real(command)));
            shell
        };
        shell
            .stdin(std::process::Stdio::null())
            .current_dir(self.sandbox.project())
            .env_clear()
            .envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("PATH", format!("{}:{path}", beside.display()))
            .env("TERM", "dumb")
            .env("NO_COLOR", "1");
        let output = shell.output().expect("a shell");
        self.last_code = output.status.code().unwrap_or(-1);
        self.date_files();
        anonymous(&String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"), &self.sandbox)
    }

    /// Sets the times of new workspace files by the sandbox's clock.
    fn date_files(&mut self) {
        let mut files = files_below(&self.sandbox.path(".leftoff/sessions"));
        files.extend(files_below(&self.sandbox.path(".ocr/sessions")));
        for path in files {
            let file = std::fs::File::options().append(true).open(&path).unwrap();
            if self.dated.get(&path) != Some(&file.metadata().unwrap().modified().unwrap()) {
                file.set_modified(self.moment).unwrap();
                self.dated.insert(path, self.moment);
            }
        }
    }

    /// Checks a definition in an empty sandbox.
    fn check_definition(&mut self, text: &str, line: usize) {
        let name = text
            .lines()
            .find_map(|line| line.strip_prefix("name = \""))
            .and_then(|rest| rest.split_once('"'));
        let Some((name, _)) = name else {
            self.mistake(line, "a definition without a name");
            return;
        };
        let sandbox = Sandbox::plain(PROGRAM);
        sandbox.write(&format!(".leftoff/workflows/{name}.toml"), text);
        let ran = sandbox.run(["workflow", "check", name]);
        if ran.code != 0 {
            self.mistake(line, &format!("the definition has mistakes:\n{}{}", ran.stdout, ran.stderr));
        }
    }

    fn real(&self, text: &str) -> String {
        text.replace(SHOWN_PROJECT, &self.sandbox.project().display().to_string())
    }

    fn mistake(&mut self, line: usize, message: &str) {
        self.mistakes.push(format!("{}:{line}: {message}", self.page.display()));
    }
}

/// Regular files in this folder and below.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(files_below(&entry.path())),
            kind if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found
}

/// The command in a line of a `sh` block, if it runs leftoff.
fn of_ours(line: &str) -> Option<String> {
    if line.starts_with("leftoff ") {
        return Some(line.to_owned());
    }
    let (_, arguments) = line.strip_prefix("cargo run ")?.split_once("-- ")?;
    Some(format!("leftoff {arguments}"))
}

/// A command with the id that the page shows, because a generated id would be random.
fn with_shown_id(command: &str, below: &[&str]) -> String {
    let shown = below.iter().find_map(|line| line.split_once(" started: ")).map(|(id, _)| id);
    match shown {
        Some(id) if command.starts_with("leftoff start") && !command.contains("--id") => {
            format!("{command} --id {id}")
        }
        _ => command.to_owned(),
    }
}

/// True if lines match, where `...` stands for any number of lines.
fn matches(expected: &[&str], printed: &[&str]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((&"...", rest)), _) => (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..])),
        (Some((expected, others)), Some((printed, remaining))) => {
            expected.trim_end() == *printed && matches(others, remaining)
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

#[test]
fn dots_stand_for_any_lines() {
    assert!(matches(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["a", "..."], &["a"]));
    assert!(!matches(&["a", "...", "d"], &["a", "b"]));
    assert!(!matches(&["a"], &["a", "b"]));
}
