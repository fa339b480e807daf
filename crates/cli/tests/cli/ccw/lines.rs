//! Lines of the registry that are more than one, or mean something that is no session: told, folded, and kept as they
//! were.

use super::*;

fn lines(sandbox: &Sandbox) -> Vec<String> {
    sandbox.read(REGISTRY).lines().map(ToOwned::to_owned).collect()
}

/// The old duplicate stands last, and the last one counts.
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

/// Nobody has taken these sessions in, and each of them writes the registry once.
#[test]
fn repair_folds_the_lines_of_sessions_and_keeps_the_registry_as_it_was() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "active", "2026-11-12T10:00:00Z");
    let once = sandbox.read(REGISTRY);
    let twice = format!("{once}{once}");
    sandbox.write(REGISTRY, &twice);
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("WFS-a has 2 lines") && told.contains("mend it: leftoff repair"), "{told}");
    let mended = sandbox.run(["repair"]).ok().stdout;
    assert!(mended.contains("WFS-a: mended") && mended.contains("WFS-b: mended"), "{mended}");
    assert_eq!(sandbox.read(REGISTRY), once);
    let kept = mended.lines().find_map(|line| line.split_once("as it was is kept as ")).expect("a copy").1;
    assert_eq!(sandbox.read(kept), twice, "not the one before the last write");
    assert_eq!(mended.matches("is kept as").count(), 1, "{mended}");
    sandbox.run(["doctor"]).ok();
    assert!(sandbox.run(["repair"]).ok().stderr.contains("nothing was to be mended"));
}

/// Saying that there are no sessions would be saying too much.
#[test]
fn a_line_that_means_a_folder_which_is_no_sessions_is_told_by_list_status_and_doctor() {
    let sandbox = project();
    write_session(&sandbox, "feature-x", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    sandbox.write("sub/WFS-a/workflow-session.json", "{}");
    let known = sandbox.read(REGISTRY);
    let line = r#"{"id":"WFS-a","status":"paused","directory":"sub/WFS-a"}"#;
    sandbox.write(REGISTRY, &format!("{known}{line}\n"));
    for said in [
        sandbox.run(["list"]).ok().stderr,
        sandbox.run(["status"]).ok().stderr,
        sandbox.run(["doctor"]).code(4).stdout,
    ] {
        assert!(said.contains("line 1 names 'feature-x' in .workflow/feature-x,"), "{said}");
        assert!(said.contains("line 2 names 'WFS-a' in sub/WFS-a,"), "{said}");
    }
}

#[test]
fn a_marker_of_no_session_is_told_by_list_and_doctor() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.write(".workflow/.active-WFS-ghost", "");
    let said = "it calls 'WFS-ghost' active, and there is no such session";
    assert!(sandbox.run(["list"]).ok().stderr.contains(said));
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains(said) && told.contains("take it away"), "{told}");
}
