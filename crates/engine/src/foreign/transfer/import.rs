//! Imports a session on request: turns another tool's session into a native one, or upgrades it to the current format
//! of its layout. The import of a native session does not change the original files; an upgrade keeps them as a backup.

mod documents;

use crate::NATIVE;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::execute::plan::Plan;
use crate::execute::subject::Subject;
use crate::foreign::observe::too_little_known::nothing_known;
use crate::foreign::transfer::origin::Origin;
use crate::foreign::{self};
use documents::Brought;
use layouts::layout;
use model::event::Event;
use model::hint::Hint;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::words;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use store::ContentRow;

/// The reason recorded when an import pauses a session.
const REASON_IMPORTED: &str = "imported";

/// A session to import.
struct Meant {
    id: SessionId,
    /// The session's place in another project; `None` if the session is in this project.
    from: Option<Elsewhere>,
}

/// A place in another project.
struct Elsewhere {
    /// The project's folder.
    root: String,
    /// The path relative to the project's folder.
    path: String,
}

const FIX_FIRST: &str = "fix the file, or replace it with its backup (.bak); then import the session again";

impl Engine {
    /// Imports the session at the given path or with the given id, or else the selected one. Can be repeated without
    /// harm.
    pub(crate) fn import(&mut self, asked: Option<&str>, layout: Option<&str>) -> Result<Answer> {
        let into = layout.unwrap_or(NATIVE).to_owned();
        let fingerprint = self.fingerprint("import", &format!("{asked:?} {into}"));
        let mut lost = BTreeSet::new();
        let mut answer = self.in_turn(&fingerprint, |engine| {
            let meant = engine.to_import(asked, &into)?;
            let subject = engine.load_subject(&meant.id).map_err(no_session_in)?;
            lost = engine.lost_of(&meant.id);
            engine.importing(subject, meant, &into)
        })?;
        // After an import, oddities of the original files no longer matter. Possible losses still do.
        let is_loss = |path: &Option<String>| path.as_ref().is_some_and(|path| lost.contains(path));
        answer.view.warnings.retain(|warning| warning.kind != "foreign_file" || is_loss(&warning.path));
        Ok(answer)
    }

    fn importing(&self, subject: Subject, meant: Meant, into: &str) -> Result<Plan> {
        let Meant { id, from } = meant;
        let session = &subject.session;
        let kept_in = session.layout.clone();
        let origin = self.origin(&id)?;
        // If the session was imported before, it continues in the layout that it got then.
        let came_before = from.is_some() && origin.is_some();
        let was_kept_in = origin.as_ref().filter(|_| came_before).map(|origin| origin.layout.facts().name);
        if into != NATIVE && into != kept_in && Some(into) != was_kept_in {
            return Err(Error::WrongUsage {
                message: format!("{id} is a session of {kept_in} and cannot become one of {into}"),
                hint: format!("omit --layout, or use --layout {kept_in}").into(),
            });
        }
        if let Some(why) = self.why_it_tells_nothing(session) {
            let path = session.path.clone().unwrap_or_default();
            return Err(no_session_in(nothing_known(&id, path, &why)));
        }
        let is_same = origin.as_ref().is_some_and(|origin| origin.into == into);
        let is_done = kept_in == NATIVE || is_same || came_before;
        let path = session.path.clone().filter(|_| !is_done);
        let Some(path) = path else {
            let mut plan = Plan::of(subject.change(Vec::new()));
            plan.said = self.about_the_first_time(origin.as_ref(), &id)?;
            return Ok(plan);
        };
        let mut contents = Vec::new();
        let becomes_native = into == NATIVE;
        if becomes_native {
            let row = |body: Vec<u8>| ContentRow { hash: crate::hex(&Sha256::digest(&body)), body };
            contents.extend(self.files_seen(&id).into_iter().map(|(path, body)| (path, row(body))));
        }
        let files = contents.iter().map(|(path, row)| (path.clone(), row.hash.clone())).collect();
        let comes_here = becomes_native || from.is_some();
        let brought = if comes_here {
            self.bring_documents(session, from.as_ref(), becomes_native)?
        } else {
            Brought::default()
        };
        let operation = brought.operation.as_ref().map(|operation| operation.id().to_owned());
        let (there, from) = from.map_or((path.clone(), None), |from| (from.path, Some(from.root)));
        let has_another_name = !becomes_native && there != path;
        let into = into.to_owned();
        let mut events = vec![Event::Imported { layout: kept_in, path: there, into, from, files, operation }];
        if has_another_name {
            events.push(Event::SessionMoved { path });
        }
        // The imported session is paused, because nobody asked to replace the session that is active here.
        if comes_here && matches!(session.lifecycle, Lifecycle::Active) {
            let reason = REASON_IMPORTED.to_owned();
            events.push(Event::SessionPaused { reason, context: None, saved: Vec::new() });
        }
        let mut plan = Plan::of(subject.change(events));
        plan.contents = contents.into_iter().map(|(_, row)| row).collect();
        plan.operation = brought.operation;
        plan.said.extend(brought.said);
        Ok(plan)
    }

