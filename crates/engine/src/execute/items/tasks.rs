//! Imports another tool's task list as items, in one change. If the list is imported again, its items are updated and
//! none is added twice.

mod known;

use crate::NATIVE;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::execute::plan::Plan;
use crate::long_work::Work;
use crate::project::Project;
use known::Known;
use layouts::task_list::{self, PLACES, Task, TaskList};
use model::actor::Actor;
use model::command::items::{AddItem, Context, ItemCommand, ItemEdit, decide};
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::id::{ItemId, Name};
use model::item::ItemBook;
use model::session::Session;
use model::words;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The maximum size of a task list in bytes, far above the lists that people write.
const LARGEST_LIST: u64 = 4 * 1024 * 1024;
/// The field of an item that only its list calls done. Its value is the list's path.
pub(crate) const CLAIMED: &str = "claimed_in";
/// The field of an item that came from a list. Its value is the list's path, `#`, and the task's id in the list. If
/// that id was taken here, the item has another id.
pub(crate) const LISTED_AS: &str = "listed_as";
/// The field of a session that was started from a list. Its value is the list's path.
pub const FROM: &str = "from";

/// A task list that was found and read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundList {
    /// The list's path; relative to the project's folder if the list is in it.
    pub path: String,
    pub title: Option<String>,
    list: TaskList,
}

impl FoundList {
    /// Returns the task list at this path: a Markdown file with check boxes, task-master's JSON, or a folder that
    /// contains one of them. `None` if the path is not a task list.
    pub fn at(asked: &str, project: &Project) -> Result<Option<Self>> {
        let here =
            std::env::current_dir().map_err(|source| Error::io("finding the current folder", source))?;
        let Some(path) = list_at(&here.join(asked)) else { return Ok(None) };
        let failed = |why: String| Error::BrokenFile { path: path.clone(), why };
        if std::fs::metadata(&path).is_ok_and(|found| found.len() > LARGEST_LIST) {
            return Err(failed("it is larger than 4 MiB".to_owned()));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        let is_json = path.extension().is_some_and(|end| end == "json");
        let list = match task_list::read(&text, is_json) {
            Ok(list) => list,
            // A Markdown file without tasks is an ordinary text, and not a broken list, unless its name is `tasks.md`.
            Err(_) if !is_json && path.file_name().is_some_and(|name| name != "tasks.md") => return Ok(None),
            Err(why) => return Err(failed(why)),
        };
        let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
        let shown = whole.strip_prefix(&project.root).unwrap_or(&whole).to_string_lossy().into_owned();
        let title = list.title.clone().filter(|title| !is_plain(title)).or_else(|| folder_name(&whole));
        Ok(Some(Self { path: shown, title, list }))
    }

    pub fn tasks(&self) -> usize {
        self.list.tasks.len()
    }

    /// Returns the folders below this one that contain a task list, in the places where other tools put them.
    pub fn below(asked: &str) -> Vec<String> {
        const PARENTS: [&str; 5] = ["", "specs", "changes", ".kiro/specs", "openspec/changes"];
        let asked = Path::new(asked);
        let mut found: Vec<String> = PARENTS
            .iter()
            .filter_map(|parent| std::fs::read_dir(asked.join(parent)).ok())
            .flat_map(|folder| folder.flatten().map(|entry| entry.path()))
            .filter(|folder| folder.is_dir() && list_at(folder).is_some())
            .map(|folder| folder.strip_prefix(".").unwrap_or(&folder).to_string_lossy().into_owned())
            .collect();
        found.sort();
        found
    }
}

/// The session and its items, after the commands that were decided so far.
struct Deciding {
    session: Session,
    book: ItemBook,
    actor: Actor,
    now: jiff::Timestamp,
    events: Vec<Event>,
    said: Vec<String>,
}

impl Deciding {
    fn take(&mut self, command: ItemCommand) -> std::result::Result<(), model::Refusal> {
        let context = Context {
            session: &self.session,
            book: &self.book,
            actor: &self.actor,
            now: self.now,
            gone: &[],
            seen: &[],
        };
        for event in decide(&context, command)? {
            if let Event::Item(event) = &event {
                self.book.apply(event, self.now, &self.actor);
            }
            let recorded = Recorded {
                version: self.session.version + 1,
                at: self.now,
                actor: self.actor.clone(),
                event: event.clone(),
            };
            self.session = self.session.clone().apply(&recorded);
            self.events.push(event);
        }
        Ok(())
    }

