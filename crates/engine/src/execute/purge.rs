//! Takes text out of a session's whole history, for good. The mark that it leaves does not tell what it was.

use crate::engine::{Engine, Want, read_event};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::execute::plan::{fold_whole, stream_of, to_json};
use crate::hex;
use crate::items::item_rows;
use crate::policy::Restricted;
use crate::sync::NATIVE;
use crate::words::one_line;
use model::actor::Actor;
use model::event::{Event, Recorded, Rewritten};
use model::hint::Hint;
use model::id::SessionId;
use model::refusal::Refusal;
use model::session::Session;
use model::words;
use serde_json::Value;
use store::chain::content_hash;
use store::{ActivityRow, EventRow, KEPT_ACTIVITIES, Rewrite};

const PURGED: &str = "[purged]";

/// What purging would do.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PurgePreview {
    pub session_id: String,
    pub title: String,
    /// How often the text occurs.
    pub occurrences: u64,
    /// In how many events.
    pub events: usize,
}

impl PurgePreview {
    /// What a person answers before it is done.
    pub fn question(&self) -> String {
        let counted = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        format!(
            "Replace {} in {} of session {} ({}) for good?",
            counted(self.occurrences, "occurrence"),
            counted(self.events as u64, "event"),
            self.session_id,
            one_line(&self.title, 60)
        )
    }
}

/// What is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeRequest {
    pub text: String,
    /// A person was asked what the preview asks, and said yes.
    pub confirmed: bool,
}

/// A history with other words.
struct Purged {
    id: SessionId,
    number: u64,
    /// Only those that change.
    rows: Vec<EventRow>,
    /// All of them, as they are afterwards.
    events: Vec<Recorded>,
    activity: Vec<ActivityRow>,
    /// Files whose kept content holds the text, by hash.
    contents: Vec<String>,
    replaced: u64,
}

impl Engine {
    /// Where the text is; changes nothing.
    pub fn purge_preview(&self, text: &str) -> Result<PurgePreview> {
        self.without(text)?.preview()
    }

    /// Replaces every occurrence in the session's events, snapshot, activity and remembered answers, and forgets kept files that hold it.
    /// What cannot be undone is done when a person said yes to it.
    pub fn purge(&mut self, request: &PurgeRequest) -> Result<Answer> {
        if request.confirmed {
            self.require_person(Restricted::Purge)?;
            self.settle_files_without(&request.text)?;
        }
        self.store.take_turn(self.patience)?;
        let done = self.purge_in_turn(request);
        self.store.give_turn_back();
        let mut answer = done?;
        match self.store.erase(self.patience) {
            Ok(true) => {}
            Ok(false) => answer.said.push(
                "somebody is reading the store: until they are done, the text may still be found in its files; then run this again".to_owned(),
            ),
            Err(error) => answer.said.push(format!(
                "the text may still be found in the store's files: {error}; run this again"
            )),
        }
        Ok(answer)
    }

    /// A session's own files would bring the text back as an edit: what they say is taken in first, and as long as they
    /// hold the text nothing is purged.
    fn settle_files_without(&mut self, text: &str) -> Result<()> {
        let id = self.select(Want::Latest)?;
        let (loaded, session) = self.load(&id)?;
        if loaded.row.layout == NATIVE {
            return Ok(());
        }
        let holding = self.files_with(&id, text);
        if !holding.is_empty() {
            return Err(Error::StillInFiles { session: session.id.to_string(), paths: holding });
        }
        self.settle(&id, text)
    }

    fn purge_in_turn(&mut self, request: &PurgeRequest) -> Result<Answer> {
        let text = request.text.as_str();
        let mut purged = self.without(text)?;
        if purged.replaced == 0 {
            let session = fold_whole(&purged.events)?;
            let view = self.view_of(&session, purged.number, true)?;
            return Ok(Answer { view, said: Vec::new(), gate_failed: false });
        }
        if !request.confirmed {
            return Err(Error::NeedsAnswer {
                question: purged.preview()?.question(),
                hint: "a person must answer: run it in a terminal, or with --yes".into(),
            });
        }
        let expected = purged.events.last().map_or(0, |recorded| recorded.version);
        let mark = Recorded {
            version: expected + 1,
            at: self.clock.now(),
            actor: self.actor(self.asking_agent()?.as_ref()),
            event: Event::Purged { replaced: purged.replaced, rewritten: purged.rewritten() },
        };
        purged.events.push(mark.clone());
        let session = fold_whole(&purged.events)?.trimmed();
        let rewrite = Rewrite {
            stream: stream_of("purge", &session, expected, std::slice::from_ref(&mark))?,
            events: purged.rows,
            activity: purged.activity,
            contents: purged.contents,
            items: item_rows(&session.id, &purged.events)?,
        };
        let about = session.id.to_string();
        self.store.rewrite(&rewrite, &|answer| without_in_answer(answer, &about, text))?;
        let view = self.view_of(&session, purged.number, false)?;
        Ok(Answer { view, said: self.where_it_stays(&session, text)?, gate_failed: false })
    }

