//! Reports the progress of long work while it happens. The receiver decides how often to show it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The part of a long command that is running now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A check's command has been running for this long.
    Check { check: &'a str, command: &'a str, elapsed: Duration },
    /// `done` of `total` parts are finished.
    Part { work: Work, done: usize, total: usize },
    /// The database is being upgraded to a newer schema.
    Upgrade,
}

/// Work that consists of many parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    ImportTasks,
    ImportFiles,
    PackFiles,
    UnpackFiles,
    CheckEvents,
    CopyTexts,
    CopySessions,
}

/// Receives the progress of long work. By default, drops it.
#[derive(Clone, Default)]
pub struct Watcher(Option<Arc<Watch>>);

type Watch = dyn Fn(Progress<'_>) + Send + Sync;

impl Watcher {
    pub fn new(watch: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watch)))
    }

    pub(crate) fn see(&self, progress: Progress<'_>) {
        if let Some(watch) = &self.0 {
            watch(progress);
        }
    }

    /// Iterates over the parts of a work. Reports each part before it starts.
    pub(crate) fn each<'a, T>(&'a self, work: Work, parts: &'a [T]) -> impl Iterator<Item = &'a T> {
        let total = parts.len();
        parts.iter().enumerate().map(move |(done, part)| {
            self.see(Progress::Part { work, done, total });
            part
        })
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watcher(watching)" } else { "Watcher" })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;
    use crate::{Engine, FoundList, Intent, Options, Request, StartRequest, copy_store};
    use std::path::Path;
    use std::sync::Mutex;

    /// Each reported kind of work, with the number of its parts and the last part that was started.
    type Reported = Arc<Mutex<Vec<(Work, usize, usize)>>>;

    fn watched(project: &Path) -> (Options, Reported) {
        let reported = Reported::default();
        let own = reported.clone();
        let watcher = Watcher::new(move |progress| {
            if let Progress::Part { work, done, total } = progress {
                let mut reported = own.lock().unwrap();
                reported.retain(|(known, ..)| *known != work);
                reported.push((work, total, done));
            }
        });
        let options = Options { project: Some(project.to_owned()), watcher, ..Options::default() };
        (options, reported)
    }

    fn project(folder: &Path, name: &str) -> std::path::PathBuf {
        let project = folder.join(name);
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        project
    }

    #[test]
    fn an_import_a_bundle_and_a_copy_report_how_far_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (here, there) = (project(folder.path(), "here"), project(folder.path(), "there"));
        std::fs::write(here.join("tasks.md"), "- [ ] 1. One\n- [ ] 2. Two\n- [x] 3. Three\n").unwrap();
        std::fs::write(here.join("a.txt"), "a").unwrap();
        let (options, reported) = watched(&here);
        let mut engine = Engine::open(options.clone(), Intent::Create).unwrap();
        engine.execute(Request::Start(StartRequest::default())).unwrap();
        let list = here.join("tasks.md");
        let list = FoundList::at(list.to_str().unwrap(), engine.project()).unwrap().unwrap();
        engine.execute(Request::ImportTasks(list)).unwrap();
        engine.execute(Request::AddArtifacts { paths: vec![here.join("a.txt")], phase: None }).unwrap();
        let bundle = folder.path().join("b.leftoff");
        engine.sessions().bundle(&bundle).unwrap();
        copy_store(&options, "sqlite", folder.path().join("copy.db").to_str().unwrap()).unwrap();
        let works: Vec<_> = std::mem::take(&mut *reported.lock().unwrap());
        for expected in [(Work::ImportTasks, 3, 2), (Work::PackFiles, 1, 0), (Work::CopySessions, 1, 0)] {
            assert!(works.contains(&expected), "{expected:?} is not in {works:?}");
        }

        let (options, reported) = watched(&there);
        let mut engine = Engine::open(options, Intent::Create).unwrap();
        engine.execute(Request::TakeBundle { path: bundle }).unwrap();
        let works: Vec<Work> = reported.lock().unwrap().iter().map(|(work, ..)| *work).collect();
        assert_eq!(works, [Work::CheckEvents, Work::UnpackFiles]);
    }
}
