//! `leftoff serve`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use web::Serving;

/// Serve a page that shows all sessions in a browser
///
/// Prints an address with a token that works for one visit; open it in a browser. The page is read-only unless
/// `--allow-actions` is given; it then has buttons to approve, pause, resume and write notes. An approval on the page
/// counts as a person's only if a person started the server at a terminal. Other machines can reach the server only
/// with `--listen` and `--plain-http`; the latter accepts that the connection is not encrypted.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff serve\n  leftoff serve --allow-actions\n  leftoff serve --port 7118\n  leftoff serve --listen 0.0.0.0:7118 --plain-http --host build.example"
)]
pub struct Serve {
    /// The port on this machine [default: a free one]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Let buttons change sessions
    #[arg(long)]
    allow_actions: bool,
    /// Listen at this address and port, which other machines may reach
    #[arg(long, value_name = "ADDR", conflicts_with = "port")]
    listen: Option<SocketAddr>,
    /// With --listen: accept that connections from other machines are not encrypted
    #[arg(long, requires = "listen")]
    plain_http: bool,
    /// A name of this machine by which browsers address it; may be repeated [default: localhost and its addresses]
    #[arg(long, value_name = "NAME", requires = "listen")]
    host: Vec<String>,
}

impl Run for Serve {
    fn run(self, globals: &Globals) -> Outcome {
        let local = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), self.port.unwrap_or(0));
        let address = self.listen.unwrap_or(local);
        if !address.ip().is_loopback() && !self.plain_http {
            return Err(Failure::wrong_usage(
                format!("other machines can reach {address}, and the connection is not encrypted"),
                "put a TLS proxy in front of 127.0.0.1, or accept it with --plain-http",
            ));
        }
        // Problems with the project are reported before the user opens a browser.
        globals.query()?;
        let out = globals.out();
        let told = |address: SocketAddr, token: &str| {
            let host = if address.ip().is_unspecified() {
                format!("localhost:{}", address.port())
            } else {
                address.to_string()
            };
            let _ = out.text(&format!("http://{host}/?token={token}"));
            out.say("open it in a browser; it works for one visit. Ctrl-C stops the server.");
        };
        let serving = Serving { address, hosts: self.host, allow_actions: self.allow_actions };
        match web::serve(globals.options.clone(), &serving, told) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => Err(Failure::failed(
                format!("cannot serve at {address}: {error}"),
                "choose a free port, or omit --port",
            )),
        }
    }
}
