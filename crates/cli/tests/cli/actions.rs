//! Tests the GitHub Actions example in docs/guides/trust.md: runs its steps as a runner would, on a bundle
//! that was committed.

use crate::git;
use crate::verify::{approve_signed, key, signed_work};
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::{Ran, Sandbox, yaml};

/// The example from the guide.
fn example() -> serde_json::Value {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/trust.md");
    let text = std::fs::read_to_string(guide).unwrap();
    let block = text.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
    yaml(block.expect("an example"))
}

/// The script of the step that runs `verify`.
fn script(example: &serde_json::Value) -> String {
    let steps = example["jobs"]["proven"]["steps"].as_array().expect("steps");
    let step = steps.iter().find(|step| step["name"] == "Verify the session").expect("the step");
    assert_eq!(step["env"]["LEFTOFF_TRUST"], "${{ vars.LEFTOFF_TRUST }}");
    assert_eq!(step["env"]["BRANCH"], "${{ github.head_ref }}");
    step["run"].as_str().expect("a script").to_owned()
}

/// Runs the script as a runner does: `bash -e`, no terminal.
fn run(checkout: &Sandbox, trust: &str, branch: &str) -> (Ran, String) {
    let bin = checkout.folder().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let _ = std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_leftoff"), bin.join("leftoff"));
    let summary = checkout.folder().join("summary.md");
    let _ = std::fs::remove_file(&summary);
    let ours = checkout.command(["status"]);
    let mut shell = Command::new("bash");
    shell.args(["-e", "-c", &script(&example())]).current_dir(checkout.project()).env_clear();
    shell.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    shell.env("PATH", path).env("GITHUB_STEP_SUMMARY", &summary);
    shell.env("LEFTOFF_TRUST", trust).env("BRANCH", branch).stdin(Stdio::null());
    let ran = Ran::from(shell.output().expect("bash"));
    (ran, std::fs::read_to_string(summary).unwrap_or_default())
}

/// A checkout of a pull request. It contains the definition, the allowed signers, and the bundle with the
/// work.
fn checkout(work: &Sandbox, bundle: &Path) -> Sandbox {
    let checkout = git();
    for path in [".leftoff/workflows/w.toml", ".leftoff/allowed_signers"] {
        checkout.write(path, &work.read(path));
    }
    checkout.write(".leftoff/bundles/s.leftoff", &std::fs::read_to_string(bundle).unwrap());
    checkout
}

#[test]
fn the_example_has_what_a_workflow_needs() {
    let example = example();
    assert!(example.get("on").is_some_and(|on| !on.is_null()), "{example}");
    assert_eq!(example["permissions"]["contents"], "read");
    assert!(example["jobs"]["proven"]["runs-on"].is_string());
    for step in example["jobs"]["proven"]["steps"].as_array().unwrap() {
        assert!(step["uses"].is_string() != step["run"].is_string(), "{step}");
    }
}

#[test]
fn the_steps_of_the_example_accept_signed_work_and_nothing_else() {
    let work = signed_work();
    let bundle = work.folder().join("s.leftoff");
    let path = bundle.display().to_string();
    work.run(["bundle", "create", &path]).ok();
    let there = checkout(&work, &bundle);
    let trust = there.run(["trust", "--policy", "--print"]).ok().stdout.trim().to_owned();
    let (ran, summary) = run(&there, &trust, "main");
    ran.ok();
    assert!(
        summary.starts_with("### Proven: ") && summary.contains("signed by anna@example.org"),
        "{summary}"
    );
    let (ran, summary) = run(&there, "", "main");
    ran.code(5);
    assert!(summary.starts_with("### Not proven: "), "{summary}");
    // The pull request contains the bundle of another pull request.
    let (ran, _) = run(&there, &trust, "other");
    assert!(ran.code(5).stderr.contains("did not work on branch other"));
    let forged = crate::bundles::forged(&path, |line| {
        if let Some(body) = line["event"]["body"].as_str().filter(|body| body.contains("PLAN.md")) {
            line["event"]["body"] = body.replace("PLAN.md", "OTHER.md").into();
        }
    });
    run(&checkout(&work, Path::new(&forged)), &trust, "main").0.code(5);
    std::fs::remove_dir_all(there.path(".leftoff/bundles")).unwrap();
    assert_ne!(run(&there, &trust, "main").0.code, 0, "no bundle is no proof");
}

/// A pull request cannot add the key with which it is signed.
#[test]
fn a_key_that_the_pull_request_brings_along_does_not_count() {
    let work = signed_work();
    let (eve, of_eve) = key(&work, "eve");
    let trust = work.run(["trust", "--policy", "--print"]).ok().stdout.trim().to_owned();
    work.write(".leftoff/allowed_signers", &of_eve);
    work.run_as_person(["trust", "--policy", "--yes"]).ok();
    work.run(["reopen"]).ok();
    work.run(["rollback", "agree"]).ok();
    approve_signed(&work, &eve, &["--sign"]).ok();
    work.run(["advance", "--phase", "agree"]).ok();
    work.run(["advance", "--phase", "ship"]).ok();
    let bundle = work.folder().join("s.leftoff");
    work.run(["bundle", "create", &bundle.display().to_string()]).ok();
    run(&checkout(&work, &bundle), &trust, "main").0.code(5);
}
