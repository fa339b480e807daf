//! Edits the configuration files in place, keeping comments and unknown keys. Shows the merged result.

use super::setting::{LOCAL, SHARED, texts_of};
use crate::engine::Engine;
use crate::error::{Error, Result};
use layouts::requirements as layout;
use layouts::yaml::{Document, Step};
use serde_json::{Map, Value};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The start of a new settings file.
const BEGINNING: &[u8] = b"version: \"1.0\"\n";

/// A settings file of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFile {
    /// The team's, in version control.
    Shared,
    /// This person's only.
    Local,
}

impl Engine {
    /// The merged settings of one requirement.
    pub fn requirement_settings(&self, name: &str) -> Result<Map<String, Value>> {
        let ground = self.required_ground(None)?;
        let texts = texts_of(&ground, &mut Vec::new());
        let sources: Vec<layout::Source<'_>> =
            texts.iter().map(|(path, text)| layout::Source { path, text }).collect();
        let mut all = layout::merged(&sources);
        let requirements = all.get_mut("requirements").and_then(Value::as_object_mut);
        let known: Vec<String> = requirements.iter().flat_map(|all| all.keys().cloned()).collect();
        match requirements.and_then(|all| all.shift_remove(name)) {
            Some(Value::Object(fields)) => Ok(fields),
            Some(_) | None => Err(Error::UnknownRequirement {
                asked: name.to_owned(),
                nearest: model::nearest::nearest(name, known.iter().map(String::as_str))
                    .map(ToOwned::to_owned),
                known,
            }),
        }
    }

    /// Sets keys of one requirement; returns the changed file.
    pub fn configure_requirement(
        &self,
        name: &str,
        values: &[(String, Value)],
        file: SettingsFile,
    ) -> Result<PathBuf> {
        self.change_settings(file, |document| {
            values.iter().try_for_each(|(key, value)| {
                document.set(&[Step::Key("requirements"), Step::Key(name), Step::Key(key)], value)
            })
        })
    }

    /// Switches all requirements of this project on or off for this person. Returns the changed file.
    pub fn switch_requirements(&self, on: bool) -> Result<PathBuf> {
        let ground = self.required_ground(None)?;
        if on && !ground.root.join(".claude").join(SHARED).exists() {
            return Err(Error::NoRequirementsHere {
                reason: "this project has no .claude/requirements.yaml, which switches requirements on"
                    .to_owned(),
            });
        }
        self.change_settings(SettingsFile::Local, |document| {
            document.set(&[Step::Key("enabled")], &Value::Bool(on))
        })
    }

    /// Writes a starter configuration. `None` if one exists and must not be replaced.
    pub fn begin_requirements(
        &self,
        text: &str,
        file: SettingsFile,
        replace: bool,
    ) -> Result<Option<PathBuf>> {
        let path = self.settings_path(file)?;
        if path.exists() && !replace {
            return Ok(None);
        }
        write_whole(&path, text.as_bytes())?;
        Ok(Some(path))
    }

    /// The actual or potential path of one of the project's two files.
    pub fn settings_path(&self, file: SettingsFile) -> Result<PathBuf> {
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
        let text = super::file::read(&path)
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

/// Through a temporary file beside it, so that a reader sees the old text or the new one. Never through a
/// link.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let doing = |source| Error::io(format!("writing {}", path.display()), source);
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(doing(std::io::Error::other("it is a link, and links are not followed")));
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(doing)?;
    let temporary = super::file::temporary_beside(path);
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(doing)
}
