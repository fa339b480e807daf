//! Reads a session's task files, and reports odd values. `linking` resolves the relations between tasks.

mod linking;

use super::fields::{Fields, cut};
use crate::json;
use crate::problem::{Disagreement, OfItem, Problem, Taken, Then, Type, What, Why};
use crate::tree::{Entry, Tree};
use jiff::Timestamp;
use model::id::ItemId;
use serde_json::Value;
use std::collections::BTreeMap;

/// Kinds of work in the format.
const TYPES: [&str; 5] = ["feature", "bugfix", "refactor", "test", "docs"];
/// Keys of a task's description, below `context`.
pub(super) const CONTEXT: [&str; 4] = ["requirements", "scope", "acceptance", "inherited_from"];
/// Paths at which the versions of the format store each value. New files use the first path.
pub(super) const TYPE: &[&[&str]] = &[&["type"], &["meta", "type"]];
pub(super) const AGENT: &[&[&str]] = &[&["agent"], &["meta", "agent"]];
pub(super) const PARENT: &[&[&str]] = &[&["relations", "parent"], &["context", "parent"], &["parent"]];
pub(super) const NEEDS: &[&[&str]] =
    &[&["relations", "dependencies"], &["context", "depends_on"], &["depends_on"], &["dependencies"]];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStatus {
    Pending,
    Active,
    Completed,
    Blocked,
    /// The task is split into other tasks, and done when these are done.
    Container,
    /// The task is cancelled, so that nothing remains to be done.
    Cancelled,
}

impl TaskStatus {
    fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "pending" => Some(Self::Pending),
            "active" | "in_progress" => Some(Self::Active),
            "completed" => Some(Self::Completed),
            "blocked" => Some(Self::Blocked),
            "container" => Some(Self::Container),
            "cancelled" => Some(Self::Cancelled),
            _ => None,
        }
    }
}

/// A task as read from its file, with its relations resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The path of the task's file, below the home of all sessions.
    pub file: String,
    pub id: ItemId,
    pub title: String,
    pub status: TaskStatus,
    /// Type, agent and description, under the format's names.
    pub fields: BTreeMap<String, Value>,
    pub parent: Option<ItemId>,
    pub needs: Vec<ItemId>,
    pub attempts: Option<i64>,
    pub created: Option<Timestamp>,
    pub updated: Option<Timestamp>,
    /// True if the session's list of current tasks names this task, and no task file exists.
    pub is_only_listed: bool,
    /// The parent as written in the task's file, not yet resolved.
    named_parent: Option<String>,
    named_parts: Vec<String>,
    named_needs: Vec<String>,
}

impl Task {
    /// True if the file says that nothing remains to be done.
    pub fn is_over(&self) -> bool {
        matches!(self.status, TaskStatus::Completed | TaskStatus::Cancelled)
    }
}

/// All tasks of a session, containers before their parts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tasks {
    pub tasks: Vec<Task>,
    /// The number of task files that were not read, because only their number was needed.
    pub unread: usize,
    /// Paths of unreadable task files. leftoff never writes to these files.
    pub broken: Vec<String>,
    /// True if a task file uses a status word of later releases.
    pub is_later: bool,
}

impl Tasks {
    pub fn count(&self) -> usize {
        self.tasks.len() + self.unread
    }

    pub fn get(&self, id: &ItemId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id.is(id))
    }

    pub fn parts_of(&self, id: &ItemId) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(move |task| task.parent.as_ref().is_some_and(|parent| parent.is(id)))
    }
}

pub(super) fn read(tree: &Tree, folder: &str, now: Timestamp, warnings: &mut Vec<Problem>) -> Tasks {
    let mut tasks = Tasks::default();
    let mut files: Vec<String> = tree
        .names_in(folder)
        .filter(|name| name.strip_suffix(".json").is_some())
        .map(|name| format!("{folder}/{name}"))
        .collect();
    files.sort_by_key(|file| natural(file));
    for file in files {
        let content = match tree.get(&file) {
            Some(Entry::File(content)) => content,
            Some(Entry::Unread { .. }) => {
                tasks.unread += 1;
                continue;
            }
            Some(Entry::Unusable(why)) => {
                let why = Why::Unusable(why.clone());
                warnings.push(Problem::of_file(&file, What::Unreadable { why, then: Then::Nothing }));
                tasks.broken.push(file);
                continue;
            }
            Some(Entry::Folder) | None => continue,
        };
        match one(&file, content, now, warnings) {
            Some((task, is_later)) => {
                tasks.is_later |= is_later;
                tasks.tasks.push(task);
            }
            None => tasks.broken.push(file),
        }
    }
    linking::settle(&mut tasks.tasks, warnings);
    tasks
}

