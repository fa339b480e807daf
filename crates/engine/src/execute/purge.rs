//! Removes text from a session's whole history for good. The mark that replaces the text does not reveal it.

mod replacing;

use crate::NATIVE;
use crate::engine::{Engine, Want, read_event};
use crate::error::{Error, Result};
use crate::execute::Answer;
use crate::execute::plan::{fold_whole, stream_of};
use crate::hex;
use crate::items::item_rows;
use crate::policy::{Act, Restricted, Signature};
use crate::words::{counted, one_line};
use model::actor::Actor;
use model::event::{Event, Recorded, Rewritten};
use model::hint::Hint;
use model::id::SessionId;
use model::refusal::Refusal;
use model::session::Session;
use model::words;
use replacing::{in_value, merged, replace, without_in_answer, without_in_event};
use sha2::{Digest, Sha256};
use store::chain::content_hash;
use store::{ActivityRow, EventRow, KEPT_ACTIVITIES, Rewrite};

/// The text to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeRequest {
    pub text: String,
    /// True if a person was asked and confirmed. Otherwise nothing changes, and the error contains the question.
    pub confirmed: bool,
}

/// A history from which text was removed.
struct Purged {
    id: SessionId,
    number: u64,
    /// The rows of those events that the purge changed.
    rows: Vec<EventRow>,
    /// All events as they are after the purge.
    events: Vec<Recorded>,
    activity: Vec<ActivityRow>,
    /// Hashes of stored files that contain the text.
    contents: Vec<String>,
    replaced: u64,
}

impl Engine {
    /// Replaces every occurrence of a text in a session's events, snapshot, activity and stored answers. Deletes stored
    /// files that contain the text. This cannot be undone, so a person must have confirmed it.
    pub(crate) fn purge(&mut self, request: &PurgeRequest) -> Result<Answer> {
        if request.confirmed {
            self.require_person(Restricted::Purge)?;
            self.settle_files_without(&request.text)?;
        }
        if request.confirmed {
            self.begin_erasing()?;
        }
        let mut answer = self.with_signature(|engine, signature| {
            engine.store.take_turn(engine.patience.left())?;
            let done = engine.purge_in_turn(request, signature);
            engine.store.give_turn_back();
            done
        })?;
        // With sharing on, the next sync removes the text from this clone's ref, and then the mark.
        let is_last = !self.is_shared();
        answer.said.extend(self.finish_erasing(is_last));
        Ok(answer)
    }

    /// Adopts edits. Then refuses to purge while the session's own files contain the text, because they would bring the
    /// text back as an edit.
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

    fn purge_in_turn(&mut self, request: &PurgeRequest, signature: Option<&Signature>) -> Result<Answer> {
        let text = request.text.as_str();
        let mut purged = self.without(text)?;
        if purged.replaced == 0 {
            let session = self.folded_from(&purged.events, &purged.id)?;
            let view = self.view_of(&session, purged.number, true)?;
            return Ok(Answer { view, said: Vec::new(), gate_failed: false });
        }
        if !request.confirmed {
            return Err(Error::NeedsAnswer {
                question: purged.question()?,
                hint: "a person must answer: run the command in a terminal, or with --yes".into(),
            });
        }
        let expected = purged.events.last().map_or(0, |recorded| recorded.version);
        let rewritten = purged.rewritten();
        let (session, evidence) = (self.select(Want::Latest)?, evidence(&rewritten, &purged.contents));
        let act = Act { evidence: Some(&evidence), ..Act::new(Restricted::Purge, &session) };
        let signed = self.authorise(&act, signature)?;
        let is_signed = signed.is_some();
        let contents = purged.contents.clone();
        let told = Event::Purged { replaced: purged.replaced, rewritten, contents };
        let (at, actor) = (self.clock.now(), self.actor(self.asking_agent()?.as_ref()));
        let marks: Vec<Recorded> = signed
            .into_iter()
            .chain([told])
            .zip(expected + 1..)
            .map(|(event, version)| Recorded { version, at, actor: actor.clone(), event })
            .collect();
        purged.events.extend(marks.iter().cloned());
        let session = self.folded_from(&purged.events, &purged.id)?.trimmed();
        let rewrite = Rewrite {
            stream: stream_of("purge", &session, expected, &marks)?,
            events: purged.rows,
            activity: purged.activity,
            contents: purged.contents,
            items: item_rows(&session.id, &purged.events)?,
        };
        let about = session.id.to_string();
        self.store.rewrite(&rewrite, &|answer| without_in_answer(answer, &about, text))?;
        let view = self.view_of(&session, purged.number, false)?;
        let mut said = self.where_it_stays(&session, text)?;
        said.extend(self.where_clones_keep_it(&session, &rewrite.events, is_signed)?);
        Ok(Answer { view, said, gate_failed: false })
    }

