//! The project for a walk: how a session of each kind is started, how its work is done, and how others may
//! disturb it.

use crate::agent::Agent;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use testkit::{Ran, Sandbox};

pub struct Kind {
    pub workflow: &'static str,
    pub layout: Option<&'static str>,
    /// The workflow's definition, unless it is built in.
    pub definition: Option<&'static str>,
}

const fn native(workflow: &'static str) -> Kind {
    Kind { workflow, layout: None, definition: None }
}

const fn of(layout: &'static str, workflow: &'static str) -> Kind {
    Kind { workflow, layout: Some(layout), definition: None }
}

/// A workflow with a gate. Nobody has trusted the gate's command yet.
const ROLLOUT: &str = r#"
name = "rollout"
version = "1"
title = "Rollout"

[[phase]]
id = "canary"
title = "Canary"
  [[phase.check]]
  id = "healthy"
  kind = "command"
  run = "true"

[[phase]]
id = "all"
title = "All"
"#;

pub const KINDS: &[Kind] = &[
    native("plan-implement-review"),
    native("spec"),
    native("review"),
    native("map"),
    native("ccw"),
    native("essay"),
    of("ocr", "review"),
    of("ocr", "map"),
    of("ccw", "ccw"),
    of("praxis", "ship_v1"),
    of("essay", "essay"),
    Kind { workflow: "rollout", layout: None, definition: Some(ROLLOUT) },
];

/// A paused session with a blocker. No step of a walk should change this session.
const OLDER: &str = "older-idea";

/// Values with which the gates of these workflows pass.
const VALUES: &[(&str, &str)] = &[("word_targets", "[500,500]"), ("tests", "3"), ("failed", "0")];

pub struct Ground {
    pub sandbox: Sandbox,
    pub session: String,
    is_essay: bool,
    is_review: bool,
    layout: Option<&'static str>,
    /// Files that the agent of the walk wrote. They must stay the same, byte for byte.
    files: RefCell<BTreeMap<PathBuf, String>>,
    minute: RefCell<u32>,
    written: RefCell<u32>,
    /// The process of the walk's agent, which sends the events of hooks. If the test's own process sent them,
    /// even the commands of a person in this test would be an agent's.
    agent: RefCell<Agent>,
}

impl Ground {
    pub fn new(kind: &Kind) -> Self {
        let sandbox = Sandbox::git(env!("CARGO_BIN_EXE_leftoff"));
        sandbox.write(".git/HEAD", "ref: refs/heads/feature/login\n");
        sandbox.at("2026-11-14T10:00:00Z");
        if kind.layout == Some("praxis") {
            define_praxis(&sandbox);
        }
        if let Some(definition) = kind.definition {
            sandbox.write(&format!(".leftoff/workflows/{}.toml", kind.workflow), definition);
        }
        sandbox.run(["start", "--id", OLDER, "--goal", "An older idea"]).ok();
        for _ in 0..3 {
            sandbox.run(["note", "No licence", "--kind", "blocker", "--session", OLDER]).ok();
        }
        sandbox.run(["pause", "--session", OLDER]).ok();
        let mut words = vec!["start", kind.workflow, "--goal", "No log-out while a tab is open", "--json"];
        if let Some(layout) = kind.layout {
            words.extend(["--layout", layout]);
        }
        let view = sandbox.run_as(super::doors::AGENT, words).ok().json();
        let agent = RefCell::new(Agent::new(&sandbox, "walker"));
        Self {
            agent,
            sandbox,
            session: view["session_id"].as_str().unwrap().to_owned(),
            is_essay: kind.workflow == "essay",
            is_review: kind.workflow == "review",
            layout: kind.layout,
            files: RefCell::default(),
            minute: RefCell::new(0),
            written: RefCell::new(0),
        }
    }

    pub fn later(&self) {
        *self.minute.borrow_mut() += 1;
        let minute = *self.minute.borrow();
        self.sandbox.at(&format!("2026-11-14T{:02}:{:02}:00Z", 10 + minute / 60, minute % 60));
    }

