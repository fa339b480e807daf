//! Takes the histories of other replicas into the store. Decides which history of a session is the main one, and what
//! happens to the others. Adds no event.

mod ids;
mod purged;

pub(crate) use ids::{fork_of, is_fork};
use purged::loses_content;

use super::histories::{Allowed, Author, Node, nodes};
use super::incoming::Stream;
use super::{Shared, step};
use crate::engine::{Engine, read_event};
use crate::error::Result;
use crate::execute::{is_bundle, session_row, snapshot_of, taken};
use crate::items::item_rows;
use crate::policy::Restricted;
use crate::presence::SEEN_LATELY_SECONDS;
use crate::project::Project;
use crate::signing;
use model::event::{Event, Recorded};
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;
use model::time::seconds_between;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use store::chain::{Given, Hash};
use store::{Arrival, Arrived, EventRow, Loaded, Store, TakenHistory};

/// A history of the session that is already stored.
struct Copy {
    loaded: Loaded,
    head: Hash,
    nodes: Vec<Node>,
    arrival: Option<Arrival>,
}

/// The result of taking histories.
#[derive(Debug, Default)]
pub(super) struct TakenIn {
    /// The number of sessions that are new here, or that have another history now.
    pub(super) sessions: usize,
    /// The number of forks of these sessions.
    pub(super) forks: usize,
}

impl Engine {
    /// Decides which histories of these sessions are the main ones, and stores all of them in one transaction.
    pub(super) fn take_in(
        &mut self,
        shared: &mut Shared,
        streams: Vec<Stream>,
        done: &mut TakenIn,
    ) -> Result<()> {
        self.store.take_turn(self.patience.left())?;
        let taken = self.take_histories_in(shared, streams, done);
        self.store.give_turn_back();
        taken
    }

    fn take_histories_in(
        &mut self,
        shared: &mut Shared,
        streams: Vec<Stream>,
        done: &mut TakenIn,
    ) -> Result<()> {
        let arrivals = self.arrivals_known(&shared.witnesses)?;
        let mut arrived = Arrived::default();
        for stream in streams {
            let copies = self.copies(&stream, &arrivals, shared)?;
            self.decide_about(shared, stream, &copies, &mut arrived, done)?;
        }
        if arrived.histories.is_empty() && arrived.gone.is_empty() && arrived.purged_contents.is_empty() {
            return Ok(());
        }
        self.add_texts(shared, &mut arrived)?;
        if !arrived.purged.is_empty() || !arrived.purged_contents.is_empty() {
            self.begin_erasing()?;
        }
        self.unmark_replaced(shared, &arrived)?;
        // Kept first, so that a kill cannot leave a history without its second record. The record of a history that
        // is then not stored has no effect.
        for arrival in arrived.histories.iter().filter_map(|history| history.arrival.as_ref()) {
            shared.witnesses.remember(arrival);
            self.note_arrival(arrival);
        }
        shared.witnesses.keep(&shared.folder)?;
        step();
        Ok(self.store.take_histories(&arrived)?)
    }

    /// Returns the stored histories of this session, whatever their ids are.
    fn copies(
        &self,
        stream: &Stream,
        arrivals: &BTreeMap<SessionId, Arrival>,
        shared: &Shared,
    ) -> Result<Vec<Copy>> {
        let mut copies = Vec::new();
        for id in self.store.with_prefix(stream.session.as_str(), 1_000)? {
            let rest = &id.as_str()[stream.session.as_str().len()..];
            if !rest.is_empty() && !rest.starts_with('.') {
                continue;
            }
            let chain = self.store.chain(&id)?;
            let is_it = chain.seals.get(&1).is_some_and(|seal| seal.link == stream.first);
            let (true, Some(head), Some(loaded)) = (is_it, chain.head, self.store.load(&id)?) else {
                continue;
            };
            let arrival = arrivals.get(&id).cloned();
            let found = self.kept_nodes(&id, arrival.as_ref(), shared)?;
            copies.push(Copy { loaded, head, nodes: found, arrival });
        }
        Ok(copies)
    }

