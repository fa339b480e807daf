//! Machines that are really separate. Each has its own home, name, network, and link to the server, which a
//! test can cut. All of them have the project at the same path, like the machines of a team.

use crate::{PROGRAM, without_password};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::postgres::{PASSWORD, Server};
use testkit::proof::{self, Random};
use testkit::{Ran, Sandbox, left_out};

/// The network namespaces of the server and of each machine, with a link between each machine and the server.
/// They are removed at the end.
struct Network {
    names: Vec<String>,
}

const OF_SERVER: usize = 0;

impl Network {
    /// Creates a network for this many machines. `None` if namespaces cannot be created, which only root can
    /// do.
    fn of_machines(count: usize) -> Option<Self> {
        static NETWORKS: AtomicUsize = AtomicUsize::new(0);
        let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
        let name = |part: usize| format!("leftoff-{}-{number}-{part}", std::process::id());
        let mut network = Self { names: Vec::new() };
        for part in 0..=count {
            if !ip(&["netns", "add", &name(part)]) {
                left_out("machines in network namespaces: ip (of iproute2) and root are needed");
                return None;
            }
            network.names.push(name(part));
        }
        for machine in 1..=count {
            let (own, server) = (name(machine), name(OF_SERVER));
            let far = link(machine);
            let words = ["link", "add", "wire", "type", "veth", "peer", "name", &far, "netns", &server];
            network.must(&own, &words);
            network.must(&own, &["addr", "add", &format!("10.77.{machine}.2/24"), "dev", "wire"]);
            network.must(&own, &["link", "set", "wire", "up"]);
            network.must(&server, &["addr", "add", &format!("10.77.{machine}.1/24"), "dev", &far]);
            network.must(&server, &["link", "set", &far, "up"]);
        }
        Some(network)
    }

    fn must(&self, namespace: &str, words: &[&str]) {
        assert!(ip(&[&["-n", namespace], words].concat()), "ip -n {namespace} {words:?}");
    }

    /// Cuts the link of a machine. Packets are lost, and neither side notices.
    fn cut(&self, machine: usize) {
        self.must(&self.names[OF_SERVER], &["link", "set", &link(machine), "down"]);
    }

    fn heal(&self, machine: usize) {
        self.must(&self.names[OF_SERVER], &["link", "set", &link(machine), "up"]);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&["netns", "del", name]);
        }
    }
}

fn link(machine: usize) -> String {
    format!("to{machine}")
}

fn ip(words: &[&str]) -> bool {
    let ran = Command::new("ip").args(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
    ran.is_ok_and(|status| status.success())
}

struct Machine {
    sandbox: Sandbox,
    namespace: String,
    name: String,
    place: String,
}

/// A shell script that turns a process into a machine: it sets the name and the id of the kernel's start, and
/// mounts the project at the common path.
const BECOME: &str = r#"echo "$0" >/proc/sys/kernel/hostname; mount --bind "$1" /proc/sys/kernel/random/boot_id
    mount --bind "$2" "$3"; cd "$3"; shift 3; exec "$@""#;

impl Machine {
    fn command(&self, arguments: &[&str]) -> Command {
        let inner = self.sandbox.command(arguments);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace, "unshare", "--uts", "--mount", "sh", "-euc", BECOME]);
        let boot_id = self.sandbox.folder().join("boot_id");
        std::fs::write(&boot_id, &self.name).expect("a file");
        command.arg(&self.name).arg(boot_id).arg(self.sandbox.project()).arg(&self.place);
        command.arg(inner.get_program());
        command.args(inner.get_args()).env_clear().stdin(Stdio::null());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().expect("ip starts"))
    }

    fn run_as(&self, agent: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        Ran::from(command.env("LEFTOFF_AGENT_SESSION", agent).output().expect("ip starts"))
    }
}

struct Team {
    machines: Vec<Machine>,
    // Fields are dropped in this order, so the network is removed last.
    _server: Server,
    network: Network,
    _place: TempDir,
}

