//! `leftoff mcp`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use mcp::{Listening, TOKEN_VARIABLE, Token};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Serve agents that speak the Model Context Protocol
///
/// Serves the client that starts the command, on stdin and stdout; with `--http`, serves clients at http://ADDR/mcp. An
/// address that other machines can reach needs a token, in a file or in LEFTOFF_MCP_TOKEN, which clients send as
/// `Authorization: Bearer TOKEN`. Actions that only a person can do (approve, override, trust) are refused.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff mcp\n  leftoff mcp --http 127.0.0.1:7117\n  leftoff mcp --http 0.0.0.0:7117 --token-file ~/.config/leftoff/token --host build.example\n  claude mcp add leftoff -- leftoff mcp"
)]
pub struct Mcp {
    /// Serve over HTTP at this address and port; port 0 picks a free port, which is printed on stderr
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// A file with the token that clients must send [env: LEFTOFF_MCP_TOKEN]
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// A name of this machine by which clients address it; may be repeated [default: localhost and its addresses]
    #[arg(long, value_name = "NAME", requires = "http")]
    host: Vec<String>,
}

impl Run for Mcp {
    fn run(self, globals: &Globals) -> Outcome {
        let options = globals.options.clone();
        let served = match self.http {
            None => mcp::serve_stdio(options),
            Some(address) => {
                let token = token(self.token_file.as_deref())?;
                let listening = Listening { address, token, hosts: self.host };
                if !listening.is_allowed() {
                    return Err(Failure::wrong_usage(
                        format!("other machines can reach {address}, but no token is set"),
                        format!("set one in --token-file or {TOKEN_VARIABLE}, or listen at 127.0.0.1"),
                    ));
                }
                let out = globals.out();
                let told = |address| out.say(&format!("listening at http://{address}/mcp"));
                mcp::serve_http(options, &listening, told)
            }
        };
        match served {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                let hint = "make sure that the address is free and the client speaks the protocol, then start it again";
                Err(Failure::failed(format!("the server ended: {error}"), hint))
            }
        }
    }
}

fn token(file: Option<&std::path::Path>) -> Result<Option<Token>, Failure> {
    let text = match file {
        Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
            Failure::wrong_usage(
                format!("--token-file {}: {error}", path.display()),
                "write the token into the file",
            )
        })?),
        None => std::env::var(TOKEN_VARIABLE).ok().filter(|text| !text.is_empty()),
    };
    let Some(text) = text else { return Ok(None) };
    let hint = "generate one, for example: head -c 24 /dev/urandom | base64";
    let refused = || Failure::wrong_usage("the token must have at least 16 printable ASCII characters", hint);
    Token::parse(&text).map(Some).ok_or_else(refused)
}
