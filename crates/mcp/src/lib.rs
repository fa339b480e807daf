//! The server for the Model Context Protocol: offers the engine's answers as tools and resources. Knows neither stores
//! nor layouts. Writes only protocol messages to stdout.

mod answer;
mod arguments;
mod changes;
mod client;
mod error;
mod http;
mod incoming;
mod instructions;
mod resources;
mod server;
mod stdio;
mod tools;

pub use http::{Listening, Token};

use engine::Options;

/// The name of the server in the protocol.
pub const NAME: &str = "leftoff";
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The environment variable with the token that clients must send.
pub const TOKEN_VARIABLE: &str = "LEFTOFF_MCP_TOKEN";

/// Serves one client on stdin and stdout until the client closes them.
pub fn serve_stdio(options: Options) -> std::io::Result<()> {
    server::run(stdio::serve(server::Desk::new(options)))
}

/// Serves HTTP clients until the process ends. Calls `told` with the address when the server listens.
pub fn serve_http(
    options: Options,
    listening: &Listening,
    announce: impl FnOnce(std::net::SocketAddr),
) -> std::io::Result<()> {
    server::run(http::serve(server::Desk::from_afar(options), listening, announce))
}

/// The description of all tools, as JSON.
pub fn tools() -> serde_json::Value {
    serde_json::to_value(tools::list()).unwrap_or_default()
}

/// The instructions that every client gets.
pub fn instructions() -> &'static str {
    instructions::INSTRUCTIONS
}

/// The description of the resources.
pub fn resource_templates() -> serde_json::Value {
    serde_json::to_value(resources::templates()).unwrap_or_default()
}