    pub fn view(&self) -> Value {
        self.as_agent(&["status", "--json"]).ok().json()
    }

    /// The version of the session that no step should change.
    pub fn older_version(&self) -> u64 {
        self.sandbox.run(["show", OLDER, "--json"]).ok().json()["version"].as_u64().unwrap()
    }

    /// The reviewers without a review, in a round whose reviews are complete according to the state.
    pub fn missing_reviews(&self, view: &Value) -> Vec<String> {
        let phases = view["phases"].as_array().unwrap();
        let reviews = phases.iter().find(|phase| phase["id"] == "reviews").filter(|_| self.is_review);
        let produces = reviews.into_iter().flat_map(|phase| phase["produces"].as_array().unwrap());
        let items = self.items();
        if !items.iter().any(|item| item["phase"] == "reviews") {
            return Vec::new();
        }
        let paths = produces.filter_map(Value::as_str).flat_map(|path| for_items(path, "reviews", &items));
        paths.filter(|path| !self.sandbox.path(path).exists()).collect()
    }

    /// Adds a reviewer, as every round has one, and a review by somebody who is not a reviewer.
    pub fn invite_reviewer(&self) {
        if self.is_review {
            self.as_agent(&["item", "add", "Security", "--id", "security-1", "--phase", "reviews"]);
            let view = self.view();
            let path = view["phases"][3]["produces"][0].as_str().unwrap().replace("<reviewer>", "somebody");
            self.write(&path);
        }
    }

    /// Starts another round of a finished review. Returns true if the workflow has rounds.
    pub fn another_round(&self) -> bool {
        self.is_review && self.as_agent(&["run", "start", "review"]).code == 0
    }

    pub fn items(&self) -> Vec<Value> {
        let words = ["item", "list", "--all", "--session", &self.session, "--json"];
        let listed = self.sandbox.run(words).ok().json();
        listed["items"].as_array().cloned().unwrap_or_default()
    }

    pub fn as_agent(&self, words: &[&str]) -> Ran {
        self.sandbox.run_as(super::doors::AGENT, words.iter().chain(&["--session", &self.session]))
    }

    pub fn as_person(&self, line: &str) -> Ran {
        self.sandbox.run_as_person(testkit::words_of(line).into_iter().skip(1))
    }

    pub fn files_are_there(&self) {
        for (path, text) in self.files.borrow().iter() {
            let now = std::fs::read_to_string(path);
            assert_eq!(now.as_ref().ok(), Some(text), "{} was lost", path.display());
        }
    }

    /// Does the work of a phase: writes its files, and gives what its author must give.
    pub fn work(&self, phase: &str) {
        let view = self.view();
        let phases = view["phases"].as_array().unwrap();
        let Some(found) = phases.iter().find(|found| found["id"] == *phase) else { return };
        if self.is_essay {
            self.author(phase);
        }
        let items = self.items();
        for path in found["produces"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            for path in for_items(path, phase, &items) {
                self.write(&path);
            }
        }
    }

    fn write(&self, path: &str) {
        *self.written.borrow_mut() += 1;
        let text = format!("# Work\n\nText number {}.\n", self.written.borrow());
        self.sandbox.write(path, &text);
        self.files.borrow_mut().insert(self.sandbox.path(path), text);
    }

    /// Gives what the author of an essay must give.
    fn author(&self, phase: &str) {
        let said = match phase {
            "thesis_development" => &["set claim_type=argument"][..],
            "essay_structuring" => &["set audience=general target_word_count=1000 total_sections=2"],
            "argument_development" => &["item add One --id section-1", "item add Two --id section-2"],
            "paragraph_writing" => &[
                "item add One --id draft-1",
                "item split draft-1 --into a",
                "item add Two --id draft-2",
                "item split draft-2 --into a",
                "item set draft-1 voice_check_score=4",
                "item set draft-2 voice_check_score=4",
            ],
            _ => &[],
        };
        for line in said {
            let words: Vec<&str> = line.split(' ').collect();
            let ran = self.as_agent(&words);
            assert!([0, 4].contains(&ran.code), "{line}: {}", ran.stderr);
        }
    }

