//! Edits the configuration files in place, so that comments and unknown keys stay. Shows the merged settings.

use super::rules::{LOCAL, SHARED, texts_of};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::facades::Requirements;
use layouts::requirements as layout;
use layouts::yaml::{Document, Step};
use serde_json::{Map, Value};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The text with which a new settings file starts.
const BEGINNING: &[u8] = b"version: \"1.0\"\n";

/// A settings file of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFile {
    /// The team's settings, in version control.
    Shared,
    /// The settings of this person only.
    Local,
}

/// A change of the settings.
#[derive(Debug, Clone, Copy)]
pub enum SettingsChange<'a> {
    /// Sets keys of one requirement.
    Set { name: &'a str, values: &'a [(String, Value)], file: SettingsFile },
    /// Switches all requirements of this project on or off for this person.
    Enable(bool),
    /// Writes a starter configuration. An existing file stays, unless `replace` is true.
    Create { text: &'a str, file: SettingsFile, replace: bool },
}

/// The file of a change, and if it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsWritten {
    pub path: PathBuf,
    pub written: bool,
}

/// The merged settings, and the mistakes in the files.
#[derive(Debug, Clone, PartialEq)]
pub struct RequirementSettings {
    requirements: Map<String, Value>,
    pub problems: Vec<String>,
}

impl RequirementSettings {
    /// Returns the settings of one requirement.
    pub fn of(&self, name: &str) -> Result<&Map<String, Value>> {
        match self.requirements.get(name) {
            Some(Value::Object(fields)) => Ok(fields),
            Some(_) | None => Err(Error::UnknownRequirement {
                asked: name.to_owned(),
                nearest: model::nearest_name::nearest(name, self.requirements.keys().map(String::as_str))
                    .map(ToOwned::to_owned),
                known: self.requirements.keys().cloned().collect(),
            }),
        }
    }
}

impl Requirements<'_> {
    /// Returns the merged settings of this project. Fails outside git.
    pub fn settings(&self) -> Result<RequirementSettings> {
        let ground = self.engine.required_ground(None)?;
        let texts = texts_of(&ground, &mut Vec::new());
        let sources: Vec<layout::Source<'_>> =
            texts.iter().map(|(path, text)| layout::Source { path, text }).collect();
        let requirements = match layout::merged(&sources).shift_remove("requirements") {
            Some(Value::Object(all)) => all,
            Some(_) | None => Map::new(),
        };
        Ok(RequirementSettings { requirements, problems: self.engine.requirement_problems() })
    }

    /// Changes a settings file.
    pub fn configure(&self, change: SettingsChange<'_>) -> Result<SettingsWritten> {
        let engine = self.engine;
        let path = match change {
            SettingsChange::Set { name, values, file } => engine.change_settings(file, |document| {
                values.iter().try_for_each(|(key, value)| {
                    document.set(&[Step::Key("requirements"), Step::Key(name), Step::Key(key)], value)
                })
            })?,
            SettingsChange::Enable(on) => engine.enable_requirements(on)?,
            SettingsChange::Create { text, file, replace } => {
                let path = engine.settings_path(file)?;
                if path.exists() && !replace {
                    return Ok(SettingsWritten { path, written: false });
                }
                write_whole(&path, text.as_bytes())?;
                path
            }
        };
        Ok(SettingsWritten { path, written: true })
    }
}

impl Engine {
    fn enable_requirements(&self, on: bool) -> Result<PathBuf> {
        let ground = self.required_ground(None)?;
        if on && !ground.root.join(".claude").join(SHARED).exists() {
            return Err(Error::NoRequirementsHere {
                reason: "this project has no .claude/requirements.yaml, which enables requirements"
                    .to_owned(),
            });
        }
        self.change_settings(SettingsFile::Local, |document| {
            document.set(&[Step::Key("enabled")], &Value::Bool(on))
        })
    }

    /// Returns the path of a settings file of the project. The file need not exist.
    fn settings_path(&self, file: SettingsFile) -> Result<PathBuf> {
        let ground = self.required_ground(None)?;
        let name = match file {
            SettingsFile::Shared => SHARED,
            SettingsFile::Local => LOCAL,
        };
        Ok(ground.root.join(".claude").join(name))
    }

    fn change_settings(
        &self,
        file: SettingsFile,
        change: impl FnOnce(&mut Document) -> std::result::Result<(), String>,
    ) -> Result<PathBuf> {
        let path = self.settings_path(file)?;
        let text = super::shared_file::read(&path)
            .map_err(|error| Error::io(format!("reading {}", path.display()), error))?;
        let text = text
            .filter(|text| !text.trim().is_empty())
            .map_or_else(|| BEGINNING.to_vec(), String::into_bytes);
        let broken = |why: String| Error::BrokenFile { path: path.clone(), why };
        let mut document = Document::parse(&text).map_err(broken)?;
        change(&mut document).map_err(broken)?;
        write_whole(&path, &document.into_bytes())?;
        Ok(path)
    }
}

/// Replaces a file by renaming a temporary one, so that a reader sees either the old text or the new one. Refuses to
/// write through a link.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let doing = |source| Error::io(format!("writing {}", path.display()), source);
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(doing(std::io::Error::other("it is a link, and links are not followed")));
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(doing)?;
    let temporary = super::shared_file::temporary_beside(path);
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(doing)
}
