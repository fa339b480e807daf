//! Tests of the live screen in tmux: keys, changes by other processes, and the terminal after the screen was
//! closed.

use super::busy;
use crate::{fresh, git};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use testkit::{Sandbox, left_out};

/// A terminal in its own tmux server, which ends together with the terminal.
struct Pane {
    socket: String,
}

impl Pane {
    /// Runs a shell line as a person would type it. If this machine has no tmux, records that and returns
    /// `None`.
    fn open(sandbox: &Sandbox, line: &str, extra: &[(&str, &str)]) -> Option<Self> {
        let socket = sandbox.folder().join("tmux").to_string_lossy().into_owned();
        let program = sandbox.command([""; 0]);
        let mut words = format!("cd '{}' && exec env -i TERM=screen-256color", sandbox.project().display());
        for (name, value) in program.get_envs() {
            let value = value.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
            words.push_str(&format!(" '{}={value}'", name.to_string_lossy()));
        }
        for (name, value) in extra {
            words.push_str(&format!(" '{name}={value}'"));
        }
        let line = line.replace("leftoff", &program.get_program().to_string_lossy());
        words.push_str(&format!(" sh -c '{line}; echo ENDED $?; stty -a; exec sleep 1000'"));
        let pane = Self { socket };
        let opened = pane.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            "24",
            &words,
            ";",
            "set",
            "-g",
            "set-clipboard",
            "on",
        ]);
        let Some(output) = opened else {
            left_out("the live screen in a terminal: tmux could not be found or installed");
            return None;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(pane)
    }

    fn tmux(&self, words: &[&str]) -> Option<Output> {
        let mut command = Command::new("tmux");
        command
            .env_remove("TMUX")
            .env("LC_ALL", "C.UTF-8")
            .args(["-u", "-S", &self.socket])
            .args(words)
            .output()
            .ok()
    }

    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat()).expect("tmux");
    }

    fn shown(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]).expect("tmux");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until the screen contains this text. Returns the screen.
    #[track_caller]
    fn until(&self, part: &str) -> String {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            let shown = self.shown();
            if shown.contains(part) {
                return shown;
            }
            assert!(Instant::now() < end, "{part:?} is not on the screen:\n{shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn other_processes_are_seen_and_keys_do_what_their_commands_do() {
    let sandbox = git();
    let Some(pane) = Pane::open(&sandbox, "leftoff progress", &[]) else { return };
    pane.until("Waiting for session");
    sandbox.run(["start", "--id", "login", "--title", "Stay logged in"]).ok();
    pane.until("Stay logged in");
    sandbox.run(["start", "--id", "logout", "--title", "Log out everywhere"]).ok();
    pane.until("logout");
    pane.press(&["4"]);
    sandbox.run(["note", "seen by others"]).ok();
    pane.until("note 1: seen by others");
    pane.press(&["1"]);
    pane.press(&["n"]);
    pane.until("note: _");
    pane.press(&["-l", "typed here"]);
    pane.press(&["Enter"]);
    pane.until("noted (leftoff note");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["notes"][1]["text"], "typed here");
    pane.press(&["p"]);
    pane.until("paused (leftoff pause)");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["status"], "paused");
    pane.press(&["y"]);
    pane.until("copied: leftoff resume logout");
    let copied = pane.tmux(&["show-buffer"]).expect("tmux");
    assert_eq!(String::from_utf8_lossy(&copied.stdout), "leftoff resume logout");
    pane.press(&["p"]);
    pane.until("resumed (leftoff resume logout)");
    pane.press(&["q"]);
    let after = pane.until("ENDED 0");
    assert!(!after.contains("-echo ") && !after.contains("-icanon"), "{after}");
}

#[test]
fn a_person_approves_after_a_question() {
    let sandbox = fresh();
    sandbox.write(
        ".leftoff/workflows/asked.toml",
        "name = \"asked\"\nversion = \"1\"\ntitle = \"Asked\"\n\n[[phase]]\nid = \"plan\"\ntitle = \"Plan\"\n\n  [[phase.check]]\n  id = \"agreed\"\n  kind = \"approval\"\n",
    );
    sandbox.run(["start", "asked", "--id", "login"]).ok();
    sandbox.run(["advance", "--phase", "plan"]).code(5);
    let Some(pane) = Pane::open(&sandbox, "leftoff progress", &[]) else { return };
    pane.until("WAITING FOR A PERSON");
    pane.press(&["a"]);
    pane.until("Approve agreed? y or n (leftoff approve agreed)");
    pane.press(&["n"]);
    pane.until("not approved");
    pane.press(&["a"]);
    pane.until("Approve agreed?");
    pane.press(&["y"]);
    pane.until("agreed approved (leftoff approve agreed)");
    let events = sandbox.run(["log", "--json"]).ok().json();
    let last = events["events"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&last["type"], &last["actor"]["kind"]),
        (&"check_approved".into(), &"person".into()),
        "{last}"
    );
}