    /// Returns the events of a stored session, each with the replica that wrote it. Empty if an event has no seal,
    /// because then the log was changed without leftoff.
    pub(super) fn kept_nodes(
        &self,
        id: &SessionId,
        arrival: Option<&Arrival>,
        shared: &Shared,
    ) -> Result<Vec<Node>> {
        let chain = self.store.chain(id)?;
        let sealed = |row: EventRow| {
            let seal = chain.seals.get(&row.version)?;
            Some((row, seal.salt.map_or(Given::Hash(seal.hash), Given::Salt)))
        };
        let events = self.store.events(id, 0, None)?.into_iter();
        let given: Vec<_> = events.map(sealed).collect::<Option<_>>().unwrap_or_default();
        let own = Author { replica: shared.settings.replica.clone(), is_certain: true };
        let mut found: Vec<Node> = nodes(None, &given, &own).collect();
        if let Some(arrival) = arrival {
            // A session from a bundle is sent under the name of this replica, because no other replica sends it.
            let by_bundle = is_bundle(arrival).then(|| shared.settings.replica.clone());
            let replica = by_bundle.unwrap_or_else(|| arrival.replica.clone());
            let from_elsewhere = Author { replica, is_certain: false };
            for node in found.iter_mut().filter(|node| node.row.version <= arrival.version) {
                node.author = from_elsewhere.clone();
            }
        }
        Ok(found)
    }

    fn decide_about(
        &self,
        shared: &mut Shared,
        mut stream: Stream,
        copies: &[Copy],
        arrived: &mut Arrived,
        done: &mut TakenIn,
    ) -> Result<()> {
        for node in copies.iter().flat_map(|copy| &copy.nodes) {
            stream.tree.add_own(node.clone());
        }
        let allowed =
            Allowed { signed: self.signed_purges(&stream)?, relatives: shared.settings.relatives() };
        for refused in stream.tree.purge(&stream.purged, &allowed) {
            shared.refused.push(format!(
                "a purge of event {} of session {} by replica {} was ignored: that replica did not write the event, and no allowed key signed the purge",
                refused.version,
                stream.session,
                refused.replica.get(..8).unwrap_or(&refused.replica)
            ));
        }
        self.purge_contents(shared, &stream, &allowed, arrived)?;
        let mut folded = BTreeMap::new();
        for leaf in stream.tree.leaves() {
            let is_here = copies.iter().any(|copy| copy.head == leaf);
            match readable(&stream, &leaf) {
                Ok(found) => {
                    folded.insert(leaf, found);
                }
                Err(why) if !is_here => {
                    shared
                        .refused
                        .push(format!("a history of session {} was refused: {why}", stream.session));
                    stream.tree.cut(&leaf);
                }
                Err(_) => return Ok(()),
            }
        }
        let Some(winner) = stream.tree.winner() else { return Ok(()) };
        let main = copies.iter().find(|copy| !is_fork(&copy.loaded.row.id));
        let live = main.filter(|copy| copy.head != winner && self.is_live_here(copy));
        let name = match main {
            Some(copy) => copy.loaded.row.id.clone(),
            None => self.id_for(&stream)?,
        };
        shared.settings.waiting.remove(name.as_str());
        if live.is_some() {
            shared.settings.waiting.insert(name.to_string());
        }
        let counts = live.map_or(winner, |copy| copy.head);
        let mut wanted = vec![(name.clone(), counts)];
        for leaf in stream.tree.leaves() {
            let is_part = stream.tree.is_on_the_way(&leaf, &counts);
            let is_settled = stream.tree.is_resolved_by(&leaf, &winner);
            if !is_part && !is_settled {
                let id = self.fork_id(&stream, &leaf, &counts, &name, copies, &wanted)?;
                wanted.push((id, leaf));
            }
        }
        done.forks += wanted.len() - 1;
        for (id, head) in &wanted {
            let copy = copies.iter().find(|copy| copy.loaded.row.id == *id);
            if !folded.contains_key(head) {
                continue;
            }
            let (events, session) = &folded[head];
            let own = own_links(shared, copies);
            let taken = self.taken_history(shared, &stream, (copy, &own), id, head, events, session)?;
            if let Some(taken) = taken {
                arrived.purged.extend(copy.filter(|copy| loses_content(copy, &taken)).map(|_| id.clone()));
                done.sessions += usize::from(!is_fork(id));
                arrived.histories.push(taken);
            }
        }
        let unneeded = copies.iter().map(|copy| &copy.loaded.row).filter(|row| is_fork(&row.id));
        let unneeded = unneeded.filter(|row| wanted.iter().all(|(id, _)| *id != row.id));
        arrived.gone.extend(unneeded.map(|row| (row.id.clone(), row.version)));
        Ok(())
    }

