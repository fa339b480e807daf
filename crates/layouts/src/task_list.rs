//! Parses task lists of other tools: check boxes in Markdown (spec-kit, Kiro, OpenSpec and others), and the
//! JSON of task-master. Knows nothing of sessions.

use serde_json::Value;
use std::collections::BTreeSet;

/// One task of a list. Its id is the number in the list. The id of a task without a number is made from its
/// title.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    pub id: String,
    pub title: String,
    /// True if the id is the number in the list. An id made from the title changes when the title changes.
    pub numbered: bool,
    /// True if the task is done according to the list. Nothing here checks whether that is true.
    pub ticked: bool,
    pub parent: Option<String>,
    pub needs: Vec<String>,
}

/// A list of tasks, with its heading if it has one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskList {
    pub title: Option<String>,
    pub tasks: Vec<Task>,
}

/// The paths in a tool's folder at which a task list may be. The first path that exists is used.
pub const PLACES: [&str; 4] = ["tasks.md", ".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json"];

const LONGEST_SLUG: usize = 40;
const LONGEST_TITLE: usize = 400;

/// Reads a task list. The error says why the text contains none.
pub fn read(text: &str, is_json: bool) -> Result<TaskList, String> {
    let text = text.trim_start_matches('\u{feff}');
    let mut list = if is_json { task_master(text)? } else { check_boxes(text) };
    if list.tasks.is_empty() {
        let looked_for = if is_json { "no tasks" } else { "no check boxes such as `- [ ] Title`" };
        return Err(format!("it contains {looked_for}"));
    }
    let known: BTreeSet<String> = list.tasks.iter().map(|task| task.id.clone()).collect();
    for task in &mut list.tasks {
        let own = task.id.clone();
        task.needs.retain(|need| known.contains(need) && *need != own);
        task.needs.dedup();
        task.parent = task.parent.take().filter(|parent| known.contains(parent));
    }
    Ok(list)
}

/// Reads check boxes, which may be nested. A leading number or code such as `T001` is the id of a task.
/// Without one, the id is made from the words of the task.
fn check_boxes(text: &str) -> TaskList {
    let mut list = TaskList::default();
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut samples = Samples::default();
    let mut blocks: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if samples.hold(line) {
            continue;
        }
        if let Some(heading) = line.strip_prefix("# ").filter(|_| list.title.is_none()) {
            list.title = Some(heading_text(heading)).filter(|title| !title.is_empty());
        }
        let Some((ticked, words)) = check_box(line) else {
            blocks.extend(blocking(line));
            continue;
        };
        let indent = line.chars().take_while(|letter| letter.is_whitespace()).map(width).sum::<usize>();
        open.retain(|(outer, _)| *outer < indent);
        let (number, title) = named(words);
        let numbered = number.is_some();
        let id = free(number.unwrap_or_else(|| slug(&title)), &list.tasks);
        let needs = depends_on(&title);
        let parent = container(&id, &list.tasks).or_else(|| open.last().map(|(_, id)| id.clone()));
        open.push((indent, id.clone()));
        list.tasks.push(Task { id, title, numbered, ticked, parent, needs });
    }
    for (before, after) in blocks {
        let waiting = list.tasks.iter_mut().find(|task| task.id == after);
        if let Some(task) = waiting.filter(|task| !task.needs.contains(&before)) {
            task.needs.push(before);
        }
    }
    list
}

/// Finds text that only shows how tasks look: code blocks and comments.
#[derive(Debug, Default)]
struct Samples {
    fence: Option<String>,
    is_comment: bool,
}

impl Samples {
    /// True if the line belongs to a code block or a comment, including its first and last line.
    fn hold(&mut self, line: &str) -> bool {
        let line = line.trim();
        if let Some(fence) = &self.fence {
            let closes = line.starts_with(fence.as_str()) && line.trim_matches(['`', '~']).is_empty();
            self.fence = self.fence.take().filter(|_| !closes);
            return true;
        }
        if self.is_comment {
            self.is_comment = !line.contains("-->");
            return true;
        }
        let mark = line.chars().next().filter(|first| matches!(first, '`' | '~')).unwrap_or(' ');
        let length = line.chars().take_while(|letter| *letter == mark).count();
        if length >= 3 {
            self.fence = Some(line.chars().take(length).collect());
            return true;
        }
        if line.starts_with("<!--") {
            self.is_comment = !line.contains("-->");
            return true;
        }
        false
    }
}

/// The container of a task according to its number. For 2.1 it is 2, even if the list does not indent 2.1.
fn container(id: &str, tasks: &[Task]) -> Option<String> {
    let (outer, _) = id.rsplit_once('.')?;
    tasks.iter().any(|task| task.numbered && task.id == outer).then(|| outer.to_owned())
}

