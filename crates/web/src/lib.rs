//! The page in a browser: the engine's view, rendered by the server, with buttons that run commands. Knows neither
//! stores nor layouts. Contacts no other server.

mod access;
mod act;
mod form;
mod load;
mod markdown;
mod pages;
mod security_headers;
mod server;
mod stream;

use engine::Options;
use load::SessionPage;
use std::net::SocketAddr;

/// The address to serve at, and whether pages may change sessions.
#[derive(Debug, Clone)]
pub struct Serving {
    pub address: SocketAddr,
    /// Other names of this machine by which browsers may address the server.
    pub hosts: Vec<String>,
    /// True if pages have buttons that change sessions. False if pages are read-only.
    pub allow_actions: bool,
}

/// Serves pages until the process ends. Calls `told` with the address for the browser, including the token.
pub fn serve(
    options: Options,
    serving: &Serving,
    announce: impl FnOnce(SocketAddr, &str),
) -> std::io::Result<()> {
    server::run(server::serve(options, serving, announce))
}

/// A session with all of its data, as a single file that needs no server.
pub fn session_file(options: &Options, id: &str) -> engine::Result<String> {
    Ok(pages::session::as_file(&SessionPage::load(options, id)?).0)
}

/// A brief as a single file that needs no server.
pub fn brief_file(title: &str, brief: &str) -> String {
    pages::file(title, &markdown::html(brief)).0
}
