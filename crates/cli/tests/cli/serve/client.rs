//! A running server, and a client that sends exactly the given bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use testkit::{Running, Sandbox, at_terminal};

pub struct Page {
    _server: Running,
    pub port: u16,
    pub token: String,
    pub set_cookie: String,
    /// The cookie as a browser sends it.
    pub cookie: String,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

impl Page {
    /// Starts a server that no person started, and exchanges its token for a cookie.
    pub fn serve(sandbox: &Sandbox, words: &[&str]) -> Self {
        Self::of(Running::start(sandbox.command(["serve"].iter().chain(words))))
    }

    /// Starts a server as a person does, on a terminal.
    pub fn serve_at_terminal(sandbox: &Sandbox, words: &[&str]) -> Self {
        let inner = sandbox.command(["serve"].iter().chain(words));
        let line: Vec<String> = std::iter::once(inner.get_program())
            .chain(inner.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let mut command = at_terminal(&line.join(" "));
        command.current_dir(sandbox.project()).env_clear().env("TERM", "dumb").env("NO_COLOR", "1");
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(std::process::Stdio::piped());
        Self::of(Running::start(command))
    }

    /// The path to which the server redirects a request for this path with the server's token.
    pub fn sent_on(sandbox: &Sandbox, path: &str) -> String {
        let mut server = Running::start(sandbox.command(["serve"]));
        let (port, token) = address(&server.until("http://"));
        let page = Self { _server: server, port, token, set_cookie: String::new(), cookie: String::new() };
        let reply = page.raw("GET", &format!("{path}?token={}", page.token), &[("host", &page.host())], "");
        reply.header("location").unwrap_or_default().to_owned()
    }

    fn of(mut server: Running) -> Self {
        let (port, token) = address(&server.until("http://"));
        let mut page =
            Self { _server: server, port, token, set_cookie: String::new(), cookie: String::new() };
        let reply = page.raw("GET", &format!("/?token={}", page.token), &[("host", &page.host())], "");
        assert_eq!((reply.status, reply.header("location")), (303, Some("/")), "{reply:?}");
        reply.header("set-cookie").expect("a cookie").clone_into(&mut page.set_cookie);
        page.set_cookie.split(';').next().unwrap().clone_into(&mut page.cookie);
        page
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.host())
    }

    pub fn get(&self, path: &str) -> Reply {
        self.raw("GET", path, &[("host", &self.host()), ("cookie", &self.cookie)], "")
    }

    pub fn post(&self, path: &str, origin: Option<&str>, body: &str) -> Reply {
        let host = self.host();
        let mut headers = vec![("host", host.as_str()), ("cookie", &self.cookie)];
        headers.extend(origin.map(|origin| ("origin", origin)));
        headers.push(("content-type", "application/x-www-form-urlencoded"));
        self.raw("POST", path, &headers, body)
    }

    /// The secret in the forms of a page.
    pub fn csrf(&self, path: &str) -> String {
        let html = self.get(path).body;
        let (_, rest) = html.split_once("name=\"csrf\" value=\"").expect("a form");
        rest.split('"').next().unwrap().to_owned()
    }

    pub fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut stream = self.connect();
        // A server that has read enough may close the connection before the client has sent everything.
        let _ = stream.write_all(request(method, path, headers, body).as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        parsed(&String::from_utf8_lossy(&bytes))
    }

    /// A stream of the server's events.
    pub fn events(&self, session: &str, last: Option<&str>) -> Events {
        let mut stream = self.connect();
        let host = self.host();
        let mut headers = vec![("host", host.as_str()), ("cookie", &self.cookie)];
        headers.extend(last.map(|last| ("last-event-id", last)));
        let asked = request("GET", &format!("/events?session={session}"), &headers, "");
        stream.write_all(asked.as_bytes()).unwrap();
        let mut events = Events(BufReader::new(stream));
        events.until("text/event-stream");
        if last.is_none() {
            events.until(": begun");
        }
        events
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server");
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }
}

pub struct Events(BufReader<TcpStream>);

impl Events {
    #[track_caller]
    pub fn until(&mut self, part: &str) {
        let mut seen = String::new();
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line).unwrap_or(0);
            assert!(read > 0, "{part:?} did not come; this did:\n{seen}");
            seen.push_str(&line);
            if line.contains(part) {
                return;
            }
        }
    }
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text + "\r\n" + body
}

fn parsed(text: &str) -> Reply {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Reply { status: status.unwrap_or(0), headers, body: body.to_owned() }
}

fn address(line: &str) -> (u16, String) {
    let (_, rest) = line.split_once("http://127.0.0.1:").expect("an address");
    let (port, token) = rest.trim().split_once("/?token=").expect("a token");
    (port.parse().expect("a port"), token.to_owned())
}
