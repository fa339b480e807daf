//! Imports a bundle: checks everything before storing anything.

use super::arrival::Addition;
use super::files;
use super::format::{self, Bundle, Definition, Unreadable};
use crate::NATIVE;
use crate::definitions;
use crate::engine::{Engine, read_event};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::execute::plan::{Order, fold_whole, key_row, to_json};
use crate::long_work::{Watcher, Work};
use crate::project::workspace_of;
use crate::query::Follows;
use crate::verify::OpenedBundle;
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::session::Session;
use model::words;
use model::workflow::Workflow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use store::{Arrived, Batch, CommandMark, DefinitionRow, EventRow, ItemsReplaced, Store, TakenHistory};

impl Engine {
    /// Imports the session of a bundle, as a new session or as the continuation of the copy that this store already
    /// has.
    pub(crate) fn bundle_take(&mut self, from: &Path) -> Result<Answer> {
        let (bundle, hash) = read(from)?;
        let fingerprint = self.fingerprint("bundle take", &hash);
        let incoming = check(from, &bundle, &self.options.watcher)?;
        self.store.seal_histories(std::slice::from_ref(&bundle.header.session), self.patience.left())?;
        self.store.take_turn(self.patience.left())?;
        let kept = match self.remembered(&fingerprint) {
            Ok(None) => self.take_in_turn(from, &bundle, &incoming, &fingerprint),
            Ok(Some(answer)) => Ok(answer),
            Err(error) => Err(error),
        };
        self.store.give_turn_back();
        let mut kept = kept?;
        if kept.view.layout != NATIVE {
            // The session is already stored, so problems with its files are only reported.
            kept.view.warnings = self.write_files(&bundle.header.session);
        }
        self.make_workspace_if_possible(&kept);
        Ok(kept)
    }

    fn take_in_turn(
        &mut self,
        from: &Path,
        bundle: &Bundle,
        incoming: &[Recorded],
        order: &Order,
    ) -> Result<Answer> {
        let id = &bundle.header.session;
        let definitions = self.definitions_of(from, bundle)?;
        let local = self.store.events(id, 0, None)?;
        let addition = self.addition(from, &local, bundle, incoming)?;
        let already = addition.new.is_empty();
        let whole: Vec<Recorded> = addition.known.iter().chain(&addition.new).cloned().collect();
        let taken = self.place_of_a_taken_one(&whole);
        let session =
            if already { self.folded_from(&whole, id)? } else { fold_whole(&whole, Some(&taken))? }.trimmed();
        // From here on nothing is refused. Files wait under temporary names until the session is stored.
        let own = self.own_folder(&session);
        let incoming_files = self.options.watcher.each(Work::UnpackFiles, &bundle.files);
        let drafts = files::draft(&self.project.root, id, &own, incoming_files)
            .map_err(|source| Error::io(format!("writing the files of {}", from.display()), source))?;
        let mut arrived = Arrived::default();
        if !already {
            let history = self.history_taken(&session, local, &addition, taken.at)?;
            arrived = Arrived { definitions, contents: bundle.contents.clone(), ..Arrived::default() };
            arrived.histories.push(history);
        }
        let mut answer = self.answer_to_taking(&session, already, &arrived)?;
        let key = self.options.key.as_deref();
        let key = key.map(|key| key_row(key, order, &answer, self.clock.now())).transpose()?;
        if !already {
            self.keep_taken(&arrived)?;
        }
        if key.is_some() {
            self.append(&Batch { key, ..Batch::default() })?;
        }
        // If a file cannot be renamed now, this is only reported. Importing the bundle again restores the file.
        answer.said = drafts.put(&self.project.root);
        Ok(self.with_its_number(answer))
    }

    /// Returns the folder of a session's own files: its workspace, or its place in another tool's layout.
    pub(crate) fn own_folder(&self, session: &Session) -> String {
        let located = self.located(session).filter(|located| !located.spot.workspace.starts_with('/'));
        located.map_or_else(|| workspace_of(&session.id), |located| located.spot.workspace)
    }

    /// Returns the answer to the import, as it will be after the batch is committed.
    fn answer_to_taking(&self, session: &Session, already: bool, arrived: &Arrived) -> Result<Answer> {
        let items = |history: &TakenHistory| ItemsReplaced {
            session: history.row.id.clone(),
            rows: history.items.clone(),
        };
        let replace_items = arrived.histories.iter().map(items).collect();
        let batch = Batch { replace_items, definitions: arrived.definitions.clone(), ..Batch::default() };
        let number = self.store.load(&session.id)?.map_or(0, |loaded| loaded.number);
        let hash = session.run().map(|run| run.workflow.hash.as_str()).unwrap_or_default();
        let row = batch.definitions.iter().find(|row| row.hash == hash);
        if let Some(workflow) = row.and_then(|row| serde_json::from_str(&row.body).ok()) {
            self.know_definition(&workflow);
        }
        let view = self.view_after(session, number, already, &batch, Follows::Question)?;
        Ok(Answer { view, said: Vec::new(), gate_failed: false })
    }

