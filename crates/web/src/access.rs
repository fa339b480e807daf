//! Access control: decides who may read, and who may change something. A page in somebody's browser can send requests
//! to this machine. But it cannot choose any Host, cannot hide its Origin, and knows neither the cookie nor the token.

use hyper::header::{COOKIE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{Method, StatusCode};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

pub struct Door {
    /// The names and addresses by which browsers may address this server, in lower case.
    hosts: Vec<String>,
    port: u16,
    takes_any_address: bool,
    /// The token in the address that `leftoff serve` prints. It is valid for one visit.
    token: String,
    is_token_used: AtomicBool,
    /// The value of the cookie that the browser gets in exchange for the token.
    cookie: String,
    /// The secret in every form. A request to change something must contain it.
    csrf: String,
    allows_actions: bool,
}

/// The reason why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub struct Closed {
    pub status: StatusCode,
    pub message: &'static str,
}

/// How a request was admitted.
#[derive(Debug, PartialEq, Eq)]
pub enum Admitted {
    In,
    /// The request was admitted by the token in its address. The browser gets the cookie and is redirected.
    WithToken,
}

/// The three secrets of a server: token, cookie and form secret.
pub struct Secrets {
    pub token: String,
    pub cookie: String,
    pub csrf: String,
}

impl Secrets {
    pub fn generate() -> std::io::Result<Self> {
        Ok(Self { token: random_secret()?, cookie: random_secret()?, csrf: random_secret()? })
    }
}

fn random_secret() -> std::io::Result<String> {
    let mut bytes = [0u8; 24];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Door {
    pub fn new(address: SocketAddr, hosts: &[String], secrets: Secrets, allows_actions: bool) -> Self {
        let mut known: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(ToOwned::to_owned).to_vec();
        known.push(address.ip().to_string());
        known.extend(hosts.iter().map(|host| host.to_ascii_lowercase()));
        Self {
            hosts: known,
            port: address.port(),
            takes_any_address: !address.ip().is_loopback(),
            token: secrets.token,
            is_token_used: AtomicBool::new(false),
            cookie: secrets.cookie,
            csrf: secrets.csrf,
            allows_actions,
        }
    }

    pub fn csrf(&self) -> &str {
        &self.csrf
    }

    pub fn allows_actions(&self) -> bool {
        self.allows_actions
    }

    /// The value of the header `Set-Cookie`. The name of the cookie contains the port, because two servers on this
    /// machine must not use the same cookie.
    pub fn set_cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.cookie)
    }

    fn cookie_name(&self) -> String {
        format!("leftoff-{}", self.port)
    }

    /// Admits or refuses a request to read. `token` is the token in the request's address.
    pub fn admits(
        &self,
        method: &Method,
        headers: &HeaderMap,
        token: Option<&str>,
    ) -> Result<Admitted, Closed> {
        self.check_host(headers)?;
        if let Some(origin) = text(headers, ORIGIN)
            && !self.is_own_origin(origin)
        {
            return Err(closed(StatusCode::FORBIDDEN, "pages from another origin may not use this server"));
        }
        if let (&Method::GET, Some(given)) = (method, token) {
            return self.exchange(given);
        }
        if self.has_cookie(headers) {
            return Ok(Admitted::In);
        }
        Err(closed(StatusCode::UNAUTHORIZED, "open the address that `leftoff serve` printed in its terminal"))
    }

    /// Admits or refuses a request to change something, after `admits` has admitted it. `csrf` is the secret in its
    /// form.
    pub fn admits_change(&self, headers: &HeaderMap, csrf: Option<&str>) -> Result<(), Closed> {
        if !self.allows_actions {
            return Err(closed(
                StatusCode::FORBIDDEN,
                "this server is read-only; to allow changes, start it with `leftoff serve --allow-actions`",
            ));
        }
        if !text(headers, ORIGIN).is_some_and(|origin| self.is_own_origin(origin)) {
            return Err(closed(StatusCode::FORBIDDEN, "a change needs the Origin of this server's own page"));
        }
        if text(headers, SEC_FETCH_SITE).is_some_and(|site| site != "same-origin") {
            return Err(closed(StatusCode::FORBIDDEN, "a change must come from this server's own page"));
        }
        if !csrf.is_some_and(|given| is_same(&self.csrf, given)) {
            return Err(closed(StatusCode::FORBIDDEN, "the form is out of date: reload the page"));
        }
        Ok(())
    }

    fn check_host(&self, headers: &HeaderMap) -> Result<(), Closed> {
        let mut given = headers.get_all(HOST).iter();
        let (host, another) = (given.next(), given.next());
        let Some(host) = host.and_then(|host| host.to_str().ok()).filter(|_| another.is_none()) else {
            return Err(closed(StatusCode::BAD_REQUEST, "there must be one Host header"));
        };
        if self.is_own_host(host) {
            return Ok(());
        }
        Err(closed(StatusCode::FORBIDDEN, "this server does not have the name in the Host header"))
    }

    /// True if this is the name and the port of this server.
    fn is_own_host(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        if authority.as_str().contains('@') {
            return false;
        }
        let name = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let is_known =
            self.hosts.contains(&name) || (self.takes_any_address && name.parse::<IpAddr>().is_ok());
        is_known && authority.port_u16().unwrap_or(80) == self.port
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some_and(|authority| !authority.contains('/') && self.is_own_host(authority))
    }

    fn exchange(&self, given: &str) -> Result<Admitted, Closed> {
        if !is_same(&self.token, given) {
            return Err(closed(StatusCode::FORBIDDEN, "unknown token"));
        }
        if self.is_token_used.swap(true, Ordering::SeqCst) {
            let message = "this address was already used, and works only once; start `leftoff serve` again for a new address";
            return Err(closed(StatusCode::FORBIDDEN, message));
        }
        Ok(Admitted::WithToken)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(given, value)| given == name && is_same(&self.cookie, value))
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

