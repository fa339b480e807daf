//! Compares a state with the files in the session's folder, before the session continues. Changes nothing.

use super::artifacts::{Referred, argument_map, refer, section_of_map};
use super::state::{FILE_KEYS, Section, StageStatus, State};
use super::{STAGES, STATE};
use crate::layout::Folder;
use crate::problem::{Incomplete, Problem, Range, Type, What};
use serde_json::Value;

/// All differences between a state and its files, in the order of the checks. A person decides how to
/// continue.
pub(super) fn discrepancies(state: &State, folder: &Folder<'_>) -> Vec<Problem> {
    let mut checks = Checks { state, folder, found: Vec::new() };
    checks.completed_stages();
    checks.completed_sections();
    checks.current_section();
    checks.current_paragraph();
    checks.referenced_files();
    checks.prerequisites();
    checks.found
}

struct Checks<'a> {
    state: &'a State,
    folder: &'a Folder<'a>,
    found: Vec<Problem>,
}

impl Checks<'_> {
    fn odd(&mut self, field: impl Into<String>, what: What) {
        self.found.push(Problem::of_field(STATE, field, what));
    }

    fn completed_stages(&mut self) {
        for (position, key, name) in FILE_KEYS {
            let stage = &self.state.stages[position];
            // The log of a stage is optional, because the stage is proven by its artifact.
            let is_log = key.ends_with("_log");
            let is_named = stage.fields.contains_key(key);
            if stage.status == StageStatus::Completed && !is_log && !is_named && !self.is_there(name) {
                let what = What::Incomplete(Incomplete::File { name: name.to_owned() });
                self.odd(format!("stages.{}", STAGES[position].key), what);
            }
        }
        let has_no_map = self.state.sections.is_empty()
            && !self.folder.tree.files().any(|path| section_of_map(path).is_some());
        if self.state.stages[2].status == StageStatus::Completed && has_no_map {
            self.odd("stages.stage_3", What::Incomplete(Incomplete::NoArgumentMap));
        }
    }

    fn completed_sections(&mut self) {
        for section in &self.state.sections {
            let name = argument_map(section.index);
            let is_named = section.fields.contains_key("argument_map_file");
            if section.status == StageStatus::Completed && !is_named && !self.is_there(&name) {
                let how = Incomplete::SectionFile { section: section.index, name };
                self.odd("stages.stage_3.sections", What::Incomplete(how));
            }
        }
    }

    fn current_section(&mut self) {
        let sections = [&self.state.sections, &self.state.drafts];
        for (position, own) in [2, 3].into_iter().zip(sections) {
            let Some(current) = self.state.stages[position].current_section else { continue };
            let Some(total) = self.total(own) else { continue };
            if !(1..=i64::from(total)).contains(&current) {
                let field = format!("stages.{}.current_section", STAGES[position].key);
                self.odd(field, What::OutOfRange { found: current, range: Range::Sections(total) });
            }
        }
    }

    /// The number of sections, if known.
    fn total(&self, own: &[Section]) -> Option<u32> {
        let said = self.state.stages[2].total_sections.or(self.state.stages[1].total_sections);
        said.or_else(|| own.iter().map(|section| section.index).max())
    }

    fn current_paragraph(&mut self) {
        let stage = &self.state.stages[3];
        let Some(current) = stage.current_paragraph else { return };
        let is_current = |section: &&Section| Some(i64::from(section.index)) == stage.current_section;
        let section = self.state.drafts.iter().find(is_current);
        let most = section.and_then(|section| section.paragraphs).unwrap_or(super::state::MOST_PARAGRAPHS);
        if !(1..=i64::from(most)).contains(&current) {
            let what = What::OutOfRange { found: current, range: Range::Paragraphs(most) };
            self.odd("stages.stage_4.current_paragraph", what);
        }
    }

    fn referenced_files(&mut self) {
        let mut named: Vec<(String, &Value)> = Vec::new();
        for (position, key, _) in FILE_KEYS {
            let value = self.state.stages[position].fields.get(key);
            named.extend(value.map(|value| (format!("stages.{}.{key}", STAGES[position].key), value)));
        }
        for section in &self.state.sections {
            let value = section.fields.get("argument_map_file");
            let name = format!("stages.stage_3.sections: argument_map_file of section {}", section.index);
            named.extend(value.map(|value| (name, value)));
        }
        let final_essay = self.state.fields.get("final_essay_file");
        named.extend(final_essay.map(|value| ("output.final_essay_file".to_owned(), value)));
        for (name, value) in named {
            let Some(path) = value.as_str() else {
                self.odd(name, What::WrongType { found: value.to_string(), wanted: Type::Path });
                continue;
            };
            match refer(path, self.state, self.folder) {
                Referred::Inside(inside) if !self.is_there(&inside) => {
                    self.odd(name, What::FileMissing { path: path.to_owned() });
                }
                Referred::Inside(_) => {}
                Referred::Outside => self.odd(name, What::FileOutside { path: path.to_owned() }),
            }
        }
    }

    fn prerequisites(&mut self) {
        for (position, stage) in STAGES.iter().enumerate() {
            let is_done = self.state.stages[position].status == StageStatus::Completed;
            let open = (0..position).find(|at| self.state.stages[*at].status == StageStatus::NotStarted);
            if let Some(open) = open.filter(|_| is_done) {
                let (done, open) = (stage.key, STAGES[open].key);
                self.odd(format!("stages.{done}"), What::Incomplete(Incomplete::Earlier { stage: open }));
            }
        }
    }

    fn is_there(&self, path: &str) -> bool {
        self.folder.tree.has_file(path)
    }
}
