//! Notifies a page of changes by server-sent events. Each visible page has a stream, which ends when the page is
//! closed.

use bytes::Bytes;
use engine::{Current, Engine, Intent, Options, Watch, next_look};
use hyper::body::{Body, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The maximum time between two messages. The browser thus notices a lost connection.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// The body of an answer that grows while the browser reads it.
pub struct Stream(Receiver<String>);

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|text| text.map(|text| Ok(Frame::data(Bytes::from(text)))))
    }
}

/// Starts watching for changes. Returns when no later change can be missed, which may take a while for a store on a
/// server. `session` is the session on the page. A browser that connects again is notified at once, because it may have
/// missed a change.
pub async fn begin(options: Options, session: Option<String>, last_id: Option<String>) -> Stream {
    let (tell, told) = channel(8);
    let opened = tokio::task::spawn_blocking(move || Looking::begin(options, session)).await;
    if let Ok(looking) = opened {
        tokio::spawn(looking.go_on(tell, last_id.is_some()));
    }
    Stream(told)
}

struct Looking {
    options: Options,
    session: Option<String>,
    watch: Watch,
    count: u64,
}

impl Looking {
    fn begin(options: Options, session: Option<String>) -> Self {
        let watch = Watch::begin(&options);
        let mut looking = Self { options, session, watch, count: 0 };
        looking.show();
        // From this call on, the watch includes the session's files.
        looking.watch.changed();
        looking
    }

    fn show(&mut self) {
        let Some(session) = &self.session else { return };
        let options = Options { session: Some(session.clone()), ..self.options.clone() };
        let Ok(engine) = Engine::open(options, Intent::Query) else { return };
        if let Ok(Current::Session(view)) = engine.sessions().status() {
            self.watch.show(&engine, Some(&view));
        }
    }

    async fn go_on(mut self, tell: Sender<String>, was_here: bool) {
        let begun = if was_here { self.changed() } else { "retry: 1000\n: begun\n\n".to_owned() };
        if tell.send(begun).await.is_err() {
            return;
        }
        let mut quiet_since = Instant::now();
        let mut sent = Instant::now();
        loop {
            tokio::select! {
                () = tell.closed() => return,
                () = tokio::time::sleep(next_look(quiet_since.elapsed())) => {}
            }
            let looked = tokio::task::spawn_blocking(move || {
                let is_changed = self.watch.changed();
                if is_changed {
                    self.show();
                }
                (self, is_changed)
            });
            let Ok((looking, is_changed)) = looked.await else { return };
            self = looking;
            let said = if is_changed {
                quiet_since = Instant::now();
                self.changed()
            } else if sent.elapsed() >= SIGN_OF_LIFE {
                ": here\n\n".to_owned()
            } else {
                continue;
            };
            sent = Instant::now();
            if tell.send(said).await.is_err() {
                return;
            }
        }
    }

    fn changed(&mut self) -> String {
        self.count += 1;
        format!("event: changed\nid: {}\ndata: {}\n\n", self.count, self.count)
    }
}