impl Tasks {
    /// Adds an open task for every name in the session's list of current tasks that has no task file.
    pub(super) fn add_listed(&mut self, names: &[String], folder: &str) {
        let is_known = |tasks: &Self, name: &str| {
            let stem =
                |file: &str| plain(file.rsplit('/').next().unwrap_or_default().trim_end_matches(".json"));
            tasks.tasks.iter().any(|task| plain(task.id.as_str()) == plain(name))
                || tasks.broken.iter().any(|file| stem(file) == plain(name))
        };
        for name in names {
            let Ok(id) = ItemId::parse(name) else { continue };
            if !is_known(self, name) {
                self.tasks.push(Task::listed(id, folder));
            }
        }
    }
}

impl Task {
    fn listed(id: ItemId, folder: &str) -> Self {
        Self {
            file: format!("{folder}/{id}.json"),
            title: id.to_string(),
            id,
            status: TaskStatus::Active,
            fields: BTreeMap::new(),
            parent: None,
            needs: Vec::new(),
            attempts: None,
            created: None,
            updated: None,
            is_only_listed: true,
            named_parent: None,
            named_parts: Vec::new(),
            named_needs: Vec::new(),
        }
    }
}

pub(super) fn is_path(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or_default();
    folder.ends_with(&format!("/{}", super::TASKS)) && name.strip_suffix(".json").is_some()
}

/// True if the content of this file can be read as a task.
pub(super) fn is_whole(path: &str, content: &[u8]) -> bool {
    one(path, content, Timestamp::MAX, &mut Vec::new()).is_some()
}

/// The task in a file, and true if its status is a word of later releases.
fn one(file: &str, content: &[u8], now: Timestamp, warnings: &mut Vec<Problem>) -> Option<(Task, bool)> {
    let (map, doubled) = match json::object_with_doubled(content) {
        Ok(found) => found,
        Err(why) => {
            let what = What::Unreadable { why: Why::Syntax(why), then: Then::LeftAsItIs };
            warnings.push(Problem::of_file(file, what));
            return None;
        }
    };
    let mut fields = Fields { map: &map, file, now, warnings };
    fields.doubled(&doubled);
    for part in ["context", "relations", "execution", "meta"] {
        fields.is_object(&[part]);
    }
    let id = id_of(file, &mut fields)?;
    let title = fields.text(&["title"]);
    let status = status(&mut fields);
    let is_later = fields.get(&["status"]).and_then(Value::as_str).is_some_and(is_of_later_releases);
    let kind = fields.first_text(TYPE);
    if let Some(odd) = kind.as_deref().filter(|kind| !TYPES.contains(kind)) {
        let known = TYPES.map(ToOwned::to_owned).to_vec();
        let what = What::NotOneOf { found: format!("'{}'", cut(odd)), known, taken: Taken::Nothing };
        let _: Option<()> = fields.odd(&["type"], what);
    }
    let agent = fields.first_text(AGENT);
    let texts = [("type", kind), ("agent", agent)];
    let mut kept: BTreeMap<String, Value> =
        texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), Value::from(text?)))).collect();
    for key in CONTEXT {
        if let Some(value) = fields.get(&["context", key]).filter(|value| !is_nothing(value)).cloned() {
            // A description is a string, a list of strings, or sometimes an object; a number or a boolean
            // describes no work.
            if value.is_number() || value.is_boolean() {
                let what = What::WrongType { found: value.to_string(), wanted: Type::Text };
                let _: Option<()> = fields.odd(&["context", key], what);
            }
            kept.insert(key.to_owned(), value);
        }
    }
    let task = Task {
        file: file.to_owned(),
        title: title.unwrap_or_else(|| id.to_string()),
        id,
        status,
        fields: kept,
        parent: None,
        needs: Vec::new(),
        attempts: fields.whole(&["execution", "attempts"]),
        created: fields.first_time(&[&["meta", "created"], &["created_at"]]),
        updated: fields.first_time(&[&["meta", "updated"], &["updated_at"]]),
        is_only_listed: false,
        named_parent: fields.first_text(PARENT),
        named_parts: fields.texts(&["relations", "subtasks"]).unwrap_or_default(),
        named_needs: NEEDS.iter().find_map(|path| fields.texts(path)).unwrap_or_default(),
    };
    Some((task, is_later))
}

