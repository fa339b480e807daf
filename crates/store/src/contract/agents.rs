//! Contract: agents.

use super::Factory;
use super::rows::{
    PATIENCE, WORKTREE, agent, batch, begin, everything, go_on, id, line, moment, paused, with,
};
use crate::{AgentRow, Batch, Binding, Error};

fn bind(agent_session: &str, session: &str) -> Binding {
    Binding { agent: "claude".to_owned(), agent_session: agent_session.to_owned(), session: id(session) }
}

pub(super) fn an_agent_is_kept_and_refreshed(make: &mut Factory<'_>) {
    let mut store = make();
    store.see_agent(&agent("a1"), PATIENCE).unwrap();
    assert_eq!(store.agent("claude", "a1").unwrap(), Some(agent("a1")));
    assert_eq!(store.agent("codex", "a1").unwrap(), None);
    let later = AgentRow {
        host: "elsewhere".to_owned(),
        pid: 4712,
        process_start: 5,
        boot_id: "2".to_owned(),
        worktree: "/elsewhere".to_owned(),
        branch: None,
        started_at: moment(50),
        last_seen: moment(50),
        ..agent("a1")
    };
    store.see_agent(&later, PATIENCE).unwrap();
    let expected = AgentRow { started_at: moment(10), ..later };
    assert_eq!(store.agent("claude", "a1").unwrap(), Some(expected), "when it was first seen stays");
    assert_eq!(store.agents(None).unwrap().len(), 1);
    assert_eq!(store.cursor().unwrap(), 0, "an agent is no event");
}

pub(super) fn a_binding_stays_until_it_is_replaced(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first"), paused("second")]);
    let bound = |name: &str| AgentRow { session: Some(id(name)), ..agent("a1") };
    for (row, expected) in [
        (agent("a1"), None),
        (bound("first"), Some("first")),
        (agent("a1"), Some("first")),
        (bound("second"), Some("second")),
    ] {
        store.see_agent(&row, PATIENCE).unwrap();
        assert_eq!(store.agent("claude", "a1").unwrap().unwrap().session, expected.map(id));
    }
}

pub(super) fn a_batch_binds_agents(make: &mut Factory<'_>) {
    let mut store = make();
    store.see_agent(&agent("a1"), PATIENCE).unwrap();
    let bindings = vec![bind("a1", "first"), bind("unseen", "first")];
    store.append(&Batch { bindings, ..batch([begin(line("first"))]) }).unwrap();
    assert_eq!(
        store.agent("claude", "a1").unwrap(),
        Some(AgentRow { session: Some(id("first")), ..agent("a1") })
    );
    let unseen = store.agent("claude", "unseen").unwrap().expect("a binding makes a row");
    assert_eq!((unseen.session, unseen.worktree.as_str(), unseen.pid), (Some(id("first")), WORKTREE, 0));

    with(&mut *store, [paused("second")]);
    store.append(&Batch { bindings: vec![bind("a1", "second")], ..Batch::default() }).unwrap();
    assert_eq!(store.agent("claude", "a1").unwrap().unwrap().session, Some(id("second")));
    store.see_agent(&agent("unseen"), PATIENCE).unwrap();
    let seen = store.agent("claude", "unseen").unwrap().unwrap();
    assert_eq!((seen.pid, seen.session), (4711, Some(id("first"))));
}

pub(super) fn a_binding_to_no_session_is_refused(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first")]);
    store.see_agent(&agent("a1"), PATIENCE).unwrap();
    let before = everything(&*store);
    for nowhere in ["never", "FIRST"] {
        let batch = Batch { bindings: vec![bind("a1", nowhere)], ..batch([go_on(paused("first"), 1)]) };
        assert!(matches!(store.append(&batch), Err(Error::Engine { .. })));
        assert_eq!(everything(&*store), before);
    }
}

pub(super) fn agents_are_listed_by_worktree_and_forgotten(make: &mut Factory<'_>) {
    let mut store = make();
    let seen = |name: &str, seconds| AgentRow { last_seen: moment(seconds), ..agent(name) };
    for row in [
        seen("a1", 1),
        seen("a2", 9),
        AgentRow { worktree: "/elsewhere".to_owned(), ..seen("a3", 5) },
        AgentRow { agent: "codex".to_owned(), ..seen("a1", 9) },
    ] {
        store.see_agent(&row, PATIENCE).unwrap();
    }
    let names = |rows: Vec<AgentRow>| -> Vec<String> {
        rows.into_iter().map(|row| format!("{} {}", row.agent, row.agent_session)).collect()
    };
    assert_eq!(names(store.agents(None).unwrap()), ["claude a2", "codex a1", "claude a3", "claude a1"]);
    assert_eq!(names(store.agents(Some(WORKTREE)).unwrap()), ["claude a2", "codex a1", "claude a1"]);
    let gone = |agent: &str, name: &str| (agent.to_owned(), name.to_owned());
    store.forget_agents(&[], PATIENCE).unwrap();
    store
        .forget_agents(&[gone("claude", "a1"), gone("claude", "a3"), gone("claude", "never")], PATIENCE)
        .unwrap();
    assert_eq!(names(store.agents(None).unwrap()), ["claude a2", "codex a1"]);
}
