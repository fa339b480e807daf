//! `leftoff store`

use crate::commands::{Outcome, Run};
use crate::globals::Globals;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The store: where the database is, and a copy of it
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff store info\n  leftoff store backup ~/leftoff-backup.db")]
pub struct StoreCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Where the database is and what is in it
    Info,
    /// Write a consistent copy of the database, also while others write to it
    Backup {
        /// File to write; never over an existing one
        file: PathBuf,
    },
}

impl Run for StoreCommand {
    fn run(self, globals: &Globals) -> Outcome {
        let engine = globals.query()?;
        let out = globals.out();
        match self.action {
            Action::Info => {
                let info = engine.store_info()?;
                if globals.json {
                    out.json(&info)?;
                } else {
                    out.text(&format!(
                        "{} at {}\nschema {}, journal {}, {} sessions, {} events, {} bytes",
                        info.engine,
                        info.place,
                        info.schema_version,
                        info.journal,
                        info.sessions,
                        info.events,
                        info.bytes
                    ))?;
                    for warning in &info.warnings {
                        out.warn(warning);
                    }
                }
            }
            Action::Backup { file } => {
                engine.store_backup(&file)?;
                if globals.json {
                    out.json(&json!({ "path": file }))?;
                } else {
                    out.text(&file.display().to_string())?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
