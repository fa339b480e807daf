//! A project with one session in files, for tests of this module.

use crate::engine::{Engine, Intent, Options};
use crate::execute::{AdvanceRequest, StartRequest};
use crate::foreign::observe::stored_session::OBSERVATIONS;
use model::id::SessionId;
use std::fs;
use std::path::{Path, PathBuf};

/// A repository with one session.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) session: SessionId,
}

impl Place {
    pub(crate) fn with(layout: Option<&str>) -> Self {
        Self::started(&StartRequest {
            workflow: Some("review".to_owned()),
            layout: layout.map(ToOwned::to_owned),
            ..StartRequest::default()
        })
    }

    /// A project whose sessions share a registry.
    pub(crate) fn with_registry() -> Self {
        Self::started(&registered("One"))
    }

    fn started(request: &StartRequest) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git")).unwrap();
        let session = start(folder.path(), request);
        Self { folder, session }
    }

    /// Starts a second session in the same registry. The second session is then the active one.
    pub(crate) fn another(&self) -> SessionId {
        start(self.folder.path(), &registered("Other"))
    }

    pub(crate) fn engine(&self) -> Engine {
        open(self.folder.path())
    }

    /// Returns the path of a file in the session's workspace.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.engine().workspace(&self.engine().load(&self.session).unwrap().1).join(name)
    }

    /// Completes the first phase; returns the number of observations.
    pub(crate) fn advance(&self) -> usize {
        let document = self.file("discovered-standards.md");
        fs::create_dir_all(document.parent().unwrap()).unwrap();
        fs::write(document, "standards\n").unwrap();
        let before = OBSERVATIONS.get();
        let answer = self.engine().advance(&AdvanceRequest::default()).unwrap();
        assert!(!answer.gate_failed);
        assert_eq!(answer.view.current_phase.id.as_str(), "change-context");
        OBSERVATIONS.get() - before
    }
}

fn registered(goal: &str) -> StartRequest {
    let (layout, goal) = (Some("ccw".to_owned()), Some(goal.to_owned()));
    StartRequest { goal, layout, ..StartRequest::default() }
}

fn start(project: &Path, request: &StartRequest) -> SessionId {
    SessionId::parse(&open(project).start(request).unwrap().view.session_id).unwrap()
}

fn open(project: &Path) -> Engine {
    let options = Options { project: Some(project.to_owned()), ..Options::default() };
    Engine::open(options, Intent::Create).unwrap()
}
