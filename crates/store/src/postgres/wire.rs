//! A connection to a server, with blocking calls. Every wait is limited. Errors of the server become store errors.

use super::address::Address;
use super::time_limits;
use super::tls::{Tls, refusal};
use crate::{Error, Result};
use std::borrow::Cow;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

/// The reason why a call to the server ended without a result.
#[derive(Debug)]
pub(super) enum Stop {
    Refused(Error),
    Failed(tokio_postgres::Error),
    TimedOut,
}

impl From<tokio_postgres::Error> for Stop {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl Stop {
    /// Returns the server's code of the error, if the server sent one.
    pub(super) fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Failed(error) => error.code(),
            Self::Refused(_) | Self::TimedOut => None,
        }
    }

    /// True if another transaction changed something that this transaction relied on.
    pub(super) fn is_overtaken(&self) -> bool {
        self.code() == Some(&SqlState::T_R_SERIALIZATION_FAILURE)
    }

    /// True if it is unknown whether the server executed the statement.
    pub(super) fn is_unanswered(&self) -> bool {
        match self {
            Self::Refused(_) => false,
            Self::TimedOut => true,
            // A server that closes a connection may have committed the transaction before that.
            Self::Failed(error) => error.code().is_none_or(|code| code.code().starts_with("57P")),
        }
    }
}

pub(super) type Step<T> = std::result::Result<T, Stop>;

/// How long to wait for the server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    Each(Duration),
    Until(Instant),
}

/// Waits for each answer as long as a single answer may take.
pub(super) const PATIENT: Limit = Limit::Each(time_limits::ANSWER);

impl Limit {
    fn left(self) -> Duration {
        match self {
            Self::Each(longest) => longest,
            Self::Until(end) => end.saturating_duration_since(Instant::now()),
        }
    }
}

pub(super) struct Wire {
    /// `None` only while the value is dropped. The runtime is shut down separately, because a store may be dropped
    /// inside another runtime.
    runtime: Option<Runtime>,
    client: Client,
    pub(super) address: Address,
    pub(super) limit: Limit,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("place", &self.address.place).finish_non_exhaustive()
    }
}

impl Wire {
    pub(super) fn connect(address: Address, limit: Limit) -> Result<Self> {
        let broken = |why: &dyn std::fmt::Display| Error::Unreachable {
            place: address.place.clone(),
            why: why.to_string(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| broken(&error))?;
        let tls = Tls::new(&address.trust).map_err(|error| broken(&error))?;
        let connected = runtime.block_on(within(limit, async {
            let (client, connection) = address.config.connect(tls).await?;
            tokio::spawn(connection);
            Ok(client)
        }));
        match connected {
            Ok(client) => Ok(Self { runtime: Some(runtime), client, address, limit }),
            Err(stop) => Err(failure(&address.place, "connecting", stop)),
        }
    }

    pub(super) fn ask(&self) -> Ask<'_> {
        Ask { client: &self.client, schema: &self.address.schema }
    }

    /// Waits for a result, within the limit.
    pub(super) fn wait<T>(&self, work: impl Future<Output = Step<T>>) -> Step<T> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(within(self.limit, work)),
            None => Err(Stop::TimedOut),
        }
    }

    pub(super) fn run<T>(&self, doing: &str, work: impl Future<Output = Step<T>>) -> Result<T> {
        self.wait(work).map_err(|stop| self.failure(doing, stop))
    }

    pub(super) fn failure(&self, doing: &str, stop: Stop) -> Error {
        failure(&self.address.place, doing, stop)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn within<T>(limit: Limit, work: impl Future<Output = Step<T>>) -> Step<T> {
    tokio::time::timeout(limit.left(), work).await.unwrap_or(Err(Stop::TimedOut))
}

/// Runs statements. A statement calls the schema `leftoff`; this name is replaced by the name of the real schema.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    client: &'a Client,
    schema: &'a str,
}

pub(super) type Values<'v> = [(&'v (dyn ToSql + Sync), Type)];

