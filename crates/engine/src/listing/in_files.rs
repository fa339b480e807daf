//! Lines of a list for sessions in files, and warnings about other entries beside them.

use crate::engine::Engine;
use crate::error::Result;
use crate::foreign::discover::summary;
use crate::foreign::discover::{is_of_others, link_on_the_way};
use crate::listing::ListRequest;
use crate::view::{ShortView, Warning};
use layouts::layout::{self, Layout, Place, Spot};
use layouts::reader::Located;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use std::path::Path;
use store::Filter;

/// How many seconds after the last event a file may be written, and still count as written with that event.
const WRITTEN_WITH_THE_LOG: i64 = 2;

impl Engine {
    /// Returns every foreign session on one line. A broken session does not hide others.
    pub(crate) fn foreign_lines(&self) -> Vec<(ShortView, Vec<Warning>)> {
        let all = self.unadopted();
        if all.is_empty() {
            return Vec::new();
        }
        // If this is a session outside projects, the caller gives numbers to all of them together.
        let is_counted = !self.project.is_outside;
        let numbers = if is_counted {
            self.foreign_numbers().unwrap_or_default()
        } else {
            std::collections::BTreeMap::new()
        };
        let reader = self.reader();
        let summaries = self.summaries();
        let number = |located: &Located| numbers.get(&located.id).copied().unwrap_or(0);
        let numbered: Vec<(&Located, u64)> = all.iter().map(|located| (located, number(located))).collect();
        let mut lines = summary::by_several(&numbered, |(located, number)| {
            if located.layout.facts().exclusive {
                let summary = summary::by_path(&summaries, located)?;
                Some((ShortView { number: *number, ..summary.line.clone() }, summary.warnings.clone()))
            } else {
                reader.line(located, *number)
            }
        });
        self.lines_beside_others(&mut lines);
        lines
    }

    /// Returns only the sessions of this worktree, one line each.
    pub(crate) fn own_lines(&self) -> Result<Vec<(ShortView, Vec<Warning>)>> {
        let here = Filter { worktree: Some(self.project.worktree()), ..Filter::default() };
        let kept = self.store.list(&here)?.into_iter().map(|listed| (ShortView::from(listed), Vec::new()));
        Ok(kept.chain(self.foreign_lines()).collect())
    }

    /// Returns finished sessions of this worktree that were reopened in their files, if unfinished sessions were
    /// requested. Only layouts in which one small file shows this are searched, so that a thousand old sessions are not
    /// read completely.
    pub(crate) fn opened_by_files(&self, request: &ListRequest) -> Result<Vec<ShortView>> {
        let is_over = |lifecycle: &&str| !request.lifecycles.iter().any(|wanted| wanted == lifecycle);
        let lifecycles: Vec<String> =
            ["completed", "abandoned"].iter().filter(|over| is_over(over)).map(ToString::to_string).collect();
        if request.lifecycles.is_empty() || lifecycles.is_empty() {
            return Ok(Vec::new());
        }
        let filter = Filter {
            lifecycles,
            worktree: Some(self.project.worktree()),
            layout: request.layout.clone(),
            search: request.search.clone(),
            ..Filter::default()
        };
        let over = self.store.list(&filter)?;
        let mut found = Vec::new();
        let tells = |layout: &&&dyn Layout| {
            !layout.facts().summary_files.is_empty() || layout.facts().reopened_in.is_some()
        };
        for layout in layout::all().iter().filter(tells) {
            if !over.iter().any(|listed| listed.row.layout == layout.facts().name) {
                continue;
            }
            for spot in self.spots(*layout) {
                let is_it = |listed: &&store::Listed| {
                    listed.row.id == spot.id && listed.row.layout == layout.facts().name
                };
                let Some(listed) = over.iter().find(is_it).filter(|listed| self.may_say_more(&spot, listed))
                else {
                    continue;
                };
                let located = Located { layout: *layout, id: spot.id.clone(), spot: spot.clone() };
                let voice = self.reader().line(&located, listed.number);
                if voice.is_some_and(|(line, _)| request.lifecycles.contains(&line.lifecycle)) {
                    found.push(ShortView::from(listed.clone()));
                }
            }
        }
        Ok(found)
    }

