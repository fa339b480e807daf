//! Tests of duplicate lines in the registry, and of lines that are not sessions: they are reported, merged or
//! preserved.

use super::*;

fn lines(sandbox: &Sandbox) -> Vec<String> {
    sandbox.read(REGISTRY).lines().map(ToOwned::to_owned).collect()
}

/// Of two duplicate lines, the one with the older state is last, and the last line is used.
#[test]
fn a_switch_to_a_session_with_two_lines_leaves_it_one_that_says_active() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "active", "2026-11-12T10:00:00Z");
    let known = lines(&sandbox);
    let older = known[0].replace("paused", "active");
    sandbox.write(REGISTRY, &format!("{older}\n{}\n{}\n", known[1], known[0]));
    sandbox.run(["switch", "WFS-a"]).ok();
    let expected = [("WFS-b", "paused"), ("WFS-a", "active")];
    assert_eq!(registered(&sandbox), expected.map(|(id, status)| (id.to_owned(), status.to_owned())));
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-a");
    sandbox.run(["doctor"]).ok();
}

/// No command has adopted these sessions before. Each of them writes to the registry once.
#[test]
fn repair_folds_the_lines_of_sessions_and_keeps_the_registry_as_it_was() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "active", "2026-11-12T10:00:00Z");
    let once = sandbox.read(REGISTRY);
    let twice = format!("{once}{once}");
    sandbox.write(REGISTRY, &twice);
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(
        told.contains("WFS-a has 2 lines") && told.contains("repair the session: leftoff repair"),
        "{told}"
    );
    let mended = sandbox.run(["repair"]).ok().stdout;
    assert!(mended.contains("WFS-a: repaired") && mended.contains("WFS-b: repaired"), "{mended}");
    assert_eq!(sandbox.read(REGISTRY), once);
    let kept = mended.lines().find_map(|line| line.split_once(" is kept as ")).expect("a copy").1;
    assert_eq!(sandbox.read(kept), twice, "not the one before the last write");
    assert_eq!(mended.matches("is kept as").count(), 1, "{mended}");
    sandbox.run(["doctor"]).ok();
    assert!(sandbox.run(["repair"]).ok().stderr.contains("nothing to repair"));
}

/// A line refers to a folder, so it would be wrong to report that there are no sessions.
#[test]
fn a_line_that_means_a_folder_which_is_no_sessions_is_told_by_list_status_and_doctor() {
    let sandbox = project();
    sandbox.write(".workflow/notes/IMPL_PLAN.md", "# Plan\n");
    sandbox.write("sub/other/workflow-session.json", "{}");
    let lines = [
        r#"{"id":"notes","status":"active","directory":".workflow/notes"}"#,
        r#"{"id":"WFS-a","status":"paused","directory":"sub/other"}"#,
    ];
    sandbox.write(REGISTRY, &format!("{}\n", lines.join("\n")));
    for said in [
        sandbox.run(["list"]).ok().stderr,
        sandbox.run(["status"]).ok().stderr,
        sandbox.run(["doctor"]).code(4).stdout,
    ] {
        assert!(said.contains("line 1 lists 'notes' in .workflow/notes, where no session can be"), "{said}");
        assert!(said.contains("line 2 lists 'WFS-a' in sub/other,"), "{said}");
    }
}

#[test]
fn a_marker_of_no_session_is_told_by_list_and_doctor() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.write(".workflow/.active-WFS-ghost", "");
    let said = "it marks 'WFS-ghost' as active, but there is no such session";
    assert!(sandbox.run(["list"]).ok().stderr.contains(said));
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains(said) && told.contains("remove the entry"), "{told}");
}

#[test]
fn a_folder_of_another_name_is_a_session_if_its_state_is_there() {
    let sandbox = project();
    write_session(&sandbox, "feature-x", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    sandbox.write(".workflow/docs/README.md", "Nothing of a session.\n");
    let list = sandbox.run(["list", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!((&list["sessions"][0]["session_id"], &list["warnings"]), (&json!("feature-x"), &json!([])));
    sandbox.run(["item", "add", "Works"]).ok();
    sandbox.run(["pause"]).ok();
    assert_eq!(task(&sandbox, "feature-x", "impl-1")["title"], "Works");
    assert_eq!(registered(&sandbox), [("feature-x".to_owned(), "paused".to_owned())]);
    sandbox.run(["switch", "docs"]).code(3);
    // A line may give the session another id. This is reported.
    let line = sandbox.read(REGISTRY).replace(r#""id":"feature-x""#, r#""id":"WFS-x""#);
    sandbox.write(REGISTRY, &line);
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(
        told.contains("line 1 lists 'WFS-x' in .workflow/feature-x, but the session there is 'feature-x'"),
        "{told}"
    );
}
