//! Notifies clients of changed resources, in the way of their protocol version. While a client is subscribed, looks for
//! changes once a second: first at file times, and in the store only after a write.

use crate::resources;
use engine::{Changes, Engine, Intent, Options, Stamp};
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RequestContext, SubscriptionContext};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(1);

/// The resources to which one connection of the older protocol has subscribed.
#[derive(Clone, Default)]
pub(crate) struct Interest {
    subscribed: Arc<Mutex<BTreeSet<String>>>,
    is_watched: Arc<AtomicBool>,
}

impl Interest {
    pub(crate) fn add(&self, uri: String) {
        self.uris().insert(uri);
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.uris().remove(uri);
    }

    /// Starts watching for a connection of the older protocol, unless it is watched already. Every change after this
    /// call is reported. A client of the newer protocol uses `subscriptions/listen` instead.
    pub(crate) async fn watch_for_legacy(&self, options: &Options, context: &RequestContext<RoleServer>) {
        let is_legacy = context.protocol_version().is_some_and(|version| version.has_initialize());
        if !is_legacy || self.is_watched.swap(true, Ordering::Relaxed) {
            return;
        }
        let options = options.clone();
        let Ok(watch) = tokio::task::spawn_blocking(move || Watch::begin(options)).await else { return };
        let (peer, interest) = (context.peer.clone(), self.clone());
        tokio::spawn(async move { interest.watch(watch, peer).await });
    }

    async fn watch(self, mut watch: Watch, peer: Peer<RoleServer>) {
        while !peer.is_transport_closed() {
            tokio::time::sleep(PERIOD).await;
            let Some(news) = watch.look().await else { continue };
            if news.is_list_changed && peer.notify_resource_list_changed().await.is_err() {
                return;
            }
            let uris: Vec<String> = self.uris().intersection(&news.updated).cloned().collect();
            for uri in uris {
                if peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err() {
                    return;
                }
            }
        }
    }

    fn uris(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Streams of the newer protocol that were accepted and have not started yet. The client learns that its stream was
/// accepted before the stream starts, and must not miss a change in between. A change that is reported twice does no
/// harm.
#[derive(Default)]
pub(crate) struct Agreed(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    streams: usize,
    since: Option<Watch>,
}

impl Agreed {
    pub(crate) fn agree(&self, options: &Options) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.streams += 1;
        waiting.since.get_or_insert_with(|| Watch::begin(options.clone()));
    }

    fn begin(&self, options: &Options) -> Watch {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.streams = waiting.streams.saturating_sub(1);
        let since = if waiting.streams == 0 { waiting.since.take() } else { waiting.since.clone() };
        since.unwrap_or_else(|| Watch::begin(options.clone()))
    }
}

/// Serves one stream of the newer protocol until the client cancels it.
pub(crate) async fn listen(options: &Options, agreed: &Agreed, context: SubscriptionContext) {
    let mut watch = agreed.begin(options);
    let accepted = context.accepted().clone();
    let subscribed: BTreeSet<String> = accepted.resource_subscriptions.into_iter().flatten().collect();
    let wants_list = accepted.resources_list_changed == Some(true);
    if subscribed.is_empty() && !wants_list {
        context.cancelled().await;
        return;
    }
    loop {
        tokio::select! {
            () = context.cancelled() => return,
            () = tokio::time::sleep(PERIOD) => {}
        }
        let Some(news) = watch.look().await else { continue };
        let sink = context.sink();
        if wants_list && news.is_list_changed && sink.notify_resource_list_changed().await.is_err() {
            return;
        }
        for uri in subscribed.intersection(&news.updated) {
            if sink.notify_resource_updated(uri.as_str()).await.is_err() {
                return;
            }
        }
    }
}

/// The changes since the previous look.
#[derive(Debug, Default, PartialEq, Eq)]
struct News {
    is_list_changed: bool,
    updated: BTreeSet<String>,
}

#[derive(Clone)]
struct Watch {
    options: Options,
    stamp: Stamp,
    cursor: u64,
}

impl Watch {
    /// Starts watching. File times are read before the store, so that a change in between is reported twice and not
    /// missed.
    fn begin(options: Options) -> Self {
        let stamp = engine::stamp(&options);
        let open = || {
            Engine::open(options.clone(), Intent::Query).and_then(|engine| engine.sessions().changes(None))
        };
        // This thread belongs to an asynchronous runtime. A store on a server has a runtime of its own, which needs
        // another thread.
        let cursor = std::thread::scope(|scope| scope.spawn(open).join());
        let cursor = cursor.ok().and_then(Result::ok).unwrap_or_default().cursor;
        Self { options, stamp, cursor }
    }

    async fn look(&mut self) -> Option<News> {
        let stamp = engine::stamp(&self.options);
        if stamp == self.stamp {
            return None;
        }
        let (options, cursor) = (self.options.clone(), self.cursor);
        let changes = tokio::task::spawn_blocking(move || {
            Engine::open(options, Intent::Query).and_then(|engine| engine.sessions().changes(Some(cursor)))
        });
        // If reading fails, the old file times stay, so that the next look tries again.
        let changes = changes.await.ok()?.ok()?;
        let news = news(&self.stamp, &stamp, &changes);
        self.cursor = changes.cursor;
        self.stamp = stamp;
        Some(news)
    }
}

fn news(before: &Stamp, now: &Stamp, changes: &Changes) -> News {
    let names = |stamp: &Stamp| stamp.workflows.iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>();
    let mut updated: BTreeSet<String> = changes.sessions.iter().flat_map(resources::of_session).collect();
    if !changes.sessions.is_empty() {
        updated.extend([resources::SESSIONS, resources::BRIEF].map(ToOwned::to_owned));
    }
    let gone_or_new = before.workflows.iter().filter(|seen| !now.workflows.contains(seen));
    let changed = gone_or_new.chain(now.workflows.iter().filter(|seen| !before.workflows.contains(seen)));
    updated.extend(changed.map(|(name, _)| resources::of_workflow(name)));
    News { is_list_changed: changes.began || names(before) != names(now), updated }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::id::SessionId;

    fn stamp(workflows: &[(&str, u64)]) -> Stamp {
        let seen = |size| Some((std::time::SystemTime::UNIX_EPOCH, size));
        let workflows = workflows.iter().map(|(name, size)| ((*name).to_owned(), seen(*size))).collect();
        Stamp { store: Vec::new(), workflows }
    }

    #[test]
    fn a_session_that_changed_is_told_under_all_of_its_addresses() {
        let id = SessionId::parse("k3v9x2mp").expect("an id");
        let changes = Changes { cursor: 9, sessions: [id].into(), began: false };
        let news = news(&Stamp::default(), &Stamp::default(), &changes);
        assert!(!news.is_list_changed);
        assert!(news.updated.contains("leftoff://session/k3v9x2mp/log"));
        assert!(news.updated.contains("leftoff://brief"));
    }

    #[test]
    fn a_definition_that_came_or_went_changes_the_list_and_one_that_changed_does_not() {
        let nothing = Changes::default();
        let changed = news(&stamp(&[("a", 1)]), &stamp(&[("a", 2)]), &nothing);
        assert!(!changed.is_list_changed);
        assert_eq!(changed.updated, BTreeSet::from(["leftoff://workflow/a".to_owned()]));
        assert!(news(&stamp(&[("a", 1)]), &stamp(&[]), &nothing).is_list_changed);
    }
}
