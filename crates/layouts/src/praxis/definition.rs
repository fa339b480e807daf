//! Reads a workflow from `workflows/{type}/`: metadata.json, the gates of its phases, and the phases of a
//! specification.

mod phase;
mod wrong_types;

use super::tasks::Named;
use super::{MOST_PHASES, gate, name_of, tasks};
use crate::hash::{hex, sha256};
use crate::json;
use crate::problem::{Problem, What};
use crate::tree::{Entry, Tree};
use model::id::Name;
use model::workflow::{Indexing, OnComplete, PhaseDefinition, Workflow};
use phase::{one_line, phase, texts};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Folders that may contain workflow definitions, in order of precedence.
pub(super) const FOLDERS: &[&str] =
    &[".praxis-os/workflows", ".agent-os/workflows", "universal/workflows", "workflows"];

/// The file that identifies a folder as a workflow.
pub(super) const FILE: &str = "metadata.json";

/// A workflow definition as read from its files.
pub(super) struct Definition {
    pub(super) version: String,
    pub(super) title: String,
    pub(super) description: Option<String>,
    /// The phases by number. The numbers have no gap, except where a phase was refused.
    pub(super) phases: BTreeMap<u32, PhaseDefinition>,
    /// True if the number of phases is known.
    pub(super) is_whole: bool,
    /// True if the phases come from a specification.
    pub(super) is_dynamic: bool,
    pub(super) hash: String,
    /// The reasons why the workflow cannot be started.
    pub(super) refused: Vec<Problem>,
    /// The problem to report if the phases come from a specification that cannot be read.
    pub(super) needs_target: Option<Problem>,
    pub(super) remarks: Vec<Problem>,
}

/// The files needed to read the workflow. Once these files were read, further files may be needed.
pub(super) fn files(name: &str, spec: Option<&str>, tree: &Tree) -> Vec<String> {
    if !is_usable(name) {
        return Vec::new();
    }
    let mut wanted: Vec<String> = FOLDERS.iter().map(|folder| format!("{folder}/{name}/{FILE}")).collect();
    let Some((folder, Ok((metadata, _)))) = metadata(name, tree) else { return wanted };
    if is_dynamic(&metadata) {
        wanted.extend(tasks_path(spec, tree));
    }
    wanted.extend(numbers(&metadata, spec, tree).iter().map(|number| gate_path(folder, name, *number)));
    wanted
}

/// Reads the definition of a workflow. `None` if the workflow does not exist.
pub(super) fn read(name: &str, spec: Option<&str>, tree: &Tree) -> Option<Definition> {
    if !is_usable(name) {
        return None;
    }
    let (folder, metadata) = metadata(name, tree)?;
    let path = format!("{folder}/{name}/{FILE}");
    let mut definition = Definition {
        version: "1".to_owned(),
        title: name.to_owned(),
        description: None,
        phases: BTreeMap::new(),
        is_whole: true,
        is_dynamic: false,
        hash: hash(name, spec, tree),
        refused: Vec::new(),
        needs_target: None,
        remarks: Vec::new(),
    };
    match metadata {
        Ok((metadata, doubled)) => {
            definition.remarks.extend(wrong_types::of(&path, &metadata, &doubled));
            definition.fill(&metadata, (folder, name), spec, tree);
        }
        Err(why) => {
            definition.is_whole = false;
            definition.refused.push(Problem::of_file(path, What::Definition(why)));
        }
    }
    Some(definition)
}

impl Definition {
    fn fill(&mut self, metadata: &Map<String, Value>, place: (&str, &str), spec: Option<&str>, tree: &Tree) {
        let (folder, name) = place;
        let path = format!("{folder}/{name}/{FILE}");
        let text = |key: &str| metadata.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        text("version").unwrap_or("1").clone_into(&mut self.version);
        text("name").unwrap_or(name).clone_into(&mut self.title);
        self.description = text("description").map(one_line);
        if let Some(other) = text("workflow_type").filter(|other| *other != name) {
            self.refuse(&path, format!("workflow_type is '{other}', but the folder's name is '{name}'"));
        }
        self.is_dynamic = is_dynamic(metadata);
        self.odd_phases(metadata, &path);
        let described = described(metadata);
        let named = tasks_of(metadata, spec, tree);
        for number in numbers(metadata, spec, tree) {
            let phase = phase(number, described.get(&number), named.get(&number));
            self.phases.insert(number, phase);
            self.gate(&gate_path(folder, name, number), number, tree);
        }
        self.whole(metadata);
        self.total(metadata, &path, spec, tree);
    }

