//! Runs the command of a check in the project's folder, with a time limit, and only if the command is trusted. Keeps
//! the last lines of its output. Ends all processes of the command, even if leftoff itself is terminated or killed.

use super::interrupted::{Guard, Mark};
use super::signals::Watch;
use super::{Surroundings, Verdict, trust};
use crate::error::{Error, Result};
use crate::long_work::Progress;
use crate::redact;
use crate::words::{duration, one_line};
use model::hint::Hint;
use model::words;
use model::workflow::CheckDefinition;
use std::collections::VecDeque;
use std::io::{PipeReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const KEPT_BYTES: usize = 16 * 1024;
const KEPT_LINES: usize = 20;
/// How many bytes of output are kept if the command succeeds. A failure needs more, because it must be explained.
const KEPT_BYTES_OF_SUCCESS: usize = 2 * 1024;
/// How long to wait for more output after the command ended, because a child process may keep the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(300);
const LOOK_EVERY: Duration = Duration::from_millis(10);

pub(super) fn run(
    around: &Surroundings<'_>,
    check: &CheckDefinition,
    text: &str,
    timeout_seconds: u64,
) -> Result<Verdict> {
    let root = &around.root;
    let needed = format!("`{}` ends with 0", one_line(text, 200));
    let is_trusted_here = trust::is_trusted(root, text);
    let by_hash = !is_trusted_here && around.engine.is_trusted_by_hash(text);
    if !is_trusted_here && !by_hash {
        let workflow = around.session.run().map(|run| run.workflow.name.to_string()).unwrap_or_default();
        let naming = around.engine.naming(around.session)?;
        return Ok(Verdict::failed("the command is not trusted on this machine")
            .needing(needed)
            .with_first_help(
                Hint::new("A person must review the commands and trust them: ")
                    .run([words!["trust", workflow], naming].concat())
                    .to_string(),
            ));
    }
    let limit = Duration::from_secs(timeout_seconds);
    let _mark = Mark::set(around, check.id.as_str(), text);
    let ended = Running::start(around, check.id.as_str(), text)?.wait(limit, |elapsed| {
        let check = check.id.as_str();
        around.engine.options.watcher.see(Progress::Check { check, command: text, elapsed });
    })?;
    let succeeded = ended.status.is_some_and(|status| status.success());
    let lines = ended.last_lines(if succeeded { KEPT_BYTES_OF_SUCCESS } else { KEPT_BYTES });
    let verdict = match ended.status {
        Some(status) if status.success() => {
            let trusted = if by_hash { " (trusted by LEFTOFF_TRUST)" } else { "" };
            let after = duration(ended.elapsed.as_secs());
            Verdict::passed(format!("exited with 0 after {after}{trusted}{lines}"))
        }
        Some(status) => {
            let how = match (status.code(), status.signal()) {
                (Some(code), _) => format!("exited with {code}"),
                (None, Some(signal)) => format!("was killed by signal {signal}"),
                (None, None) => "exited without a code".to_owned(),
            };
            Verdict::failed(format!("{how} after {}{lines}", duration(ended.elapsed.as_secs())))
                .with_help(format!("Make this command succeed: {}", one_line(text, 200)))
        }
        None => Verdict::failed(format!(
            "exceeded its limit of {} and was stopped{lines}",
            duration(timeout_seconds)
        ))
        .with_help("Make the command faster, or raise the check's `timeout`."),
    };
    Ok(verdict.needing(needed))
}

struct Running {
    child: Child,
    started: Instant,
    output: Receiver<Vec<u8>>,
    watch: Watch,
    guard: Option<Guard>,
}

struct Ended {
    /// The command's exit status; `None` if the command was ended at the time limit.
    status: Option<ExitStatus>,
    elapsed: Duration,
    tail: VecDeque<u8>,
}

impl Running {
    fn start(around: &Surroundings<'_>, check: &str, text: &str) -> Result<Self> {
        let failed = |source| Error::io(format!("running `{}`", one_line(text, 200)), source);
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let watch = Watch::begin();
        let child = Command::new("/bin/sh")
            .args(["-c", text])
            .current_dir(&around.root)
            .env("LEFTOFF_SESSION", around.session.id.as_str())
            .env("LEFTOFF_PHASE", around.phase.id.as_str())
            .env("LEFTOFF_WORKSPACE", &around.workspace)
            .env("LEFTOFF_CHECK", check)
            .stdin(Stdio::null())
            .stdout(writer.try_clone().map_err(failed)?)
            .stderr(writer)
            // The command gets its own process group, so that all its processes can be ended.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let guard = Guard::over(child.id());
        Ok(Self { child, started: Instant::now(), output: read_in_background(reader), watch, guard })
    }

    fn wait(mut self, limit: Duration, mut tell: impl FnMut(Duration)) -> Result<Ended> {
        let mut tail = VecDeque::new();
        let status = loop {
            drain(&self.output, &mut tail, LOOK_EVERY);
            if let Some(status) =
                self.child.try_wait().map_err(|source| Error::io("waiting for a check's command", source))?
            {
                break Some(status);
            }
            if self.started.elapsed() >= limit || self.watch.is_told_to_end() {
                break None;
            }
            tell(self.started.elapsed());
        };
        let elapsed = self.started.elapsed();
        // No process of the command's group may outlive the check.
        end_group(&self.child);
        let _ = self.child.wait();
        drop(self.guard);
        // If this process received a signal to end, it ends here. The interrupted check is not recorded.
        drop(self.watch);
        drain_until_closed(&self.output, &mut tail, LAST_WORDS);
        Ok(Ended { status, elapsed, tail })
    }
}

impl Ended {
    fn last_lines(&self, most_bytes: usize) -> String {
        let bytes: Vec<u8> = self.tail.iter().copied().collect();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        // A private key is recognised by its first line, which may be cut off below, so secrets are removed first.
        if text.contains("PRIVATE KEY-----") {
            redact::in_text(&mut text);
        }
        let mut beginning = text.len().saturating_sub(most_bytes);
        while !text.is_char_boundary(beginning) {
            beginning += 1;
        }
        let text = &text[beginning..];
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(KEPT_LINES)..];
        if last.is_empty() { String::new() } else { format!(":\n{}", last.join("\n")) }
    }
}