    fn without(&self, text: &str) -> Result<Purged> {
        if text.trim().is_empty() {
            return Err(Error::WrongUsage {
                message: "the text to purge is empty".to_owned(),
                hint: Hint::new("name what is to go: ").run(words!["purge", "…"]),
            });
        }
        // A key keeps a hash of what it was given with, by which the text could be found out.
        if self.options.key.is_some() {
            return Err(Error::WrongUsage {
                message: "purge takes no --key".to_owned(),
                hint: "leave it out: purging again what is gone does nothing".into(),
            });
        }
        let id = self.select(Want::Latest)?;
        let (loaded, _) = self.load(&id)?;
        let mut replaced = 0;
        let (mut rows, mut events) = (Vec::new(), Vec::new());
        for row in self.store.events(&id, 0, None)? {
            let before = read_event(&id, &row)?;
            if let Event::Unknown { kind } = before.event {
                return Err(Refusal::NewerEvent { session: id, kind }.into());
            }
            let (row, count) = without_in_event(row, text)?;
            let after = still_readable(&id, &row, &before)?;
            if count > 0 {
                rows.push(row);
            }
            replaced += count;
            events.push(after);
        }
        let mut activity = self.store.activity(&id, KEPT_ACTIVITIES)?;
        for row in &mut activity {
            replaced += replace(&mut row.what, text);
            replaced += row.detail.as_mut().map_or(0, |detail| replace(detail, text));
        }
        let contents = self.contents_with(&events, text)?;
        replaced += contents.len() as u64;
        let (number, activity) = (loaded.number, merged(activity));
        Ok(Purged { id, number, rows, events, activity, contents, replaced })
    }

    /// Kept files that hold the text. Their content goes as a whole: with other words it would not be theirs.
    fn contents_with(&self, events: &[Recorded], text: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for hash in events.iter().flat_map(|recorded| recorded.event.contents()) {
            let Some(body) = self.store.content(hash)? else { continue };
            let holds = body.windows(text.len()).any(|part| part == text.as_bytes());
            if holds && !found.iter().any(|known| known == hash) {
                found.push(hash.to_owned());
            }
        }
        Ok(found)
    }

    /// Definitions are shared by sessions and known by their hash, and copies are not ours to open.
    fn where_it_stays(&self, session: &Session, text: &str) -> Result<Vec<String>> {
        let mut said = Vec::new();
        for run in &session.runs {
            let body = self.store.definition(&run.workflow.hash)?.unwrap_or_default();
            if serde_json::from_str(&body).is_ok_and(|mut value| in_value(&mut value, text) > 0) {
                said.push(format!(
                    "the definition of workflow '{}' holds it too, and keeps it",
                    run.workflow.name
                ));
            }
        }
        said.dedup();
        if session.layout != NATIVE {
            said.push(
                "versions of its files from before (.bak, .leftoff/aside) may still hold it".to_owned(),
            );
        }
        said.push("copies that were made before (store backup, bundles) still hold it".to_owned());
        Ok(said)
    }
}

impl Purged {
    fn rewritten(&self) -> Vec<Rewritten> {
        let rewritten =
            |row: &EventRow| Rewritten { version: row.version, hash: hex(&content_hash(None, row)) };
        self.rows.iter().map(rewritten).collect()
    }

    fn preview(&self) -> Result<PurgePreview> {
        Ok(PurgePreview {
            session_id: self.id.to_string(),
            title: fold_whole(&self.events)?.title,
            occurrences: self.replaced,
            events: self.rows.len(),
        })
    }
}

fn without_in_event(row: EventRow, text: &str) -> Result<(EventRow, u64)> {
    let (body, in_body) = without_in_json(&row.body, text)?;
    let (actor, in_actor) = without_in_json(&row.actor, text)?;
    Ok((EventRow { body, actor, ..row }, in_body + in_actor))
}

/// Replaced in the values, not in the bytes: quotation marks and line breaks are spelled otherwise in JSON.
fn without_in_json(json: &str, text: &str) -> Result<(String, u64)> {
    let mut value: Value = serde_json::from_str(json)
        .map_err(|error| Error::BrokenLog { session: "(being purged)".to_owned(), why: error.to_string() })?;
    match in_value(&mut value, text) {
        0 => Ok((json.to_owned(), 0)),
        count => Ok((to_json(&value)?, count)),
    }
}

/// A history that can no longer be read would be worse than what it holds.
fn still_readable(id: &SessionId, row: &EventRow, before: &Recorded) -> Result<Recorded> {
    let refused = |what: &str| Error::NotPurgeable { what: what.to_owned() };
    let after = read_event(id, row).map_err(|_| refused("the kind of an actor"))?;
    if matches!(after.actor, Actor::Unknown(_)) && !matches!(before.actor, Actor::Unknown(_)) {
        return Err(refused("the kind of an actor"));
    }
    if after.event.kind() != before.event.kind() || matches!(after.event, Event::Unknown { .. }) {
        return Err(refused("a name or a number"));
    }
    let (new, old) = (&after.event, &before.event);
    if let Event::SessionStarted { id: named, .. } = new
        && named != id
    {
        return Err(refused("the session's id"));
    }
    if let (Event::RunStarted { workflow: new, .. }, Event::RunStarted { workflow: old, .. }) = (new, old)
        && new != old
    {
        return Err(refused("what names a workflow"));
    }
    if let (Event::ArtifactRecorded { artifact: new }, Event::ArtifactRecorded { artifact: old }) = (new, old)
        && new.hash != old.hash
    {
        return Err(refused("a file's hash"));
    }
    if places(new) != places(old) {
        return Err(refused("the worktree's path or the layout's name"));
    }
    Ok(after)
}