impl Team {
    fn of_two(what_for: &str) -> Option<Self> {
        let network = Network::of_machines(2)?;
        let Some(server) = Server::start_in(&network.names[OF_SERVER]) else {
            left_out(&format!("{what_for}: PostgreSQL could not be found or installed"));
            return None;
        };
        let place = tempfile::tempdir().expect("a folder");
        let machine = |number: usize| {
            let port = server.port();
            let url =
                format!("postgres://postgres:{PASSWORD}@10.77.{number}.1:{port}/postgres?sslmode=disable");
            Machine {
                sandbox: Sandbox::git(PROGRAM).without_gates().on(&url),
                namespace: network.names[number].clone(),
                name: format!("machine-{number}"),
                place: place.path().display().to_string(),
            }
        };
        let machines = vec![machine(1), machine(2)];
        Some(Self { machines, _server: server, network, _place: place })
    }

    /// Starts a session with items on the first machine, and clones the project on the second one.
    fn begin(&self, items: usize) {
        let [here, there] = self.machines.as_slice() else { return };
        for machine in [here, there] {
            machine.sandbox.write(".leftoff/workflows/tasks.toml", TASKS);
        }
        here.run(&["start", "tasks", "--id", "first"]).ok();
        for number in 0..items {
            here.run(&["item", "add", "--id", &format!("i{number}"), "a task"]).ok();
        }
        there.sandbox.write(".leftoff/config.toml", &here.sandbox.read(".leftoff/config.toml"));
    }
}

const TASKS: &str = "name = \"tasks\"\nversion = \"1\"\ntitle = \"Tasks\"\n\n[[phase]]\nid = \"build\"\ntitle = \"Build\"\nitems = \"impl\"\n";

fn item_of(answer: &Value) -> String {
    answer["item"]["id"].as_str().expect("an item").to_owned()
}

#[test]
fn two_machines_have_their_own_active_sessions_and_share_leases_and_presence() {
    let Some(team) = Team::of_two("two machines") else { return };
    team.begin(3);
    let [here, there] = team.machines.as_slice() else { return };
    here.sandbox.at("2026-11-14T10:00:00Z");
    there.sandbox.at("2026-11-14T10:00:00Z");
    there.run(&["start", "tasks", "--id", "second"]).ok();
    let active = |machine: &Machine| machine.run(&["status", "--json"]).ok().json()["session_id"].clone();
    assert_eq!((active(here), active(there)), ("first".into(), "second".into()), "in the same folder");

    // The hook of a conversation records which agent works on which machine.
    let event = r#"{"session_id":"a1","hook_event_name":"SessionStart","source":"startup"}"#;
    testkit::with_input(here.command(&["hook", "claude"]), event).ok();
    let agents = there.run(&["list", "--agents", "--json"]).ok().stdout;
    assert!(agents.contains("\"machine-1\""), "{agents}");
    let listed = there.run(&["list", "--all"]).ok().stdout;
    assert!(listed.contains("machine-1"), "{listed}");

    let claimed = here.run_as("claude:a1", &["item", "claim", "i0", "--json"]).ok().json();
    assert_eq!(item_of(&claimed), "i0");
    let claim = |id: &str| {
        let words = ["item", "claim", id, "--session", "first", "--json"];
        there.run_as("codex:b1", &words)
    };
    without_password(&claim("i0").code(4));
    let seen = there.run(&["item", "list", "--session", "first", "--json"]).ok().json();
    assert_eq!(seen["items"][0]["lease"]["actor"]["host"], "machine-1", "{seen}");
    assert!(seen["items"][0]["unconfirmed"].is_null(), "the server is sure: {seen}");
    let next = there.run_as("codex:b1", &["item", "claim", "--session", "first", "--json"]).ok().json();
    assert_eq!(item_of(&next), "i1", "the first free one");
    // A lease does not end because its machine is silent. That machine may be cut off, and may still be
    // working.
    there.sandbox.at("2026-11-14T10:20:00Z");
    claim("i0").code(4);
    there.sandbox.at("2026-11-14T10:31:00Z");
    assert_eq!(item_of(&claim("i0").ok().json()), "i0", "it has expired");
    let note = there.run(&["note", "from the other machine", "--session", "first"]).ok();
    without_password(&note);
    // `advance` is refused, because its gate needs files that are on the other machine.
    there.run(&["advance", "--session", "first"]).code(4);
    assert_eq!((active(here), active(there)), ("first".into(), "second".into()), "nobody took it over");
    here.run(&["doctor"]).ok();
}

