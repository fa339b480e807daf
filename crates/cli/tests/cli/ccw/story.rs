//! The whole life of one session next to its own tool. leftoff starts the session. The tool's prompts advance
//! it by edits. It is damaged in five ways, recovered each time, and finished. Nothing that was written is
//! lost.

use super::*;

const SESSION: &str = "WFS-build-it";
const OTHER: &str = r#"{"id":"WFS-other","status":"completed","description":"Somebody else's","n":1.50}"#;

struct Story {
    sandbox: Sandbox,
    hour: u32,
}

impl Story {
    fn begin() -> Self {
        let sandbox = project();
        sandbox.write(REGISTRY, &format!("{OTHER}\n"));
        sandbox.run(["start", "--layout", "ccw", "--type", "complex", "--goal", "Build it"]).ok();
        Self { sandbox, hour: 10 }
    }

    /// Sets the clock to an hour later.
    fn later(&mut self) -> String {
        self.hour += 1;
        let now = format!("2026-11-14T{:02}:00:00Z", self.hour);
        self.sandbox.at(&now);
        now
    }

    fn file(&self, path: &str) -> String {
        format!(".workflow/{SESSION}/{path}")
    }

    fn read(&self, path: &str) -> String {
        self.sandbox.read(&self.file(path))
    }

    /// Rewrites a JSON file as `jq` does: with its own spelling, and its own order of keys.
    fn edit(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let mut json: Value = serde_json::from_str(&self.read(path)).expect("JSON");
        change(&mut json);
        self.sandbox.write(&self.file(path), &json.to_string());
    }

    fn add_task(&self, id: &str, needs: &[&str]) {
        let json = json!({ "id": id, "title": format!("Task {id}"), "status": "pending", "type": "feature",
            "agent": "code-developer", "context": { "requirements": ["r"], "scope": "src", "acceptance": ["a"] },
            "relations": { "parent": null, "subtasks": [], "dependencies": needs }, "execution": { "attempts": 0 },
            "flow_control": { "ratio": 1.25 } });
        self.sandbox.write(&self.file(&format!(".task/{id}.json")), &json.to_string());
    }

    fn status(&self) -> Value {
        self.sandbox.run(["status", "--json"]).ok().json()
    }

    fn run(&self, words: &[&str]) {
        self.sandbox.run(words.iter().copied()).ok();
    }

    /// Damages a file. Checks that nothing of the session is lost and that `doctor` reports the damage, and
    /// repairs the file. The content must then be the same as before.
    fn damage(&self, path: &str, damage: Option<&str>) {
        let (before, told) = (self.status(), self.read_at(path));
        match damage {
            Some(content) => self.sandbox.write(path, content),
            None => std::fs::remove_file(self.sandbox.path(path)).expect("a file"),
        }
        let view = self.status();
        for key in ["session_id", "status", "current_phase", "completed_phases", "item_counts"] {
            assert_eq!(view[key], before[key], "{key}, with {path} damaged");
        }
        self.sandbox.run(["doctor"]).code(4);
        self.run(&["repair"]);
        assert_eq!(self.read_at(path), told, "{path} is as it was");
        self.run(&["repair"]);
        assert_eq!(self.read_at(path), told, "twice is the same as once");
    }

    /// The content of a file as JSON: one document, or one for each line.
    fn read_at(&self, path: &str) -> Vec<Value> {
        let text = self.sandbox.read(path);
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .chain(serde_json::from_str(&text))
            .collect()
    }

    fn asides(&self) -> Vec<String> {
        let folder = self.sandbox.path(&format!(".leftoff/aside/{SESSION}"));
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
    }
}

/// The tool plans: it writes the plan, changes the phase, records the transition and adds two tasks.
fn plan_by_hand(story: &mut Story) {
    let now = story.later();
    story.sandbox.write(&story.file("IMPL_PLAN.md"), "# Plan\n\n1. One\n2. Two\n");
    story.edit("workflow-session.json", |json| {
        json["current_phase"] = json!("IMPLEMENT");
        json["progress"]["completed_phases"] = json!(["PLAN"]);
        json["progress"]["last_checkpoint"] = json!(now);
        json["state_transitions"] = json!([{ "phase_completed": "PLAN", "next_phase": "IMPLEMENT",
            "completed_at": now, "artifacts": { "plan_document": "IMPL_PLAN.md" } }]);
        json["stats"] = json!({ "files": 3, "ratio": 0.25 });
    });
    story.add_task("impl-1", &[]);
    story.add_task("impl-2", &["impl-1"]);
    let view = story.status();
    assert_eq!(
        (&view["current_phase"]["id"], &view["item_counts"]["total"]),
        (&json!("implement"), &json!(2))
    );
    assert_eq!(view["phases"][0]["gate"]["outcome"], "passed", "the plan is there, so it is no mere claim");
}

