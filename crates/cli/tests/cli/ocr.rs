//! Tests of Open Code Review sessions with the whole program: at least one test for each rule of the format.

mod bad_input;
mod beside;
mod choice;
mod closed_in_file;
mod closed_lists;
mod edits;
mod gone_on;
mod limits;
mod meant;
mod recovery;
mod rows;
mod screen;
mod seed;
mod surroundings;
mod without_requirements;
mod writing;

use crate::fresh;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;
use testkit::Sandbox;

const NOW: &str = "2026-11-14T10:00:00Z";
const ID: &str = "2026-11-14-feature-login";
const FOLDER: &str = ".ocr/sessions/2026-11-14-feature-login";

/// The phases of a review as named in state.json, in order.
const REVIEW: [&str; 8] =
    ["context", "change-context", "analysis", "reviews", "aggregation", "discourse", "synthesis", "complete"];
const MAP: [&str; 6] =
    ["map-context", "topology", "flow-analysis", "requirements-mapping", "synthesis", "complete"];

/// A repository on a branch, with the clock at ten o'clock.
fn project() -> Sandbox {
    let sandbox = fresh();
    sandbox.write(".git/HEAD", "ref: refs/heads/feature/login\n");
    sandbox.at(NOW);
    sandbox
}

/// The repository with a session that leftoff started.
fn begun() -> Sandbox {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ocr"]).ok();
    sandbox
}

/// Writes a session's state as its own tool does, in a folder of this name.
fn foreign(sandbox: &Sandbox, name: &str, fields: &Value) {
    sandbox.write(&format!(".ocr/sessions/{name}/state.json"), &fields.to_string());
}

fn state(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read(&format!("{FOLDER}/state.json"))).unwrap()
}

/// Changes the file as another program does: reads it, sets these values, and writes it.
fn edit(sandbox: &Sandbox, changes: &Value) {
    let mut fields: Map<String, Value> =
        serde_json::from_str(&sandbox.read(&format!("{FOLDER}/state.json"))).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        fields.insert(key.clone(), value.clone());
    }
    sandbox.write(&format!("{FOLDER}/state.json"), &serde_json::to_string_pretty(&fields).unwrap());
}

/// Writes a file of the session. Its modification time comes from the sandbox's clock.
fn artifact(sandbox: &Sandbox, path: &str, text: &str) {
    artifact_at(sandbox, path, text, NOW);
}

fn artifact_at(sandbox: &Sandbox, path: &str, text: &str, moment: &str) {
    write_at(sandbox, &format!("{FOLDER}/{path}"), text, moment);
}

pub fn write_at(sandbox: &Sandbox, path: &str, text: &str, moment: &str) {
    sandbox.write(path, text);
    let moment: jiff::Timestamp = moment.parse().unwrap();
    let file = std::fs::File::options().append(true).open(sandbox.path(path)).unwrap();
    file.set_modified(SystemTime::from(moment)).unwrap();
}

/// Every file below a folder with its content, and every link with its target. SQLite's shared memory is left
/// out.
fn everything(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let kind = std::fs::symlink_metadata(&path).unwrap().file_type();
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            if kind.is_dir() {
                found.insert(format!("{name}/"), Vec::new());
                folders.push(path);
            } else if kind.is_symlink() {
                found.insert(name, std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else if !name.ends_with("-shm") {
                found.insert(name, if kind.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() });
            }
        }
    }
    found
}

fn warnings(view: &Value) -> String {
    let all = view["warnings"].as_array().unwrap();
    all.iter().map(|warning| format!("{}\n", warning["message"].as_str().unwrap())).collect()
}

fn phase(view: &Value) -> &str {
    view["current_phase"]["id"].as_str().unwrap()
}
