//! A program that keeps running while a test reads its output.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A running program. It ends when the test ends.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Running {
    /// Starts the program. Its stdout is read line by line.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
        let stdout = child.stdout.take().expect("a pipe");
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout).lines();
            while let Some(Ok(line)) = reader.next() {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines, seen: Vec::new() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line that contains `part`, and returns it. Panics with all output if no such line comes.
    #[track_caller]
    pub fn until(&mut self, part: &str) -> String {
        const PATIENCE: Duration = Duration::from_mins(1);
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no line with {part:?} came; these did:\n{}", self.seen.join("\n"));
            };
            self.seen.push(line.clone());
            if line.contains(part) {
                return line;
            }
        }
    }

    /// All lines that were read.
    pub fn seen(&self) -> &[String] {
        &self.seen
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
