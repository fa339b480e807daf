//! OpenCode, through the plugin that `init` writes, which speaks Claude Code's shape to us. Experimental.

use crate::hooks::{Protocol, claude};

pub const PROTOCOL: Protocol = Protocol {
    name: "opencode",
    markers: &["OPENCODE"],
    read: |input, _| claude::read("opencode", input),
    write: claude::write,
};
