//! Which commands this user trusts on this machine. Recorded outside the repository and the store: a cloned
//! repository, or a teammate's database, runs nothing here.

use crate::error::{Error, Result};
use crate::hex;
use crate::registry::state_folder;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Whether this exact text was trusted for this project.
pub(crate) fn is_trusted(root: &Path, command: &str) -> bool {
    entry(root, command).is_some_and(|path| path.is_file())
}

pub(crate) fn trust(root: &Path, command: &str) -> Result<()> {
    let Some(path) = entry(root, command) else {
        return Err(Error::NotSupported {
            what: "trust without HOME or XDG_STATE_HOME".to_owned(),
            hint: "set HOME".into(),
        });
    };
    let written = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&path, format!("{}\n{command}\n", root.display())));
    written.map_err(|source| Error::io(format!("recording trust in {}", path.display()), source))
}

fn entry(root: &Path, command: &str) -> Option<PathBuf> {
    let mut hasher = Sha256::new();
    hasher.update(root.as_os_str().as_encoded_bytes());
    hasher.update([0]);
    hasher.update(command.as_bytes());
    Some(state_folder()?.join("trust").join(hex(&hasher.finalize())))
}