    /// Returns messages for somebody who repeats an import.
    fn about_the_first_time(&self, origin: Option<&Origin>, id: &SessionId) -> Result<Vec<String>> {
        let Some(origin) = origin else {
            return Ok(vec![format!("{id} is already a leftoff session: there is nothing to import")]);
        };
        let place = origin.spot.path.as_str();
        let place = origin.from.as_ref().map_or_else(|| PathBuf::from(place), |root| root.join(place));
        let mut said = vec![format!("{} was already imported, as {id}", place.display())];
        let changed = self.changed_since(origin, id)?;
        if let Some((first, others)) = changed.split_first() {
            let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
            said.push(format!(
                "{}{more} changed since then; those changes were not imported: the session continues here",
                first.display()
            ));
        }
        Ok(said)
    }

    fn to_import(&self, asked: Option<&str>, into: &str) -> Result<Meant> {
        let here = |id: SessionId| Ok(Meant { id, from: None });
        let Some(asked) = asked else { return here(self.select(Want::Latest)?) };
        let places = [self.project.root.join(asked), PathBuf::from(asked)];
        let Some(found) = places.iter().find_map(|place| foreign::pointed(place)) else {
            return match self.resolve(asked) {
                Ok(id) => here(id),
                Err(Error::UnknownSession { .. }) if places.iter().any(|place| place.exists()) => {
                    let place = places.iter().find(|place| place.exists());
                    Err(no_session(asked, place.map_or(Path::new(asked), PathBuf::as_path)))
                }
                Err(Error::UnknownSession { .. }) if asked.contains(['/', '.']) => Err(Error::NotASession {
                    asked: asked.to_owned(),
                    why: "there is no such file, folder or session".to_owned(),
                    instead: Hint::new("see the sessions here: ").run(words!["list", "--all"]),
                }),
                Err(error) => Err(error),
            };
        };
        let is_here = self.project.root.canonicalize().is_ok_and(|root| root == found.root);
        if is_here {
            return here(self.session_at(&found)?);
        }
        let id = match self.imported_from(&found)? {
            Some(id) => id,
            None if into == found.layout.facts().name => {
                self.observe_copied(&found).map_err(no_session_in)?
            }
            None => self.observe_elsewhere(&found)?,
        };
        let root = found.root.to_string_lossy().into_owned();
        Ok(Meant { id, from: Some(Elsewhere { root, path: found.spot.path }) })
    }
}

/// Returns the error that an empty file is not a session. Other errors are returned unchanged.
fn no_session_in(error: Error) -> Error {
    match error {
        Error::NothingKnown { path, why, .. } => {
            Error::NotASession { asked: path, why, instead: FIX_FIRST.into() }
        }
        other => other,
    }
}

/// Returns the error for an existing path that is not a session. It says what would be a session, and what to do.
fn no_session(asked: &str, place: &Path) -> Error {
    let whole = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    let looked_for: Vec<String> = layout::all()
        .iter()
        .map(|layout| format!("{} ({})", layout.facts().name, layout.facts().looks_for))
        .collect();
    let why = format!("looked for {}", looked_for.join(", "));
    Error::NotASession { asked: asked.to_owned(), why, instead: instead(asked, &whole) }
}

fn instead(asked: &str, whole: &Path) -> Hint {
    if let Some(session) = foreign::around(whole) {
        return Hint::new("the path is inside a session; import the session: ")
            .run(words!["import", session.place().display()]);
    }
    if whole.is_dir() {
        let inside = foreign::sessions_in(whole);
        return match inside.as_slice() {
            [] => Hint::new("name a session's own file or folder; see the sessions of a project: ")
                .run(words!["list", "--project", "DIR"]),
            [first, others @ ..] => {
                let hint = Hint::new("import a session in the folder: ")
                    .run(words!["import", Path::new(asked).join(first).display()]);
                match others.len() {
                    0 => hint,
                    count => hint.then(format!("; see this session and {count} more: ")).run(words![
                        "list",
                        "--project",
                        asked
                    ]),
                }
            }
        };
    }
    let beginning = beginning(whole);
    if beginning.contains("\"leftoff_bundle\"") {
        return Hint::new("the file is a bundle; import the bundle: ").run(words!["bundle", "take", asked]);
    }
    if beginning.contains("\"leftoff_export\"") {
        return Hint::new("the file is an export for other programs; to move a session: ")
            .run(words!["bundle", "create", "FILE"]);
    }
    Hint::new("name a session's own file or folder, or a session's id; see the ids of all sessions here: ")
        .run(words!["list", "--all"])
}

/// Returns the beginning of a file, enough to recognise its type; empty if the file cannot be read.
fn beginning(path: &Path) -> String {
    const ENOUGH: u64 = 200;
    let mut bytes = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        let _ = file.take(ENOUGH).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
