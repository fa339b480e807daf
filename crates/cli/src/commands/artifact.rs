//! `leftoff artifact`

use crate::commands::{Outcome, Run, answered_briefly};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::line;
use crate::ui::show::artifact_line;
use crate::ui::{Out, Tone};
use engine::view::View;
use engine::{Detail, Request, Verification, VersionMade};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Record, list, compare and restore files of the session
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff artifact add PLAN.md --phase plan\n  leftoff artifact verify\n  leftoff artifact history PLAN.md\n  leftoff artifact restore PLAN.md --version 1"
)]
pub struct ArtifactCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Record files as they are now: hash, size, version
    Add {
        /// Files of this project
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// The phase that the files belong to, by id or number [default: the current one]
        #[arg(long, value_name = "P")]
        phase: Option<String>,
    },
    /// The session's recorded files
    List,
    /// Compare every recorded file with its current state; exit code 4 if a file is missing, changed or new
    Verify,
    /// List every recorded version, oldest first
    History {
        /// List only the versions of this file
        path: Option<PathBuf>,
    },
    /// Restore a recorded version of a file
    ///
    /// The current content of the file is recorded first, so that nothing is lost. Only the content of files up to 256
    /// KiB is stored and can be restored.
    Restore {
        /// The file
        path: PathBuf,
        /// A version from `artifact history` [default: the newest one that differs from the file as it is now]
        #[arg(long, value_name = "N")]
        version: Option<u32>,
    },
}

impl Run for ArtifactCommand {
    fn run(self, globals: &Globals) -> Outcome {
        match self.action {
            Action::Add { paths, phase } => {
                let done = format!("{} recorded", counted(paths.len()));
                let answer = globals.command()?.execute(Request::AddArtifacts { paths, phase })?;
                answered_briefly(&done, &answer, globals)
            }
            Action::List => list(globals),
            Action::Verify => verify(globals),
            Action::History { path } => history(path.as_deref(), globals),
            Action::Restore { path, version } => {
                let mut answer = globals.command()?.execute(Request::RestoreArtifact { path, version })?;
                // The last message says which file was restored to which version.
                let done = if globals.json { None } else { answer.said.pop() };
                answered_briefly(&done.unwrap_or_default(), &answer, globals)
            }
        }
    }
}

fn list(globals: &Globals) -> Outcome {
    let View { session_id: id, artifacts, .. } = globals.query()?.sessions().show(None, Detail::Recent)?;
    let out = globals.out();
    if globals.json {
        out.json(&serde_json::json!({ "session_id": id, "artifacts": artifacts }))?;
    } else if artifacts.is_empty() {
        out.say("no recorded files; record one: leftoff artifact add PATH");
    } else {
        for known in &artifacts {
            out.text(&line("", &artifact_line(known), &out))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(globals: &Globals) -> Outcome {
    let verification = globals.query()?.sessions().verify_artifacts()?;
    let out = globals.out();
    if globals.json {
        out.json(&verification)?;
    } else {
        tell(&verification, &out)?;
    }
    match verification.findings.len() {
        0 => {
            out.say(&format!("{} as recorded", counted(verification.checked)));
            Ok(ExitCode::SUCCESS)
        }
        found => Err(Failure::findings(format!("{} changed or missing", counted(found)), None)),
    }
}

fn tell(verification: &Verification, out: &Out) -> Result<(), Failure> {
    for finding in &verification.findings {
        let kind = out.paint(Tone::Bad, &format!("{}:", finding.difference.name()));
        out.text(&format!("{kind} {}", line("", &finding.message, out)))?;
        out.text(&format!("  {}", line("", &finding.hint.to_string(), out)))?;
    }
    Ok(())
}

fn history(path: Option<&Path>, globals: &Globals) -> Outcome {
    let (id, versions) = globals.query()?.sessions().artifact_history(path)?;
    let out = globals.out();
    if globals.json {
        out.json(&serde_json::json!({ "session_id": id, "versions": versions }))?;
    } else if versions.is_empty() {
        out.say("no recorded versions");
    } else {
        for made in &versions {
            out.text(&line("", &version_line(made), &out))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn version_line(made: &VersionMade) -> String {
    let version = &made.version;
    let phase = version.phase.as_ref().map(|phase| format!(", of {phase}")).unwrap_or_default();
    let archived = made.archived_as.as_ref().map(|name| format!(", kept as {name}")).unwrap_or_default();
    let hash: String = version.hash.chars().take(12).collect();
    format!(
        "{}  version {}, {} bytes{phase}, {hash}, {} by {}{archived}",
        version.path, version.version, version.size, made.at, made.actor
    )
}

fn counted(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}
