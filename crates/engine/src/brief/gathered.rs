//! Facts that only a brief needs, such as earlier runs, finished items, open items of earlier phases, and who skipped a
//! phase.

use crate::brief::bookkeeping::Bookkeeping;
use crate::brief::{Brief, EarlierRun, ItemsAhead, OpenItem};
use crate::engine::Engine;
use crate::error::Result;
use crate::execute::CLAIMED;
use crate::items::{ItemView, read_item};
use model::item::{Item, ItemState, ItemStatus, RunRef};
use model::outcome::{Outcome, Outcomes};
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use model::workflow::{OnComplete, Workflow};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use store::{ActivityKind, ItemFilter, ItemRow};

/// How many finished items are named. Further items are only counted.
const MOST_DONE: usize = 30;
const MOST_OPEN: usize = 20;
/// How many fields of the session are shown.
const MOST_FIELDS: usize = 8;
const LONGEST_FIELD: usize = 80;

impl Engine {
    /// Returns ids and titles of finished items in the current phase.
    pub(super) fn done_items(&self, session: &Session) -> Result<Vec<(String, String)>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        // If the log contradicts a file that calls a phase done, the work continues in that phase.
        let contested = run.phases.iter().find(|phase| session.is_contested(phase));
        let phase = contested.unwrap_or(run.current());
        if phase.items.done == 0 {
            return Ok(Vec::new());
        }
        let items = self.completed_in(session, run, phase.id().as_str())?;
        Ok(items.into_iter().map(|item| (item.id.to_string(), item.title)).collect())
    }

    /// Returns the open items of phases before the current one.
    pub(super) fn left_open(&self, session: &Session) -> Result<Vec<OpenItem>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        let (actor, now) = (self.asking_actor()?, self.clock.now());
        let current = run.current().id();
        let mut open = Vec::new();
        for phase in run.phases.iter().take_while(|phase| phase.id() != current) {
            if phase.items.open() == 0 {
                continue;
            }
            for state in [ItemState::Ready, ItemState::Waiting] {
                for row in self.items_in(session, run, phase.id().as_str(), state, MOST_OPEN)? {
                    let item = self.item_view(read_item(&row)?, &actor, now);
                    open.push(OpenItem { phase: phase.stub.title.clone(), item });
                }
            }
        }
        Ok(open)
    }

    /// Returns the items of phases after the current one.
    pub(super) fn items_ahead(&self, session: &Session) -> Result<Vec<ItemsAhead>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        let (actor, now) = (self.asking_actor()?, self.clock.now());
        let current = run.current().id();
        let later = run.phases.iter().skip_while(|phase| phase.id() != current).skip(1);
        let mut ahead = Vec::new();
        for phase in later.filter(|phase| !phase.items.is_empty()) {
            let items = self.completed_in(session, run, phase.id().as_str())?;
            let done = items.into_iter().map(|item| item.id.to_string()).collect();
            let open = self.items_in(session, run, phase.id().as_str(), ItemState::Ready, MOST_OPEN)?;
            let mut begun = open
                .iter()
                .map(|row| Ok(self.item_view(read_item(row)?, &actor, now)))
                .collect::<Result<Vec<ItemView>>>()?;
            begun.retain(|item| item.is_started() || item.item.lease.is_some());
            for row in self.items_in(session, run, phase.id().as_str(), ItemState::Waiting, MOST_OPEN)? {
                let item = self.item_view(read_item(&row)?, &actor, now);
                begun
                    .extend(Some(item).filter(|item| matches!(item.item.status, ItemStatus::Blocked { .. })));
            }
            ahead.push(ItemsAhead { phase: phase.id().clone(), counts: phase.items, done, begun });
        }
        Ok(ahead)
    }

    /// Returns the items that only a task list calls done, by the path of the list.
    pub(super) fn claimed_items(&self, session: &Session) -> Result<BTreeMap<String, Vec<String>>> {
        let mut claimed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let Some(run) = session.run() else { return Ok(claimed) };
        for phase in run.phases.iter().filter(|phase| phase.items.done > 0) {
            for item in self.completed_in(session, run, phase.id().as_str())? {
                if let Some(list) = item.fields.get(CLAIMED).and_then(Value::as_str) {
                    claimed.entry(list.to_owned()).or_default().push(item.id.to_string());
                }
            }
        }
        Ok(claimed)
    }

    /// Returns the first completed items of a phase. Dropped items are over, too, but nobody did them.
    fn completed_in(&self, session: &Session, run: &Run, phase: &str) -> Result<Vec<Item>> {
        let filter = ItemFilter {
            run: Some(RunRef::from(run).to_string()),
            phase: Some(phase.to_owned()),
            status: Some("completed".to_owned()),
            limit: Some(MOST_DONE),
            ..ItemFilter::default()
        };
        self.store.items(&session.id, &filter)?.iter().map(read_item).collect()
    }

    fn items_in(
        &self,
        session: &Session,
        run: &Run,
        phase: &str,
        state: ItemState,
        limit: usize,
    ) -> Result<Vec<ItemRow>> {
        let filter = ItemFilter {
            run: Some(RunRef::from(run).to_string()),
            phase: Some(phase.to_owned()),
            state: Some(state),
            limit: Some(limit),
            ..ItemFilter::default()
        };
        Ok(self.store.items(&session.id, &filter)?)
    }
}