/// The tool works on a task: it marks the task active and then completed, and writes a summary.
fn work_by_hand(story: &mut Story, id: &str) {
    let now = story.later();
    story.edit(&format!(".task/{id}.json"), |json| {
        json["status"] = json!("completed");
        json["execution"] = json!({ "attempts": 1, "last_attempt": now });
    });
    story.sandbox.write(&story.file(&format!(".summaries/{}-summary.md", id.to_uppercase())), "Done.\n");
    story.edit("workflow-session.json", |json| {
        json["progress"]["current_tasks"] = json!([]);
        json["recent_activity"] = json!([format!("{id} completed")]);
    });
}

#[test]
fn a_session_is_begun_by_us_moved_on_by_hand_damaged_in_five_ways_and_finished_with_nothing_lost() {
    let mut story = Story::begin();
    plan_by_hand(&mut story);
    story.run(&["note", "--kind", "decision", "Keep it small"]);
    let state = story.file("workflow-session.json");

    // First damage: the state is cut off in the middle of a write.
    let cut = story.read("workflow-session.json")[..80].to_owned();
    story.damage(&state, Some(&cut));
    work_by_hand(&mut story, "impl-1");
    assert_eq!(story.status()["item_counts"]["done"], 1);
    story.run(&["item", "add", "Task of ours", "--needs", "impl-2"]);

    // Second damage: the state file is empty.
    story.damage(&state, Some(""));
    story.later();
    story.run(&["item", "start", "impl-2"]);

    // Third damage: the state file is missing.
    story.damage(&state, None);

    // Fourth damage: the session's line in the registry is broken. That line and the lines of others must
    // stay.
    story.later();
    let registry = story.sandbox.read(REGISTRY);
    let own = registry.lines().find(|line| line.contains(SESSION)).expect("its line").to_owned();
    let broken = own[..own.len() / 2].to_owned();
    story.sandbox.write(REGISTRY, &registry.replace(&own, &broken));
    let told = story.sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("not a JSON object"), "{told}");
    story.run(&["repair"]);
    let lines: Vec<String> = story.sandbox.read(REGISTRY).lines().map(ToOwned::to_owned).collect();
    assert_eq!(
        lines,
        [OTHER.to_owned(), broken.clone(), own.clone()],
        "nothing is deleted, and its line is there"
    );
    story.sandbox.write(REGISTRY, &format!("{OTHER}\n{own}\n"));

    // Fifth damage: the file of a task is cut off while somebody works on the task.
    let torn = story.read(".task/impl-2.json")[..30].to_owned();
    story.damage(&story.file(".task/impl-2.json"), Some(&torn));

    // The session continues to its end, by hand and by commands.
    work_by_hand(&mut story, "impl-2");
    story.later();
    story.run(&["item", "done", "impl-3"]);
    story.run(&["advance", "--phase", "implement"]);
    story.sandbox.write(&story.file("REVIEW.md"), "Fine.\n");
    story.later();
    story.run(&["advance", "--phase", "review"]);
    check_all_is_there(&story, &[cut, String::new(), torn]);
}

fn check_all_is_there(story: &Story, damaged: &[String]) {
    let json = super::state(&story.sandbox, SESSION);
    assert_eq!((&json["status"], &json["type"]), (&json!("completed"), &json!("complex")));
    assert_eq!(json["progress"]["completed_phases"], json!(["PLAN", "IMPLEMENT", "REVIEW"]));
    let moved: Vec<&Value> =
        json["state_transitions"].as_array().unwrap().iter().map(|entry| &entry["phase_completed"]).collect();
    assert_eq!(moved, ["PLAN", "IMPLEMENT", "REVIEW"], "each once, whoever recorded it");
    assert_eq!(json["stats"], json!({ "files": 3, "ratio": 0.25 }), "what only the hand knows");
    assert_eq!(json["recent_activity"], json!(["impl-2 completed"]));
    for (id, needs) in [("impl-1", json!([])), ("impl-2", json!(["impl-1"])), ("impl-3", json!(["impl-2"]))] {
        let task = task(&story.sandbox, SESSION, id);
        assert_eq!(
            (&task["status"], &task["relations"]["dependencies"]),
            (&json!("completed"), &needs),
            "{id}"
        );
        if id != "impl-3" {
            assert_eq!(
                (&task["agent"], &task["flow_control"]["ratio"]),
                (&json!("code-developer"), &json!(1.25))
            );
        }
    }
    assert_eq!(story.sandbox.read(REGISTRY).lines().next(), Some(OTHER));
    assert_eq!(registered(&story.sandbox)[1], (SESSION.to_owned(), "completed".to_owned()));
    assert_eq!(story.read(".summaries/IMPL-1-summary.md"), "Done.\n");
    for content in damaged {
        assert!(story.asides().contains(content), "{content:?} was quarantined: {:?}", story.asides());
    }
    let shown = story.sandbox.run(["show", SESSION]).ok().stdout;
    assert!(shown.contains("Keep it small"), "{shown}");
    story.sandbox.run(["doctor"]).ok();
    assert!(story.sandbox.run(["repair"]).ok().stderr.contains("nothing to repair"));
}
