//! Answers requests. Every request first passes access control. The engine is called on other threads.

use crate::Serving;
use crate::access::{Admitted, Closed, Door, Secrets};
use crate::act::{self, Action};
use crate::form::{decoded, pairs, value};
use crate::load::{self, Overview, Query, SessionPage};
use crate::pages::{self, Offer, SCRIPT, STYLE};
use crate::security_headers;
use crate::stream;
use bytes::Bytes;
use engine::{Class, Options};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, LOCATION, SET_COOKIE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use maud::Markup;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

const MOST_CONNECTIONS: usize = 256;
const LONGEST_BODY: usize = 64 * 1024;
const HEADERS_WITHIN: Duration = Duration::from_secs(30);

/// The maximum number of pages that are prepared at once; further ones wait.
const MOST_PAGES_AT_ONCE: usize = 8;

type Answer = Response<BoxBody<Bytes, Infallible>>;

struct Desk {
    door: Door,
    options: Options,
}

/// Runs the server on one thread. Pages are prepared on threads of their own, which end soon afterwards.
pub fn run(serving: impl Future<Output = std::io::Result<()>>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(MOST_PAGES_AT_ONCE)
        .thread_keep_alive(Duration::from_secs(2))
        .build()?;
    runtime.block_on(serving)
}

pub async fn serve(
    options: Options,
    serving: &Serving,
    announce: impl FnOnce(SocketAddr, &str),
) -> std::io::Result<()> {
    let listener = TcpListener::bind(serving.address).await?;
    let address = listener.local_addr()?;
    let secrets = Secrets::generate()?;
    let token = secrets.token.clone();
    let door = Door::new(address, &serving.hosts, secrets, serving.allow_actions);
    announce(address, &token);
    let desk = Arc::new(Desk { door, options });
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return Ok(()) };
        let Ok((stream, _)) = listener.accept().await else { continue };
        let desk = Arc::clone(&desk);
        tokio::spawn(async move {
            let answering = service_fn(move |request| answered(request, Arc::clone(&desk)));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS_WITHIN)
                .serve_connection(TokioIo::new(stream), answering);
            // It is not an error if a browser disconnects.
            let _ = connection.await;
            drop(place);
        });
    }
}

async fn answered(request: Request<Incoming>, desk: Arc<Desk>) -> Result<Answer, Infallible> {
    let mut answer = answer(request, desk).await;
    security_headers::add(answer.headers_mut());
    Ok(answer)
}

async fn answer(request: Request<Incoming>, desk: Arc<Desk>) -> Answer {
    let query = pairs(request.uri().query().unwrap_or_default());
    let token = value(&query, "token");
    match desk.door.admits(request.method(), request.headers(), token) {
        Err(closed) => return shut(&closed),
        Ok(Admitted::WithToken) => return with_cookie(&desk.door, request.uri().path()),
        Ok(Admitted::In) => {}
    }
    match *request.method() {
        Method::GET | Method::HEAD => get(&request, &query, desk).await,
        Method::POST => post(request, desk).await,
        _ => {
            let mut answer = refused(StatusCode::METHOD_NOT_ALLOWED, "Not allowed", "use GET or POST", None);
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
            answer
        }
    }
}

async fn get(request: &Request<Incoming>, query: &[(String, String)], desk: Arc<Desk>) -> Answer {
    let path = request.uri().path().to_owned();
    match path.as_str() {
        "/style.css" => return text("text/css; charset=utf-8", STYLE),
        "/script.js" => return text("text/javascript; charset=utf-8", SCRIPT),
        "/events" => {
            let session = value(query, "session").filter(|id| !id.is_empty()).map(ToOwned::to_owned);
            let header = request.headers().get("last-event-id").and_then(|id| id.to_str().ok());
            let last = header.or_else(|| value(query, "last-event-id")).map(ToOwned::to_owned);
            return streamed(stream::begin(desk.options.clone(), session, last).await);
        }
        _ => {}
    }
    let query = query.to_vec();
    let made = tokio::task::spawn_blocking(move || page(&path, &query, &desk)).await;
    made.unwrap_or_else(|_| {
        refused(StatusCode::INTERNAL_SERVER_ERROR, "Failed", "the page could not be rendered", None)
    })
}