#[test]
fn an_agent_at_the_same_screen_cannot_approve() {
    let sandbox = fresh();
    sandbox.write(
        ".leftoff/workflows/asked.toml",
        "name = \"asked\"\nversion = \"1\"\ntitle = \"Asked\"\n\n[[phase]]\nid = \"plan\"\ntitle = \"Plan\"\n\n  [[phase.check]]\n  id = \"agreed\"\n  kind = \"approval\"\n",
    );
    sandbox.run(["start", "asked", "--id", "login"]).ok();
    let agent = [("LEFTOFF_AGENT_SESSION", "claude:a4326893")];
    let Some(pane) = Pane::open(&sandbox, "leftoff progress --session login", &agent) else { return };
    pane.until("Gate of Plan");
    pane.press(&["a"]);
    pane.until("Approve agreed?");
    pane.press(&["y"]);
    pane.until("person");
    let events = sandbox.run(["log", "--json"]).ok().stdout;
    assert!(!events.contains("check_approved"), "{events}");
}

#[test]
fn an_edit_of_a_layouts_file_is_on_the_screen() {
    let sandbox = fresh();
    let id = "2026-11-14-login";
    let state = |phase: &str, number: u32| {
        format!(
            r#"{{"session_id":"{id}","status":"active","workflow_type":"review","current_phase":"{phase}","phase_number":{number},"current_round":1,"started_at":"2026-11-14T10:00:00Z"}}"#
        )
    };
    let Some(pane) = Pane::open(&sandbox, "leftoff progress", &[]) else { return };
    pane.until("Waiting for session");
    let path = format!(".ocr/sessions/{id}/state.json");
    sandbox.write(&path, &state("context", 1));
    pane.until("▸ Context Discovery");
    sandbox.write(&path, &state("analysis", 3));
    pane.until("▸ Tech Lead Analysis");
    sandbox.write(&format!(".ocr/sessions/{id}/discovered-standards.md"), "S\n");
    pane.until("✓ Context Discovery");
}

#[test]
fn a_panic_and_a_signal_give_the_terminal_back() {
    let sandbox = busy();
    let panics = [("LEFTOFF_TEST_SCREEN_PANICS", "1")];
    let Some(pane) = Pane::open(&sandbox, "leftoff progress", &panics) else { return };
    pane.until("Stay logged in");
    pane.press(&["R"]);
    let after = pane.until("ENDED 101");
    assert!(!after.contains("-echo ") && !after.contains("-icanon"), "{after}");
    let alternate = pane.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]).expect("tmux");
    assert_eq!(String::from_utf8_lossy(&alternate.stdout).trim(), "0 1", "the usual screen, with its cursor");
}

#[test]
fn a_screen_whose_terminal_is_closed_ends() {
    let sandbox = busy();
    // The shell and its children ignore the signal that a closed terminal sends.
    let line = "trap \"\" HUP; leftoff progress; echo over > over";
    let Some(pane) = Pane::open(&sandbox, line, &[]) else { return };
    pane.until("Stay logged in");
    drop(pane);
    let end = Instant::now() + Duration::from_mins(1);
    while !sandbox.path("over").exists() {
        assert!(Instant::now() < end, "the screen goes on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn no_color_means_no_colour() {
    let sandbox = busy();
    let Some(pane) = Pane::open(&sandbox, "leftoff progress", &[("NO_COLOR", "1")]) else { return };
    pane.until("GATE FAILED");
    let output = pane.tmux(&["capture-pane", "-p", "-e"]).expect("tmux");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    // Codes 30 to 38 are colours; 39 is the terminal's default colour.
    let coloured = (30..=38).map(|code| format!("\u{1b}[{code}"));
    assert!(!coloured.into_iter().any(|code| shown.contains(&code)), "{shown:?}");
}