    /// Returns the purges that were signed with a key of the allowed signers. They count even if another replica wrote
    /// the purged events.
    fn signed_purges(&self, stream: &Stream) -> Result<BTreeSet<Hash>> {
        let mut signed = BTreeSet::new();
        for (link, act, signature) in stream.tree.signed_purges() {
            let is_purge = act.action == Restricted::Purge.key() && act.session == stream.session;
            let Some(allowed) = self.allowed_signers()?.filter(|_| is_purge) else { continue };
            if signing::check(&act.payload(), &signature, &allowed)?.is_some() {
                signed.insert(link);
            }
        }
        Ok(signed)
    }

    /// True if somebody is working on the session here, or was a moment ago. Its history must then not change now.
    fn is_live_here(&self, copy: &Copy) -> bool {
        let row = &copy.loaded.row;
        if row.lifecycle != "active" || row.machine.is_some() || !self.is_worktree_of_this(&row.worktree) {
            return false;
        }
        let is_bound = |agents: Vec<store::AgentRow>| {
            agents.iter().any(|agent| agent.session.as_ref() == Some(&row.id) && self.lives(agent))
        };
        // A session that was changed within this time is in use, unless it is paused.
        seconds_between(row.updated_at, self.clock.now()) < SEEN_LATELY_SECONDS
            || self.store.agents(None).is_ok_and(is_bound)
    }

    /// True if a worktree belongs to this store. If this store is a copy, worktrees of the original clone do not belong
    /// to it: nobody works there on the copy.
    fn is_worktree_of_this(&self, worktree: &str) -> bool {
        let database = |project: Project| project.database();
        let there = Project::find(Path::new(worktree)).and_then(database);
        there.is_ok_and(|there| self.project.database().is_ok_and(|here| here == there))
    }

