//! Measures the screens: their cost while they are idle, the time until a change is visible, and the cost of
//! a page.

use crate::project::{Programs, Project};
use crate::sample::{interleaved, median, medians, milliseconds, ratio};
use crate::table::{Must, Table};
use crate::{Effort, Result, fill};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const IDLE: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(20);
const CHANGES: usize = 12;
const STATE: &str = ".ocr/sessions/2026-11-14-login/state.json";

pub fn screens(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    terminal(programs, table)?;
    browser(programs, table)?;
    first_bytes(programs, effort, table)
}

fn terminal(programs: &Programs, table: &mut Table) -> Result<()> {
    let project = programs.project()?;
    let mut screen = Screen::open(&project, &["progress", "--tab", "log"])?;
    screen.drawn()?;
    let commits = times(|number| {
        project.run(&["note", &format!("note {number}")])?;
        let begun = Instant::now();
        screen.drawn()?;
        Ok(begun.elapsed())
    })?;
    shown(table, "another process's commit to the frame, s", &commits);
    screen.settle();
    let before = screen.cpu()?;
    let begun = Instant::now();
    std::thread::sleep(IDLE);
    let used = screen.cpu()?.saturating_sub(before).as_secs_f64() / begun.elapsed().as_secs_f64() * 100.0;
    let of = format!("{} s of nothing, redraws on the minute", IDLE.as_secs());
    table.line("progress, CPU while nothing happens, %", used, Must::AtMost(0.5), &of);
    table.line("progress, memory, MB", resident(screen.pid)?, Must::Nothing, "");
    drop(screen);

    let project = programs.empty_project()?;
    edit(&project, 0)?;
    let mut screen = Screen::open(&project, &["progress"])?;
    screen.drawn()?;
    screen.settle();
    let edits = times(|number| {
        edit(&project, number)?;
        let begun = Instant::now();
        screen.drawn()?;
        Ok(begun.elapsed())
    })?;
    shown(table, "an edit of state.json to the frame, s", &edits);
    Ok(())
}

fn browser(programs: &Programs, table: &mut Table) -> Result<()> {
    let project = programs.project()?;
    let server = Server::start(&project)?;
    let id = server.first_session()?;
    let mut stream = server.events(&id)?;
    let commits = times(|number| {
        project.run(&["note", &format!("note {number}")])?;
        let begun = Instant::now();
        until(&mut stream, "event: changed")?;
        server.get(&format!("/session/{id}"))?;
        Ok(begun.elapsed())
    })?;
    shown(table, "a commit to the browser, with its new page, s", &commits);
    let tabs: Vec<_> = (0..7).map(|_| server.events(&id)).collect::<Result<_>>()?;
    for _ in 0..50 {
        server.get("/")?;
        server.get(&format!("/session/{id}"))?;
    }
    let megabytes = resident(server.child.id())?;
    let of = format!("after 100 pages, {} streams open", tabs.len() + 1);
    table.line("serve, memory, MB", megabytes, Must::AtMost(40.0), &of);
    for (what, path) in [("overview", "/".to_owned()), ("session", format!("/session/{id}"))] {
        let bytes = server.get(&path)?.len();
        let of = "without style and script, headers with it";
        table.line(
            &format!("bytes of a page over the wire, {what}, KB"),
            kilobytes(bytes),
            Must::Nothing,
            of,
        );
    }
    let own = server.get("/style.css")?.len() + server.get("/script.js")?.len();
    table.line("bytes of style and script, KB", kilobytes(own), Must::Nothing, "");
    Ok(())
}

/// Compares the time until the first byte of a page with a large store and with a small one.
fn first_bytes(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (few, many) = (programs.project()?, programs.project()?);
    for project in [&few, &many] {
        for _ in 1..10 {
            project.start()?;
        }
    }
    fill::fill(&many.database(), effort.sessions, effort.events)?;
    let (small, large) = (Server::start(&few)?, Server::start(&many)?);
    let [many, few] = interleaved(
        effort.rounds / 4,
        |_| Ok(()),
        &mut [&mut || large.first_byte(), &mut || small.first_byte()],
    )?;
    let what = format!("overview, first byte, {} sessions : 10", effort.sessions);
    table.line(&what, ratio(&many, &few), Must::AtMost(3.0), &medians(&many, &few));
    Ok(())
}

fn times(mut one: impl FnMut(usize) -> Result<Duration>) -> Result<Vec<Duration>> {
    (1..=CHANGES).map(&mut one).collect()
}

fn shown(table: &mut Table, what: &str, times: &[Duration]) {
    let worst = times.iter().max().copied().unwrap_or_default();
    let of = format!("the worst of {}, median {}", times.len(), milliseconds(median(times)));
    table.line(what, worst.as_secs_f64(), Must::AtMost(1.0), &of);
}

fn kilobytes(bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1024.0
}

