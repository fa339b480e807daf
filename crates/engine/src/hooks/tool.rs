//! An agent's use of a tool, and the files and commands to record for it. Decides nothing.

use serde_json::Value;

/// One use of a tool. If Claude Code has such a tool, the name is that of Claude Code.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCall {
    pub name: String,
    /// The agent's own id for this use, by which a repeated report is recognised.
    pub id: Option<String>,
    /// The files that the tool writes.
    pub files: Vec<String>,
    pub command: Option<String>,
    /// The name of the skill that the tool runs.
    pub skill: Option<String>,
    /// The tool's input, as the agent reported it.
    pub input: Value,
}

impl ToolCall {
    /// Extracts the relevant data from a tool's input. Input in an unexpected form is ignored.
    pub fn new(name: &str, id: Option<&str>, input: Value) -> Self {
        let text = |key: &str| input.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let mut call = Self { name: name.to_owned(), id: id.map(ToOwned::to_owned), ..Self::default() };
        match name {
            "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => {
                let path = text("file_path").or_else(|| text("notebook_path")).or_else(|| text("path"));
                call.files.extend(path.map(ToOwned::to_owned));
            }
            "apply_patch" => {
                let patch = text("command").or_else(|| text("input")).or_else(|| text("patch"));
                call.files = patch.map(patched_files).unwrap_or_default();
            }
            "Bash" | "shell" | "exec_command" | "local_shell" | "unified_exec" => {
                call.command = text("command").or_else(|| text("cmd")).map(ToOwned::to_owned);
                call.command = call.command.or_else(|| words(input.get("command")));
            }
            "Skill" => {
                call.skill =
                    text("skill").or_else(|| text("name")).or_else(|| text("command")).map(ToOwned::to_owned);
            }
            _ => {}
        }
        call.input = input;
        call
    }

    /// True if there is nothing to record after the tool was used.
    pub(super) fn leaves_nothing(&self) -> bool {
        self.files.is_empty() && self.command.is_none() && self.skill.is_none()
    }

    /// True if the command is leftoff itself. Its changes are in the log.
    pub(super) fn is_ours(&self) -> bool {
        let first = self.command.as_deref().and_then(|line| line.split_whitespace().next());
        first.is_some_and(|word| word == "leftoff" || word.ends_with("/leftoff"))
    }
}

/// Returns the command of an input such as `["bash", "-lc", "make test"]`: what the shell runs or, without a shell, all
/// words.
fn words(value: Option<&Value>) -> Option<String> {
    let words: Vec<&str> = value?.as_array()?.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [] => None,
        [shell, "-c" | "-lc", script, ..] if shell.ends_with("sh") => Some((*script).to_owned()),
        all => Some(all.join(" ")),
    }
}

/// Returns the files that a patch names in lines such as `*** Update File: src/a.rs`.
fn patched_files(patch: &str) -> Vec<String> {
    const MARKS: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    const MOST: usize = 50;
    let named = |line: &str| MARKS.iter().find_map(|mark| line.strip_prefix(mark)).map(ToOwned::to_owned);
    patch.lines().filter_map(named).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_are_known_by_what_they_leave() {
        let call = |name: &str, input: Value| ToolCall::new(name, None, input);
        assert_eq!(call("Edit", json!({ "file_path": "/p/a.rs" })).files, ["/p/a.rs"]);
        assert_eq!(call("NotebookEdit", json!({ "notebook_path": "n.ipynb" })).files, ["n.ipynb"]);
        assert_eq!(call("Bash", json!({ "command": "make" })).command.as_deref(), Some("make"));
        let list = json!({ "command": ["bash", "-lc", "make test"] });
        assert_eq!(call("shell", list).command.as_deref(), Some("make test"));
        let list = json!({ "command": ["git", "status"] });
        assert_eq!(call("shell", list).command.as_deref(), Some("git status"));
        assert_eq!(call("Skill", json!({ "skill": "arch-review" })).skill.as_deref(), Some("arch-review"));
        let patch =
            "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** Add File: b/c.rs\n+z\n*** End Patch";
        assert_eq!(call("apply_patch", json!({ "command": patch })).files, ["a.rs", "b/c.rs"]);
    }

    #[test]
    fn other_shapes_leave_nothing() {
        for input in
            [json!(null), json!([1]), json!({ "file_path": 3 }), json!({ "command": "" }), json!("x")]
        {
            for name in ["Edit", "Bash", "Skill", "apply_patch", "Read"] {
                assert!(ToolCall::new(name, None, input.clone()).leaves_nothing(), "{name} {input}");
            }
        }
        assert!(ToolCall::new("Bash", None, json!({ "command": "leftoff next" })).is_ours());
        assert!(!ToolCall::new("Bash", None, json!({ "command": "ls leftoff" })).is_ours());
    }
}
