//! Serves clients over HTTP. A request is admitted if it addresses this machine by name, does not come from a page of
//! another origin, and contains the token, if the server has one.

mod access;

pub use access::{Listening, Token};

use crate::incoming::{self, Incoming, LONGEST_MESSAGE};
use crate::server::Desk;
use access::Door;
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming as Body;
use hyper::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The paths at which the server answers.
const PATHS: [&str; 2] = ["/mcp", "/"];
const MOST_CONNECTIONS: usize = 512;
const HEADERS_WITHIN: Duration = Duration::from_secs(30);

type Service = StreamableHttpService<crate::server::Server, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

pub(crate) async fn serve(
    desk: Desk,
    listening: &Listening,
    announce: impl FnOnce(SocketAddr),
) -> std::io::Result<()> {
    let listener = TcpListener::bind(listening.address).await?;
    let address = listener.local_addr()?;
    let door = Arc::new(Door::new(listening, address));
    // leftoff itself checks Host and Origin, because only leftoff knows the port, and whether the server has a token.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(LONGEST_MESSAGE);
    let service: Service = StreamableHttpService::new(
        move || Ok(desk.server()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    announce(address);
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return Ok(()) };
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (service, door) = (service.clone(), Arc::clone(&door));
        tokio::spawn(async move {
            let answering = service_fn(move |request| answer(request, service.clone(), Arc::clone(&door)));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS_WITHIN)
                .serve_connection(TokioIo::new(stream), answering);
            // It is not an error if a client disconnects.
            let _ = connection.await;
            drop(place);
        });
    }
}

async fn answer(request: Request<Body>, service: Service, door: Arc<Door>) -> Result<Answer, Infallible> {
    if let Err(closed) = door.admits(request.headers()) {
        let mut answer = refused(closed.status, closed.message);
        if closed.status == StatusCode::UNAUTHORIZED {
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        return Ok(answer);
    }
    if !PATHS.contains(&request.uri().path()) {
        return Ok(refused(StatusCode::NOT_FOUND, "not found: the server is at /mcp"));
    }
    match *request.method() {
        Method::POST => post(request, service).await,
        Method::GET | Method::DELETE => Ok(service.handle(request).await),
        _ => {
            let mut answer = refused(StatusCode::METHOD_NOT_ALLOWED, "use POST, GET or DELETE");
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
            Ok(answer)
        }
    }
}

/// Checks a message before the protocol library reads it, so that every error becomes an answer in JSON-RPC.
async fn post(request: Request<Body>, service: Service) -> Result<Answer, Infallible> {
    let (mut parts, body) = request.into_parts();
    let Some(bytes) = whole(body).await else {
        return Ok(as_json(StatusCode::PAYLOAD_TOO_LARGE, &incoming::too_long()));
    };
    if let Incoming::Refused(refused) = incoming::read(&bytes) {
        return Ok(as_json(StatusCode::BAD_REQUEST, &refused));
    }
    let body = match incoming::normalised(&bytes).map(|value| serde_json::to_vec(&value)) {
        Ok(Ok(body)) => Bytes::from(body),
        Ok(Err(_)) | Err(_) => bytes,
    };
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    Ok(service.handle(Request::from_parts(parts, Full::new(body))).await)
}

/// Returns the message; `None` if it is too long. Even then, the rest is read up to a limit, because a client that is
/// cut off while it sends does not read the answer.
async fn whole(mut body: Body) -> Option<Bytes> {
    const LONGEST_REST: usize = 16 * LONGEST_MESSAGE;
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.ok()?.into_data() else { continue };
        length += data.len();
        if length <= LONGEST_MESSAGE {
            bytes.extend_from_slice(&data);
        } else if length > LONGEST_REST {
            return None;
        }
    }
    (length <= LONGEST_MESSAGE).then(|| bytes.into())
}

fn refused(status: StatusCode, message: &str) -> Answer {
    as_json(status, &json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": message } }))
}

fn as_json(status: StatusCode, body: &impl serde::Serialize) -> Answer {
    let body = serde_json::to_vec(body).unwrap_or_default();
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
