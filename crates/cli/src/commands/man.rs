//! `leftoff man`

use crate::commands::{Outcome, Run, parser};
use crate::failure::Failure;
use crate::globals::Globals;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print the manual page, or write all of them into a folder
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff man | man -l -\n  leftoff man --dir ~/.local/share/man/man1")]
pub struct Man {
    /// Write one page per command into this folder
    #[arg(long)]
    dir: Option<PathBuf>,
}

impl Run for Man {
    fn run(self, globals: &Globals) -> Outcome {
        let failed = |error: std::io::Error| {
            Failure::failed(format!("writing manual pages: {error}"), "choose a writable folder")
        };
        if let Some(folder) = self.dir {
            std::fs::create_dir_all(&folder).map_err(failed)?;
            clap_mangen::generate_to(parser(None), &folder).map_err(failed)?;
            if globals.json {
                globals.out().json(&serde_json::json!({ "path": folder }))?;
            } else {
                globals.out().say(&format!("manual pages written to {}", folder.display()));
            }
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = Vec::new();
        clap_mangen::Man::new(parser(None)).render(&mut text).map_err(failed)?;
        let page = String::from_utf8_lossy(&text);
        if globals.json {
            globals.out().json(&serde_json::json!({ "page": page }))?;
        } else {
            globals.out().text(&page)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