/// Reads the command's output continuously, so that the command never waits for leftoff. Ends when the pipe is closed.
fn read_in_background(mut reader: PipeReader) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0u8; 64 * 1024];
        while let Ok(count) = reader.read(&mut buffer) {
            let keep = &buffer[count.saturating_sub(KEPT_BYTES)..count];
            if count == 0 || sender.send(keep.to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Reads the output that is available now, waiting briefly for its first bytes.
fn drain(output: &Receiver<Vec<u8>>, tail: &mut VecDeque<u8>, patience: Duration) {
    match output.recv_timeout(patience) {
        Ok(bytes) => append(tail, &bytes),
        Err(RecvTimeoutError::Timeout) => return,
        // The command has closed its output but is still running.
        Err(RecvTimeoutError::Disconnected) => std::thread::sleep(patience),
    }
    while let Ok(bytes) = output.try_recv() {
        append(tail, &bytes);
    }
}

fn drain_until_closed(output: &Receiver<Vec<u8>>, tail: &mut VecDeque<u8>, patience: Duration) {
    let end = Instant::now() + patience;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        match output.recv_timeout(left) {
            Ok(bytes) => append(tail, &bytes),
            Err(_) => return,
        }
    }
}

fn append(tail: &mut VecDeque<u8>, bytes: &[u8]) {
    tail.extend(bytes);
    let surplus = tail.len().saturating_sub(KEPT_BYTES);
    tail.drain(..surplus);
}

fn end_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // The error is ignored: usually the group has ended by now.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}