fn page(path: &str, query: &[(String, String)], desk: &Desk) -> Answer {
    let offer = Offer { csrf: desk.door.allows_actions().then(|| desk.door.csrf()) };
    let made = match path.split('/').collect::<Vec<_>>().as_slice() {
        ["", ""] => Overview::load(&desk.options, asked(query))
            .map(|overview| pages::overview::render(&overview, offer)),
        ["", "approvals"] => load::approvals(&desk.options)
            .map(|(now, project, waiting)| pages::approvals::render(now, &project, &waiting, offer)),
        ["", "session", id] => SessionPage::load(&desk.options, &decoded(id))
            .map(|session| pages::session::render(&session, offer)),
        _ => return refused(StatusCode::NOT_FOUND, "Not found", "there is no such page", None),
    };
    made.map_or_else(|error| failed(&error), |markup| html(StatusCode::OK, &markup))
}

fn asked(query: &[(String, String)]) -> Query {
    let text = |name: &str| value(query, name).unwrap_or_default().chars().take(200).collect::<String>();
    Query {
        search: text("q"),
        status: text("status"),
        layout: text("layout"),
        phase: text("phase"),
        agent: text("agent"),
        page: text("page").parse().unwrap_or(0),
    }
}

async fn post(request: Request<Incoming>, desk: Arc<Desk>) -> Answer {
    let (parts, body) = request.into_parts();
    let Some(body) = whole(body).await else {
        return refused(
            StatusCode::PAYLOAD_TOO_LARGE,
            "Too long",
            "the text is too long for this form",
            None,
        );
    };
    let form = pairs(&String::from_utf8_lossy(&body));
    if let Err(closed) = desk.door.admits_change(&parts.headers, value(&form, "csrf")) {
        return shut(&closed);
    }
    let path = parts.uri.path().to_owned();
    let (session, action) = match path.split('/').collect::<Vec<_>>().as_slice() {
        ["", "session", id, name] => (decoded(id), Action::of(name, &form)),
        _ => return refused(StatusCode::NOT_FOUND, "Not found", "there is no such action", None),
    };
    let Some(action) = action else {
        return refused(StatusCode::BAD_REQUEST, "Not allowed", "unknown form, or a field is missing", None);
    };
    let done =
        tokio::task::spawn_blocking(move || act::run(&desk.options, &session, &action).map(|()| session))
            .await;
    match done {
        Ok(Ok(session)) => redirect(&format!("/session/{}", crate::form::encoded(&session))),
        Ok(Err(error)) => failed(&error),
        Err(_) => refused(StatusCode::INTERNAL_SERVER_ERROR, "Failed", "the action failed", None),
    }
}

async fn whole(mut body: Incoming) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        bytes.extend_from_slice(&data);
        if bytes.len() > LONGEST_BODY {
            return None;
        }
    }
    Some(bytes)
}

fn failed(error: &engine::Error) -> Answer {
    let status = match error.class() {
        Class::NothingThere => StatusCode::NOT_FOUND,
        Class::WrongUsage => StatusCode::BAD_REQUEST,
        Class::Refused | Class::NeedsAPerson => StatusCode::CONFLICT,
        Class::Failed | Class::OutcomeUnknown => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let hint = error.hint().map(|hint| hint.to_string());
    refused(status, "Not done", &error.to_string(), hint.as_deref())
}

fn shut(closed: &Closed) -> Answer {
    refused(closed.status, "Access denied", closed.message, None)
}

fn refused(status: StatusCode, title: &str, message: &str, hint: Option<&str>) -> Answer {
    html(status, &pages::refused(title, message, hint))
}

/// Redirects to the same page without the token. Two slashes at the start of a path would lead to another server, so
/// only one slash stays.
fn with_cookie(door: &Door, path: &str) -> Answer {
    let mut answer = redirect(&format!("/{}", path.trim_start_matches('/')));
    if let Ok(cookie) = HeaderValue::from_str(&door.set_cookie()) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

fn redirect(path: &str) -> Answer {
    let mut answer = text("text/plain; charset=utf-8", "");
    *answer.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(path) = HeaderValue::from_str(path) {
        answer.headers_mut().insert(LOCATION, path);
    }
    answer
}

fn html(status: StatusCode, markup: &Markup) -> Answer {
    let mut answer = of_bytes("text/html; charset=utf-8", Bytes::from(markup.0.clone()));
    *answer.status_mut() = status;
    answer
}

fn text(kind: &'static str, text: &'static str) -> Answer {
    of_bytes(kind, Bytes::from_static(text.as_bytes()))
}

fn of_bytes(kind: &'static str, bytes: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(bytes).boxed());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

fn streamed(stream: stream::Stream) -> Answer {
    let mut answer = Response::new(stream.boxed());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    answer
}
