//! Finds out which processes are alive, by pid, start time and boot id together, because pids are used again. Reads
//! `/proc`; on macOS runs `ps`.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Identifies one process among all that ever had its pid.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessMark {
    pub pid: u32,
    pub start: u64,
    pub boot_id: String,
}

pub trait Processes {
    fn is_alive(&self, mark: &ProcessMark) -> bool;
    /// Returns the ancestors of this process, nearest first.
    fn ancestors(&self) -> Vec<Ancestor>;
    fn boot_id(&self) -> String;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    pub pid: u32,
    pub start: u64,
    pub name: String,
}

/// The processes of the system. Ancestors and boot id never change, so they are looked up once: finding all ancestors
/// takes some forty system calls, and a command asks twice.
#[derive(Default)]
pub struct SystemProcesses {
    boot_id: OnceCell<String>,
}

impl Processes for SystemProcesses {
    fn is_alive(&self, mark: &ProcessMark) -> bool {
        mark.boot_id == self.boot_id()
            && system::look(mark.pid).is_some_and(|seen| seen.start == mark.start && !seen.is_zombie)
    }

    fn ancestors(&self) -> Vec<Ancestor> {
        ancestors_of_this_process().to_vec()
    }

    fn boot_id(&self) -> String {
        self.boot_id.get_or_init(|| given_boot_id().unwrap_or_else(system::boot_id)).clone()
    }
}

/// Returns the boot id from a variable, with which a test simulates a reboot. `None` in release builds.
fn given_boot_id() -> Option<String> {
    if cfg!(debug_assertions) { std::env::var("LEFTOFF_TEST_BOOT").ok() } else { None }
}

/// All ancestors of this process, looked up once.
fn ancestors_of_this_process() -> &'static [Ancestor] {
    static ANCESTORS: OnceLock<Vec<Ancestor>> = OnceLock::new();
    ANCESTORS.get_or_init(walk_up)
}

/// Returns all ancestors, however many. With a limit, enough nested shells would hide the first one.
fn walk_up() -> Vec<Ancestor> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut pid = std::os::unix::process::parent_id();
    while pid > 1 && seen.insert(pid) {
        let Some(process) = system::look(pid) else { break };
        found.push(Ancestor { pid, start: process.start, name: process.name });
        pid = process.parent;
    }
    found
}

/// The ancestors of this process: their programs and, where the system shows it, the names of the variables with which
/// they were started. So removing a variable for one command does not hide who started the command.
#[derive(Debug, Default)]
pub struct Above {
    pub programs: BTreeSet<String>,
    pub variables: BTreeSet<String>,
}

impl Above {
    pub fn look() -> Self {
        let is_alone = cfg!(debug_assertions) && std::env::var_os("LEFTOFF_TEST_ALONE").is_some();
        let above = if is_alone { &[] } else { ancestors_of_this_process() };
        Self {
            variables: above.iter().flat_map(|process| system::variables(process.pid)).collect(),
            programs: above.iter().map(|process| process.name.clone()).collect(),
        }
    }
}

/// Returns the process of the agent that runs this command: the nearest ancestor that is not a shell.
pub fn agent_process(ancestors: &[Ancestor]) -> Option<&Ancestor> {
    const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "env", "timeout"];
    ancestors.iter().find(|process| !SHELLS.contains(&process.name.as_str())).or(ancestors.first())
}

struct ProcessInfo {
    parent: u32,
    start: u64,
    name: String,
    is_zombie: bool,
}

#[cfg(target_os = "linux")]
mod system {
    use super::ProcessInfo;

    /// Reads `/proc/PID/stat`. Everybody may read it, so that processes of other users are found too.
    pub(super) fn look(pid: u32) -> Option<ProcessInfo> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        parse(&stat)
    }

    /// Returns the names of a process's environment variables that have a value. Empty for another user's process.
    pub(super) fn variables(pid: u32) -> Vec<String> {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let entries =
            environment.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
        let set = entries.filter_map(|entry| entry.split_once('=')).filter(|(_, value)| !value.is_empty());
        set.map(|(name, _)| name.to_owned()).collect()
    }

    pub(super) fn boot_id() -> String {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .map(|text| text.trim().to_owned())
            .unwrap_or_default()
    }

    /// Parses `pid (name) state ppid … starttime …`. The name may contain spaces and parentheses.
    fn parse(stat: &str) -> Option<ProcessInfo> {
        let name_start = stat.find('(')?;
        let name_end = stat.rfind(')')?;
        let mut fields = stat.get(name_end + 1..)?.split_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let start = fields.nth(17)?.parse().ok()?;
        let name = stat.get(name_start + 1..name_end)?.to_owned();
        Some(ProcessInfo { parent, start, name, is_zombie: matches!(state, "Z" | "X") })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_name_with_parentheses_and_spaces_is_read() {
            let tail = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 777 19";
            let seen = parse(&format!("42 (a) b (c) S 7 {tail}")).expect("parses");
            assert_eq!((seen.parent, seen.name.as_str(), seen.is_zombie), (7, "a) b (c", false));
            assert_eq!(seen.start, 777);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::ProcessInfo;
    use std::process::Command;

    pub(super) fn look(pid: u32) -> Option<ProcessInfo> {
        let output = Command::new("ps")
            .args(["-o", "ppid=,stat=,lstart=,comm=", "-p", &pid.to_string()])
            .env("LC_ALL", "C")
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let words: Vec<&str> = text.split_whitespace().collect();
        let (parent, state, started, command) =
            (words.first()?, words.get(1)?, words.get(2..7)?.join(" "), words.get(7)?);
        Some(ProcessInfo {
            parent: parent.parse().ok()?,
            start: started.bytes().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())),
            name: command.rsplit('/').next()?.to_owned(),
            is_zombie: state.starts_with('Z'),
        })
    }

    /// Returns nothing: other systems do not show a process's variables to other processes.
    pub(super) fn variables(_: u32) -> Vec<String> {
        Vec::new()
    }

    pub(super) fn boot_id() -> String {
        Command::new("sysctl")
            .args(["-n", "kern.bootsessionuuid"])
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
            .unwrap_or_default()
    }
}