fn width(letter: char) -> usize {
    if letter == '\t' { 4 } else { 1 }
}

/// Parses a check box such as `- [x] words`, with any bullet. Returns true if the box is ticked, and the
/// words.
fn check_box(line: &str) -> Option<(bool, &str)> {
    let line = line.trim_start();
    let rest = match line.split_once(' ')? {
        ("-" | "*" | "+", rest) => rest,
        (number, rest) if number.len() > 1 && number.trim_end_matches(['.', ')']).parse::<u32>().is_ok() => {
            rest
        }
        _ => return None,
    };
    let (mark, words) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let ticked = match mark {
        "x" | "X" => true,
        " " | "" | "-" | "~" | "/" => false,
        _ => return None,
    };
    // Kiro marks optional tasks with a star.
    let words = words.strip_prefix('*').unwrap_or(words).trim();
    (!words.is_empty()).then_some((ticked, words))
}

/// Splits the words of a task into its id, if it has one, and its title.
fn named(words: &str) -> (Option<String>, String) {
    let words = words.trim_start_matches("**");
    let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
    match id_of(first.trim_end_matches("**")) {
        Some(id) if !rest.trim().is_empty() => (Some(id), cleaned(rest)),
        _ => (None, cleaned(words)),
    }
}

/// The id in a task's first word. `T001` stays as it is; `1.2` and `1.` are numbers of tasks.
fn id_of(word: &str) -> Option<String> {
    let word = word.trim_end_matches(['.', ':', ')']);
    let digits = word.strip_prefix('T').unwrap_or(word);
    let is_number = !digits.is_empty()
        && digits.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    is_number.then(|| if digits.len() < word.len() { word.to_owned() } else { format!("task-{word}") })
}

fn cleaned(title: &str) -> String {
    let words = title.split_whitespace().filter(|word| *word != "[P]");
    let title = words.collect::<Vec<_>>().join(" ").replace("**", "");
    let title = title.trim().trim_start_matches(['-', ':']).trim();
    title.chars().take(LONGEST_TITLE).collect()
}

fn heading_text(heading: &str) -> String {
    let heading = cleaned(heading);
    let plain =
        ["Tasks:", "Task List:", "Implementation Plan:"].iter().find_map(|word| heading.strip_prefix(word));
    plain.unwrap_or(&heading).trim().to_owned()
}

fn slug(title: &str) -> String {
    let mut slug = String::new();
    for letter in title.chars().take(2 * LONGEST_SLUG) {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(LONGEST_SLUG);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "task".to_owned() } else { slug.to_owned() }
}

/// The id. If an earlier task has the same id, a number is appended.
fn free(id: String, tasks: &[Task]) -> String {
    let is_taken = |id: &str| tasks.iter().any(|task| task.id.eq_ignore_ascii_case(id));
    let mut names = std::iter::once(id.clone()).chain((2_u32..).map(|number| format!("{id}-{number}")));
    names.find(|name| !is_taken(name)).unwrap_or(id)
}

/// The ids that follow `depends on` in a title.
fn depends_on(title: &str) -> Vec<String> {
    let lower = title.to_ascii_lowercase();
    let Some(at) = lower.find("depends on ").map(|at| at + "depends on ".len()) else { return Vec::new() };
    ids_in(title.get(at..).unwrap_or_default())
}

/// The dependencies in a line such as `T008 blocks T009, T015` or `Tests (T004-T007) before implementation
/// (T008-T014)`.
fn blocking(line: &str) -> Vec<(String, String)> {
    let (ids, parts) = match line.split_once(" blocks ") {
        Some(parts) => (ids_in as fn(&str) -> Vec<String>, parts),
        // In prose, a plain number may mean anything. Only a code such as `T001` is certainly a task.
        None => match line.split_once(" before ") {
            Some(parts) => (written_out as fn(&str) -> Vec<String>, parts),
            None => return Vec::new(),
        },
    };
    let (before, after) = (ids(parts.0), ids(parts.1));
    before.iter().flat_map(|one| after.iter().map(move |other| (one.clone(), other.clone()))).collect()
}

fn ids_in(text: &str) -> Vec<String> {
    let words =
        text.split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';' | '(' | ')' | '*'));
    words.flat_map(|word| range(word).unwrap_or_else(|| id_of(word).into_iter().collect())).collect()
}

fn written_out(text: &str) -> Vec<String> {
    ids_in(text).into_iter().filter(|id| id.starts_with('T')).collect()
}