    fn without(&self, text: &str) -> Result<Purged> {
        if text.trim().is_empty() {
            return Err(Error::WrongUsage {
                message: "the text to purge is empty".to_owned(),
                hint: Hint::new("name the text to remove: ").run(words!["purge", "…"]),
            });
        }
        // With a key, a hash of the input would be stored, and the hash could reveal the text.
        if self.options.key.is_some() {
            return Err(Error::WrongUsage {
                message: "purge takes no --key".to_owned(),
                hint: "omit --key: purging the same text twice changes nothing".into(),
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

    /// Returns the hashes of stored files that contain the text. These files are deleted: if the text were replaced,
    /// their hashes would not match.
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

    /// Returns a message about the remote and other clones. They carry out an unsigned purge only in events that this
    /// clone wrote.
    fn where_clones_keep_it(
        &self,
        session: &Session,
        rows: &[EventRow],
        is_signed: bool,
    ) -> Result<Option<String>> {
        if !self.is_shared() {
            return Ok(None);
        }
        let from_elsewhere = self.arrived_up_to(&session.id)?;
        let mut versions =
            rows.iter().map(|row| row.version).filter(|version| *version <= from_elsewhere).peekable();
        let is_followed = is_signed || versions.peek().is_none() || {
            let own = self.sent_as_own(&self.store.chain(&session.id)?)?;
            versions.all(|version| own.contains(&version))
        };
        Ok(Some(if is_followed {
            "the remote and other clones keep the text until they sync: leftoff sync".to_owned()
        } else {
            "other clones keep the text in events that they wrote, because the purge is not signed; purge the text there too"
                .to_owned()
        }))
    }

    /// Returns messages about places where the text stays: definitions, which several sessions use, and copies outside
    /// the store.
    fn where_it_stays(&self, session: &Session, text: &str) -> Result<Vec<String>> {
        let mut said = Vec::new();
        for run in &session.runs {
            let body = self.store.definition(&run.workflow.hash)?.unwrap_or_default();
            if serde_json::from_str(&body).is_ok_and(|mut value| in_value(&mut value, text) > 0) {
                said.push(format!(
                    "the definition of workflow '{}' also contains the text, and was not changed",
                    run.workflow.name
                ));
            }
        }
        said.dedup();
        if session.layout != NATIVE {
            said.push(
                "older versions of the session's files (.bak, .leftoff/aside) may still contain the text"
                    .to_owned(),
            );
        }
        said.push("earlier copies (store backup, bundles) still contain the text".to_owned());
        Ok(said)
    }
}

/// The hash of the events that a purge leaves and of the contents that it removes, so that its signature holds for
/// these and no others.
pub(crate) fn evidence(rewritten: &[Rewritten], contents: &[String]) -> String {
    let events = rewritten.iter().map(|one| format!("{} {}\n", one.version, one.hash));
    let lines: String = events.chain(contents.iter().map(|hash| format!("{hash}\n"))).collect();
    hex(&Sha256::digest(lines))
}

impl Purged {
    fn rewritten(&self) -> Vec<Rewritten> {
        let rewritten =
            |row: &EventRow| Rewritten { version: row.version, hash: hex(&content_hash(None, row)) };
        self.rows.iter().map(rewritten).collect()
    }

    /// Returns the question that a person must confirm.
    fn question(&self) -> Result<String> {
        Ok(format!(
            "Replace {} in {} of session {} ({}) for good?",
            counted(self.replaced, "occurrence"),
            counted(self.rows.len() as u64, "event"),
            self.id,
            one_line(&fold_whole(&self.events, None)?.title, 60)
        ))
    }
}

/// Returns the event after the purge. Fails if it can no longer be read correctly, because an unreadable history would
/// be worse than the text.
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
        return Err(refused("a workflow's name, version or hash"));
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

/// Returns the worktree or path in an event, and the layout. Other commands find the session by them.
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
        | Event::Signed { .. }
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
        | Event::ForkResolved { .. }
        | Event::RequirementSatisfied { .. }
        | Event::RequirementCleared { .. }
        | Event::Item(_)
        | Event::Unknown { .. } => None,
    }
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
        assert_eq!(engine.without("mellon").expect("a search").replaced, 2);
        assert!(engine.purge(&ask("not there", false)).is_ok());
        engine.purge(&ask("mellon", true)).expect("it is purged");
        assert_eq!(engine.without("mellon").expect("a search").replaced, 0);
    }
}
