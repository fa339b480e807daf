//! Copies an imported session's documents to its workspace, where its gates look for them. The original files stay.

use super::Elsewhere;
use crate::disk::{Operation, Step};
use crate::engine::Engine;
use crate::error::Result;
use crate::foreign::{make_private, spot_at};
use crate::long_work::Work;
use crate::project::{workspace_of, workspace_path};
use crate::walk;
use layouts::layout;
use model::session::Session;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum size of a document copied from another project. Each document is read into memory, and larger files are
/// not documents.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The operation that copies a session's documents, and messages for the user.
#[derive(Default)]
pub(super) struct Brought {
    pub(super) operation: Option<Operation>,
    pub(super) said: Vec<String>,
}

impl Engine {
    /// Plans to copy the files in the session's folder, except state files. `from` is the session's place, if it is in
    /// another project.
    pub(super) fn bring_documents(
        &self,
        session: &Session,
        from: Option<&Elsewhere>,
        becomes_native: bool,
    ) -> Result<Brought> {
        let layout = layout::by_name(&session.layout);
        let path = from.map(|from| &from.path).or(session.path.as_ref());
        let spot = layout.and_then(|layout| Some((layout, spot_at(layout, path?)?)));
        let Some((layout, spot)) = spot else { return Ok(Brought::default()) };
        let root = self.root_of(session);
        let folder =
            from.map_or_else(|| root.clone(), |from| PathBuf::from(&from.root)).join(&spot.workspace);
        let workspace = if becomes_native { workspace_of(&session.id) } else { workspace_path(session) };
        let mut operation = Operation::new(&root);
        let mut brought = Brought::default();
        let paths = if becomes_native {
            walk::documents(layout, &spot, &folder)
        } else {
            self.to_copy(&session.id, &folder)
        };
        for path in self.options.watcher.each(Work::ImportFiles, &paths) {
            let to = format!("{workspace}/{path}");
            if fs::symlink_metadata(root.join(&to)).is_ok() {
                brought.said.push(format!("{to} already exists, and was left as it is"));
                continue;
            }
            match step(&root, &folder.join(path), to) {
                Ok(step) => operation.steps.push(step),
                Err(why) => {
                    brought.said.push(format!("{} was not copied: {why}", folder.join(path).display()));
                }
            }
        }
        if layout.facts().private && !becomes_native && !operation.steps.is_empty() {
            make_private(&root.join(&workspace))?;
        }
        let count = operation.steps.len();
        if count > 0 {
            let documents = if count == 1 { "1 document was" } else { &format!("{count} documents were") };
            // If the session keeps its layout, its whole folder is copied, and documents are not reported separately.
            if becomes_native {
                brought.said.insert(0, format!("{documents} copied into {workspace}"));
            }
            brought.operation = Some(operation);
        }
        Ok(brought)
    }
}

/// Returns the step that copies a file. A file of this project keeps its permissions; a file of another project is read
/// into memory.
fn step(root: &Path, from: &Path, to: String) -> std::result::Result<Step, String> {
    if let Some(from) = from.strip_prefix(root).ok().and_then(Path::to_str) {
        return Ok(Step::Copy { from: from.to_owned(), to });
    }
    let size = fs::symlink_metadata(from).map_err(|error| error.to_string())?.len();
    if size > LARGEST {
        return Err(format!("it is larger than {} MiB", LARGEST / 1024 / 1024));
    }
    let bytes = fs::read(from).map_err(|error| error.to_string())?;
    Ok(Step::Create { path: to, bytes, like: None })
}
