//! The hook protocol of OpenCode. The plugin that `init` writes uses Claude Code's form. Tried with version
//! 1.18.33.

use crate::hooks::{Protocol, claude};

pub const PROTOCOL: Protocol = Protocol {
    name: "opencode",
    markers: &["OPENCODE"],
    programs: &["opencode"],
    read: |input, _| claude::read("opencode", input),
    write: claude::write,
};
