//! Tests of completion in real shells.

use crate::git;
use std::process::Command;
use testkit::{Sandbox, left_out};

fn with_session() -> Sandbox {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    sandbox.run(["item", "add", "Rotate tokens", "--id", "impl-1"]).ok();
    sandbox
}

fn completed(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let told = sandbox.run(["__complete", "--"].iter().chain(words)).ok().stdout;
    told.lines().map(ToOwned::to_owned).collect()
}

#[test]
fn the_program_says_what_can_stand_next() {
    let sandbox = with_session();
    assert_eq!(completed(&sandbox, &["adv"]), ["advance"]);
    assert_eq!(completed(&sandbox, &["advance", ""]), ["plan", "implement", "review"]);
    assert_eq!(completed(&sandbox, &["advance", "--phase", "pl"]), ["plan"]);
    assert_eq!(completed(&sandbox, &["show", "l"]), ["login"]);
    assert_eq!(completed(&sandbox, &["--session", "lo"]), ["login"]);
    assert_eq!(completed(&sandbox, &["item", "done", ""]), ["impl-1"]);
    assert_eq!(completed(&sandbox, &["item", "cl"]), ["claim"]);
    assert_eq!(completed(&sandbox, &["note", "x", "--kind", "dec"]), ["decision"]);
    assert_eq!(completed(&sandbox, &["brief", "--format", "mark"]), ["markdown"]);
    assert!(completed(&sandbox, &["start", "plan"]).contains(&"plan-implement-review".to_owned()));
    assert!(completed(&sandbox, &["advance", "--ev"]).contains(&"--evidence".to_owned()));
    assert!(completed(&sandbox, &["nonsense", "x", ""]).is_empty());
}

/// Runs a script in a shell that has `leftoff` in its PATH, and has loaded the completion from a file.
/// Returns what the script printed.
fn in_shell(shell: &str, sandbox: &Sandbox, script: &str) -> Option<String> {
    let there = Command::new(shell).arg("--version").output();
    if there.is_err() {
        left_out(&format!("completion in {shell}: {shell} is not installed"));
        return None;
    }
    let completion = sandbox.run(["completions", shell]).ok().stdout;
    let file = sandbox.folder().join(format!("completion.{shell}"));
    std::fs::write(&file, completion).unwrap();
    let bin = sandbox.folder().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let link = bin.join("leftoff");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_leftoff"), &link).unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let envs = sandbox.command(["unused"]);
    let mut command = Command::new(shell);
    for (name, value) in envs.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.env("PATH", format!("{}:{path}", bin.display())).env("COMPLETION", &file);
    let ran = command.arg("-c").arg(script).current_dir(sandbox.project()).output().unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{shell}: {stderr}");
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn bash_completes_names() {
    let sandbox = with_session();
    let script = r#"
source "$COMPLETION"
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _leftoff; echo "${COMPREPLY[*]}"; }
complete -p leftoff
ask leftoff advance im
ask leftoff item done ""
ask leftoff show lo
"#;
    let Some(told) = in_shell("bash", &sandbox, script) else { return };
    assert_eq!(told, "complete -F _leftoff leftoff\nimplement\nimpl-1\nlogin\n");
}

#[test]
fn zsh_completes_names() {
    let sandbox = with_session();
    let script = r#"
autoload -Uz compinit && compinit -u -D
compadd() { print -r -- "${(P)@[-1]}" }
source "$COMPLETION"
words=(leftoff advance im) CURRENT=3
_leftoff
words=(leftoff item done "") CURRENT=4
_leftoff
print -r -- "${_comps[leftoff]}"
"#;
    let Some(told) = in_shell("zsh", &sandbox, script) else { return };
    assert_eq!(told, "implement\nimpl-1\n_leftoff\n");
}

#[test]
fn fish_completes_names() {
    let sandbox = with_session();
    let script = r#"
source "$COMPLETION"
complete -C "leftoff advance im"
complete -C "leftoff item done "
complete -C "leftoff show lo"
"#;
    let Some(told) = in_shell("fish", &sandbox, script) else { return };
    assert_eq!(told, "implement\nimpl-1\nlogin\n");
}
