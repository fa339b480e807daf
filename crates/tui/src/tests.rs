//! Tests of the effects of keys and changes, on data from the engine.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use crate::draw;
use crate::snapshot::{Snapshot, Wanted};
use crate::state::{Action, Copied, Effect, Focus, Mode, State, Tab};
use crate::text::Look;
use crate::update::{Event, update};
use crossterm::event::{KeyCode, KeyModifiers};
use engine::{Engine, Intent, ItemAdd, ItemRequest, Options, PauseRequest, Request, StartRequest};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use std::fs;

const LOOK: Look = Look { colour: false, unicode: true };

const SHIP: &str = r#"
name = "ship"
version = "1"
title = "Ship"

[[phase]]
id = "plan"
title = "Plan"
items = "task"

  [[phase.check]]
  id = "agreed"
  kind = "approval"

[[phase]]
id = "build"
title = "Build"
"#;

struct Project {
    _folder: tempfile::TempDir,
    options: Options,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in [(".git/HEAD", "ref: refs/heads/main\n"), (".leftoff/workflows/ship.toml", SHIP)]
        {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let options = Options { project: Some(folder.path().to_owned()), ..Options::default() };
        Self { _folder: folder, options }
    }

    fn engine(&self) -> Engine {
        Engine::open(self.options.clone(), Intent::Create).expect("the engine")
    }

    fn start(&self, id: &str, title: &str) {
        let request = StartRequest {
            workflow: Some("ship".to_owned()),
            id: Some(id.to_owned()),
            title: Some(title.to_owned()),
            ..StartRequest::default()
        };
        self.engine().execute(Request::Start(request)).expect("a session");
    }

    fn state(&self, size: (u16, u16)) -> State {
        let wanted = Wanted { session: None, tab: Tab::Now };
        let snapshot = Snapshot::load(&self.options, &wanted, None).expect("a snapshot");
        State::new(snapshot, None, size)
    }

    fn load(&self, state: &mut State) {
        let snapshot = Snapshot::load(&self.options, &state.wanted(), None).expect("a snapshot");
        update(state, Event::Loaded(Box::new(snapshot)));
    }
}

fn press(state: &mut State, key: char) -> Option<Effect> {
    update(state, Event::Key(KeyCode::Char(key), KeyModifiers::NONE))
}

fn key(state: &mut State, key: KeyCode) -> Option<Effect> {
    update(state, Event::Key(key, KeyModifiers::NONE))
}

fn drawn(state: &mut State) -> String {
    let area = Rect::new(0, 0, state.size.0, state.size.1);
    let mut buffer = Buffer::empty(area);
    draw::frame(state, LOOK, area, &mut buffer);
    draw::rows(&buffer, LOOK).iter().map(|row| format!("{}\n", row.text())).collect()
}