/// The outcome of a claim.
enum Claim {
    Got(String),
    Refused,
    /// The machine was cut off, or no answer came. Repeating the claim with its key shows the outcome later.
    Unknown,
}

/// Claims an item. The client is killed if it waits longer than this, because a machine that is cut off may
/// also crash.
fn claim_within(longest: Duration, command: &mut Command) -> Claim {
    let mut child = command.spawn().expect("ip starts");
    let end = Instant::now() + longest;
    while Instant::now() < end && child.try_wait().expect("its state").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let ran = Ran::from(child.wait_with_output().expect("its answer"));
    match ran.code {
        7 | 137 => Claim::Unknown,
        0 => Claim::Got(item_of(&ran.json())),
        // Exit code 3 means that no item is left.
        1 | 3 | 4 => Claim::Refused,
        _ => panic!("{ran:?}"),
    }
}

#[test]
fn machines_that_are_cut_off_claim_no_item_twice() {
    const ITEMS: usize = 40;
    const PATIENCE: Duration = Duration::from_millis(900);
    const LONG: Duration = Duration::from_mins(1);
    let Some(team) = Team::of_two("machines that are cut off") else { return };
    team.begin(ITEMS);
    let (seed, cuts) = (proof::seed(), proof::count("CUTS", 4));
    let is_over = AtomicBool::new(false);
    let claims: Vec<(String, Claim)> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let machine = &team.machines[writer % 2];
                let program = machine.command(&["item", "claim", "--session", "first", "--json"]);
                let is_over = &is_over;
                scope.spawn(move || {
                    let mut claims = Vec::new();
                    while !is_over.load(Ordering::Relaxed) && claims.len() < 2 * ITEMS {
                        let agent = format!("claude:w{writer}-{}", claims.len());
                        let outcome = claim_within(PATIENCE, &mut keyed(&program, &agent));
                        claims.push((agent, outcome));
                        std::thread::sleep(Duration::from_millis(150));
                    }
                    claims
                })
            })
            .collect();
        let end = crate::AtEnd(&is_over);
        let mut random = Random::new(seed);
        for _ in 0..cuts {
            std::thread::sleep(Duration::from_millis(200 + random.below(300)));
            team.network.cut(1);
            std::thread::sleep(Duration::from_millis(300 + random.below(1_500)));
            team.network.heal(1);
        }
        drop(end);
        writers.into_iter().flat_map(|writer| writer.join().expect("a writer")).collect()
    });
    let program = team.machines[0].command(&["item", "claim", "--session", "first", "--json"]);
    let mut holders: Vec<(String, String)> = Vec::new();
    let (mut unknown, mut refused) = (0, 0);
    for (agent, outcome) in claims {
        match outcome {
            Claim::Got(item) => holders.push((item, agent)),
            Claim::Refused => refused += 1,
            Claim::Unknown => {
                unknown += 1;
                if let Claim::Got(item) = claim_within(LONG, &mut keyed(&program, &agent)) {
                    holders.push((item, agent));
                }
            }
        }
    }
    let listed = team.machines[1].run(&["item", "list", "--session", "first", "--all", "--json"]).ok().json();
    let held = listed["items"].as_array().expect("items").iter().filter(|item| item["held"] == true);
    let mut kept: Vec<(String, String)> = held
        .map(|item| {
            let actor = &item["lease"]["actor"];
            let agent = format!("{}:{}", actor["agent"].as_str().unwrap(), actor["id"].as_str().unwrap());
            (item["id"].as_str().unwrap().to_owned(), agent)
        })
        .collect();
    holders.sort();
    kept.sort();
    assert_eq!(holders, kept, "each item has the one holder that was told so");
    assert!(!kept.is_empty());
    let result =
        format!("{} items claimed, none twice; {unknown} unknown, settled; {refused} refused", kept.len());
    proof::proven("machines cut off in network namespaces", &format!("{cuts} cuts"), seed, &result);
}

/// A command with which an agent claims an item once. It has its own key.
fn keyed(program: &Command, agent: &str) -> Command {
    let words = program.get_args().map(ToOwned::to_owned).chain(["--key".into(), agent.into()]);
    let mut command = testkit::like(program, words);
    command.env("LEFTOFF_AGENT_SESSION", agent).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
