//! `leftoff store`

use crate::commands::{Outcome, Run};
use crate::failure::Failure;
use crate::globals::Globals;
use crate::ui::{self, counted};
use engine::{Backup, Made, StoreRestored};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Show, back up, restore or copy the store
///
/// leftoff backs up the database while you work, into a folder next to it: before a schema upgrade, and at most once an
/// hour (once a day if the database is larger than 16 MiB, never if it is larger than 512 MiB). The newest three
/// backups stay, and one of each of the last seven days.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leftoff store info\n  leftoff store backup ~/leftoff-backup.db\n  leftoff store backups\n  leftoff store restore\n  leftoff store restore ~/leftoff-backup.db\n  leftoff store copy --from sqlite --to postgres://db.example.com/leftoff"
)]
pub struct StoreCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// The database's location and contents
    Info,
    /// Copy every session into another store and compare the two
    ///
    /// Nothing in the first store changes. Repeating an interrupted copy continues where it stopped; a target that has
    /// other sessions is refused.
    Copy {
        /// The store to copy: `sqlite` for this project's file, the path of a file, or postgres://…
        #[arg(long, value_name = "STORE")]
        from: String,
        /// The store to copy to: empty, or with part of the same copy
        #[arg(long, value_name = "STORE")]
        to: String,
    },
    /// Print the SQL that creates the tables on a PostgreSQL server
    Schema {
        /// The name of the schema
        #[arg(long, value_name = "NAME", default_value = "leftoff")]
        schema: String,
    },
    /// Write a consistent copy of the database, even while others write to the database
    Backup {
        /// The file to write; an existing file is not overwritten
        file: PathBuf,
    },
    /// List the backups that leftoff made by itself, newest first
    Backups,
    /// Restore a backup in the place of a lost or damaged database
    ///
    /// A damaged database stays beside the restored one as leftoff.db.damaged-1. A store that still has sessions is
    /// replaced only with --replace, by a person; the replaced database stays as leftoff.db.replaced-1.
    Restore {
        /// The backup to restore [default: the newest of `store backups`]
        file: Option<PathBuf>,
        /// Replace a store that still has sessions
        #[arg(long)]
        replace: bool,
    },
}

impl Run for StoreCommand {
    fn run(self, globals: &Globals) -> Outcome {
        match self.action {
            Action::Info => info(globals),
            Action::Copy { from, to } => copy(&from, &to, globals),
            Action::Schema { schema } => {
                globals.out().text(engine::server_schema(&schema).trim_end())?;
                Ok(ExitCode::SUCCESS)
            }
            Action::Backup { file } => backup(&file, globals),
            Action::Backups => backups(globals),
            Action::Restore { file, replace } => restore(file.as_deref(), replace, globals),
        }
    }
}

fn copy(from: &str, to: &str, globals: &Globals) -> Outcome {
    globals.say_that_it_works();
    let copied = engine::copy_store(&globals.options, from, to)?;
    let out = globals.out();
    if globals.json {
        out.json(&copied)?;
    } else {
        out.text(&format!(
            "{} copied from {} to {}, {} already there; {} compared",
            counted(copied.sessions, "session"),
            copied.from,
            copied.to,
            copied.there_already,
            counted(copied.events, "event")
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn info(globals: &Globals) -> Outcome {
    let info = globals.query()?.store().info()?;
    let out = globals.out();
    if globals.json {
        out.json(&info)?;
        return Ok(ExitCode::SUCCESS);
    }
    out.text(&format!(
        "{} at {}\nschema {}, journal {}, {}, {}, {} bytes",
        info.engine,
        info.place,
        info.schema_version,
        info.journal,
        counted(info.sessions, "session"),
        counted(info.events, "event"),
        info.bytes
    ))?;
    if let Some(newest) = engine::backups(&globals.options)?.first() {
        out.text(&format!("newest backup {}", newest.at))?;
    }
    for warning in &info.warnings {
        out.warn(warning);
    }
    Ok(ExitCode::SUCCESS)
}

fn backup(file: &Path, globals: &Globals) -> Outcome {
    globals.query()?.store().backup(file)?;
    let out = globals.out();
    if globals.json {
        out.json(&json!({ "path": file }))?;
    } else {
        out.text(&file.display().to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn backups(globals: &Globals) -> Outcome {
    let backups = engine::backups(&globals.options)?;
    let out = globals.out();
    if globals.json {
        out.json(&json!({ "backups": backups }))?;
    } else if backups.is_empty() {
        out.say("no backups yet; the first is made after an hour of work; make one now: leftoff store backup FILE");
    } else {
        for copy in &backups {
            out.text(&line(copy))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(copy: &Backup) -> String {
    let made = match copy.made {
        Made::Automatically => "",
        Made::BeforeMigration => "  before a schema upgrade",
    };
    format!(
        "{}  {:>9} bytes  {}{made}",
        copy.at.strftime("%Y-%m-%d %H:%M:%S UTC"),
        copy.bytes,
        copy.path.display()
    )
}

fn restore(file: Option<&Path>, replace: bool, globals: &Globals) -> Outcome {
    if replace && !globals.yes {
        let question = "Replace the store of this project with a backup? Later work is not in it.";
        if globals.options.person_present && !ui::ask::yes(question, globals) {
            return Err(Failure::refused(
                "nothing was changed".to_owned(),
                "see the backups: leftoff store backups",
            ));
        }
    }
    let restored = engine::restore_store(globals.options.clone(), file, replace)?;
    let out = globals.out();
    if globals.json {
        out.json(&restored)?;
        return Ok(ExitCode::SUCCESS);
    }
    let StoreRestored { store, from, kept, sessions, events } = &restored;
    out.text(&format!(
        "restored {} from {}: {sessions} sessions, {events} events",
        store.display(),
        from.display()
    ))?;
    if let Some(kept) = kept {
        out.say(&format!("the previous database is kept as {}", kept.display()));
    }
    out.say("see the sessions: leftoff list --all");
    Ok(ExitCode::SUCCESS)
}