    /// Adds facts about the whole workflow to single phases: its duration to the first phase, its results to
    /// the last.
    fn whole(&mut self, metadata: &Map<String, Value>) {
        let duration = metadata.get("estimated_duration").and_then(Value::as_str);
        let duration = duration.map(|time| format!("All phases take: {time}."));
        let outputs = texts(metadata.get("primary_outputs"));
        let outputs = (!outputs.is_empty()).then(|| format!("All phases deliver: {}.", outputs.join("; ")));
        let (first, last) = (self.phases.keys().next().copied(), self.phases.keys().next_back().copied());
        let mut add = |number: Option<u32>, said: Option<String>| {
            if let (Some(phase), Some(said)) = (number.and_then(|number| self.phases.get_mut(&number)), said)
            {
                let purpose = phase.purpose.take().map(|purpose| format!("{purpose} "));
                phase.purpose = Some(one_line(&format!("{}{said}", purpose.unwrap_or_default())));
            }
        };
        add(first, duration);
        add(last, outputs);
    }

    /// Reports phases in metadata.json that are otherwise ignored.
    fn odd_phases(&mut self, metadata: &Map<String, Value>, path: &str) {
        let phases = metadata.get("phases").and_then(Value::as_array).into_iter().flatten();
        let mut known: Vec<u64> = Vec::new();
        for (place, phase) in (1..).zip(phases) {
            let number = phase.get("phase_number");
            match number.and_then(Value::as_u64).filter(|number| *number < u64::from(MOST_PHASES)) {
                Some(number) if known.contains(&number) => {
                    self.refuse(path, format!("phase_number {number} is used more than once"));
                }
                Some(number) => known.push(number),
                // The specification defines a phase that has no number here.
                None if is_dynamic(metadata) => {}
                None => {
                    let said = number.map_or_else(|| "missing".to_owned(), ToString::to_string);
                    self.refuse(
                        path,
                        format!("phase_number of phase {place} in the list is {said}, not a number"),
                    );
                }
            }
        }
    }

    /// Checks the number of phases.
    fn total(&mut self, metadata: &Map<String, Value>, path: &str, spec: Option<&str>, tree: &Tree) {
        let found = u64::try_from(self.phases.len()).unwrap_or(u64::MAX);
        if is_dynamic(metadata) {
            let tasks = tasks_path(spec, tree);
            if tasks.as_ref().is_none_or(|path| tree.content(path).is_none()) {
                self.is_whole = false;
                let missing =
                    tasks.unwrap_or_else(|| "the tasks.md of a specification below the project".to_owned());
                let message = format!(
                    "its phases are dynamic, but {missing} cannot be read; name a specification as the target"
                );
                self.needs_target = Some(Problem::of_file(path, What::Definition(message)));
            }
        } else {
            match metadata.get("total_phases") {
                None | Some(Value::Null) => {}
                Some(Value::Number(number)) if number.as_u64() == Some(found) && found > 0 => {}
                Some(other) => {
                    self.refuse(
                        path,
                        format!("total_phases is {other}, but the number of described phases is {found}"),
                    );
                }
            }
        }
        if self.phases.is_empty() {
            self.is_whole = false;
            if self.needs_target.is_none() {
                self.refuse(path, "it describes no phases".to_owned());
            }
        }
        let first = self.phases.keys().next().copied().unwrap_or_default();
        let has_gap = self.phases.keys().zip(first..).any(|(number, expected)| *number != expected);
        if has_gap || first > 1 {
            self.is_whole = false;
            let numbers: Vec<String> = self.phases.keys().map(ToString::to_string).collect();
            self.refuse(
                path,
                format!(
                    "its phases are {}; they must be numbered in sequence from 0 or 1",
                    numbers.join(", ")
                ),
            );
        }
    }

    fn gate(&mut self, path: &str, number: u32, tree: &Tree) {
        let content = match tree.get(path) {
            Some(Entry::File(content)) => content,
            Some(Entry::Unusable(why)) => return self.refuse(path, why.clone()),
            Some(Entry::Folder | Entry::Unread { .. }) | None => return,
        };
        match (gate::read(content), self.phases.get_mut(&number)) {
            (Ok(gate), Some(phase)) => {
                phase.strict = gate.strict;
                phase.no_override = gate.no_override;
                phase.evidence = gate.evidence;
                phase.checks = gate.checks;
                gate.refused.into_iter().for_each(|message| self.refuse(path, message));
                let remarks = gate.remarks.into_iter();
                self.remarks.extend(remarks.map(|said| Problem::of_file(path, What::Definition(said))));
            }
            (Err(why), _) => self.refuse(path, why),
            (Ok(_), None) => {}
        }
    }

    fn refuse(&mut self, path: &str, message: String) {
        self.refused.push(Problem::of_file(path, What::Definition(message)));
    }

    /// The workflow as sessions use it. `None` if it has no phases.
    pub(super) fn workflow(&self, name: &str) -> Option<Workflow> {
        let first = *self.phases.keys().next()?;
        Some(workflow(
            name,
            self,
            first,
            self.phases.values().cloned().collect(),
            OnComplete::Close,
            self.hash.clone(),
        ))
    }

