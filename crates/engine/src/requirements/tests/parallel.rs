//! Tests many processes at once. Each process is this test program again, which its environment tells what to
//! do.

use super::*;
use std::process::{Child, Command, Stdio};

const TOLD: &str = "LEFTOFF_TEST_CHILD";

/// Runs the request of the parent process; started alone, it does nothing.
#[test]
fn child() {
    let Ok(told) = std::env::var(TOLD) else { return };
    let words: Vec<&str> = told.split('|').collect();
    let [root, home, what, number] = words[..] else { panic!("{told}") };
    let options = Options { project: Some(PathBuf::from(root)), ..Options::default() };
    let mut engine = Engine::open(options, Intent::Query).expect("it opens");
    engine.caller.home = Some(PathBuf::from(home));
    engine.set_patience(Duration::from_millis(50));
    let session = format!("{}0000000", number.parse::<usize>().expect("a number") % 10);
    let agent = claude(&session);
    let id = format!("toolu_{number}");
    let call = |skill| ToolCall {
        agent: &agent,
        tool: "Bash",
        command: None,
        files: &[],
        skill,
        tool_use_id: Some(&id),
    };
    let told = match what {
        "count" => engine.after_tool(&call(None)).problems,
        "skill" => engine.after_tool(&call(Some(&format!("skill-{number}")))).problems,
        other => panic!("{other}"),
    };
    assert_eq!(told, Vec::<String>::new());
}

fn children(place: &Place, what: &str, numbers: std::ops::Range<usize>) -> Vec<Child> {
    let program = std::env::current_exe().expect("this program");
    let (root, home) = (place.root(), place.home());
    numbers
        .map(|number| {
            Command::new(&program)
                .args(["--exact", "requirements::tests::parallel::child", "--test-threads=1"])
                .env(TOLD, format!("{}|{}|{what}|{number}", root.display(), home.display()))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("a process")
        })
        .collect()
}

fn all_done(children: Vec<Child>) {
    for child in children {
        let ended = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success(), "{:?}: {said}", ended.status);
    }
}

#[test]
fn no_increment_of_160_processes_is_lost() {
    let place = Place::with("requirements: {commit_plan: {enabled: true}}");
    all_done(children(&place, "count", 0..160));
    // One more process for each agent session applies the notes that are beside the session's file.
    all_done(children(&place, "count", 160..170));
    let counted: u64 = (0..10)
        .map(|agent| {
            place.metrics_of(&format!("{agent}0000000"))["tools"]["Bash"]["count"].as_u64().expect("a count")
        })
        .sum();
    assert_eq!(counted, 170);
}

#[test]
fn no_satisfaction_of_a_hundred_hooks_is_lost() {
    let entries: String = (0..101)
        .map(|number| format!("  r{number}: {{enabled: true, satisfied_by_skill: skill-{number}}}\n"))
        .collect();
    let place = Place::with(&format!("requirements:\n{entries}"));
    all_done(children(&place, "skill", 0..100));
    all_done(children(&place, "skill", 100..101));
    let state = place.state("feature-auth");
    let satisfied = state["requirements"].as_object().expect("a table").len();
    assert_eq!(satisfied, 101, "{state}");
}