    /// A command with its placeholders filled in.
    pub fn filled(command: &str) -> String {
        let mut words = Vec::new();
        for word in testkit::words_of(command) {
            // These placeholders stand for the words of an item or a note.
            if word.starts_with('<') {
                words.push("text".to_owned());
                continue;
            }
            let Some((name, value)) = word.split_once('=').filter(|(_, value)| value.starts_with('<')) else {
                words.push(word);
                continue;
            };
            let known = VALUES.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
            let value = known.unwrap_or(match value {
                "<number>" => "3",
                "<true or false>" => "true",
                "<list>" => "[1]",
                "<object>" => "{}",
                _ => "text",
            });
            words.push(format!("{name}={value}"));
        }
        words.join(" ")
    }

    /// Changes the position of the session in its own file, as another program does.
    pub fn edit(&self, ahead: bool) {
        let step = |number: i64| if ahead { number + 1 } else { (number - 1).max(0) };
        match self.layout {
            Some("ocr") => self.edit_json(".ocr/sessions", "state.json", |state| {
                const PHASES: [&str; 8] = [
                    "context",
                    "change-context",
                    "analysis",
                    "reviews",
                    "aggregation",
                    "discourse",
                    "synthesis",
                    "complete",
                ];
                let at = PHASES.iter().position(|phase| state["current_phase"] == *phase)?;
                let to = usize::try_from(step(i64::try_from(at).ok()?)).ok()?.min(PHASES.len() - 1);
                state["current_phase"] = json!(PHASES[to]);
                state["phase_number"] = json!(to + 1);
                Some(())
            }),
            Some("ccw") => self.edit_json(".workflow", "workflow-session.json", |state| {
                state["current_phase"] = json!(if ahead { "REVIEW" } else { "PLAN" });
                Some(())
            }),
            Some("praxis") => self.edit_json(".praxis-os/.cache/state", "", |state| {
                let at = state["current_phase"].as_i64()?;
                state["current_phase"] = json!(step(at).min(2));
                Some(())
            }),
            Some("essay") => self.edit_essay(step),
            _ => {}
        }
    }

    /// Changes the stage in the state file of an essay.
    fn edit_essay(&self, step: impl Fn(i64) -> i64) {
        const STAGES: [&str; 4] =
            ["thesis_development", "essay_structuring", "argument_development", "paragraph_writing"];
        let path = self.sandbox.path(&self.session).join("session-state.yaml");
        let Ok(text) = std::fs::read_to_string(&path) else { return };
        let Some(at) =
            STAGES.iter().position(|stage| text.contains(&format!("current_stage_name: \"{stage}\"")))
        else {
            return;
        };
        let to = usize::try_from(step(i64::try_from(at).unwrap())).unwrap().min(STAGES.len() - 1);
        let text = text
            .replace(&format!("current_stage: {}", at + 1), &format!("current_stage: {}", to + 1))
            .replace(
                &format!("current_stage_name: \"{}\"", STAGES[at]),
                &format!("current_stage_name: \"{}\"", STAGES[to]),
            );
        std::fs::write(&path, text).unwrap();
    }

    /// Marks the session as finished in its own file, as another program does.
    pub fn close_in_file(&self) {
        match self.layout {
            Some("ocr") => self.edit_json(".ocr/sessions", "state.json", |state| {
                state["status"] = json!("closed");
                state["current_phase"] = json!("complete");
                state["phase_number"] = json!(8);
                Some(())
            }),
            Some("ccw") => self.edit_json(".workflow", "workflow-session.json", |state| {
                state["status"] = json!("completed");
                Some(())
            }),
            Some("essay") => {
                let path = self.sandbox.path(&self.session).join("session-state.yaml");
                let Ok(text) = std::fs::read_to_string(&path) else { return };
                std::fs::write(&path, text.replace("status: \"in_progress\"", "status: \"completed\""))
                    .unwrap();
            }
            _ => {}
        }
    }