/// Edits the state file. Each edit changes the phase.
fn edit(project: &Project, number: usize) -> Result<()> {
    let (phase, place) = [("context", 1), ("change-context", 2), ("analysis", 3), ("reviews", 4)][number % 4];
    let path = project.root().join(STATE);
    std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    let state = format!(
        r#"{{"session_id":"2026-11-14-login","status":"active","workflow_type":"review","current_phase":"{phase}","phase_number":{place},"current_round":1,"started_at":"2026-11-14T10:00:00Z"}}"#
    );
    Ok(std::fs::write(path, state)?)
}

fn resident(pid: u32) -> Result<f64> {
    let output = Command::new("ps").args(["-o", "rss=", "-p", &pid.to_string()]).output()?;
    let kilobytes: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(kilobytes / 1024.0)
}

/// The live screen on a terminal, which `script` creates.
struct Screen {
    child: Child,
    pid: u32,
    frames: Receiver<()>,
}

impl Screen {
    fn open(project: &Project, words: &[&str]) -> Result<Self> {
        let inner = project.leftoff(words);
        let mut line = format!("stty cols 120 rows 40; exec '{}'", inner.get_program().to_string_lossy());
        for word in inner.get_args() {
            line.push_str(&format!(" '{}'", word.to_string_lossy()));
        }
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(project.root()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8").env("PATH", "/usr/bin:/bin");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut output = child.stdout.take().ok_or("no pipe")?;
        let (tell, frames) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 8_192];
            while output.read(&mut bytes).is_ok_and(|read| read > 0) && tell.send(()).is_ok() {}
        });
        let pid = below(child.id())?;
        Ok(Self { child, pid, frames })
    }

    /// Waits for the next frame.
    fn drawn(&mut self) -> Result<()> {
        self.frames.recv_timeout(PATIENCE).map_err(|_| "nothing was drawn")?;
        // A frame may be read in several pieces.
        while self.frames.recv_timeout(Duration::from_millis(20)).is_ok() {}
        Ok(())
    }

    /// Waits until nothing is drawn for a while.
    fn settle(&mut self) {
        while self.frames.recv_timeout(Duration::from_secs(2)).is_ok() {}
    }

    fn cpu(&self) -> Result<Duration> {
        const TICKS_A_SECOND: u64 = 100;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid))?;
        let (_, fields) = stat.rsplit_once(')').ok_or("no stat")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        Ok(Duration::from_millis(ticks * 1_000 / TICKS_A_SECOND))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a process has started another one, and returns the id of the new process.
fn below(pid: u32) -> Result<u32> {
    let end = Instant::now() + PATIENCE;
    loop {
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
        if let Some(child) = children.split_whitespace().next() {
            return Ok(child.parse()?);
        }
        if Instant::now() > end {
            return Err("no process was started".into());
        }
    }
}

struct Server {
    child: Child,
    host: String,
    cookie: String,
}

impl Server {
    fn start(project: &Project) -> Result<Self> {
        let mut child = project.leftoff(&["serve"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("http://").ok_or("no address")?;
        let (host, path) = address.split_once('/').ok_or("no token")?;
        let mut server = Self { child, host: host.to_owned(), cookie: String::new() };
        let answer = server.get(&format!("/{path}"))?;
        let (_, cookie) = answer.split_once("set-cookie: ").ok_or("no cookie")?;
        cookie.split(';').next().unwrap_or_default().clone_into(&mut server.cookie);
        Ok(server)
    }

    fn ask(&self, path: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (host, cookie) = (&self.host, &self.cookie);
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"
        )?;
        Ok(stream)
    }

    fn get(&self, path: &str) -> Result<String> {
        let mut answer = String::new();
        self.ask(path)?.read_to_string(&mut answer)?;
        Ok(answer)
    }

    fn first_byte(&self) -> Result<Duration> {
        let begun = Instant::now();
        let mut stream = self.ask("/")?;
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        let time = begun.elapsed();
        let mut rest = String::new();
        stream.read_to_string(&mut rest)?;
        if rest.starts_with("TTP/1.1 200") { Ok(time) } else { Err(format!("answered {rest}").into()) }
    }

    fn first_session(&self) -> Result<String> {
        let page = self.get("/")?;
        let (_, rest) = page.split_once("/session/").ok_or("no session")?;
        Ok(rest.split('"').next().unwrap_or_default().to_owned())
    }

    fn events(&self, session: &str) -> Result<BufReader<TcpStream>> {
        let mut stream = BufReader::new(self.ask(&format!("/events?session={session}"))?);
        until(&mut stream, ": begun")?;
        Ok(stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn until(stream: &mut BufReader<TcpStream>, part: &str) -> Result<()> {
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(format!("{part} did not come").into());
        }
        if line.contains(part) {
            return Ok(());
        }
    }
}