    /// Returns sessions of this worktree whose stored lifecycle was not requested although that in their files was, for
    /// example because their tool has closed them.
    pub(crate) fn moved_by_files(&self, request: &ListRequest, asked: &[String]) -> Result<Vec<ShortView>> {
        let is_left = |name: &&str| !asked.iter().any(|asked| asked == name);
        let lifecycles: Vec<String> =
            Lifecycle::UNFINISHED.into_iter().filter(is_left).map(ToOwned::to_owned).collect();
        if asked.is_empty() || lifecycles.is_empty() {
            return Ok(Vec::new());
        }
        let filter = Filter {
            lifecycles,
            worktree: Some(self.project.worktree()),
            layout: request.layout.clone(),
            search: request.search.clone(),
            ..Filter::default()
        };
        let is_wanted = |line: &ShortView| {
            let mut shown = line.clone();
            self.shown_by_files(&mut shown).is_ok() && request.lifecycles.contains(&shown.lifecycle)
        };
        let kept = self.store.list(&filter)?.into_iter().map(ShortView::from);
        Ok(kept.filter(|line| line.layout != crate::NATIVE && is_wanted(line)).collect())
    }

    /// True if the files of a finished session may say more than the log, because the file that decides was written
    /// after the last event.
    fn may_say_more(&self, spot: &Spot, listed: &store::Listed) -> bool {
        let file = layout::by_name(&listed.row.layout).and_then(|layout| layout.facts().reopened_in);
        let Some(file) = file else { return true };
        let place = self.project.root.join(&spot.home).join(file);
        let written = place.symlink_metadata().and_then(|found| found.modified()).ok();
        let written = written.and_then(|at| jiff::Timestamp::try_from(at).ok());
        written.is_some_and(|at| at.as_second() > listed.row.updated_at.as_second() + WRITTEN_WITH_THE_LOG)
    }

    /// Updates a line of a list from the session's files. Returns warnings about oddities.
    pub(crate) fn shown_by_files(&self, line: &mut ShortView) -> Result<Vec<Warning>> {
        let is_here = line.layout != crate::NATIVE && line.worktree == self.project.worktree();
        let Some(id) = SessionId::parse(&line.session_id).ok().filter(|_| is_here) else {
            return Ok(Vec::new());
        };
        let (_, session) = self.load(&id)?;
        *line = ShortView { number: line.number, ..ShortView::from(&session) };
        Ok(self.file_warnings(&id))
    }

    /// Returns warnings about entries beside the sessions that cannot be sessions.
    pub(crate) fn place_warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for layout in layout::all() {
            for place in layout.facts().places {
                if let Place::Project(folder) = place {
                    warnings.extend(odd_entries(&self.project.root, folder, *layout));
                }
            }
        }
        warnings
    }
}

/// Returns warnings about links, which are not followed; about invalid names; and about a folder that cannot be read.
fn odd_entries(root: &Path, folder: &str, layout: &dyn Layout) -> Vec<Warning> {
    let odd = |path: String, why: &str| Warning {
        kind: "foreign_file".to_owned(),
        message: format!("{path}: {why}"),
        hint: None,
        path: Some(path),
        problem: None,
    };
    if let Some(link) = link_on_the_way(root, folder) {
        return vec![odd(link, "it is a link, and links are not followed; it is not searched for sessions")];
    }
    let entries = match std::fs::read_dir(root.join(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![odd(folder.to_owned(), &format!("{error}; its sessions are unknown"))],
    };
    let mut warnings = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name_there = name.to_string_lossy();
        let path = if folder.is_empty() { name_there.into_owned() } else { format!("{folder}/{name_there}") };
        // The project's own folder has many entries that have nothing to do with the layout.
        if folder.is_empty() && layout.identify(&path, true).is_none() {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            warnings.push(odd(path, "it is a link, and links are not followed"));
        } else if name.to_str().is_none() {
            warnings.push(odd(path, "its name is not UTF-8"));
        } else if layout.facts().private && is_of_others(root, &path) {
            warnings.push(odd(path, "it belongs to another user, and is left alone"));
        } else if layout.facts().takes_every_folder
            && layout.identify(&path, true).is_none()
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
        {
            warnings.push(odd(path, "it is not a session, but its tool may treat it as one"));
        }
    }
    warnings.sort_by(|one, other| one.path.cmp(&other.path));
    warnings
}