/// Where a session is, by which others find it.
fn places(event: &Event) -> Option<(&str, &str)> {
    match event {
        Event::SessionStarted { worktree, layout, .. } => Some((worktree, layout)),
        Event::SessionResumed { worktree, .. }
        | Event::SessionReopened { worktree, .. }
        | Event::SessionTaken { worktree, .. } => Some((worktree, "")),
        Event::Adopted { layout, path } | Event::Imported { layout, path, .. } => Some((path, layout)),
        Event::ExternalEdit { .. }
        | Event::PhaseClaimed { .. }
        | Event::PhaseFlagged { .. }
        | Event::RunStarted { .. }
        | Event::RunSelected { .. }
        | Event::PhaseStarted { .. }
        | Event::GateFailed { .. }
        | Event::PhaseCompleted { .. }
        | Event::PhaseSkipped { .. }
        | Event::RunCompleted
        | Event::NoteAdded { .. }
        | Event::NoteResolved { .. }
        | Event::NoteChanged { .. }
        | Event::SessionPaused { .. }
        | Event::SessionCompleted { .. }
        | Event::SessionAbandoned { .. }
        | Event::SessionFailed { .. }
        | Event::SessionExpired { .. }
        | Event::RolledBack { .. }
        | Event::CheckApproved { .. }
        | Event::ApprovalWithdrawn { .. }
        | Event::FieldsSet { .. }
        | Event::ArtifactRecorded { .. }
        | Event::PhaseRevised { .. }
        | Event::CheckpointMade { .. }
        | Event::PhasesAdded { .. }
        | Event::DefinitionUpdated { .. }
        | Event::SessionMoved { .. }
        | Event::Restored { .. }
        | Event::Purged { .. }
        | Event::RequirementSatisfied { .. }
        | Event::RequirementCleared { .. }
        | Event::Item(_)
        | Event::Unknown { .. } => None,
    }
}

/// An answer that was remembered for a key, if it is about this session and holds the text.
fn without_in_answer(answer: &str, session: &str, text: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(answer).ok()?;
    if value.pointer("/view/session_id").and_then(Value::as_str) != Some(session) {
        return None;
    }
    let count = in_value(&mut value, text);
    (count > 0).then(|| value.to_string())
}

fn in_value(value: &mut Value, text: &str) -> u64 {
    match value {
        Value::String(string) => replace(string, text),
        Value::Array(values) => values.iter_mut().map(|value| in_value(value, text)).sum(),
        Value::Object(fields) => {
            let mut count = 0;
            let held = std::mem::take(fields);
            for (mut name, mut value) in held {
                count += replace(&mut name, text) + in_value(&mut value, text);
                fields.insert(name, value);
            }
            count
        }
        // A number is text to whoever looks for it, but has no place for a mark.
        Value::Number(number) if number.to_string() == text => {
            *value = Value::String(PURGED.to_owned());
            1
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn replace(string: &mut String, text: &str) -> u64 {
    let count = string.matches(text).count();
    if count > 0 {
        *string = string.replace(text, PURGED);
    }
    count as u64
}

/// Two rows that are now the same are one.
fn merged(rows: Vec<ActivityRow>) -> Vec<ActivityRow> {
    let mut merged: Vec<ActivityRow> = Vec::with_capacity(rows.len());
    for row in rows {
        match merged.iter_mut().find(|known| known.kind == row.kind && known.what == row.what) {
            Some(known) => known.count += row.count,
            None => merged.push(row),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Intent, Options};
    use crate::execute::StartRequest;

    #[test]
    fn nothing_is_purged_before_a_person_said_yes() {
        let folder = tempfile::tempdir().expect("a folder");
        let options =
            Options { project: Some(folder.path().to_owned()), person_present: true, ..Options::default() };
        let mut engine = Engine::open(options, Intent::Create).expect("an engine");
        let goal = Some("say mellon".to_owned());
        engine.start(&StartRequest { goal, ..StartRequest::default() }).expect("a session");
        let ask = |text: &str, confirmed| PurgeRequest { text: text.to_owned(), confirmed };
        let refused = engine.purge(&ask("mellon", false)).expect_err("nobody said yes");
        assert!(matches!(refused, Error::NeedsAnswer { .. }), "{refused}");
        assert_eq!(engine.purge_preview("mellon").expect("a preview").occurrences, 2);
        assert!(engine.purge(&ask("not there", false)).is_ok());
        engine.purge(&ask("mellon", true)).expect("it is purged");
        assert_eq!(engine.purge_preview("mellon").expect("a preview").occurrences, 0);
    }
}
