//! Tests of `progress`: whole frames with a fixed clock, and the live screen in a real terminal, which tmux
//! provides.

mod frames;
mod live;

use testkit::Sandbox;

/// A session in progress: one phase is done, a gate has failed twice, and there is a blocker.
fn busy() -> Sandbox {
    let sandbox = crate::with_gate();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "ship", "--id", "login", "--title", "Stay logged in", "--goal", "no log-out"]).ok();
    sandbox.at("2026-11-14T10:30:00Z");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.at("2026-11-14T11:00:00Z");
    crate::try_build(&sandbox, 1, 2, 10).code(5);
    sandbox.run(["note", "the certificate has expired", "--kind", "blocker"]).ok();
    sandbox.at("2026-11-14T11:10:00Z");
    sandbox
}
