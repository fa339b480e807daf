//! The caller: environment and processes come first (the engine determines them), then the client's own
//! statement.

use engine::{AgentIdentity, Options};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// The header by which an HTTP client names its agent session, like `LEFTOFF_AGENT_SESSION` in an
/// environment.
pub(crate) const AGENT_HEADER: &str = "leftoff-agent-session";
const SESSION_HEADER: &str = "mcp-session-id";

/// The options for one call: the server's own, with the caller.
pub(crate) fn options(server: &Options, context: &RequestContext<RoleServer>) -> Options {
    let name = context.client_info().map(|client| client.name);
    let agent = if server.from_afar {
        from_afar(context, name.as_deref())
    } else {
        name.and_then(|name| AgentIdentity::of_parent(&name))
    };
    Options { agent, ..server.clone() }
}

/// Over HTTP: the header, or else the client's name with its session; without a session, only its name.
fn from_afar(context: &RequestContext<RoleServer>, name: Option<&str>) -> Option<AgentIdentity> {
    let headers = context.extensions.get::<hyper::http::request::Parts>().map(|parts| &parts.headers);
    let header = |name: &str| headers.and_then(|headers| headers.get(name)?.to_str().ok());
    if let Some(told) = header(AGENT_HEADER) {
        return AgentIdentity::parse(told);
    }
    AgentIdentity::named(name?, header(SESSION_HEADER).unwrap_or("http"))
}
