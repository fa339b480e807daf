//! Refs with invalid data: the data is refused with the reason, and everything else is accepted.

use crate::clones::{Clone, Hub};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// The files of a replica's commit, in a folder in which they can be changed and committed again.
struct Prepared {
    work: tempfile::TempDir,
    name: String,
}

impl Prepared {
    fn of(hub: &Hub, clone: &Clone<'_>) -> Self {
        let work = tempfile::tempdir().unwrap();
        let name = format!("refs/leftoff/v1/{}", clone.replica());
        hub.git(work.path(), &["init", "--quiet"]);
        hub.git(work.path(), &["fetch", "--quiet", &hub.bare().to_string_lossy(), &name]);
        hub.git(work.path(), &["checkout", "--quiet", "FETCH_HEAD"]);
        Self { work, name }
    }

    fn segment(&self) -> std::path::PathBuf {
        let mut folder = self.work.path().join("s");
        while folder.is_dir() {
            folder = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        }
        folder
    }

    fn segments(&self) -> Vec<std::path::PathBuf> {
        let listed = std::process::Command::new("find")
            .arg(self.work.path().join("s"))
            .args(["-name", "*.jsonl"])
            .output()
            .unwrap();
        String::from_utf8(listed.stdout).unwrap().lines().map(Into::into).collect()
    }

    fn push(&self, hub: &Hub) {
        hub.git(self.work.path(), &["add", "--all", "."]);
        hub.git(self.work.path(), &["commit", "--quiet", "-m", "changed"]);
        let to = format!("+HEAD:{}", self.name);
        hub.git(self.work.path(), &["push", "--quiet", &hub.bare().to_string_lossy(), &to]);
    }
}

/// A malicious clone with a session `bad`, and a clone that receives it; a good session follows.
fn prepared(hub: &Hub) -> (Clone<'_>, Prepared, Clone<'_>) {
    let mallory = hub.clone("mallory");
    mallory.ok(&["start", "--goal", "bad", "--id", "bad"]);
    mallory.ok(&["note", "as it was"]);
    mallory.sync();
    let good = hub.clone("good");
    good.ok(&["start", "--goal", "good", "--id", "good"]);
    good.sync();
    let prepared = Prepared::of(hub, &mallory);
    let anna = hub.clone("anna");
    (mallory, prepared, anna)
}

/// Expects that the bad session is refused for this reason, and that the good one is received.
fn refuses(hub: &Hub, anna: &Clone<'_>, prepared: &Prepared, why: &str) {
    prepared.push(hub);
    let done = anna.sync();
    assert!(done["said"].to_string().contains(why), "{done}");
    assert_eq!(anna.json(&["show", "good"])["goal"], "good");
    anna.fails(3, &["show", "bad"]);
    assert!(anna.ok(&["sync", "status"]).contains("Refused"));
    assert!(anna.ok(&["doctor"]).contains("no problems found"));
}

#[test]
fn an_event_that_was_changed_breaks_the_chain() {
    let hub = Hub::new();
    let (_, prepared, anna) = prepared(&hub);
    let text = fs::read_to_string(prepared.segment()).unwrap();
    fs::write(prepared.segment(), text.replace("as it was", "as it is now")).unwrap();
    refuses(&hub, &anna, &prepared, "do not match its name");
}

#[test]
fn an_event_that_is_missing_is_found() {
    let hub = Hub::new();
    let (_, prepared, anna) = prepared(&hub);
    let text = fs::read_to_string(prepared.segment()).unwrap();
    let lines: Vec<&str> =
        text.lines().enumerate().filter(|(number, _)| *number != 2).map(|(_, line)| line).collect();
    fs::write(prepared.segment(), lines.join("\n") + "\n").unwrap();
    refuses(&hub, &anna, &prepared, "is missing");
}

#[test]
fn purged_content_without_a_purge_is_not_believed() {
    let hub = Hub::new();
    let (_, prepared, anna) = prepared(&hub);
    let text = fs::read_to_string(prepared.segment()).unwrap();
    let lines: Vec<String> = text.lines().map(without_salt_of_the_note).collect();
    fs::write(prepared.segment(), lines.join("\n") + "\n").unwrap();
    refuses(&hub, &anna, &prepared, "was changed after it was written");
}

