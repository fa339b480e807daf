//! Compares commands of leftoff with those of other programs that store tasks and sessions: listing ten
//! thousand, and adding one.

use super::must;
use crate::project::{Programs, Project};
use crate::sample::{median, milliseconds, timed};
use crate::table::{Must, Table};
use crate::{Effort, Result, fill};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const MANY: u64 = 10_000;
/// The number of rounds. It is small, because a command of another program may take seconds.
const ROUNDS: usize = 5;

/// A program in the npm registry.
struct Tool {
    package: &'static str,
    program: &'static str,
    /// Creates a folder with ten thousand tasks.
    prepare: fn(&Path, &Path) -> Result<()>,
    list: &'static [&'static str],
    /// The arguments with which the program adds a task. `None` if the program cannot add one without asking
    /// a model.
    add: Option<&'static [&'static str]>,
}

const TOOLS: [Tool; 2] = [
    Tool {
        package: "backlog.md",
        program: "backlog",
        prepare: backlog,
        list: &["task", "list", "--plain"],
        add: Some(&["task", "create", "Rotate tokens"]),
    },
    Tool {
        package: "task-master-ai",
        program: "task-master",
        prepare: task_master,
        list: &["list"],
        add: None,
    },
];

pub fn commands(programs: &Programs, _: Effort, table: &mut Table) -> Result<()> {
    let ours = programs.project()?;
    fill::fill(&ours.database(), MANY, 10 * MANY)?;
    for tool in &TOOLS {
        let program = match tool.installed(programs.built()) {
            Ok(program) => program,
            Err(why) => {
                println!("LEFT OUT: {}: it cannot be installed ({why})", tool.package);
                continue;
            }
        };
        let folder = programs.empty_project()?;
        (tool.prepare)(&program, folder.root())?;
        let theirs = |words: &[&str]| timed(at(&folder, &program).args(words));
        let name = tool.program;
        compare(
            table,
            &format!("{name}'s list of 10,000 : ours"),
            Must::AtLeast(10.0),
            || theirs(tool.list),
            || timed(&mut ours.leftoff(&["list", "--all"])),
        )?;
        if let Some(add) = tool.add {
            compare(
                table,
                &format!("{name}'s new task : our item add"),
                Must::Nothing,
                || theirs(add),
                || timed(&mut ours.leftoff(&["item", "add", "Rotate tokens"])),
            )?;
        }
    }
    Ok(())
}

fn compare(
    table: &mut Table,
    what: &str,
    must: Must,
    theirs: impl Fn() -> Result<Duration>,
    ours: impl Fn() -> Result<Duration>,
) -> Result<()> {
    let (mut their_times, mut our_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        their_times.push(theirs()?);
        our_times.push(ours()?);
    }
    let (their_time, our_time) = (median(&their_times), median(&our_times));
    let of = format!("{} : {}", milliseconds(their_time), milliseconds(our_time));
    table.line(what, their_time.as_secs_f64() / our_time.as_secs_f64(), must, &of);
    Ok(())
}

impl Tool {
    /// Installs the program in a folder for these comparisons. It is installed only once.
    fn installed(&self, built: &Path) -> Result<PathBuf> {
        let folder = built.join("npm-peers").join(self.package);
        let program = folder.join("node_modules/.bin").join(self.program);
        if !program.exists() {
            let mut npm = Command::new("npm");
            npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]).arg(&folder);
            must(npm.arg(self.package))?;
        }
        Ok(program)
    }
}

/// A command of the other program in its project, isolated from the user of this machine.
fn at(project: &Project, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(project.root()).env("HOME", project.folder().join("home"));
    command
}

/// Creates a repository with one commit and a Markdown file for each task.
fn backlog(program: &Path, folder: &Path) -> Result<()> {
    std::fs::remove_dir_all(folder.join(".git"))?;
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=anna", "-c", "user.email=anna@example.org"];
        must(Command::new("git").args(identity).args(words).current_dir(folder))
    };
    git(&["init", "-q"])?;
    must(Command::new(program).args(["init", "bench", "--defaults"]).current_dir(folder))?;
    let tasks = folder.join("backlog/tasks");
    std::fs::create_dir_all(&tasks)?;
    for number in 1..=MANY {
        let text = format!(
            "---\nid: TASK-{number}\ntitle: Rotate tokens {number}\nstatus: To Do\nassignee: []\n\
             created_date: '2026-11-14'\nlabels: []\ndependencies: []\n---\n\n## Description\n\nRotate them.\n"
        );
        std::fs::write(tasks.join(format!("task-{number} - Rotate-tokens-{number}.md")), text)?;
    }
    git(&["add", "-A"])?;
    git(&["commit", "-q", "-m", "Ten thousand tasks"])
}

/// Creates one JSON file with all tasks.
fn task_master(_: &Path, folder: &Path) -> Result<()> {
    let mut tasks = String::new();
    for number in 1..=MANY {
        let comma = if number == 1 { "" } else { "," };
        write!(
            tasks,
            "{comma}{{\"id\":{number},\"title\":\"Rotate tokens {number}\",\"description\":\"Rotate them\",\
             \"status\":\"pending\",\"priority\":\"medium\",\"dependencies\":[],\"subtasks\":[]}}"
        )?;
    }
    let file = format!("{{\"master\":{{\"tasks\":[{tasks}],\"metadata\":{{}}}}}}");
    std::fs::create_dir_all(folder.join(".taskmaster/tasks"))?;
    std::fs::write(folder.join(".taskmaster/tasks/tasks.json"), file)?;
    let state = "{\"currentTag\":\"master\",\"lastSwitched\":\"2026-11-14T10:00:00.000Z\",\"branchTagMapping\":{},\
                 \"migrationNoticeShown\":true}";
    std::fs::write(folder.join(".taskmaster/state.json"), state)?;
    Ok(std::fs::write(
        folder.join(".taskmaster/config.json"),
        "{\"models\":{},\"global\":{\"projectName\":\"bench\"}}",
    )?)
}
