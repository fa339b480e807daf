//! The commands `leftoff req config`, `init`, `enable` and `disable`, which change the configuration files.

use super::{Speaker, original};
use crate::commands::Outcome;
use crate::failure::Failure;
use crate::globals::Globals;
use engine::{Engine, SettingsChange, SettingsFile, SettingsWritten};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Config {
    #[arg(value_name = "NAME")]
    name: String,
    /// Switch the requirement on
    #[arg(long, conflicts_with = "disable")]
    enable: bool,
    /// Switch the requirement off
    #[arg(long)]
    disable: bool,
    /// The scope: for whom the requirement is satisfied
    #[arg(long, value_parser = ["session", "branch", "single_use", "permanent"])]
    scope: Option<String>,
    /// The message to the agent
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Any other key, with a JSON value or a string; may be repeated
    #[arg(long, value_name = "K=V", value_parser = crate::arguments::pair)]
    set: Vec<(String, String)>,
    /// Change .claude/requirements.yaml, which is shared by the whole team
    #[arg(long, conflicts_with = "local")]
    shared: bool,
    /// Change .claude/requirements.local.yaml, which is yours alone [default]
    #[arg(long)]
    local: bool,
}

#[derive(clap::Args)]
pub struct InitRequirements {
    /// The preset: strict, relaxed, minimal, advanced or inherit [default: relaxed; minimal for --local]
    #[arg(short, long, value_parser = ["strict", "relaxed", "minimal", "advanced", "inherit"])]
    preset: Option<String>,
    /// Write .claude/requirements.yaml [default]
    #[arg(long, conflicts_with = "local")]
    shared: bool,
    /// Write .claude/requirements.local.yaml
    #[arg(long)]
    local: bool,
    /// Replace an existing file
    #[arg(short, long)]
    force: bool,
    /// Show what would be written, and write nothing
    #[arg(long, visible_alias = "dry-run")]
    preview: bool,
}

impl Config {
    pub fn run(self, engine: &Engine, speaker: Speaker<'_>) -> Outcome {
        let file = if self.shared { SettingsFile::Shared } else { SettingsFile::Local };
        let values = self.values();
        if values.is_empty() {
            return show(&self.name, engine.requirements().settings()?.of(&self.name)?, speaker.globals);
        }
        let change = SettingsChange::Set { name: &self.name, values: &values, file };
        let path = engine.requirements().configure(change)?.path;
        wrote(&path, |path| original::configured(&self.name, path), speaker)
    }

    fn values(&self) -> Vec<(String, Value)> {
        let enabled = (self.enable || self.disable).then(|| ("enabled".to_owned(), json!(self.enable)));
        let scope = self.scope.iter().map(|scope| ("scope".to_owned(), json!(scope)));
        let message = self.message.iter().map(|message| ("message".to_owned(), json!(message)));
        let set = self
            .set
            .iter()
            .map(|(key, value)| (key.clone(), serde_json::from_str(value).unwrap_or_else(|_| json!(value))));
        enabled.into_iter().chain(scope).chain(message).chain(set).collect()
    }
}

impl InitRequirements {
    pub fn run(self, engine: &Engine, speaker: Speaker<'_>) -> Outcome {
        let globals = speaker.globals;
        let file = if self.local { SettingsFile::Local } else { SettingsFile::Shared };
        let usual = if self.local { "minimal" } else { "relaxed" };
        let name = self.preset.as_deref().unwrap_or(usual);
        let Some(text) = engine::requirements_preset(name) else {
            return Err(Failure::wrong_usage(
                format!("there is no preset '{name}'"),
                "see the presets: leftoff req init --help",
            ));
        };
        if self.preview {
            globals.out().text(text)?;
            return Ok(ExitCode::SUCCESS);
        }
        let change = SettingsChange::Create { text, file, replace: self.force };
        let SettingsWritten { path, written } = engine.requirements().configure(change)?;
        if written {
            return wrote(&path, |path| original::created(name, path), speaker);
        }
        globals
            .out()
            .warn(&format!("{} already exists; nothing changed. Replace it with --force", path.display()));
        Ok(ExitCode::SUCCESS)
    }
}

/// Switches all requirements of the project on or off, or only the named one.
pub fn switch(engine: &Engine, name: Option<&str>, on: bool, speaker: Speaker<'_>) -> Outcome {
    let requirements = engine.requirements();
    let values = [("enabled".to_owned(), json!(on))];
    let change = match name {
        None => SettingsChange::Enable(on),
        Some(name) => {
            requirements.settings()?.of(name)?;
            SettingsChange::Set { name, values: &values, file: SettingsFile::Local }
        }
    };
    let path = requirements.configure(change)?.path;
    wrote(&path, |path| original::switched(name, on, path), speaker)
}

/// Reports that a file was written. `in_original_words` returns the message of the original program for the
/// path of the file.
fn wrote(path: &Path, in_original_words: impl Fn(&str) -> String, speaker: Speaker<'_>) -> Outcome {
    let globals = speaker.globals;
    let out = globals.out();
    if speaker.has_original_words() {
        out.text(&in_original_words(&path.display().to_string()))?;
    } else if globals.json {
        out.json(&json!({ "wrote": path }))?;
    } else {
        out.text(&format!("wrote {}\n", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str, settings: &Map<String, Value>, globals: &Globals) -> Outcome {
    let out = globals.out();
    if globals.json {
        out.json(&json!({ "requirement": name, "settings": settings }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let line = |(key, value): (&String, &Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        format!("{key}: {}\n", engine::words::one_line(&text, 400))
    };
    out.text(&settings.iter().map(line).collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}