/// Returns the runs before the current one, oldest first.
pub(super) fn earlier_runs(session: &Session) -> Vec<EarlierRun> {
    let current = session.run().map(|run| (run.workflow.name.clone(), run.ordinal));
    let is_other = |run: &&Run| Some((run.workflow.name.clone(), run.ordinal)) != current;
    session.runs.iter().filter(is_other).map(earlier).collect()
}

fn earlier(run: &Run) -> EarlierRun {
    let last = run.phases.iter().rev().find_map(|phase| phase.attempts.last());
    let values = last.map(|attempt| {
        let report = &attempt.report;
        report.outputs.iter().chain(&report.evidence).map(|(k, v)| (k.clone(), v.clone())).collect()
    });
    EarlierRun {
        workflow: run.workflow.name.to_string(),
        number: run.ordinal,
        completed_at: run.completed_at,
        outcomes: Outcomes::of(run),
        at: left_open_in(run).map(|phase| phase.stub.title.clone()),
        values: values.unwrap_or_default(),
    }
}

/// Returns the phase in which a run was left before all of its phases were over; `None` for a finished run.
fn left_open_in(run: &Run) -> Option<&Phase> {
    let open = run.phases.iter().find(|phase| Outcome::of(phase).is_none());
    match run.workflow.on_complete {
        OnComplete::Grow if run.completed_at.is_some() => None,
        _ => open.or_else(|| run.completed_at.is_none().then(|| run.current())),
    }
}

/// Returns who skipped each phase of the current run that somebody decided to skip.
pub(super) fn skipped_by(session: &Session) -> BTreeMap<String, String> {
    let phases = session.run().into_iter().flat_map(|run| &run.phases);
    phases.filter_map(|phase| Some((phase.id().to_string(), phase.skipped_by()?.to_string()))).collect()
}

/// Returns short declared fields whose value is not their default.
pub(super) fn set_fields(session: &Session, workflow: Option<&Workflow>) -> Map<String, Value> {
    let Some(workflow) = workflow else { return Map::new() };
    let is_shown = |name: &&String, value: &Value| {
        let default = workflow.fields.get(*name).and_then(|field| field.default.as_ref());
        let is_plain = match value {
            Value::String(text) => !text.is_empty() && text.len() <= LONGEST_FIELD,
            Value::Number(_) | Value::Bool(true) => true,
            Value::Null | Value::Bool(false) | Value::Array(_) | Value::Object(_) => false,
        };
        is_plain && default != Some(value)
    };
    let declared = workflow.fields.keys().filter_map(|name| Some((name, session.fields.get(name)?)));
    let told = declared.filter(|(name, value)| is_shown(name, value)).take(MOST_FIELDS);
    told.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns files that were worked on and still exist, newest first, as known from hooks and git.
pub(super) fn touched(brief: &Brief, root: &Path, bookkeeping: &Bookkeeping) -> Vec<String> {
    let seen = brief.activity(ActivityKind::File).map(|row| row.what.as_str());
    let known = brief.repository.iter().flat_map(|git| git.uncommitted.iter().chain(&git.committed));
    let mut touched: Vec<String> = Vec::new();
    for path in seen.chain(known.map(String::as_str)) {
        let is_known = touched.iter().any(|other| other == path);
        if !is_known && !bookkeeping.is_state(path) && root.join(path).exists() {
            touched.push(path.to_owned());
        }
    }
    // The session's own files come last, because finished phases already name them as their proof.
    touched.sort_by_key(|path| Path::new(path).starts_with(&brief.folder));
    touched
}