#[test]
fn tabs_are_reached_by_numbers_and_by_the_tab_key() {
    let project = Project::new();
    project.start("login", "Log in");
    let mut state = project.state((80, 24));
    for (digit, tab) in ('1'..='5').zip(Tab::ALL) {
        assert_eq!(press(&mut state, digit), Some(Effect::Load));
        assert_eq!(state.tab, tab);
    }
    key(&mut state, KeyCode::Tab);
    assert_eq!(state.tab, Tab::Now);
    key(&mut state, KeyCode::BackTab);
    assert_eq!(state.tab, Tab::Files);
    assert_eq!(press(&mut state, 'q'), Some(Effect::Quit));
    let ctrl_c = Event::Key(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(update(&mut state, ctrl_c), Some(Effect::Quit));
}

#[test]
fn the_active_session_is_followed_until_another_is_chosen() {
    let project = Project::new();
    project.start("login", "Log in");
    let mut state = project.state((80, 24));
    project.start("logout", "Log out");
    project.load(&mut state);
    assert_eq!(state.view().unwrap().session_id, "logout", "the new active one");
    press(&mut state, 'h');
    assert_eq!(state.focus, Focus::Sessions);
    assert_eq!(press(&mut state, 'j'), Some(Effect::Load));
    assert_eq!(state.chosen.as_deref(), Some("login"));
    project.load(&mut state);
    assert_eq!(state.view().unwrap().session_id, "login");
    assert_eq!(press(&mut state, 'j'), None, "that was the last one");
    project.start("third", "Third");
    project.load(&mut state);
    assert_eq!(state.view().unwrap().session_id, "login", "what was chosen stays");
    assert_eq!(key(&mut state, KeyCode::Esc), Some(Effect::Load));
    project.load(&mut state);
    assert_eq!(state.view().unwrap().session_id, "third", "followed again");
}

#[test]
fn a_filter_is_typed_and_left() {
    let project = Project::new();
    project.start("login", "Log in");
    project.start("other", "Something else");
    let mut state = project.state((80, 24));
    press(&mut state, 'h');
    press(&mut state, '/');
    "log".chars().for_each(|letter| assert_eq!(press(&mut state, letter), None));
    assert_eq!(state.sessions().len(), 1);
    key(&mut state, KeyCode::Enter);
    assert_eq!((state.mode.clone(), state.filter.as_str()), (Mode::Browse, "log"));
    assert!(drawn(&mut state).contains("Log in"));
    key(&mut state, KeyCode::Esc);
    assert_eq!(state.sessions().len(), 2);
}

#[test]
fn pausing_notes_and_copies_are_effects_with_their_commands() {
    let project = Project::new();
    project.start("login", "Log in");
    let mut state = project.state((80, 24));
    assert_eq!(press(&mut state, 'p'), Some(Effect::Run(Action::Pause)));
    project.engine().execute(Request::Pause(PauseRequest::default())).expect("paused");
    project.load(&mut state);
    assert_eq!(press(&mut state, 'p'), Some(Effect::Run(Action::Resume)));
    assert!(matches!(press(&mut state, 'y'), Some(Effect::Copy(Copied::Command(_)))));
    assert_eq!(press(&mut state, 'Y'), Some(Effect::Copy(Copied::Brief)));
    press(&mut state, 'n');
    "q?".chars().for_each(|letter| assert_eq!(press(&mut state, letter), None, "it is text now"));
    let note = Action::Note("q?".to_owned());
    assert_eq!(note.command(state.view().unwrap()).to_string(), "leftoff note 'q?'");
    assert_eq!(key(&mut state, KeyCode::Enter), Some(Effect::Run(note)));
    press(&mut state, 'n');
    assert_eq!(key(&mut state, KeyCode::Enter), None, "an empty note is none");
}

#[test]
fn an_approval_is_asked_for_and_nothing_but_y_gives_it() {
    let project = Project::new();
    project.start("login", "Log in");
    let mut state = project.state((80, 24));
    press(&mut state, 'a');
    assert_eq!(state.mode, Mode::Approve { check: "agreed".to_owned() });
    assert!(drawn(&mut state).contains("Approve agreed? y or n (leftoff approve agreed)"));
    assert_eq!(key(&mut state, KeyCode::Enter), None);
    assert_eq!(state.mode, Mode::Browse);
    press(&mut state, 'a');
    assert_eq!(press(&mut state, 'y'), Some(Effect::Run(Action::Approve("agreed".to_owned()))));
}

#[test]
fn an_approval_is_for_the_files_that_the_question_was_about() {
    let mut project = Project::new();
    project.options.person_present = true;
    let root = project.options.project.clone().unwrap();
    let with_file = SHIP.replace("items = \"task\"", "produces = [\"PLAN.md\"]");
    fs::write(root.join(".leftoff/workflows/ship.toml"), with_file).unwrap();
    project.start("login", "Log in");
    let plan = root.join(".leftoff/sessions/login/PLAN.md");
    fs::create_dir_all(plan.parent().unwrap()).unwrap();
    fs::write(&plan, "the plan\n").unwrap();
    let answered = |state: &mut State| {
        let Some(Effect::Run(action)) = press(state, 'y') else { panic!("it was not asked") };
        crate::act::run(&project.options, state, &action)
    };
    let mut state = project.state((80, 24));
    press(&mut state, 'a');
    fs::write(&plan, "another plan\n").unwrap();
    let message = answered(&mut state);
    assert!(message.is_failure && message.text.contains("changed"), "{message:?}");
    project.load(&mut state);
    press(&mut state, 'a');
    let message = answered(&mut state);
    assert!(!message.is_failure, "{message:?}");
}

#[test]
fn help_filters_as_it_is_typed() {
    let project = Project::new();
    let mut state = project.state((100, 24));
    press(&mut state, '?');
    assert!(drawn(&mut state).contains("copy the brief"));
    "pause".chars().for_each(|letter| {
        press(&mut state, letter);
    });
    let shown = drawn(&mut state);
    assert!(shown.contains("leftoff pause") && !shown.contains("copy the brief"), "{shown}");
    key(&mut state, KeyCode::Esc);
    assert_eq!(state.mode, Mode::Browse);
}

#[test]
fn ten_thousand_items_scroll_to_the_last() {
    let project = Project::new();
    project.start("login", "Log in");
    let mut engine = project.engine();
    for _ in 0..3 {
        let item = ItemAdd { title: "Item".to_owned(), ..ItemAdd::default() };
        engine.execute(Request::Item(ItemRequest::Add(item))).expect("an item");
    }
    let mut state = project.state((80, 24));
    press(&mut state, '3');
    project.load(&mut state);
    // The test needs more items than a store could write one by one within minutes.
    let listing = state.snapshot.shown.as_mut().unwrap().items.as_mut().unwrap();
    let one = listing.items[0].clone();
    listing.items = (1..=10_000)
        .map(|number| {
            let mut item = one.clone();
            item.item.title = format!("Item number {number}");
            item
        })
        .collect();
    assert!(drawn(&mut state).contains("Item number 1:"));
    press(&mut state, 'G');
    let last = drawn(&mut state);
    assert!(last.contains("Item number 10000:"), "{last}");
    press(&mut state, 'k');
    assert!(drawn(&mut state).contains("2 more below"), "one up from the end");
    press(&mut state, 'g');
    assert!(drawn(&mut state).contains("Item number 1:"));
}

#[test]
fn frames_of_every_size_are_drawn_within_their_area() {
    let project = Project::new();
    project.start("login", &"漢字 🙂 \u{1b}[31m title \u{202e} ".repeat(20));
    for tab in Tab::ALL {
        let mut state = project.state((80, 24));
        state.tab = tab;
        project.load(&mut state);
        for size in [(1, 1), (2, 3), (5, 2), (20, 5), (40, 10), (79, 24), (80, 1), (81, 24), (300, 90)] {
            update(&mut state, Event::Resized(size.0, size.1));
            let shown = drawn(&mut state);
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{size:?}");
        }
    }
}

#[test]
fn what_is_pasted_is_text_and_presses_no_key() {
    let project = Project::new();
    project.start("login", "Stay logged in");
    let mut state = project.state((80, 24));
    // If these letters acted as keys, they would request an approval and confirm it.
    assert_eq!(update(&mut state, Event::Pasted("ay\nq".to_owned())), None);
    assert_eq!(state.mode, Mode::Browse);
    state.mode = Mode::Approve { check: "agreed".to_owned() };
    assert_eq!(update(&mut state, Event::Pasted("y".to_owned())), None);
    assert_eq!(state.mode, Mode::Approve { check: "agreed".to_owned() });
    state.mode = Mode::Note { text: "a ".to_owned() };
    update(&mut state, Event::Pasted("b\nc".to_owned()));
    assert_eq!(state.mode, Mode::Note { text: "a b c".to_owned() });
}