impl Ask<'_> {
    pub(super) async fn rows(self, sql: &str, values: &Values<'_>) -> Step<Vec<Row>> {
        Ok(self.client.query_typed(&named(sql, self.schema), values).await?)
    }

    pub(super) async fn row(self, sql: &str, values: &Values<'_>) -> Step<Option<Row>> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    pub(super) async fn change(self, sql: &str, values: &Values<'_>) -> Step<u64> {
        Ok(self.client.execute_typed(&named(sql, self.schema), values).await?)
    }

    /// Runs statements without values, in one message. Returns all values as text.
    pub(super) async fn plainly(self, sql: &str) -> Step<Vec<tokio_postgres::SimpleQueryRow>> {
        let answers = self.client.simple_query(&named(sql, self.schema)).await?;
        Ok(answers
            .into_iter()
            .filter_map(|answer| match answer {
                tokio_postgres::SimpleQueryMessage::Row(row) => Some(row),
                _ => None,
            })
            .collect())
    }
}

pub(super) fn named<'s>(sql: &'s str, schema: &str) -> Cow<'s, str> {
    if schema == "leftoff" {
        Cow::Borrowed(sql)
    } else {
        Cow::Owned(sql.replace("leftoff.", &format!("{schema}.")))
    }
}

pub(super) type Sent<'f> = Pin<Box<dyn Future<Output = Step<u64>> + 'f>>;

/// Sends statements without waiting for each answer. If any statement fails, returns the first error.
pub(super) async fn pipelined(mut statements: Vec<Sent<'_>>) -> Step<Vec<u64>> {
    let mut answers: Vec<Option<Step<u64>>> = statements.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut is_waiting = false;
        for (statement, answer) in statements.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match statement.as_mut().poll(context) {
                    Poll::Ready(done) => *answer = Some(done),
                    Poll::Pending => is_waiting = true,
                }
            }
        }
        if is_waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}

fn failure(place: &str, doing: &str, stop: Stop) -> Error {
    let error = match stop {
        Stop::Refused(error) => return error,
        Stop::TimedOut => {
            let why = "it did not answer in time".to_owned();
            return Error::Unreachable { place: place.to_owned(), why };
        }
        Stop::Failed(error) => error,
    };
    let Some(told) = error.as_db_error() else {
        return Error::Unreachable { place: place.to_owned(), why: innermost(&error) };
    };
    let path = || PathBuf::from(place);
    let why = told.message().to_owned();
    let code = told.code();
    if *code == SqlState::LOCK_NOT_AVAILABLE || *code == SqlState::QUERY_CANCELED {
        Error::Busy { waited: Duration::ZERO }
    } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        Error::ReadOnly { path: path() }
    } else if *code == SqlState::DISK_FULL {
        Error::Full { path: path() }
    } else if *code == SqlState::UNDEFINED_TABLE || *code == SqlState::INVALID_SCHEMA_NAME {
        Error::Missing { path: path() }
    } else if is_of_rights(code) {
        Error::Denied { place: place.to_owned(), why }
    } else if is_of_connection(code) {
        Error::Unreachable { place: place.to_owned(), why }
    } else {
        Error::Engine { doing: format!("{doing} at {place}"), why }
    }
}

fn is_of_rights(code: &SqlState) -> bool {
    let is_of_login = code.code().starts_with("28") || *code == SqlState::UNDEFINED_DATABASE;
    is_of_login || *code == SqlState::INSUFFICIENT_PRIVILEGE
}

/// True if the server is starting, stopping or full, or ended the connection.
fn is_of_connection(code: &SqlState) -> bool {
    let code = code.code();
    code.starts_with("57P") || code.starts_with("08") || code.starts_with("53") || code.starts_with("25P")
}

/// Returns the message of the innermost error, without the words that each layer adds.
fn innermost(error: &tokio_postgres::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    match inner.downcast_ref::<io::Error>() {
        Some(error) if error.kind() == io::ErrorKind::TimedOut => "it did not answer in time".to_owned(),
        Some(error) => refusal(error).unwrap_or_else(|| error.to_string()),
        None => inner.to_string(),
    }
}
