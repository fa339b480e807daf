//! Access control for HTTP. A page in somebody's browser can send requests to this machine, but it cannot choose any
//! Host, and cannot hide its Origin.

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use hyper::{StatusCode, Uri};
use std::net::{IpAddr, SocketAddr};

const SHORTEST_TOKEN: usize = 16;

/// Where the server listens, and who may connect.
#[derive(Debug, Clone)]
pub struct Listening {
    pub address: SocketAddr,
    pub token: Option<Token>,
    /// Other names of this machine by which clients may address the server.
    pub hosts: Vec<String>,
}

impl Listening {
    /// True if the server may listen. A server that other machines can reach needs a token.
    pub fn is_allowed(&self) -> bool {
        self.address.ip().is_loopback() || self.token.is_some()
    }
}

/// The token that clients send as `Authorization: Bearer …`.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// The token in a text. `None` if it is short enough to be guessed, or cannot be sent in a header.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        (text.len() >= SHORTEST_TOKEN && is_plain).then(|| Self(text.to_owned()))
    }

    /// True if both tokens are equal. The comparison takes the same time for any token, so that the time reveals
    /// nothing.
    fn is(&self, given: &str) -> bool {
        let (known, given) = (self.0.as_bytes(), given.as_bytes());
        let differences = known.iter().zip(given).fold(0, |sum, (one, other)| sum | (one ^ other));
        known.len() == given.len() && differences == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

pub(super) struct Door {
    token: Option<Token>,
    hosts: Vec<String>,
    port: u16,
    /// True if other machines can reach the server. Clients may then use any address of this machine. That is safe,
    /// because a page of another origin can only use a name.
    takes_any_address: bool,
}

/// The reason why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Closed {
    pub(super) status: StatusCode,
    pub(super) message: &'static str,
}

impl Door {
    pub(super) fn new(listening: &Listening, address: SocketAddr) -> Self {
        let mut hosts: Vec<String> =
            ["localhost", "127.0.0.1", "::1"].into_iter().map(ToOwned::to_owned).collect();
        hosts.push(address.ip().to_string());
        hosts.extend(listening.hosts.iter().map(|host| host.to_ascii_lowercase()));
        Self {
            token: listening.token.clone(),
            hosts,
            port: address.port(),
            takes_any_address: !address.ip().is_loopback(),
        }
    }

    pub(super) fn admits(&self, headers: &HeaderMap) -> Result<(), Closed> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        match text(HOST) {
            None => {
                return Err(Closed {
                    status: StatusCode::BAD_REQUEST,
                    message: "the Host header is missing",
                });
            }
            Some(host) if !self.is_own_host(host) => {
                return Err(Closed {
                    status: StatusCode::FORBIDDEN,
                    message: "this server does not have the name in the Host header",
                });
            }
            Some(_) => {}
        }
        if text(ORIGIN).is_some_and(|origin| !self.is_own_origin(origin)) {
            let message = "pages from another origin may not use this server";
            return Err(Closed { status: StatusCode::FORBIDDEN, message });
        }
        let Some(token) = &self.token else { return Ok(()) };
        let given = text(AUTHORIZATION).and_then(|value| {
            let (scheme, given) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| given.trim())
        });
        if given.is_some_and(|given| token.is(given)) {
            return Ok(());
        }
        let message = "send the server's token as Authorization: Bearer TOKEN";
        Err(Closed { status: StatusCode::UNAUTHORIZED, message })
    }

    fn is_own_host(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<hyper::http::uri::Authority>() else { return false };
        self.is_known(authority.host())
    }

    /// True for a page from this server's own address. This server serves no pages, so the result is usually false.
    fn is_own_origin(&self, origin: &str) -> bool {
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        uri.host().is_some_and(|host| self.is_known(host)) && port == self.port
    }

    fn is_known(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        self.hosts.contains(&host) || (self.takes_any_address && host.parse::<IpAddr>().is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123";

    fn door(address: &str, token: Option<&str>, hosts: &[&str]) -> Door {
        let address: SocketAddr = address.parse().expect("an address");
        let token = token.map(|text| Token::parse(text).expect("a token"));
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        Door::new(&Listening { address, token, hosts }, address)
    }

    fn asked(door: &Door, headers: &[(&'static str, &str)]) -> Option<u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().expect("a header"));
        }
        door.admits(&map).err().map(|closed| closed.status.as_u16())
    }

    #[test]
    fn on_loopback_only_this_machine_is_named() {
        let door = door("127.0.0.1:7100", None, &[]);
        for host in ["127.0.0.1:7100", "localhost:7100", "LOCALHOST", "[::1]:7100"] {
            assert_eq!(asked(&door, &[("host", host)]), None, "{host}");
        }
        for host in ["evil.example", "127.0.0.1.evil.example:7100", "10.0.0.1", "localhost.evil", "a b"] {
            assert_eq!(asked(&door, &[("host", host)]), Some(403), "{host}");
        }
        assert_eq!(asked(&door, &[]), Some(400));
    }

    #[test]
    fn pages_of_others_are_kept_out() {
        let door = door("127.0.0.1:7100", None, &[]);
        let from = |origin| asked(&door, &[("host", "localhost:7100"), ("origin", origin)]);
        assert_eq!(from("http://localhost:7100"), None);
        for origin in ["http://localhost:3000", "https://evil.example", "null", "http://localhost", ""] {
            assert_eq!(from(origin), Some(403), "{origin:?}");
        }
    }

    #[test]
    fn a_token_is_asked_for_after_host_and_origin() {
        let door = door("0.0.0.0:7100", Some(TOKEN), &["build.example"]);
        let with = |host, value: &str| asked(&door, &[("host", host), ("authorization", value)]);
        assert_eq!(with("build.example", &format!("Bearer {TOKEN}")), None);
        assert_eq!(with("192.0.2.7:7100", &format!("bearer {TOKEN}")), None);
        assert_eq!(with("evil.example", &format!("Bearer {TOKEN}")), Some(403));
        for wrong in ["Bearer", "Bearer x", TOKEN, &format!("Bearer {TOKEN}0"), &format!("Basic {TOKEN}")] {
            assert_eq!(with("build.example", wrong), Some(401), "{wrong}");
        }
        assert_eq!(asked(&door, &[("host", "build.example")]), Some(401));
    }

    #[test]
    fn what_others_can_reach_needs_a_token_that_cannot_be_guessed() {
        let listening = |address: &str, token: Option<&str>| Listening {
            address: address.parse().expect("an address"),
            token: token.and_then(Token::parse),
            hosts: Vec::new(),
        };
        assert!(listening("127.0.0.1:0", None).is_allowed());
        assert!(listening("[::1]:0", None).is_allowed());
        assert!(!listening("0.0.0.0:0", None).is_allowed());
        assert!(!listening("0.0.0.0:0", Some("short")).is_allowed());
        assert!(listening("0.0.0.0:0", Some(TOKEN)).is_allowed());
        assert!(!format!("{:?}", listening("0.0.0.0:0", Some(TOKEN))).contains(TOKEN));
    }
}