    /// Deletes the session's own file, as another program might.
    pub fn lose_file(&self) {
        if let Some(path) = self.own_file() {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Cuts the session's own file in half.
    pub fn damage_file(&self) {
        let Some(path) = self.own_file() else { return };
        let Ok(text) = std::fs::read(&path) else { return };
        std::fs::write(path, &text[..text.len() / 2]).unwrap();
    }

    fn own_file(&self) -> Option<PathBuf> {
        let session = &self.session;
        let path = match self.layout? {
            "ocr" => format!(".ocr/sessions/{session}/state.json"),
            "ccw" => format!(".workflow/{session}/workflow-session.json"),
            "praxis" => format!(".praxis-os/.cache/state/{session}.json"),
            _ => format!("{session}/session-state.yaml"),
        };
        Some(self.sandbox.path(&path))
    }

    /// The text that the hook gives to the walk's agent after a compaction. Empty if it gives none.
    pub fn after_compaction(&self) -> String {
        let id = super::doors::AGENT.split_once(':').unwrap().1;
        let ran = self.agent.borrow_mut().hook(&self.sandbox, id, "compact").ok();
        if ran.stdout.is_empty() {
            return String::new();
        }
        ran.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    }

    /// Edits the session's JSON file, which is somewhere below this folder.
    fn edit_json(&self, folder: &str, name: &str, change: impl FnOnce(&mut Value) -> Option<()>) {
        let own = self.sandbox.path(folder).join(&self.session).join(name);
        let flat = self.sandbox.path(folder).join(format!("{}.json", self.session));
        let path = if own.is_file() { own } else { flat };
        let Ok(text) = std::fs::read_to_string(&path) else { return };
        let mut state: Value = serde_json::from_str(&text).unwrap();
        if change(&mut state).is_some() {
            std::fs::write(&path, serde_json::to_string_pretty(&state).unwrap()).unwrap();
        }
    }
}

/// The paths of the files for the items of a phase, if the path has a placeholder for items.
fn for_items(path: &str, phase: &str, items: &[Value]) -> Vec<String> {
    let Some((before, rest)) = path.split_once('<') else { return vec![path.to_owned()] };
    let after = rest.split_once('>').map_or("", |(_, after)| after);
    let of_phase = items.iter().filter(|item| item["phase"] == *phase && item["parent"].is_null());
    let mut names: Vec<String> = of_phase
        .map(|item| {
            let id = item["id"].as_str().unwrap();
            let stem = id.trim_end_matches(|digit: char| digit.is_ascii_digit());
            if !stem.is_empty() && before.ends_with(stem) {
                id[stem.len()..].to_owned()
            } else {
                id.to_owned()
            }
        })
        .collect();
    if names.is_empty() {
        names.push("one".to_owned());
    }
    names.iter().map(|name| format!("{before}{name}{after}")).collect()
}

fn define_praxis(sandbox: &Sandbox) {
    let metadata = json!({ "workflow_type": "ship_v1", "version": "1.0.0", "total_phases": 3, "phases": [
        { "phase_number": 0, "phase_name": "Plan", "purpose": "Agree." },
        { "phase_number": 1, "phase_name": "Build", "purpose": "Build it." },
        { "phase_number": 2, "phase_name": "Release" }]});
    sandbox.write(".praxis-os/workflows/ship_v1/metadata.json", &metadata.to_string());
    sandbox.write(
        ".praxis-os/workflows/ship_v1/phases/1/gate-definition.yaml",
        "checkpoint: {strict: true}\nevidence_schema:\n  tests: {type: integer, required: true, validator: positive}\nvalidators:\n  positive: \"lambda x: x > 0\"\n",
    );
}