/// The ids in a range. `T004-T007` stands for four ids, which are spelled like the first.
fn range(word: &str) -> Option<Vec<String>> {
    const LONGEST: u32 = 200;
    let (first, last) = word.trim_end_matches(['.', ':']).split_once(['-', '–'])?;
    let digits = |word: &str| word.strip_prefix('T').filter(|digits| !digits.is_empty()).map(str::to_owned);
    let (from, to) = (digits(first)?, digits(last)?);
    let numbers =
        from.parse::<u32>().ok()?..=to.parse::<u32>().ok()?.min(from.parse::<u32>().ok()? + LONGEST);
    Some(numbers.map(|number| format!("T{number:0width$}", width = from.len())).collect())
}

/// True if the two titles have most of their words in common, apart from the ends of words, so that one is a
/// rewording of the other.
pub fn is_reworded(one: &str, other: &str) -> bool {
    const ENDING: usize = 2;
    const SHORTEST: usize = 3;
    let words = |title: &str| -> Vec<String> {
        let words = title.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let is_alike = |one: &str, other: &str| {
        let longest = one.chars().count().max(other.chars().count());
        let begins = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
        one == other || begins >= SHORTEST && begins + ENDING >= longest
    };
    let (one, mut rest) = (words(one), words(other));
    let all = one.len() + rest.len();
    let mut shared = 0;
    for word in &one {
        if let Some(at) = rest.iter().position(|other| is_alike(word, other)) {
            rest.swap_remove(at);
            shared += 1;
        }
    }
    // More than three fifths of all different words are in both titles.
    shared * 5 > (all - shared) * 3
}

/// Reads tasks with subtasks. If the file contains several tags, the tag `master` is read; without it, the
/// first tag.
fn task_master(text: &str) -> Result<TaskList, String> {
    let whole: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let tagged = || {
        let tags = whole.as_object()?;
        tags.get("master").or_else(|| tags.values().find(|tag| tag.get("tasks").is_some()))?.get("tasks")
    };
    let tasks = whole.get("tasks").or_else(tagged).and_then(Value::as_array);
    let mut list = TaskList::default();
    for task in tasks.ok_or("it has no list of tasks")? {
        let Some(number) = number_of(task) else { continue };
        let id = format!("task-{number}");
        list.tasks.extend(one_task(task, &id, None, |need| format!("task-{need}")));
        for part in task.get("subtasks").and_then(Value::as_array).into_iter().flatten() {
            let Some(part_number) = number_of(part) else { continue };
            // In the dependencies of a subtask, a plain number is another subtask of the same task.
            let need = |need: String| {
                if need.contains('.') { format!("task-{need}") } else { format!("{id}.{need}") }
            };
            list.tasks.extend(one_task(part, &format!("{id}.{part_number}"), Some(&id), need));
        }
    }
    Ok(list)
}

fn one_task(task: &Value, id: &str, parent: Option<&str>, need: impl Fn(String) -> String) -> Option<Task> {
    let text = |key: &str| task.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("status") == "cancelled" {
        return None;
    }
    let needs = task.get("dependencies").and_then(Value::as_array).into_iter().flatten();
    Some(Task {
        id: id.to_owned(),
        title: Some(cleaned(text("title"))).filter(|title| !title.is_empty())?,
        numbered: true,
        ticked: matches!(text("status"), "done" | "completed"),
        parent: parent.map(ToOwned::to_owned),
        needs: needs.filter_map(plain_number).map(need).collect(),
    })
}

fn number_of(task: &Value) -> Option<String> {
    task.get("id").and_then(plain_number)
}

/// The number of a task, written as `3`, `"3"` or `"3.1"`.
fn plain_number(value: &Value) -> Option<String> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line for each task: its id, `x` if it is ticked, its parent, its dependencies, its title.
    fn shown(text: &str, is_json: bool) -> Vec<String> {
        let list = read(text, is_json).expect("a list");
        let line = |task: &Task| {
            let ticked = if task.ticked { "x" } else { "-" };
            let parent = task.parent.as_deref().unwrap_or("-");
            format!("{} {ticked} {parent} [{}] {}", task.id, task.needs.join(","), task.title)
        };
        list.tasks.iter().map(line).collect()
    }

    #[test]
    fn spec_kit() {
        let text = "# Tasks: Photo albums\n\n## Phase 3.1: Setup\n- [x] T001 Create the project structure\n- [ ] T002 [P] Configure linting\n\n## Phase 3.2\n- [ ] T003 [P] [US1] Contract test in tests/albums.rs (depends on T001)\n- [ ] T004 Album model\n\n## Dependencies\n- T003 blocks T004\n- Tests before code\n\n```\n- [ ] T099 an example, no task\n```\n";
        assert_eq!(
            shown(text, false),
            [
                "T001 x - [] Create the project structure",
                "T002 - - [] Configure linting",
                "T003 - - [T001] [US1] Contract test in tests/albums.rs (depends on T001)",
                "T004 - - [T003] Album model",
            ]
        );
        assert_eq!(read(text, false).expect("a list").title.as_deref(), Some("Photo albums"));
    }

    #[test]
    fn spec_kit_as_its_template_writes_it() {
        let text = "\u{feff}---\r\ndescription: \"Tasks\"\r\n---\r\n# Tasks: Photo albums\r\n\r\n<!--\r\n- [ ] T998 a sample\r\n-->\r\n\r\n## Phase 1: Setup\r\n\r\n- [X] T001 Create the project structure\r\n- [ ] T002 [P] [US1] Contract test for /albums in tests/contract/test_albums.py\r\n- [ ] T003 [P] Größe prüfen\r\n- [ ] T004 Album model\r\n\r\n**Checkpoint**: ready\r\n\r\n## Dependencies\r\n- Tests (T002-T003) before implementation (T004)\r\n- T001 blocks T002, T003\r\n\r\n````\r\n```\r\n- [ ] T999 an example\r\n```\r\n````\r\n";
        assert_eq!(
            shown(text, false),
            [
                "T001 x - [] Create the project structure",
                "T002 - - [T001] [US1] Contract test for /albums in tests/contract/test_albums.py",
                "T003 - - [T001] Größe prüfen",
                "T004 - - [T002,T003] Album model",
            ]
        );
    }

    #[test]
    fn a_title_is_reworded_if_most_of_its_words_stay() {
        for (one, other) in
            [("Write docs", "Write the docs"), ("Fix typo", "fix typos!"), ("Схема базы", "Схемы базы")]
        {
            assert!(is_reworded(one, other) && is_reworded(other, one), "{one}, {other}");
        }
        for (one, other) in
            [("Write docs", "Write tests"), ("Tests for photos", "Tests for albums"), ("", "A")]
        {
            assert!(!is_reworded(one, other), "{one}, {other}");
        }
    }

    #[test]
    fn kiro() {
        let text = "# Implementation Plan\n\n- [x] 1. Set up the project\n  - Make folders\n  - _Requirements: 1.1_\n\n- [ ] 2. Data models\n- [x] 2.1 Interfaces\n  - [ ] 2.2 Validation\n- [-] 3. Begun\n- [ ]* 3.1 Optional tests\n";
        assert_eq!(
            shown(text, false),
            [
                "task-1 x - [] Set up the project",
                "task-2 - - [] Data models",
                "task-2.1 x task-2 [] Interfaces",
                "task-2.2 - task-2 [] Validation",
                "task-3 - - [] Begun",
                "task-3.1 - task-3 [] Optional tests",
            ]
        );
    }

    #[test]
    fn open_spec_and_lists_without_numbers() {
        let text = "## 1. Implementation\n- [x] 1.1 Create the schema\n- [ ] 1.2 **API**: the endpoint\n\n* [ ] Write docs\n  1. [x] Write docs\n+ [ ] !!!\n- [link](x) no box\n- [y] no box either\n";
        assert_eq!(
            shown(text, false),
            [
                "task-1.1 x - [] Create the schema",
                "task-1.2 - - [] API: the endpoint",
                "write-docs - - [] Write docs",
                "write-docs-2 x write-docs [] Write docs",
                "task - - [] !!!",
            ]
        );
    }

    #[test]
    fn task_master_with_and_without_tags() {
        let tasks = r#"{"tasks":[{"id":1,"title":"Setup","status":"done","dependencies":[],"subtasks":[{"id":1,"title":"Init","status":"done"},{"id":2,"title":"Lint","status":"pending","dependencies":[1,"2.9"]}]},{"id":2,"title":"API","status":"in-progress","dependencies":[1,7]},{"id":3,"title":"Gone","status":"cancelled"}]}"#;
        let expected = [
            "task-1 x - [] Setup",
            "task-1.1 x task-1 [] Init",
            "task-1.2 - task-1 [task-1.1] Lint",
            "task-2 - - [task-1] API",
        ];
        assert_eq!(shown(tasks, true), expected);
        assert_eq!(shown(&format!("{{\"other\":{{}},\"master\":{tasks}}}"), true), expected);
    }

    #[test]
    fn what_is_no_list_says_why() {
        assert!(read("# Notes\n\nwords", false).is_err());
        assert!(read("{", true).is_err() && read("{\"tasks\":[]}", true).is_err());
    }
}
