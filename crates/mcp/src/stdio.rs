//! Serves one client on stdin and stdout, with one message per line. Only whole messages are written.

use crate::incoming::{self, Incoming, LONGEST_MESSAGE};
use crate::server::Desk;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetMeta, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::{Transport, stdio_pipes};
use rmcp::{RoleServer, ServiceExt};
use std::collections::HashSet;
use std::future::Future;
use std::io::{Error, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

pub(crate) async fn serve(desk: Desk) -> std::io::Result<()> {
    let (read, write) = stdio_pipes();
    let transport = Lines::new(read, write);
    match desk.server().serve(transport).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(Error::other),
        // The client disconnected before it sent a message.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(Error::other(error)),
    }
}

/// A line to write. The channel is notified when the line has been written.
struct Outgoing {
    line: Vec<u8>,
    written: Option<oneshot::Sender<std::io::Result<()>>>,
}

/// A transport that reads and writes lines.
struct Lines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// True while the rest of a line is skipped because the line is too long.
    is_skipping: bool,
    /// The answer to unreadable input, which must be sent next. It is stored because reading may be interrupted before
    /// the answer is sent.
    refused: Option<Vec<u8>>,
    out: Option<mpsc::Sender<Outgoing>>,
    writer: Option<JoinHandle<()>>,
    unanswered: Unanswered,
    has_begun: bool,
}

/// The requests that have no answer yet. When the input ends, they are answered before the server ends.
#[derive(Clone, Default)]
struct Unanswered {
    ids: Arc<Mutex<HashSet<RequestId>>>,
    answered: Arc<Notify>,
}

impl Unanswered {
    fn add(&self, id: &RequestId) -> bool {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone())
    }

    fn remove(&self, id: &RequestId) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.answered.notify_one();
    }

    async fn none(&self) {
        while !self.ids.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            self.answered.notified().await;
        }
    }
}

enum LineRead {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Send + Unpin + 'static> Lines<R> {
    fn new(read: R, write: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        const WAITING_LINES: usize = 64;
        let (out, lines) = mpsc::channel(WAITING_LINES);
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            is_skipping: false,
            refused: None,
            out: Some(out),
            writer: Some(tokio::spawn(write_lines(write, lines))),
            unanswered: Unanswered::default(),
            has_begun: false,
        }
    }

    /// Reads one line, up to the maximum length. If reading is interrupted, the next call continues it.
    async fn read_line(&mut self) -> LineRead {
        loop {
            let Ok(available) = self.read.fill_buf().await else { return LineRead::End };
            if available.is_empty() {
                return LineRead::End;
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            let is_too_long = !self.is_skipping && self.line.len() + taken > LONGEST_MESSAGE;
            if is_too_long {
                self.line = Vec::new();
            } else if !self.is_skipping {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.read.consume(taken);
            let was_skipping = self.is_skipping;
            self.is_skipping = (was_skipping || is_too_long) && newline.is_none();
            if is_too_long {
                return LineRead::TooLong;
            }
            if newline.is_some() && !was_skipping {
                return LineRead::Whole;
            }
        }
    }

    /// The message in the line. `None` if it is not one that the server handles.
    fn understood(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        match incoming::read(&line) {
            Incoming::Message(message) => self.admitted(*message),
            Incoming::Refused(answer) => {
                self.refused = Some(as_line(&answer));
                None
            }
            Incoming::Ignored => None,
        }
    }

    fn admitted(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            JsonRpcMessage::Request(request) => {
                self.has_begun |= begins(&request.request);
                let waits = !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                if waits && !self.unanswered.add(&request.id) {
                    let error = ErrorData::invalid_request(
                        "this id belongs to a request that is still running",
                        None,
                    );
                    self.refused = Some(as_line(&incoming::refusal(error, Some(request.id.clone()))));
                    return None;
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.unanswered.remove(id);
                }
                return self.has_begun.then_some(message);
            }
            // An answer before the initialisation cannot belong to a request.
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                return self.has_begun.then_some(message);
            }
        }
        Some(message)
    }
}

/// True for a request that a client may send first, in either version of the protocol.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let is_whole = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
            is_whole
                && meta
                    .protocol_version()
                    .is_some_and(|asked| ProtocolVersion::KNOWN_VERSIONS.contains(&asked))
        }
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for Lines<R> {
    type Error = Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        let (out, unanswered) = (self.out.clone(), self.unanswered.clone());
        async move {
            let gone = || Error::new(ErrorKind::BrokenPipe, "the client has disconnected");
            let answered = answered(&message);
            let (tell, written) = oneshot::channel();
            let outgoing = Outgoing { line: as_line(&message), written: Some(tell) };
            let sent = match out {
                Some(out) => out.send(outgoing).await.map_err(|_| gone()),
                None => Err(gone()),
            };
            let written = match sent {
                Ok(()) => written.await.unwrap_or_else(|_| Err(gone())),
                Err(error) => Err(error),
            };
            if let Some(id) = answered {
                unanswered.remove(&id);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.refused.is_some() {
                let permit = self.out.as_ref()?.reserve().await.ok()?;
                permit.send(Outgoing { line: self.refused.take().unwrap_or_default(), written: None });
            }
            match self.read_line().await {
                LineRead::Whole => {
                    if let Some(message) = self.understood() {
                        return Some(message);
                    }
                }
                LineRead::TooLong => self.refused = Some(as_line(&incoming::too_long())),
                // The last line may have no line ending.
                LineRead::End if !self.line.is_empty() => {
                    if let Some(message) = self.understood() {
                        return Some(message);
                    }
                }
                LineRead::End => {
                    self.unanswered.none().await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Error> {
        self.out = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.await;
        }
        Ok(())
    }
}

/// Writes lines one after the other. Each line is written completely.
async fn write_lines(mut write: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Outgoing>) {
    while let Some(outgoing) = lines.recv().await {
        let result = match write.write_all(&outgoing.line).await {
            Ok(()) => write.flush().await,
            Err(error) => Err(error),
        };
        let failed = result.is_err();
        if let Some(written) = outgoing.written {
            let _ = written.send(result);
        }
        if failed {
            return;
        }
    }
}

fn answered(message: &ServerJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(response.id.clone()),
        JsonRpcMessage::Error(error) => error.id.clone(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

fn as_line(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