fn closed(status: StatusCode, message: &'static str) -> Closed {
    Closed { status, message }
}

/// True if both secrets are equal. The comparison takes the same time for any secret, so that the time reveals nothing.
fn is_same(known: &str, given: &str) -> bool {
    let (known, given) = (known.as_bytes(), given.as_bytes());
    let differences = known.iter().zip(given).fold(0, |sum, (one, other)| sum | (one ^ other));
    known.len() == given.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(address: &str, hosts: &[&str], allows_actions: bool) -> Door {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let secrets =
            Secrets { token: "t0k3n".to_owned(), cookie: "c00k1e".to_owned(), csrf: "f0rm".to_owned() };
        Door::new(address.parse().expect("an address"), &hosts, secrets, allows_actions)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, value.parse().expect("a header"));
        }
        map
    }

    fn get(door: &Door, pairs: &[(&'static str, &str)], token: Option<&str>) -> u16 {
        match door.admits(&Method::GET, &headers(pairs), token) {
            Ok(_) => 200,
            Err(closed) => closed.status.as_u16(),
        }
    }

    const IN: (&str, &str) = ("cookie", "other=1; leftoff-7118=c00k1e");

    #[test]
    fn only_requests_that_name_this_machine_and_its_port_come_in() {
        let door = door("127.0.0.1:7118", &[], false);
        for host in ["127.0.0.1:7118", "localhost:7118", "LOCALHOST:7118", "[::1]:7118"] {
            assert_eq!(get(&door, &[("host", host), IN], None), 200, "{host}");
        }
        for host in [
            "127.evil.example:7118",
            "127.0.0.1.evil.example:7118",
            "evil.example",
            "localhost",
            "localhost:80",
            "10.0.0.1:7118",
            "127.0.0.1:7118@evil.example",
            "evil@127.0.0.1:7118",
            "[::2]:7118",
            "0x7f.1:7118",
            "a b",
            "",
        ] {
            assert_ne!(get(&door, &[("host", host), IN], None), 200, "{host}");
        }
        assert_eq!(get(&door, &[IN], None), 400, "no Host");
        assert_eq!(get(&door, &[("host", "localhost:7118"), ("host", "evil.example"), IN], None), 400);
    }

    #[test]
    fn a_token_is_good_for_one_visit_and_the_cookie_for_all() {
        let door = door("127.0.0.1:7118", &[], false);
        let host = ("host", "localhost:7118");
        assert_eq!(get(&door, &[host], None), 401);
        assert_eq!(get(&door, &[host], Some("wrong")), 403);
        assert_eq!(door.admits(&Method::GET, &headers(&[host]), Some("t0k3n")), Ok(Admitted::WithToken));
        assert_eq!(get(&door, &[host], Some("t0k3n")), 403, "replayed");
        for cookie in ["leftoff-7118=", "leftoff-7118=c00k1", "leftoff-7119=c00k1e", "c00k1e"] {
            assert_eq!(get(&door, &[host, ("cookie", cookie)], None), 401, "{cookie}");
        }
        assert_eq!(get(&door, &[host, IN], None), 200);
    }

    #[test]
    fn a_change_needs_leave_the_pages_own_origin_and_its_form() {
        let host = ("host", "localhost:7118");
        let own = ("origin", "http://localhost:7118");
        let may = |door: &Door, pairs: &[(&'static str, &str)], csrf: Option<&str>| {
            door.admits_change(&headers(pairs), csrf).is_ok()
        };
        let open = door("127.0.0.1:7118", &[], true);
        assert!(may(&open, &[host, own], Some("f0rm")));
        assert!(!may(&door("127.0.0.1:7118", &[], false), &[host, own], Some("f0rm")), "read-only");
        assert!(!may(&open, &[host], Some("f0rm")), "absent Origin");
        assert!(!may(&open, &[host, own], None));
        assert!(!may(&open, &[host, own], Some("f0r")));
        assert!(!may(&open, &[host, own, ("sec-fetch-site", "cross-site")], Some("f0rm")));
        for origin in [
            "null",
            "",
            "http://localhost:1",
            "http://evil.example",
            "http://localhost:7118.evil.example",
            "http://127.evil.example:7118",
        ] {
            assert!(!may(&open, &[host, ("origin", origin)], Some("f0rm")), "{origin}");
            assert_eq!(get(&open, &[host, IN, ("origin", origin)], None), 403, "{origin}");
        }
    }

    #[test]
    fn beyond_loopback_addresses_and_given_names_are_known() {
        let door = door("0.0.0.0:7118", &["Build.example"], false);
        for host in ["192.0.2.7:7118", "build.example:7118", "[2001:db8::1]:7118"] {
            assert_eq!(get(&door, &[("host", host), IN], None), 200, "{host}");
        }
        assert_eq!(get(&door, &[("host", "evil.example:7118"), IN], None), 403);
    }

    #[test]
    fn secrets_are_long_and_never_the_same() {
        let (one, other) = (Secrets::generate().expect("secrets"), Secrets::generate().expect("secrets"));
        assert_eq!(one.token.len(), 48);
        let all = [&one.token, &one.cookie, &one.csrf, &other.token, &other.cookie, &other.csrf];
        let different: std::collections::BTreeSet<_> = all.into_iter().collect();
        assert_eq!(different.len(), 6);
    }
}
