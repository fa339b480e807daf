//! Tests of the server as clients see it. Real processes speak JSON-RPC, in both versions of the protocol,
//! over pipes and HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]
#![allow(clippy::needless_pass_by_value, reason = "a test reads better with the value in its place")]

mod agents;
mod client;
mod crowds;
mod eras;
mod garbage;
mod http;
mod resources;
mod tools;
mod web;

use testkit::Sandbox;

/// A project whose workflow `ship` has a gate in its second phase.
fn project() -> Sandbox {
    let sandbox = Sandbox::git(env!("CARGO_BIN_EXE_leftoff"));
    sandbox.write(".leftoff/workflows/ship.toml", SHIP);
    sandbox.write(".leftoff/config.toml", "workflow = \"ship\"\n");
    sandbox
}

const SHIP: &str = r#"
name = "ship"
version = "1"
title = "Ship a feature"

[[phase]]
id = "plan"
title = "Plan"
purpose = "Agree on what will be built."

[[phase]]
id = "build"
title = "Build"
purpose = "Build it, with tests."

  [phase.evidence]
  coverage = { type = "number", required = true, describe = "line coverage in percent" }

  [[phase.check]]
  id = "enough"
  kind = "expr"
  expr = "evidence.coverage >= 80.0"
  help = "Add tests until coverage reaches 80 %."

[[phase]]
id = "release"
title = "Release"
"#;