/// The line of the note with another text, under the old hash.
fn without_salt_of_the_note(line: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
    if value["kind"] != "note_added" {
        return line.to_owned();
    }
    let row = store::EventRow {
        version: value["version"].as_u64().unwrap(),
        at: value["at"].as_str().unwrap().parse().unwrap(),
        actor: value["actor"].as_str().unwrap().to_owned(),
        kind: "note_added".to_owned(),
        body: value["body"].as_str().unwrap().to_owned(),
        command: None,
    };
    let salt = value["salt"].as_str().unwrap();
    let bytes: Vec<u8> =
        (0..salt.len()).step_by(2).map(|at| u8::from_str_radix(&salt[at..at + 2], 16).unwrap()).collect();
    let hash = store::chain::content_hash(Some(&bytes.try_into().unwrap()), &row);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let fields = value.as_object_mut().unwrap();
    fields.remove("salt");
    fields.insert("hash".to_owned(), hash.into());
    fields.insert("body".to_owned(), row.body.replace("as it was", "as it is now").into());
    value.to_string()
}

#[test]
fn a_segment_that_is_endless_is_refused_unread() {
    let hub = Hub::new();
    let (_, prepared, anna) = prepared(&hub);
    let mut text = fs::read_to_string(prepared.segment()).unwrap();
    text.push_str(&" ".repeat(9 << 20));
    fs::write(prepared.segment(), text).unwrap();
    refuses(&hub, &anna, &prepared, "too large");
}

#[test]
fn a_link_in_place_of_a_segment_is_refused() {
    let hub = Hub::new();
    let (_, prepared, anna) = prepared(&hub);
    let segment = prepared.segment();
    fs::remove_file(&segment).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &segment).unwrap();
    refuses(&hub, &anna, &prepared, "not a plain file");
}

