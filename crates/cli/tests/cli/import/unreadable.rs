//! Tests of unreadable files in another project: refusals, messages, and questions.

use super::*;

const ESSAY: &str = "essay-pipeline-20261114-090000";

fn importing(sandbox: &Sandbox, from: &Sandbox, path: &str, layout: Option<&str>) -> testkit::Ran {
    let path = from.path(path).display().to_string();
    let layout = layout.map(|layout| ["--layout", layout]);
    sandbox.run(["import", path.as_str()].into_iter().chain(layout.into_iter().flatten()))
}

#[test]
fn what_tells_of_no_session_there_becomes_none_here_whatever_layout_it_is_to_keep() {
    for (layout, path, file, text) in [
        ("praxis", OLD, OLD, "{\"session_id\": \"old\", \"workf"),
        ("praxis", OLD, OLD, ""),
        ("ccw", ".workflow/WFS-x", ".workflow/WFS-x/workflow-session.json", "no JSON at all"),
    ] {
        let (elsewhere, sandbox) = (fresh(), fresh());
        elsewhere.write(file, text);
        let plain = importing(&sandbox, &elsewhere, path, None).code(3);
        let kept = importing(&sandbox, &elsewhere, path, Some(layout)).code(3);
        assert!(kept.stderr.contains("is not a session: "), "{}", kept.stderr);
        assert_eq!(kept.stderr, plain.stderr, "{path}");
        assert!(!sandbox.path(path).exists(), "nothing is written: {path}");
        assert_eq!(sandbox.run(["list", "--all", "--json"]).ok().json()["sessions"], json!([]));
        assert_eq!(elsewhere.read(file), text);
    }
}

#[test]
fn what_could_not_be_read_of_an_essay_is_told_by_the_import() {
    for layout in [None, Some("essay")] {
        let (elsewhere, sandbox) = (fresh(), fresh());
        elsewhere.write(&format!("{ESSAY}/session-state.yaml"), "{\"x");
        elsewhere.write(&format!("{ESSAY}/stage-1-thesis.md"), "thesis\n");
        let told = importing(&sandbox, &elsewhere, ESSAY, layout).ok().stderr;
        assert!(told.contains("Session state reconstructed from artifact files."), "{layout:?}: {told}");

        let (elsewhere, sandbox) = (fresh(), fresh());
        elsewhere.at("2026-11-14T09:00:00Z");
        elsewhere.run(["start", "--layout", "essay", "--id", ESSAY]).ok();
        let state = elsewhere.read(&format!("{ESSAY}/session-state.yaml"));
        let copy = fresh();
        copy.write(&format!("{ESSAY}/session-state.yaml.bak"), &state);
        copy.write(&format!("{ESSAY}/session-state.yaml"), "a: [\n");
        let told = importing(&sandbox, &copy, ESSAY, layout).ok().stderr;
        assert!(told.contains("Session state recovered from backup."), "{layout:?}: {told}");
    }
}

#[test]
fn an_essay_that_nothing_tells_of_can_be_mended_there_as_it_is_printed_and_then_comes() {
    for layout in [None, Some("essay")] {
        let (elsewhere, sandbox) = (fresh(), fresh());
        elsewhere.write(&format!("{ESSAY}/session-state.yaml"), "{\"x");
        let asked = importing(&sandbox, &elsewhere, ESSAY, layout).code(6).stderr;
        let line = asked.lines().find(|line| line.contains("--at essay_structuring")).unwrap().trim();
        sandbox.run_printed(line).ok();
        assert!(elsewhere.read(&format!("{ESSAY}/session-state.yaml")).contains("current_stage: 2"));
        importing(&sandbox, &elsewhere, ESSAY, layout).ok();
        let seen = sandbox.run(["show", ESSAY, "--json"]).ok().json();
        assert_eq!(seen["current_phase"]["number"], 2, "{layout:?}: {seen}");
    }
}