    /// Returns the rows of a bundle's definitions. A definition's hash is that of its source, which a bundle does not
    /// contain. So if the hash is known here, the definition must be equal to the known one: otherwise a bundle could
    /// remove checks from other sessions.
    fn definitions_of(&self, from: &Path, bundle: &Bundle) -> Result<Vec<DefinitionRow>> {
        let sources = definitions::all(&self.project);
        let mut rows = Vec::new();
        for found in &bundle.definitions {
            let row = definition(from, found)?;
            let mut own = sources.iter().filter(|source| source.hash() == found.hash);
            let known = match own.find_map(|source| definitions::check(source).ok()) {
                Some(workflow) => Some(to_json(&workflow)?),
                None => self.definition(&found.hash)?.map(|workflow| to_json(&*workflow)).transpose()?,
            };
            if known.is_some_and(|known| known != row.body) {
                let why =
                    format!("a workflow's definition differs from the one known here as {}", found.hash);
                return Err(bad(from, why));
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// Returns the events that a bundle adds. Older programs recorded an import as an event of the log. Such events are
    /// ignored when two logs are compared.
    fn addition(
        &self,
        from: &Path,
        local: &[EventRow],
        bundle: &Bundle,
        incoming: &[Recorded],
    ) -> Result<Addition> {
        let mut here = local.iter().filter(|row| !is_own_matter(row));
        let known: Vec<Recorded> = match incoming.first().map(|recorded| &recorded.event) {
            Some(Event::SessionStarted { id, .. }) => {
                local.iter().map(|row| read_event(id, row)).collect::<Result<_>>()?
            }
            _ => Vec::new(),
        };
        let is_continued = local.iter().zip(&bundle.events).all(|(mine, theirs)| is_copy(mine, theirs));
        if is_continued {
            return Ok(continuation(known, bundle, incoming));
        }
        let mut newest = known.last().map_or(0, |recorded| recorded.version);
        let mut place = 0;
        let mut places: BTreeMap<u64, u64> = BTreeMap::new();
        let mut new = Vec::new();
        let mut commands = BTreeMap::new();
        let mut seals = BTreeMap::new();
        for (row, recorded) in bundle.events.iter().zip(incoming) {
            if !is_own_matter(row) {
                match here.next() {
                    Some(mine) if is_same(mine, row, &places) => place = mine.version,
                    Some(mine) => return Err(self.diverged(from, incoming, mine.version.saturating_sub(1))),
                    None => {
                        newest += 1;
                        place = newest;
                        let event = moved(&recorded.event, &places);
                        let seal = bundle.seals.get(&row.version).filter(|_| place == row.version);
                        seals.extend(seal.map(|seal| (place, *seal)));
                        let command = row.command.as_ref().map(|command| CommandMark {
                            name: command.name.clone(),
                            ordinal: places.get(&command.ordinal).copied().unwrap_or(place),
                        });
                        commands.extend(command.map(|command| (place, command)));
                        new.push(Recorded { version: place, event, ..recorded.clone() });
                    }
                }
            }
            // A reference to an ignored event becomes a reference to the event before it.
            places.insert(row.version, place);
        }
        Ok(Addition { known, new, commands, seals })
    }

    fn diverged(&self, from: &Path, incoming: &[Recorded], version: u64) -> Error {
        let session = match incoming.first().map(|recorded| &recorded.event) {
            Some(Event::SessionStarted { id, .. }) => id.to_string(),
            _ => String::new(),
        };
        Error::Diverged { path: from.to_owned(), session, version }
    }
}

/// Returns a bundle's session as rows, after the same checks that an import makes.
pub(crate) fn opened(from: &Path) -> Result<OpenedBundle> {
    let (bundle, _) = read(from)?;
    check(from, &bundle, &Watcher::default())?;
    let mut definitions = BTreeMap::new();
    for found in &bundle.definitions {
        let row = definition(from, found)?;
        definitions.insert(row.hash, row.body);
    }
    let files = bundle.files.into_iter().map(|file| (format::hash(&file.content), file.content));
    let contents = bundle.contents.into_iter().map(|content| (content.hash, content.body));
    Ok(OpenedBundle {
        session: bundle.header.session,
        rows: bundle.events,
        seals: bundle.seals,
        definitions,
        contents: files.chain(contents).collect(),
    })
}

fn read(from: &Path) -> Result<(Bundle, String)> {
    let io = |source| Error::io(format!("reading {}", from.display()), source);
    let file = File::open(from).map_err(io)?;
    format::read(&mut BufReader::with_capacity(1 << 16, file)).map_err(|error| match error {
        Unreadable::Io(source) => io(source),
        Unreadable::Wrong(why) => bad(from, why),
        Unreadable::Newer(version) => Error::BadBundle {
            path: from.to_owned(),
            why: format!("its version is {version}; this program supports {}", format::VERSION),
            hint: "nothing was changed; use the newer leftoff".into(),
        },
    })
}

/// Returns the bundle's events. Fails unless they form a complete session that this program knows, and all paths of
/// files are allowed.
fn check(from: &Path, bundle: &Bundle, watcher: &Watcher) -> Result<Vec<Recorded>> {
    let id = &bundle.header.session;
    for file in &bundle.files {
        if let Some(why) = files::refused(&file.path) {
            return Err(bad(from, format!("the path {:?}: {why}", file.path)));
        }
    }
    let mut events = Vec::with_capacity(bundle.events.len());
    for (row, expected) in watcher.each(Work::CheckEvents, &bundle.events).zip(1..) {
        if row.version != expected {
            return Err(bad(from, format!("event {expected} is missing")));
        }
        let recorded = read_event(id, row).map_err(|error| bad(from, error.to_string()))?;
        match &recorded.event {
            Event::Unknown { kind } => {
                return Err(bad(from, format!("it contains '{kind}', which is unknown to this program")));
            }
            Event::RunStarted { phases, .. } if phases.is_empty() => {
                return Err(bad(from, format!("the run of event {expected} has no phase")));
            }
            event if event.kind() != row.kind => {
                return Err(bad(from, format!("event {expected} does not match its type")));
            }
            _ => events.push(recorded),
        }
    }
    check_session(from, bundle, &events)?;
    Ok(events)
}

fn check_session(from: &Path, bundle: &Bundle, events: &[Recorded]) -> Result<()> {
    let session = Session::fold(events)
        .filter(|session| session.id == bundle.header.session && session.run().is_some())
        .ok_or_else(|| bad(from, "its events do not form a session".to_owned()))?;
    for run in &session.runs {
        if !bundle.definitions.iter().any(|found| found.hash == run.workflow.hash) {
            return Err(bad(from, format!("the definition of workflow '{}' is missing", run.workflow.name)));
        }
    }
    Ok(())
}

fn definition(from: &Path, found: &Definition) -> Result<DefinitionRow> {
    let workflow: Workflow = serde_json::from_value(found.workflow.clone())
        .map_err(|error| bad(from, format!("a workflow's definition: {error}")))?;
    if workflow.hash != found.hash {
        return Err(bad(from, "a workflow's definition does not match its hash".to_owned()));
    }
    Ok(DefinitionRow { hash: found.hash.clone(), body: to_json(&workflow)? })
}

fn bad(from: &Path, why: String) -> Error {
    Error::BadBundle {
        path: from.to_owned(),
        why,
        hint: Hint::new("nothing was changed; create the bundle again: ").run(words!["bundle", "create"]),
    }
}

fn is_copy(mine: &EventRow, theirs: &EventRow) -> bool {
    let same = |row: &EventRow| (row.version, row.at, row.actor.clone(), row.kind.clone(), row.body.clone());
    same(mine) == same(theirs)
}

/// Returns the addition if one log is the beginning of the other. Events then keep their versions, and the hash chain
/// stays the same.
fn continuation(known: Vec<Recorded>, bundle: &Bundle, incoming: &[Recorded]) -> Addition {
    let shared = known.len().min(incoming.len());
    let new = &bundle.events[shared..];
    Addition {
        new: incoming[shared..].to_vec(),
        known,
        commands: new.iter().filter_map(|row| Some((row.version, row.command.clone()?))).collect(),
        seals: new.iter().filter_map(|row| Some((row.version, *bundle.seals.get(&row.version)?))).collect(),
    }
}

fn is_own_matter(row: &EventRow) -> bool {
    row.kind == "session_taken"
}

/// True if two events are equal byte for byte, except for their versions: versions may differ because of local events.
fn is_same(mine: &EventRow, theirs: &EventRow, places: &BTreeMap<u64, u64>) -> bool {
    let is_alike = mine.at == theirs.at && mine.actor == theirs.actor && mine.kind == theirs.kind;
    is_alike && (mine.body == theirs.body || moved_body(theirs, places).as_deref() == Some(&mine.body))
}

fn moved_body(row: &EventRow, places: &BTreeMap<u64, u64>) -> Option<String> {
    let event = moved(&Event::read(&row.kind, &row.body), places);
    serde_json::to_string(&event).ok()
}

/// Returns an event with its references to versions replaced by the versions of this store.
fn moved(event: &Event, places: &BTreeMap<u64, u64>) -> Event {
    match event {
        Event::Restored { to_version } => {
            Event::Restored { to_version: places.get(to_version).copied().unwrap_or(*to_version) }
        }
        other => other.clone(),
    }
}