    /// The workflow with exactly the phases in `range`, for a session that started with another number of
    /// phases.
    pub(super) fn cut(&self, name: &str, range: std::ops::RangeInclusive<u32>, closes: bool) -> Workflow {
        let (first, last) = (*range.start(), *range.end());
        if closes
            && self.phases.keys().copied().eq(range.clone())
            && let Some(whole) = self.workflow(name)
        {
            return whole;
        }
        let phases: Vec<PhaseDefinition> = range
            .map(|number| self.phases.get(&number).cloned().unwrap_or_else(|| phase(number, None, None)))
            .collect();
        let on_complete = if closes { OnComplete::Close } else { OnComplete::Grow };
        let hash = sha256(format!("{} {first} {last} {closes}", self.hash).as_bytes());
        workflow(name, self, first, phases, on_complete, hash)
    }

    /// The definition of a workflow of which only the name is known.
    pub(super) fn unknown(name: &str) -> Self {
        Self {
            version: "1".to_owned(),
            title: name.to_owned(),
            description: None,
            phases: BTreeMap::new(),
            is_whole: false,
            is_dynamic: false,
            hash: sha256(name.as_bytes()),
            refused: Vec::new(),
            needs_target: None,
            remarks: Vec::new(),
        }
    }
}

/// The name of a phase, which is its number, because users of this format name phases by number.
pub(super) fn phase_name(number: u32) -> Name {
    name_of(&number.to_string())
}

fn workflow(
    name: &str,
    definition: &Definition,
    first: u32,
    phases: Vec<PhaseDefinition>,
    on_complete: OnComplete,
    hash: String,
) -> Workflow {
    Workflow {
        name: name_of(name),
        version: definition.version.clone(),
        title: definition.title.clone(),
        describe: definition.description.clone(),
        indexing: if first == 0 { Indexing::Zero } else { Indexing::One },
        on_complete,
        keep_going: false,
        hold_at_stop: false,
        phases,
        fields: BTreeMap::new(),
        requirements: BTreeMap::new(),
        hash,
    }
}

fn is_dynamic(metadata: &Map<String, Value>) -> bool {
    metadata.get("total_phases").and_then(Value::as_str) == Some("dynamic")
        || metadata.get("dynamic_phases") == Some(&Value::Bool(true))
}

/// The phases that metadata.json describes, by number.
fn described(metadata: &Map<String, Value>) -> BTreeMap<u32, Map<String, Value>> {
    let phases = metadata.get("phases").and_then(Value::as_array).into_iter().flatten();
    phases
        .filter_map(|phase| {
            let number = phase.get("phase_number")?.as_u64().and_then(|number| u32::try_from(number).ok())?;
            Some((number, phase.as_object()?.clone())).filter(|(number, _)| *number < MOST_PHASES)
        })
        .collect()
}

fn tasks_of(metadata: &Map<String, Value>, spec: Option<&str>, tree: &Tree) -> BTreeMap<u32, Named> {
    let content = tasks_path(spec, tree).filter(|_| is_dynamic(metadata));
    let content = content.as_ref().and_then(|path| tree.content(path)).unwrap_or_default();
    tasks::in_workflow(&String::from_utf8_lossy(content), described(metadata).contains_key(&0))
}

fn numbers(metadata: &Map<String, Value>, spec: Option<&str>, tree: &Tree) -> Vec<u32> {
    let mut numbers: Vec<u32> = described(metadata).into_keys().collect();
    numbers.extend(tasks_of(metadata, spec, tree).into_keys());
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The content of metadata.json, with the keys that occur twice in it.
type Metadata = Result<(Map<String, Value>, Vec<String>), String>;

fn metadata(name: &str, tree: &Tree) -> Option<(&'static str, Metadata)> {
    FOLDERS.iter().find_map(|folder| match tree.get(&format!("{folder}/{name}/{FILE}"))? {
        Entry::File(content) => Some((*folder, json::object_with_doubled(content))),
        Entry::Unusable(why) => Some((*folder, Err(why.clone()))),
        Entry::Folder | Entry::Unread { .. } => None,
    })
}

fn gate_path(folder: &str, name: &str, number: u32) -> String {
    format!("{folder}/{name}/phases/{number}/gate-definition.yaml")
}

/// The path of the tasks.md of a specification. The specification is given as a folder below the project, or
/// as the path of its tasks.md.
fn tasks_path(spec: Option<&str>, tree: &Tree) -> Option<String> {
    let spec = spec.filter(|spec| !spec.contains(['\\', '\0']))?;
    let spec = tree.below(spec)?;
    let is_file = spec.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("md"));
    Some(if is_file { spec } else { format!("{spec}/tasks.md") })
}

/// True for a name in another tool's file that is safe to use as a part of a path.
fn is_usable(name: &str) -> bool {
    Name::parse(name).is_ok()
}

fn hash(name: &str, spec: Option<&str>, tree: &Tree) -> String {
    let mut hasher = Sha256::new();
    for path in files(name, spec, tree) {
        if let Some(content) = tree.content(&path) {
            hasher.update(path.as_bytes());
            hasher.update([0]);
            hasher.update((content.len() as u64).to_le_bytes());
            hasher.update(content);
        }
    }
    hex(&hasher.finalize())
}