#[test]
fn files_that_are_none_of_ours_do_no_harm() {
    let hub = Hub::new();
    let (_, prepared, anna) = prepared(&hub);
    for path in ["evil.sh", "s/zz/x/1-2-3.jsonl", "def/..x", "blob/0000", "s/00/00"] {
        let path = prepared.work.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    prepared.push(&hub);
    anna.sync();
    assert_eq!(anna.json(&["show", "bad"])["goal"], "bad");
    assert!(!Path::new(&anna.project).join("evil.sh").exists());
}

#[test]
fn nobody_purges_what_somebody_else_wrote() {
    let hub = Hub::new();
    let (anna, mallory) = (hub.clone("anna"), hub.clone("mallory"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["note", "the proof of anna"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    mallory.sync();
    mallory.ok(&["resume", "login"]);
    mallory.as_person(&["purge", "proof", "--session", "login", "--yes"]);
    mallory.ok(&["pause", "--reason", "done"]);
    mallory.sync();
    let ben = hub.clone("ben");
    for clone in [&anna, &ben] {
        clone.sync();
        assert_eq!(clone.notes("login"), ["the proof of anna"], "{}", clone.name);
        assert!(clone.ok(&["doctor"]).contains("no problems found"));
    }
    assert!(!mallory.notes("login").concat().contains("proof"), "what was purged here stays purged here");
    mallory.sync();
    assert!(!mallory.notes("login").concat().contains("proof"));
}

/// The files of a commit of `clone`, by another author and in a ref of its own: somebody claims to have
/// written them.
fn claimed_by(hub: &Hub, clone: &Clone<'_>, replica: &str) -> Prepared {
    let prepared = Prepared { name: format!("refs/leftoff/v1/{replica}"), ..Prepared::of(hub, clone) };
    let text = fs::read_to_string(prepared.segment()).unwrap();
    fs::write(prepared.segment(), text.replace(&clone.replica(), replica)).unwrap();
    prepared
}

#[test]
fn refs_that_no_replica_wrote_are_left_out_and_the_rest_is_taken_in() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "good", "--id", "good"]);
    anna.sync();
    let main = hub.git(&hub.bare(), &["rev-parse", "main"]);
    let (tree, blob) = (format!("{main}^{{tree}}"), format!("{main}:README.md"));
    for (name, object) in [
        ("abc", &main),
        ("deep/er", &main),
        ("zzzzzzzzzzzzzzzz", &main),
        ("00000000000000aa", &blob),
        ("00000000000000bb", &tree),
        // The ref names a commit of the project itself, whose tree contains nothing of leftoff's.
        ("00000000000000cc", &main),
    ] {
        let object = hub.git(&hub.bare(), &["rev-parse", object]);
        hub.git(&hub.bare(), &["update-ref", &format!("refs/leftoff/v1/{name}"), &object]);
    }
    let ben = hub.clone("ben");
    let done = ben.sync();
    assert_eq!(ben.json(&["show", "good"])["goal"], "good");
    let said = done["said"].to_string();
    assert!(said.contains("abc was refused: its name is not a replica's id"), "{said}");
    assert!(said.contains("00000000000000aa was refused: it is not a commit"), "{said}");
    let status = ben.ok(&["sync", "status"]);
    assert!(status.contains("Refused: refs/leftoff/v1/abc") && status.contains("(no name)"), "{status}");
    assert_eq!(ben.sync()["said"].as_array().unwrap().len(), 0, "what was said once is in the status");
    assert!(ben.ok(&["sync", "status"]).contains("Refused: refs/leftoff/v1/abc"));
}

#[test]
fn whoever_says_that_they_wrote_it_cannot_purge_it() {
    let hub = Hub::new();
    let (anna, mallory, ben) = (hub.clone("anna"), hub.clone("mallory"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["note", "the proof of anna"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    // Two refs are pushed, so that one comes before anna's own ref, and one after it.
    for replica in ["0000000000000000", "ffffffffffffffff"] {
        claimed_by(&hub, &anna, replica).push(&hub);
    }
    mallory.sync();
    mallory.ok(&["resume", "login"]);
    mallory.as_person(&["purge", "proof", "--session", "login", "--yes"]);
    mallory.ok(&["pause", "--reason", "done"]);
    mallory.sync();
    for replica in ["0000000000000000", "ffffffffffffffff"] {
        let purged = Prepared { name: format!("refs/leftoff/v1/{replica}"), ..Prepared::of(&hub, &mallory) };
        for segment in purged.segments() {
            let text = fs::read_to_string(&segment).unwrap();
            let text = text.replace(&mallory.replica(), replica).replace(&anna.replica(), replica);
            fs::write(&segment, text).unwrap();
        }
        purged.push(&hub);
    }
    for clone in [&anna, &ben] {
        let done = clone.sync();
        assert_eq!(clone.notes("login"), ["the proof of anna"], "{}", clone.name);
        let said = done["said"].to_string();
        assert!(said.contains("a purge of event") && said.contains("was ignored"), "{said}");
        assert!(clone.ok(&["doctor"]).contains("no problems found"));
    }
}

#[test]
fn a_segment_that_names_another_session_does_not_keep_the_true_ones_out() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    anna.ok(&["note", "later"]);
    anna.sync();
    // The second segment alone is pushed under the name of another session, in a ref that is read first.
    let prepared = claimed_by(&hub, &anna, "0000000000000000");
    let mut segments = prepared.segments();
    segments.sort();
    for segment in segments {
        let text = fs::read_to_string(&segment).unwrap();
        if text.contains("session_started") {
            fs::remove_file(&segment).unwrap();
        } else {
            fs::write(&segment, text.replacen("\"login\"", "\"evil\"", 1)).unwrap();
        }
    }
    prepared.push(&hub);
    let ben = hub.clone("ben");
    let done = ben.sync();
    assert_eq!(ben.notes("login"), ["later"], "{done}");
    assert!(done["said"].to_string().contains("it names session evil"), "{done}");
    ben.fails(3, &["show", "evil"]);
}

#[test]
fn an_approval_that_somebody_made_up_is_a_claim() {
    let hub = Hub::new();
    let (anna, mallory) = (hub.clone("anna"), hub.clone("mallory"));
    let workflow = "name = \"ask\"\n[[phase]]\nid = \"plan\"\n[[phase.check]]\nid = \"ok\"\nkind = \"approval\"\n[[phase]]\nid = \"build\"\n";
    for clone in [&anna, &mallory] {
        fs::create_dir_all(clone.project.join(".leftoff/workflows")).unwrap();
        fs::write(clone.project.join(".leftoff/workflows/ask.toml"), workflow).unwrap();
    }
    anna.ok(&["start", "ask", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    mallory.sync();
    mallory.ok(&["resume", "login"]);
    mallory.as_person(&["approve", "ok"]);
    mallory.ok(&["pause", "--reason", "away"]);
    // The approval is forged as anna's, and the chain is computed again.
    let connection = rusqlite::Connection::open(mallory.database()).unwrap();
    let sql = "UPDATE events SET actor=replace(actor,'mallory','anna'), body=replace(body,'mallory','anna') WHERE kind='check_approved'";
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
    drop(connection);
    mallory.sync();
    anna.sync();
    anna.ok(&["resume", "login"]);
    let failed = anna.fails(5, &["advance", "--phase", "plan"]);
    assert!(failed.contains("on another machine") || failed.contains("not approved"), "{failed}");
}

/// Runs git in the bare repository with this input; returns its output.
fn git_with(hub: &Hub, arguments: &[&str], input: &str) -> String {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=Test", "-c", "user.email=test@example.com"]).args(arguments);
    git.current_dir(hub.bare()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = git.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Pushes a tree as the ref of a replica.
fn pretend(hub: &Hub, replica: &str, tree: &str) {
    let commit = git_with(hub, &["commit-tree", "-m", "x", tree], "");
    hub.git(&hub.bare(), &["update-ref", &format!("refs/leftoff/v1/{replica}"), &commit]);
}

#[test]
fn a_few_small_folders_that_list_billions_of_files_are_refused() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "good", "--id", "good"]);
    anna.sync();
    let blob = git_with(&hub, &["hash-object", "-w", "--stdin"], "x");
    let mut tree = String::new();
    for level in 0..10 {
        let (kind, object) = if level == 0 { ("100644 blob", &blob) } else { ("040000 tree", &tree) };
        let entries: String = (0..10).map(|name| format!("{kind} {object}\t{name}\n")).collect();
        tree = git_with(&hub, &["mktree"], &entries);
    }
    pretend(&hub, "00000000000000aa", &tree);
    let ben = hub.clone("ben");
    let done = ben.sync();
    assert!(done["said"].to_string().contains("00000000000000aa was refused: it has more than"), "{done}");
    assert_eq!(ben.json(&["show", "good"])["goal"], "good");
}

#[test]
fn a_replica_that_describes_itself_at_length_has_no_name() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    let about = format!("{{\"name\":\"mallory{}\"}}", " ".repeat(1 << 20));
    let blob = git_with(&hub, &["hash-object", "-w", "--stdin"], &about);
    pretend(
        &hub,
        "00000000000000aa",
        &git_with(&hub, &["mktree"], &format!("100644 blob {blob}\treplica.json\n")),
    );
    anna.sync();
    let status = anna.json(&["sync", "status"]);
    let names: Vec<_> = status["replicas"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names[0], "");
    assert!(names[1].as_str().unwrap().starts_with("anna@"), "{status}");
}

/// A session of mallory's with these files, each recorded under the name beside it.
fn recorded_as<'a>(hub: &'a Hub, names: &[(&str, &str)]) -> Clone<'a> {
    let mallory = hub.clone("mallory");
    mallory.ok(&["start", "--goal", "bad", "--id", "bad"]);
    for (real, _) in names {
        fs::write(mallory.project.join(real), format!("content of {real}\n")).unwrap();
        mallory.ok(&["artifact", "add", real]);
    }
    mallory.ok(&["pause", "--reason", "away"]);
    let connection = rusqlite::Connection::open(mallory.database()).unwrap();
    for (real, name) in names {
        let sql =
            "UPDATE events SET body=replace(body,?1,?2) WHERE kind='artifact_recorded' AND instr(body,?1)>0";
        assert_eq!(connection.execute(sql, [real, name]).unwrap(), 1);
    }
    drop(connection);
    mallory.sync();
    mallory
}

#[test]
fn recorded_files_are_put_nowhere_where_programs_look_for_instructions() {
    let hub = Hub::new();
    recorded_as(
        &hub,
        &[
            ("file-a.md", "../escaped.md"),
            ("file-b.md", ".git/hooks/post-checkout"),
            ("file-c.md", ".claude/settings.json"),
            ("file-d.md", "README.md/below-a-file.md"),
            ("file-e.md", "good.md"),
        ],
    );
    let anna = hub.clone("anna");
    anna.sync();
    let resumed = anna.ok(&["resume", "bad"]);
    assert!(resumed.contains("../escaped.md was not restored: "), "{resumed}");
    assert!(resumed.contains("README.md/below-a-file.md was not restored: "), "{resumed}");
    assert_eq!(fs::read_to_string(anna.project.join("good.md")).unwrap(), "content of file-e.md\n");
    for (path, why) in [
        (".git/hooks/post-checkout", "the path is inside git's own folder"),
        (".claude/settings.json", "it was recorded on another machine"),
    ] {
        let refused = anna.fails(4, &["artifact", "restore", path]);
        assert!(refused.contains(why), "{refused}");
        assert!(!anna.project.join(path).exists(), "{path}");
    }
    assert!(!hub.folder.path().join("escaped.md").exists());
}
