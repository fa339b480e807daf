//! Adopts changes of notes in files: notes that were added, changed, resolved or reopened. A note that is
//! missing in the files was not deleted.

use super::Draft;
use super::fields::changed_fields;
use model::event::Event;
use model::note::Note;
use model::session::Session;
use std::collections::BTreeMap;

pub(super) fn notes(draft: &mut Draft, base: &Session, theirs: &Session) {
    for (place, note) in theirs.notes.iter().enumerate() {
        let was = counterpart(&theirs.notes, place, &base.notes);
        match was.and_then(|was| ours_of(draft, &base.notes, was)) {
            Some(ours) => change(draft, &ours, was, note),
            // A session keeps only its newest resolved notes, so the session may have dropped a note that
            // leftoff wrote to the file.
            None if was.is_some_and(|was| is_same(was, note)) => {}
            None => add(draft, &theirs.notes, place),
        }
    }
}

/// The note in `among` that corresponds to the note at `place` in `of`. It is the n-th note with the same
/// text, or else a note of the same kind and time, whose text was changed.
fn counterpart<'a>(of: &[Note], place: usize, among: &'a [Note]) -> Option<&'a Note> {
    let note = &of[place];
    with_its_words(of, place, among).or_else(|| {
        let is_its = |other: &&Note| other.kind == note.kind && other.at == note.at;
        let is_free = |other: &&Note| !of.iter().any(|known| is_same(known, other));
        let mut found = among.iter().filter(is_its).filter(is_free);
        found.next().filter(|_| found.next().is_none())
    })
}

fn with_its_words<'a>(of: &[Note], place: usize, among: &'a [Note]) -> Option<&'a Note> {
    let note = &of[place];
    let rank = of[..place].iter().filter(|other| is_same(other, note)).count();
    among.iter().filter(|other| is_same(other, note)).nth(rank)
}

fn ours_of(draft: &Draft, base: &[Note], was: &Note) -> Option<Note> {
    let place = base.iter().position(|note| note.id == was.id)?;
    with_its_words(base, place, &draft.session().notes).cloned()
}

fn add(draft: &mut Draft, theirs: &[Note], place: usize) {
    let note = &theirs[place];
    // Somebody may have added the same note both in a file and by a command.
    let known = with_its_words(theirs, place, &draft.session().notes).map(|ours| (ours.id, ours.resolved_at));
    let (id, resolved) = known.unwrap_or_else(|| {
        let id = draft.session().next_note();
        let (text, fields) = (note.text.clone(), note.fields.clone());
        draft.push(Event::NoteAdded { id, kind: note.kind, text, fields, origin: None });
        (id, None)
    });
    if note.resolved_at.is_some() && resolved.is_none() {
        draft.push(Event::NoteResolved { id });
    }
}

fn change(draft: &mut Draft, ours: &Note, was: Option<&Note>, theirs: &Note) {
    let nothing = BTreeMap::new();
    let fields = changed_fields(&ours.fields, was.map_or(&nothing, |was| &was.fields), &theirs.fields);
    let text = was.filter(|was| was.text != theirs.text && ours.text != theirs.text);
    let text = text.map(|_| theirs.text.clone());
    let was_resolved = was.is_some_and(|was| was.resolved_at.is_some());
    let is_resolved = theirs.resolved_at.is_some();
    let reopened = was_resolved && !is_resolved && ours.resolved_at.is_some();
    if text.is_some() || !fields.is_empty() || reopened {
        draft.push(Event::NoteChanged { id: ours.id, text, fields, reopened });
    }
    if is_resolved && !was_resolved && ours.resolved_at.is_none() {
        draft.push(Event::NoteResolved { id: ours.id });
    }
}

pub(super) fn is_same(one: &Note, other: &Note) -> bool {
    one.kind == other.kind && one.text == other.text
}