    #[allow(clippy::too_many_arguments, reason = "a history and where it goes")]
    fn taken_history(
        &self,
        shared: &Shared,
        stream: &Stream,
        (copy, own): (Option<&Copy>, &BTreeSet<Hash>),
        id: &SessionId,
        head: &Hash,
        events: &[Recorded],
        session: &Session,
    ) -> Result<Option<TakenHistory>> {
        let way = stream.tree.way(head);
        let before = copy.map(|copy| copy.nodes.as_slice()).unwrap_or_default();
        let same = |(ours, theirs): &(&Node, &&Node)| ours.row == theirs.row && ours.given == theirs.given;
        let common = before.iter().zip(&way).take_while(same).count();
        if copy.is_some_and(|copy| copy.head == *head) && common == way.len() {
            return Ok(None);
        }
        // Anybody can put any name into a segment and push any ref. So only events that are already in this store can
        // count as written here.
        let arrival = way.iter().rfind(|node| !own.contains(&node.link)).map(|last| Arrival {
            session: id.clone(),
            replica: last.author.replica.clone(),
            stream: stream.first,
            version: last.row.version,
            head: last.link,
            at: self.clock.now(),
        });
        let known = copy.and_then(|copy| copy.arrival.clone());
        let arrival = arrival.map(|arrival| match known {
            Some(known) if known.head == arrival.head => Arrival { session: id.clone(), ..known },
            Some(_) | None => arrival,
        });
        let author = way.last().map(|node| node.author.replica.clone()).unwrap_or_default();
        let is_own = shared.settings.is_own(&author);
        let taken = arrival.as_ref().and_then(taken);
        let here = taken.and_then(|taken| Session::fold_taken(events, Some(&taken)));
        let mut placed = here.unwrap_or_else(|| session.clone());
        placed.id = id.clone();
        placed.machine = (!is_own).then(|| author.clone());
        if let (true, Some(copy)) = (is_own, copy) {
            placed.worktree.clone_from(&copy.loaded.row.worktree);
            placed.machine.clone_from(&copy.loaded.row.machine);
        }
        if is_fork(id) {
            pause_fork(&mut placed);
        }
        let placed = placed.trimmed();
        Ok(Some(TakenHistory {
            expected: copy.map_or(0, |copy| copy.loaded.row.version),
            shared: common as u64,
            events: way.iter().map(|node| node.row.clone()).collect(),
            seals: way.iter().map(|node| (node.row.version, node.given)).collect(),
            row: session_row(&placed),
            snapshot: snapshot_of(&placed)?,
            items: item_rows(id, events)?,
            arrival,
        }))
    }
}

/// Returns the links of events in stored histories that were written here.
fn own_links(shared: &Shared, copies: &[Copy]) -> BTreeSet<Hash> {
    let nodes = copies.iter().flat_map(|copy| &copy.nodes);
    let is_own = |node: &&Node| node.author.is_certain && node.author.replica == shared.settings.replica;
    nodes.filter(is_own).map(|node| node.link).collect()
}

/// Pauses a fork, because nobody works on a fork.
fn pause_fork(session: &mut Session) {
    if matches!(session.lifecycle, Lifecycle::Active) {
        session.lifecycle = Lifecycle::Paused {
            at: session.updated_at,
            reason: "it is a fork of this session".to_owned(),
            context: None,
            saved: Vec::new(),
        };
    }
}

/// Returns the session with the id, worktree and machine from its row. The log of a fork, or of a session from another
/// machine, has other ones.
pub(crate) fn placed(mut session: Session, row: &store::SessionRow) -> Session {
    if row.machine.is_some() || session.machine.is_some() || session.id != row.id {
        session.id = row.id.clone();
        session.worktree.clone_from(&row.worktree);
        session.machine.clone_from(&row.machine);
        if is_fork(&row.id) {
            pause_fork(&mut session);
        }
    }
    session
}

/// Returns the events and the session of a history. The error is the reason why its hash chain is invalid, or why this
/// program cannot read it.
fn readable(stream: &Stream, head: &Hash) -> std::result::Result<(Vec<Recorded>, Session), String> {
    let way = stream.tree.way(head);
    if way.is_empty() {
        return Err("events before its end are missing".to_owned());
    }
    if way.iter().zip(1..).any(|(node, version)| node.row.version != version) {
        return Err("its events are not numbered one by one".to_owned());
    }
    if let Some(broken) = stream.tree.broken(head).first() {
        return Err(broken.to_string());
    }
    let mut events = Vec::with_capacity(way.len());
    for node in &way {
        let recorded = read_event(&stream.session, &node.row).map_err(|error| error.to_string())?;
        match &recorded.event {
            Event::RunStarted { phases, .. } if phases.is_empty() => {
                return Err(format!("the run of event {} has no phase", recorded.version));
            }
            event if event.kind() != node.row.kind => {
                return Err(format!("event {} does not match its type", recorded.version));
            }
            _ => events.push(recorded),
        }
    }
    let session = Session::fold(&events)
        .filter(|session| session.id == stream.session && session.run().is_some())
        .ok_or_else(|| "its events do not form a session".to_owned())?;
    Ok((events, session))
}