    /// Applies a command. If it is refused, adds a message, so that the import continues with the other tasks.
    fn take_or_say(&mut self, id: &ItemId, command: ItemCommand) {
        if let Err(refusal) = self.take(command) {
            self.said.push(format!("{id}: {refusal}"));
        }
    }
}

impl Engine {
    /// Imports a task list. New tasks become items, titles and dependencies are updated, and items of ticked tasks
    /// become done, as claims. Items completed in leftoff are never reopened.
    pub(crate) fn import_tasks(&mut self, found: &FoundList) -> Result<Answer> {
        let order = self.fingerprint("import", &found.path);
        self.in_turn(&order, |engine| {
            let id = engine.select(Want::Unfinished).map_err(|error| no_session(error, &found.path))?;
            let subject = engine.load_subject(&id)?;
            let before = engine.all_items(&id)?;
            let home = engine.home_of(&subject.session, None, None)?;
            let kind = home.items.as_deref().unwrap_or(super::USUAL_KIND);
            let kind = super::kind_named(kind)?;
            let mut deciding = Deciding {
                session: subject.session.clone(),
                book: before.clone(),
                actor: engine.asking_actor()?,
                now: engine.clock.now(),
                events: Vec::new(),
                said: Vec::new(),
            };
            let known = Known::of(found, &deciding.session, &before);
            for task in engine.options.watcher.each(Work::ImportTasks, &found.list.tasks) {
                place(task, found, &known, &kind, &home.phase, &mut deciding)?;
            }
            for task in &found.list.tasks {
                tick(task, found, &known, &mut deciding)?;
            }
            let said = summary(found, &deciding);
            let mut plan = Plan::of(subject.change(deciding.events));
            plan.items = Some(before);
            plan.said.push(said);
            plan.said.extend(known.no_longer_listed());
            plan.said.extend(deciding.said);
            Ok(plan)
        })
    }
}

/// Adds a task as an item, or updates its item.
fn place(
    task: &Task,
    found: &FoundList,
    known: &Known,
    kind: &Name,
    phase: &Name,
    deciding: &mut Deciding,
) -> Result<()> {
    let id = known.id(&task.id)?;
    let needs = known.ids(&task.needs)?;
    let listed = fields(LISTED_AS, listed_as(found, task), &deciding.session);
    let Some(item) = deciding.book.get(&id) else {
        let mut fields = listed;
        if task.ticked {
            fields.extend(claimed(found, &deciding.session));
        }
        let parent = task.parent.as_deref().map(|parent| known.id(parent)).transpose()?;
        let parent = parent.filter(|parent| deciding.book.contains(parent));
        // Dependencies on tasks further down the list are added by `tick`.
        let needs = needs.into_iter().filter(|need| deciding.book.contains(need)).collect();
        let phase = parent.is_none().then(|| phase.to_string());
        let title = super::titled(&task.title)?;
        let new = AddItem { id: id.clone(), kind: kind.clone(), title, phase, parent, needs, fields };
        deciding.take_or_say(&id, ItemCommand::Add(new));
        return Ok(());
    };
    let title = super::titled(&task.title)?;
    let missing: Vec<ItemId> = needs
        .into_iter()
        .filter(|need| !item.depends_on.contains(need) && deciding.book.contains(need))
        .collect();
    let is_new = |(name, value): &(String, Value)| item.fields.get(name) != Some(value);
    let edit = ItemEdit {
        title: (item.title != title).then_some(title),
        fields: listed.into_iter().filter(is_new).collect(),
        needs: if item.is_open() { missing } else { Vec::new() },
        ..ItemEdit::default()
    };
    if edit != ItemEdit::default() {
        deciding.take_or_say(&id, ItemCommand::Set { id: id.clone(), edit });
    }
    Ok(())
}

/// Adds a task's dependencies on tasks further down the list. Then completes the task's item if the task is ticked. A
/// task with parts is done when all of its parts are.
fn tick(task: &Task, found: &FoundList, known: &Known, deciding: &mut Deciding) -> Result<()> {
    let id = known.id(&task.id)?;
    let Some(item) = deciding.book.get(&id).cloned() else { return Ok(()) };
    let needs = known.ids(&task.needs)?;
    let missing: Vec<ItemId> = needs.into_iter().filter(|need| !item.depends_on.contains(need)).collect();
    if !missing.is_empty() && item.is_open() && !task.ticked {
        let edit = ItemEdit { needs: missing, ..ItemEdit::default() };
        deciding.take_or_say(&id, ItemCommand::Set { id: id.clone(), edit });
    }
    if !task.ticked || !item.is_open() || item.parts > 0 {
        return Ok(());
    }
    let fields = claimed(found, &deciding.session);
    if !fields.is_empty() && !item.fields.contains_key(CLAIMED) {
        let edit = ItemEdit { fields, ..ItemEdit::default() };
        deciding.take_or_say(&id, ItemCommand::Set { id: id.clone(), edit });
    }
    deciding.take_or_say(&id, ItemCommand::Complete { id: id.clone() });
    Ok(())
}

fn claimed(found: &FoundList, session: &Session) -> BTreeMap<String, Value> {
    fields(CLAIMED, found.path.clone(), session)
}

fn listed_as(found: &FoundList, task: &Task) -> String {
    format!("{}#{}", found.path, task.id)
}

/// Returns a field of an item for a native session. In other layouts, which cannot store the field, returns nothing.
fn fields(name: &str, value: String, session: &Session) -> BTreeMap<String, Value> {
    let is_native = session.layout == NATIVE;
    is_native.then(|| (name.to_owned(), Value::from(value))).into_iter().collect()
}

fn summary(found: &FoundList, deciding: &Deciding) -> String {
    let count = |is_meant: fn(&model::event::ItemEvent) -> bool| {
        let of_items = deciding.events.iter().filter_map(|event| match event {
            Event::Item(event) => Some(event),
            _ => None,
        });
        of_items.filter(|event| is_meant(event)).count()
    };
    let added = count(|event| matches!(event, model::event::ItemEvent::ItemAdded { .. }));
    let ticked = found.list.tasks.iter().filter(|task| task.ticked).count();
    let tasks = found.list.tasks.len();
    if deciding.events.is_empty() {
        return format!("{}: {tasks} tasks, unchanged", found.path);
    }
    format!("{}: {tasks} tasks, {added} new, {ticked} ticked off there (claimed, not verified)", found.path)
}

fn no_session(error: Error, path: &str) -> Error {
    match error {
        Error::NoSession { .. } => Error::WrongUsage {
            message: "no active session here to add the tasks to".to_owned(),
            hint: Hint::new("start a session from the list: ").run(words!["start", "--from", path]),
        },
        other => other,
    }
}

/// Returns the path of the task list at a path; `None` if there is none.
fn list_at(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return PLACES.iter().map(|place| path.join(place)).find(|place| place.is_file());
    }
    let name = path.file_name()?.to_str()?;
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let is_meant = matches!(end, "md" | "markdown") || name == "tasks.json";
    (is_meant && path.is_file()).then(|| path.to_owned())
}

/// True if a heading only names a type of list.
fn is_plain(title: &str) -> bool {
    matches!(
        title.to_ascii_lowercase().as_str(),
        "tasks" | "task list" | "implementation plan" | "implementation tasks"
    )
}

/// Returns the name of a specification according to its folder, such as `photo albums` for
/// `specs/001-photo-albums/tasks.md`.
fn folder_name(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let name = folder.file_name()?.to_str()?;
    // task-master stores its list in a folder `tasks` of the project, so the project's folder is used.
    let name = if name == "tasks" { folder.ancestors().nth(2)?.file_name()?.to_str()? } else { name };
    let words = name.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '-');
    let words = if words.is_empty() { name } else { words };
    Some(words.replace(['-', '_'], " "))
}
