//! Identifies the caller by the environment and the processes, as the engine does, or else by what the client says
//! about itself.

use engine::{AgentIdentity, Options};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// The header in which an HTTP client names its agent session. It corresponds to the environment variable
/// `LEFTOFF_AGENT_SESSION`.
pub(crate) const AGENT_HEADER: &str = "leftoff-agent-session";
const SESSION_HEADER: &str = "mcp-session-id";

/// The server's options, with the caller of this call.
pub(crate) fn options(server: &Options, context: &RequestContext<RoleServer>) -> Options {
    let name = context.client_info().map(|client| client.name);
    let agent = if server.from_afar {
        from_afar(context, name.as_deref())
    } else {
        name.and_then(|name| AgentIdentity::of_parent(&name))
    };
    Options { agent, ..server.clone() }
}

/// The identity of an HTTP client. It is in the header, or else it consists of the client's name and the id of its
/// connection. Without such an id, it is only the name.
fn from_afar(context: &RequestContext<RoleServer>, name: Option<&str>) -> Option<AgentIdentity> {
    let headers = context.extensions.get::<hyper::http::request::Parts>().map(|parts| &parts.headers);
    let header = |name: &str| headers.and_then(|headers| headers.get(name)?.to_str().ok());
    if let Some(told) = header(AGENT_HEADER) {
        return AgentIdentity::parse(told);
    }
    AgentIdentity::named(name?, header(SESSION_HEADER).unwrap_or("http"))
}
