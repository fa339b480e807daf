//! Stores the definitions and files that the histories of other replicas name. If their hash does not match, they are
//! refused.

use super::Shared;
use crate::engine::Engine;
use crate::error::Result;
use crate::hex;
use model::event::Event;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use store::{Arrived, ContentRow, DefinitionRow, Store};

/// The maximum size of a stored file's content that is accepted.
const LARGEST_CONTENT: u64 = 1 << 20;

impl Engine {
    /// Adds definitions and stored files that the histories name and the store does not have, if any replica has them.
    pub(super) fn add_texts(&self, shared: &mut Shared, arrived: &mut Arrived) -> Result<()> {
        let (mut definitions, mut contents) = (BTreeMap::new(), BTreeSet::new());
        for row in arrived.histories.iter().flat_map(|history| &history.events) {
            let event = Event::read(&row.kind, &row.body);
            match &event {
                Event::RunStarted { workflow, definition, .. } => {
                    definitions.insert(workflow.hash.clone(), definition.clone());
                }
                Event::DefinitionUpdated { workflow, .. } => {
                    definitions.entry(workflow.hash.clone()).or_insert(None);
                }
                _ => {}
            }
            for hash in event.contents() {
                contents.insert(hash.to_owned());
            }
        }
        for (hash, sealed) in definitions {
            if self.store.definition(&hash)?.is_some() {
                continue;
            }
            let found = shared.files(&[format!("def/{hash}")], LARGEST_CONTENT)?.pop();
            match found.map(|(_, bytes)| definition(&hash, sealed.as_deref(), bytes)) {
                None => {}
                Some(Ok(row)) => arrived.definitions.push(row),
                Some(Err(why)) => shared.refused.push(format!("the definition {hash} was refused: {why}")),
            }
        }
        let mut missing = Vec::new();
        for hash in contents {
            if self.store.content(&hash)?.is_none() && !shared.purged_contents.contains(&hash) {
                missing.push(format!("blob/{hash}"));
            }
        }
        for (path, body) in shared.files(&missing, LARGEST_CONTENT)? {
            let hash = hex(&Sha256::digest(&body));
            if path == format!("blob/{hash}") {
                arrived.contents.push(ContentRow { hash, body });
            } else {
                shared.refused.push(format!("the file {path} was refused: its content does not match"));
            }
        }
        Ok(())
    }
}

fn definition(
    hash: &str,
    sealed: Option<&str>,
    bytes: Vec<u8>,
) -> std::result::Result<DefinitionRow, &'static str> {
    let body = String::from_utf8(bytes).map_err(|_| "it is not text")?;
    let workflow: model::workflow::Workflow =
        serde_json::from_str(&body).map_err(|_| "it is not a definition")?;
    if workflow.hash != hash {
        return Err("it does not match its hash");
    }
    if sealed.is_some_and(|sealed| sealed != hex(&Sha256::digest(body.as_bytes()))) {
        return Err("the run was started with a different one");
    }
    Ok(DefinitionRow { hash: hash.to_owned(), body })
}