fn is_of_later_releases(status: &str) -> bool {
    ["in_progress", "cancelled"].iter().any(|word| word.eq_ignore_ascii_case(status.trim()))
}

/// The task's id: the id in the file, or else the file's name.
fn id_of(file: &str, fields: &mut Fields<'_>) -> Option<ItemId> {
    let name = file.rsplit('/').next().unwrap_or_default();
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let said = fields.text(&["id"]);
    let text = said.as_deref().unwrap_or(stem);
    match ItemId::parse(text) {
        Ok(id) => {
            if said.is_none() {
                let _: Option<()> = fields.odd(&["id"], What::Absent(Taken::FileName));
            } else if plain(stem) != plain(text) {
                let how = Disagreement::IdAndFile { id: text.to_owned(), file: name.to_owned() };
                let _: Option<()> = fields.odd(&["id"], What::Disagrees(how));
            }
            Some(id)
        }
        Err(why) => {
            let how = OfItem::BadId { found: cut(text), why: why.to_string() };
            fields.odd(&["id"], What::Item(how))
        }
    }
}

fn status(fields: &mut Fields<'_>) -> TaskStatus {
    let Some(text) = fields.text(&["status"]) else {
        let _: Option<()> = fields.odd(&["status"], What::Absent(Taken::Pending));
        return TaskStatus::Pending;
    };
    TaskStatus::parse(&text).unwrap_or_else(|| {
        let found = format!("'{}'", cut(&text));
        let what = What::NotOneOf { found, known: Vec::new(), taken: Taken::Pending };
        fields.odd(&["status"], what).unwrap_or(TaskStatus::Pending)
    })
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Ids are compared without case and leading zeros: `IMPL-001` is `impl-1`.
pub(super) fn plain(id: &str) -> String {
    let mut plain = String::with_capacity(id.len());
    let mut after_digit = false;
    let mut letters = id.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        let is_leading_zero =
            letter == '0' && !after_digit && letters.peek().is_some_and(char::is_ascii_digit);
        if !is_leading_zero {
            after_digit = letter.is_ascii_digit();
            plain.push(letter.to_ascii_lowercase());
        }
    }
    plain
}

/// Spells an id like the tasks that exist: among tasks named `IMPL-001` and `IMPL-002`, `impl-3` becomes
/// `IMPL-003`.
pub(super) fn spelled_like(id: &str, known: &[&str]) -> Option<String> {
    let parted = |id: &'_ str| -> Option<(String, String)> {
        let at = id.rfind(|letter: char| !letter.is_ascii_digit()).map_or(0, |at| at + 1);
        let (before, number) = id.split_at(at);
        (!number.is_empty() && !id.contains('.')).then(|| (before.to_owned(), number.to_owned()))
    };
    let (before, number) = parted(id)?;
    let is_like = |other: &(String, String)| other.0.eq_ignore_ascii_case(&before);
    let (written, width) =
        known.iter().rev().filter_map(|known| parted(known)).find(is_like).map(|(b, n)| (b, n.len()))?;
    Some(format!("{written}{number:0>width$}"))
}

/// A sort key for ids. Every number in it is padded, so that the tenth task comes after the ninth.
pub(super) fn natural(id: &str) -> String {
    let mut key = String::new();
    let mut digits = String::new();
    for letter in plain(id).chars().chain([' ']) {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        if !digits.is_empty() {
            key.push_str(&format!("{digits:0>20}"));
            digits.clear();
        }
        key.push(letter);
    }
    key
}
