//! What a list shows of sessions that are in files, and of what stands among them and is none.

use super::find::{Located, is_of_others, link_on_the_way};
use super::shorts::{self};
use crate::engine::Engine;
use crate::error::Result;
use crate::listing::ListRequest;
use crate::view::{ShortView, Warning};
use layouts::layout::{self, Layout, Place, Spot};
use model::id::SessionId;
use std::path::Path;
use store::Filter;

/// Seconds after the last event in which a file counts as written with it.
const WRITTEN_WITH_THE_LOG: i64 = 2;

impl Engine {
    /// Every foreign session on one line. A broken one does not hide the others.
    pub(crate) fn foreign_lines(&self) -> Vec<(ShortView, Vec<Warning>)> {
        let all = self.unadopted();
        if all.is_empty() {
            return Vec::new();
        }
        // Those of no project are numbered together, by whoever lists them.
        let is_counted = !self.project.is_outside;
        let numbers = if is_counted {
            self.foreign_numbers().unwrap_or_default()
        } else {
            std::collections::BTreeMap::new()
        };
        let eyes = self.eyes();
        let shorts = self.shorts();
        let number = |located: &Located| numbers.get(&located.id).copied().unwrap_or(0);
        let numbered: Vec<(&Located, u64)> = all.iter().map(|located| (located, number(located))).collect();
        let mut lines = shorts::by_several(&numbered, |(located, number)| {
            if located.layout.facts().exclusive {
                let short = shorts::by_path(&shorts, located)?;
                Some((ShortView { number: *number, ..short.line.clone() }, short.warnings.clone()))
            } else {
                eyes.line(located, *number)
            }
        });
        self.lines_beside_others(&mut lines);
        lines
    }

    /// The sessions of this worktree alone, a line each.
    pub(crate) fn own_lines(&self) -> Result<Vec<(ShortView, Vec<Warning>)>> {
        let here = Filter { worktree: Some(self.project.worktree()), ..Filter::default() };
        let kept = self.store.list(&here)?.into_iter().map(|listed| (ShortView::from(listed), Vec::new()));
        Ok(kept.chain(self.foreign_lines()).collect())
    }

    /// Sessions of this worktree that the store has finished and whose files say something else by now, for a list of
    /// others than finished ones. Only where one small file tells: a thousand old ones are not read whole.
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
                let says = self.eyes().line(&located, listed.number);
                if says.is_some_and(|(line, _)| request.lifecycles.contains(&line.lifecycle)) {
                    found.push(ShortView::from(listed.clone()));
                }
            }
        }
        Ok(found)
    }

    /// Whether the files of a finished session may say something that the log does not: not where the one that would was
    /// written when the log was.
    fn may_say_more(&self, spot: &Spot, listed: &store::Listed) -> bool {
        let file = layout::by_name(&listed.row.layout).and_then(|layout| layout.facts().reopened_in);
        let Some(file) = file else { return true };
        let place = self.project.root.join(&spot.home).join(file);
        let written = place.symlink_metadata().and_then(|found| found.modified()).ok();
        let written = written.and_then(|at| jiff::Timestamp::try_from(at).ok());
        written.is_some_and(|at| at.as_second() > listed.row.updated_at.as_second() + WRITTEN_WITH_THE_LOG)
    }

    /// Lays over a line of a list what the session's files tell by now; what is odd about them.
    pub(crate) fn shown_by_files(&self, line: &mut ShortView) -> Result<Vec<Warning>> {
        let is_here = line.layout != super::NATIVE && line.worktree == self.project.worktree();
        let Some(id) = SessionId::parse(&line.session_id).ok().filter(|_| is_here) else {
            return Ok(Vec::new());
        };
        let (_, session) = self.load(&id)?;
        *line = ShortView { number: line.number, ..ShortView::from(&session) };
        Ok(self.file_warnings(&id))
    }

    /// What stands where sessions are looked for and cannot be one.
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

/// Links, which may lead anywhere and are not followed; names that cannot be written; a folder that cannot be read.
fn odd_entries(root: &Path, folder: &str, layout: &dyn Layout) -> Vec<Warning> {
    let odd = |path: String, why: &str| Warning {
        kind: "foreign_file".to_owned(),
        message: format!("{path}: {why}"),
        hint: None,
        path: Some(path),
        problem: None,
    };
    if let Some(link) = link_on_the_way(root, folder) {
        return vec![odd(
            link,
            "it is a link, and links are not followed; sessions in it are not looked for",
        )];
    }
    let entries = match std::fs::read_dir(root.join(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![odd(folder.to_owned(), &format!("{error}; its sessions are not known"))],
    };
    let mut warnings = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name_there = name.to_string_lossy();
        let path = if folder.is_empty() { name_there.into_owned() } else { format!("{folder}/{name_there}") };
        // A project's own folder holds much that is none of the layout's.
        if folder.is_empty() && layout.identify(&path, true).is_none() {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            warnings.push(odd(path, "it is a link, and links are not followed"));
        } else if name.to_str().is_none() {
            warnings.push(odd(path, "its name is no UTF-8"));
        } else if layout.facts().private && is_of_others(root, &path) {
            warnings.push(odd(path, "it belongs to somebody else, and is left alone"));
        } else if layout.facts().takes_every_folder
            && layout.identify(&path, true).is_none()
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
        {
            warnings.push(odd(path, "it is no session, and its tool may take it for one"));
        }
    }
    warnings.sort_by(|one, other| one.path.cmp(&other.path));
    warnings
}
