//! Twelve questions that a reader must be able to answer from the brief alone, for a dozen histories. The
//! brief is read in four forms: as printed for agents, as printed for people, from the hook after a
//! compaction, and over MCP. Each has at most 600 tokens.

mod essay;
mod finished;
mod hand_edits;
mod imported;
mod long;
mod native;
mod praxis;
mod review;
mod revised;
mod rolled_back;
mod tasks;
mod twenty;
mod two_agents;

use crate::agent::{Agent, session_start};
use crate::words_only;
use serde_json::{Value, json};
use std::process::Command;
use testkit::Sandbox;

/// The reader. It knows nothing but the brief.
const READER: &str = "claude:a4326893-7dc8";

/// The maximum length of a brief, in bytes. A token counts as 3.2 bytes.
const MOST_BYTES: usize = 600 * 16 / 5;

/// The facts that answer each question. Empty if a history has no answer to it.
struct Answers {
    goal: &'static [&'static str],
    done_with_what_proof: &'static [&'static str],
    where_exactly: &'static [&'static str],
    why_paused: &'static [&'static str],
    failed_last: &'static [&'static str],
    touched: &'static [&'static str],
    decided: &'static [&'static str],
    blocked_open_assumed: &'static [&'static str],
    not_again: &'static [&'static str],
    next_command: &'static [&'static str],
    who_else: &'static [&'static str],
    unverified: &'static [&'static str],
}

impl Answers {
    fn by_question(&self) -> [(&'static str, &'static [&'static str]); 12] {
        [
            ("1 What is the goal?", self.goal),
            ("2 Which phases are done, with what proof?", self.done_with_what_proof),
            ("3 Where exactly are we?", self.where_exactly),
            ("4 Why was it paused, in the middle of what?", self.why_paused),
            ("5 What failed last, and how is it fixed?", self.failed_last),
            ("6 Which files were touched?", self.touched),
            ("7 What was decided, and why?", self.decided),
            ("8 What blocks, what is open, what is assumed?", self.blocked_open_assumed),
            ("9 What must not be done again?", self.not_again),
            ("10 What is the next command, exactly?", self.next_command),
            ("11 Who else works here, on what?", self.who_else),
            ("12 What is claimed but unverified?", self.unverified),
        ]
    }

    #[track_caller]
    fn assert_in(&self, form: &str, text: &str) {
        for (question, facts) in self.by_question() {
            for fact in facts {
                assert!(text.contains(fact), "{form}: {question} {fact:?} is not in\n{text}");
            }
        }
        assert!(text.len() <= MOST_BYTES, "{form}: {} bytes\n{text}", text.len());
    }
}

#[track_caller]
fn check(sandbox: &Sandbox, answers: &Answers) {
    check_asked(sandbox, answers);
    answers.assert_in("hook", &after_compaction(sandbox));
}

/// Checks the brief in every form that a reader can request.
#[track_caller]
fn check_asked(sandbox: &Sandbox, answers: &Answers) {
    let brief = |format: &str| sandbox.run_as(READER, ["brief", "--format", format]).ok().stdout;
    let (markdown, text) = (brief("markdown"), brief("text"));
    answers.assert_in("markdown", &markdown);
    answers.assert_in("MCP", &over_mcp(sandbox));
    assert!(text.len() <= MOST_BYTES, "text: {} bytes\n{text}", text.len());
    for (question, facts) in answers.by_question() {
        for fact in facts {
            assert!(
                words_only(&text).contains(&words_only(fact)),
                "text: {question} {fact:?} is not in\n{text}"
            );
        }
    }
    assert_commands_are_whole(&markdown);
}

/// Expects that commands in the brief are not cut, and that their paths are not shortened.
#[track_caller]
fn assert_commands_are_whole(markdown: &str) {
    for command in markdown.split('`').skip(1).step_by(2) {
        assert!(command.starts_with("leftoff ") && !command.contains('…'), "{command:?} in\n{markdown}");
    }
    let bare: String = markdown.split('`').step_by(2).collect();
    let is_cut = |end: &str| end.ends_with('…') && !end.contains(". ") && !end.contains(", ");
    let cut = bare.lines().find(|line| line.rsplit_once("leftoff ").is_some_and(|(_, end)| is_cut(end)));
    assert_eq!(cut, None, "a command is cut in\n{markdown}");
}

/// The text that the hook gives after a compaction, without its introduction.
fn after_compaction(sandbox: &Sandbox) -> String {
    let (_, id) = READER.split_once(':').unwrap();
    let told =
        sandbox.run_with_input(&["hook", "claude"], &session_start(sandbox, id, "compact")).ok().json();
    let told = told["hookSpecificOutput"]["additionalContext"].as_str().expect("a brief").to_owned();
    assert!(told.starts_with("Your conversation was compacted."), "{told}");
    assert!(told.len() <= MOST_BYTES, "{} bytes with the words that introduce it\n{told}", told.len());
    told.split_once("\n\n").unwrap().1.to_owned()
}

fn over_mcp(sandbox: &Sandbox) -> String {
    let client = json!({ "name": "quiz", "version": "1" });
    let requests = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
            { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "brief", "arguments": {} } }),
    ];
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let mut command = sandbox.command(["mcp"]);
    command.env("LEFTOFF_AGENT_SESSION", READER);
    let answers = testkit::with_input(command, &input).stdout;
    let of_brief = answers.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answer = of_brief.into_iter().find(|answer| answer["id"] == 2).expect("an answer");
    answer["result"]["structuredContent"]["brief"].as_str().expect("a brief").to_owned()
}

