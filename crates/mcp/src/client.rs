//! Who is asking: what the environment or the processes tell comes first (the engine finds that out), what the client
//! says about itself fills in.

use engine::{AgentIdentity, Options};
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// A header by which an agent that comes over HTTP names itself, as `LEFTOFF_AGENT_SESSION` does in an environment.
pub(crate) const AGENT_HEADER: &str = "leftoff-agent-session";
const SESSION_HEADER: &str = "mcp-session-id";

/// The options for one call: the server's own, and who calls.
pub(crate) fn options(server: &Options, context: &RequestContext<RoleServer>) -> Options {
    let name = context.client_info().map(|client| client.name);
    let agent = if server.from_afar {
        from_afar(context, name.as_deref())
    } else {
        name.and_then(|name| AgentIdentity::of_parent(&name))
    };
    Options { agent, ..server.clone() }
}

/// Over HTTP: the header, else the client's name with its session; a client without one is known by its name alone.
fn from_afar(context: &RequestContext<RoleServer>, name: Option<&str>) -> Option<AgentIdentity> {
    let headers = context.extensions.get::<hyper::http::request::Parts>().map(|parts| &parts.headers);
    let header = |name: &str| headers.and_then(|headers| headers.get(name)?.to_str().ok());
    if let Some(told) = header(AGENT_HEADER) {
        return AgentIdentity::parse(told);
    }
    AgentIdentity::named(name?, header(SESSION_HEADER).unwrap_or("http"))
}
