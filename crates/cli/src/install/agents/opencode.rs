//! OpenCode's plugin. The file contains nothing but leftoff's code.

use super::Agent;
use crate::install::edit::Edit;
use std::path::PathBuf;

pub(super) const AGENT: Agent = Agent {
    name: "opencode",
    title: "OpenCode",
    experimental: false,
    in_project: &[".opencode", "opencode.json", "opencode.jsonc"],
    in_home: &[],
    project: |root| vec![plugin(root.join(".opencode/plugins/leftoff.ts"))],
    user: |home| vec![plugin(home.join(".config/opencode/plugins/leftoff.ts"))],
    then: &[],
};

fn plugin(path: PathBuf) -> Edit {
    Edit::Own { path, text: include_str!("opencode.ts") }
}