/// A repository with a first commit, and a clock for leftoff and git.
struct History {
    sandbox: Sandbox,
    now: std::cell::RefCell<String>,
}

impl History {
    fn begin(branch: &str) -> Self {
        let sandbox = Sandbox::plain(env!("CARGO_BIN_EXE_leftoff"));
        let history = Self { sandbox, now: std::cell::RefCell::default() };
        history.at("2026-11-12T08:00:00Z");
        history.git(&["init", "-q", "-b", branch]);
        history.sandbox.write(".gitignore", ".leftoff/\n.ocr/\n.workflow/\n.praxis-os/\nessay-pipeline-*\n");
        history.commit("First");
        history
    }

    fn at(&self, moment: &str) {
        moment.clone_into(&mut self.now.borrow_mut());
        self.sandbox.at(moment);
    }

    #[track_caller]
    fn git(&self, words: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=anna", "-c", "user.email=anna@example.org", "-c", "commit.gpgsign=false"])
            .args(words)
            .current_dir(self.sandbox.project())
            .env("HOME", self.sandbox.folder())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", &*self.now.borrow())
            .env("GIT_COMMITTER_DATE", &*self.now.borrow())
            .status()
            .expect("git");
        assert!(status.success(), "git {words:?}");
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Writes a file. Its modification time comes from the history's clock.
    fn file(&self, path: &str, text: &str) {
        crate::ocr::write_at(&self.sandbox, path, text, &self.now.borrow());
    }

    /// Runs command lines as the reader. They are split at spaces; `~` stands for a space in a word.
    #[track_caller]
    fn run(&self, lines: &[&str]) {
        for line in lines {
            let words = line.split(' ').map(|word| word.replace('~', " "));
            self.sandbox.run_as(READER, words).ok();
        }
    }

    /// Runs a command, and expects that its gate does not pass.
    #[track_caller]
    fn fails(&self, line: &str) {
        self.sandbox.run_as(READER, line.split(' ')).code(5);
    }

    /// Adds notes of all kinds that a brief shows.
    #[track_caller]
    fn notes(&self, notes: &[(&str, &str)]) {
        for (kind, text) in notes {
            self.sandbox.run_as(READER, ["note", text, "--kind", kind]).ok();
        }
    }
}

/// A live agent of another kind. It ends when this value is dropped.
fn other_agent(sandbox: &Sandbox, id: &str) -> Agent {
    let mut agent = Agent::new(sandbox, "other");
    agent.hook(sandbox, id, "startup").ok();
    agent
}
