//! The sidecar: a bare repository beside the database, which git synchronises with the remote. The project's own
//! repository is only read, for its settings.

mod running;
mod writing;

pub(super) use writing::{Draft, FileRef, Signature};

use super::remote::{no_git, remote_url, settings_of, succeeded, without_password};
use super::segment::is_replica;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "sync.git";
/// The maximum number of files that are accepted from a replica. A few small folders that contain each other could list
/// billions of files.
const MOST_FILES: usize = 1 << 21;
/// The maximum length of a path that is accepted. The paths that leftoff writes are shorter.
const LONGEST_PATH: usize = 160;
/// The beginning of the names of fetched refs.
const FETCHED: &str = "refs/remotes/";
/// The name of the ref with this replica's own history.
const OWN: &str = "refs/own";

pub(super) struct Sidecar {
    folder: PathBuf,
    /// The URL of the remote, as git uses it.
    url: String,
    /// The beginning of the names of replicas' refs at the remote.
    namespace: &'static str,
    settings: Vec<(String, String)>,
    /// How long to wait for each answer of the remote; `None` if a person is waiting, who can also answer git's
    /// questions.
    longest: Option<Duration>,
}

/// A file of a replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) object: String,
    pub(super) bytes: u64,
    /// True for a regular file, false for a link or a folder.
    pub(super) is_file: bool,
}

/// The files of a replica, by path.
pub(super) type Entries = BTreeMap<String, Entry>;

/// The commits that the sidecar has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Refs {
    /// The commit of every replica at the remote, and the time of the commit.
    pub(super) fetched: BTreeMap<String, (String, i64)>,
    pub(super) own: Option<String>,
    /// Refs at the remote that cannot be those of a replica, and why they are ignored.
    pub(super) refused: Vec<String>,
}

/// The result of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pushed {
    Done,
    /// Somebody else has written the ref of this replica meanwhile.
    Taken,
}

impl Sidecar {
    pub(super) fn exists(folder: &Path) -> bool {
        folder.join(FOLDER).join("HEAD").exists()
    }

    pub(super) fn open(
        folder: &Path,
        project: &Path,
        remote: &str,
        branches: bool,
        longest: Option<Duration>,
    ) -> Result<Self> {
        let url = remote_url(project, remote)?;
        let sidecar = Self {
            folder: folder.join(FOLDER),
            url,
            namespace: if branches { "refs/heads/leftoff/" } else { "refs/leftoff/v1/" },
            settings: settings_of(project)?,
            longest,
        };
        if !Self::exists(folder) {
            sidecar.create(project)?;
        }
        Ok(sidecar)
    }

    pub(super) fn remove(folder: &Path) -> Result<()> {
        match std::fs::remove_dir_all(folder.join(FOLDER)) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(format!("removing {}", folder.join(FOLDER).display()), source))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Moves the sidecar to another folder. If this fails, removes the sidecar.
    pub(super) fn move_between(from: &Path, to: &Path) {
        if std::fs::rename(from.join(FOLDER), to.join(FOLDER)).is_err() {
            let _ = std::fs::remove_dir_all(from.join(FOLDER));
        }
    }

    /// Makes a commit the newest one of this replica's own history.
    pub(super) fn take_as_own(&self, commit: &str) -> Result<()> {
        self.text("finding this replica's history", self.git().args(["update-ref", OWN, commit])).map(drop)
    }

    /// Returns the URL of the remote without a password.
    pub(super) fn address(&self) -> String {
        without_password(&self.url)
    }

    /// Fetches from the remote and lists the refs. A damaged sidecar is replaced: everything in it is in the store or
    /// at the remote too.
    pub(super) fn fetched_refs(&self, project: &Path) -> Result<Refs> {
        let fetched = || self.fetch().and_then(|()| self.refs());
        fetched().or_else(|error| {
            if self.is_sound() {
                return Err(error);
            }
            let _ = std::fs::remove_dir_all(&self.folder);
            self.create(project)?;
            fetched()
        })
    }

    pub(super) fn fetch(&self) -> Result<()> {
        let refspec = format!("+{}*:{FETCHED}*", self.namespace);
        let arguments =
            ["fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", &self.url];
        self.remote_command("fetching", self.git().args(arguments).arg(refspec)).map(drop)
    }

    pub(super) fn refs(&self) -> Result<Refs> {
        let format = "--format=%(refname) %(objecttype) %(objectname) %(committerdate:unix)";
        let text = self.text("listing refs", self.git().args(["for-each-ref", format, FETCHED, OWN]))?;
        let mut refs = Refs::default();
        for line in text.lines() {
            let mut words = line.split(' ');
            let (Some(name), Some(kind), Some(object)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let seconds = words.next().and_then(|text| text.parse().ok()).unwrap_or_default();
            let Some(replica) = name.strip_prefix(FETCHED) else {
                refs.own = Some(object.to_owned());
                continue;
            };
            let complaint = match (is_replica(replica), kind) {
                (true, "commit") => {
                    refs.fetched.insert(replica.to_owned(), (object.to_owned(), seconds));
                    continue;
                }
                (false, _) => "its name is not a replica's id",
                (true, _) => "it is not a commit",
            };
            refs.refused.push(format!("{}{replica} was refused: {complaint}", self.namespace));
        }
        Ok(refs)
    }

    /// Returns the files of a commit. Paths that leftoff would never write are left out.
    pub(super) fn entries(&self, commit: &str) -> Result<Entries> {
        let doing = "listing a replica's files";
        let mut git = self.git();
        git.args(["ls-tree", "-r", "-l", "-z", commit]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = git.spawn().map_err(|source| no_git(doing, source))?;
        let listed = child.stdout.take().map(|stdout| listed(BufReader::new(stdout), MOST_FILES));
        let listed = listed.transpose().map_err(|source| Error::io(doing, source))?.flatten();
        let Some(entries) = listed else {
            let _ = child.kill().and_then(|()| child.wait());
            return Err(Error::Sharing {
                message: format!("it has more than {MOST_FILES} files"),
                hint: "the store was not changed".into(),
            });
        };
        succeeded(doing, child.wait_with_output()).map(|_| entries)
    }

    /// Returns the content of those objects that have at most `most` bytes, in the requested order. For larger ones,
    /// returns empty content.
    pub(super) fn small_contents(&self, objects: &[String], most: u64) -> Result<Vec<Vec<u8>>> {
        let mut git = self.git();
        git.args(["cat-file", "--batch-check=%(objectsize)"]);
        let sizes: Vec<String> = asked(git, objects, "reading the sizes of a replica's files", |answers| {
            answers.lines().take(objects.len()).collect()
        })?;
        // A missing object has no size, so it is left out too.
        let is_small = |size: &&String| size.parse::<u64>().is_ok_and(|size| size <= most);
        let small = objects.iter().zip(&sizes).filter(|(_, size)| is_small(size));
        let mut found =
            self.contents(&small.map(|(object, _)| object.clone()).collect::<Vec<_>>())?.into_iter();
        let contents = sizes.iter().map(|size| if is_small(&size) { found.next() } else { None });
        Ok(contents.map(Option::unwrap_or_default).collect())
    }

    /// Returns the content of objects, in the requested order.
    pub(super) fn contents(&self, objects: &[String]) -> Result<Vec<Vec<u8>>> {
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let mut git = self.git();
        git.args(["cat-file", "--batch"]);
        asked(git, objects, "reading a replica's files", |answers| {
            objects.iter().map(|_| answer(answers)).collect()
        })
    }

    /// Pushes this replica's own history, if the replica's ref at the remote is the expected one.
    pub(super) fn push(&self, replica: &str, expected: Option<&str>) -> Result<Pushed> {
        let name = format!("{}{replica}", self.namespace);
        let lease = format!("--force-with-lease={name}:{}", expected.unwrap_or_default());
        let mut git = self.git();
        git.args(["push", "--quiet", "--porcelain", "--no-verify", &lease, &self.url]);
        git.arg(format!("+{OWN}:{name}"));
        let output = self.at_remote(&mut git).map_err(|source| no_git("pushing", source))?;
        let said = String::from_utf8_lossy(&output.stdout);
        if output.status.success() {
            let known = format!("{FETCHED}{replica}");
            self.text("recording what was pushed", self.git().args(["update-ref", &known, OWN]))?;
            return Ok(Pushed::Done);
        }
        if said.contains("stale info") || said.contains("fetch first") {
            return Ok(Pushed::Taken);
        }
        if said.contains("[remote rejected]") {
            return Err(self.refused_by_host(&said, &output));
        }
        Err(self.failed("pushing", &output))
    }

    /// True if the host accepts refs whose names begin like this. Pushes an empty commit to find out, and removes it
    /// again.
    pub(super) fn is_accepted(&self, namespace: &str, replica: &str) -> Result<bool> {
        let tree =
            self.text("pushing a test ref", self.git().args(["hash-object", "-t", "tree", "-w", "--stdin"]))?;
        let by = ["-c", "user.name=leftoff", "-c", "user.email=leftoff@localhost"];
        let mut git = self.git();
        git.args(by).args(["commit-tree", "-m", "Does this host accept the ref?", tree.trim()]);
        let commit = self.text("pushing a test ref", &mut git)?;
        let name = format!("{namespace}{replica}");
        let pushed = self.at_remote(
            self.git()
                .args(["push", "--porcelain", "--no-verify", &self.url])
                .arg(format!("{}:{name}", commit.trim())),
        );
        let pushed = pushed.map_err(|source| no_git("pushing a test ref", source))?;
        if pushed.status.success() {
            self.remote_command(
                "pushing a test ref",
                self.git().args(["push", "--quiet", &self.url]).arg(format!(":{name}")),
            )?;
            return Ok(true);
        }
        if String::from_utf8_lossy(&pushed.stdout).contains("[remote rejected]") {
            return Ok(false);
        }
        Err(self.failed("pushing a test ref", &pushed))
    }

    /// Removes a replica's ref at the remote and in the sidecar.
    pub(super) fn forget(&self, replica: &str) -> Result<()> {
        let name = format!(":{}{replica}", self.namespace);
        self.remote_command(
            "pushing the removal of a replica",
            self.git().args(["push", "--quiet", &self.url]).arg(name),
        )?;
        let local = format!("{FETCHED}{replica}");
        self.text("removing a replica", self.git().args(["update-ref", "-d", &local])).map(drop)
    }

    /// Removes objects that nothing refers to. This is done at once, because they may contain purged content.
    pub(super) fn prune(&self) -> Result<()> {
        self.text("removing old objects", self.git().args(["repack", "-a", "-d", "-q"]))?;
        self.text("removing old objects", self.git().args(["prune", "--expire=now"])).map(drop)
    }

    /// Makes the data that this store sent under its old id count as data of another replica.
    pub(super) fn give_away_own(&self, replica: &str) -> Result<()> {
        let Some(own) = self.refs()?.own else { return Ok(()) };
        let name = format!("{FETCHED}{replica}");
        let known = self.refs()?.fetched.get(replica).map(|(commit, _)| commit.clone());
        // The fetched commit stays if it is newer: the remote may have received more of this data than the sidecar has.
        if known.is_none_or(|known| self.is_ancestor(&known, &own)) {
            self.text("renaming this replica", self.git().args(["update-ref", &name, &own]))?;
        }
        self.text("renaming this replica", self.git().args(["update-ref", "-d", OWN])).map(drop)
    }

    pub(super) fn is_ancestor(&self, one: &str, other: &str) -> bool {
        let ran = self.git().args(["merge-base", "--is-ancestor", one, other]).output();
        ran.is_ok_and(|output| output.status.success())
    }
}

/// Runs a `git cat-file` that gives an answer for each of these objects.
fn asked<T>(
    mut git: Command,
    objects: &[String],
    doing: &str,
    read: impl FnOnce(&mut BufReader<ChildStdout>) -> std::io::Result<Vec<T>>,
) -> Result<Vec<T>> {
    let io = |source| Error::io(doing, source);
    git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = git.spawn().map_err(|source| no_git(doing, source))?;
    let stdin = child.stdin.take();
    let names = objects.join("\n") + "\n";
    // Another thread writes the names, because git stops reading them while nobody reads its answers.
    let asking = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(names.as_bytes())));
    let answers = child.stdout.take().map(|stdout| read(&mut BufReader::new(stdout)));
    let _ = asking.join();
    child.wait().map_err(io)?;
    answers.transpose().map_err(io).map(Option::unwrap_or_default)
}

/// Returns the files that `ls-tree` lists; `None` if there are more than `most`.
fn listed(mut from: impl BufRead, most: usize) -> std::io::Result<Option<Entries>> {
    let (mut entries, mut line) = (Entries::new(), Vec::new());
    for number in 0.. {
        line.clear();
        if from.read_until(0, &mut line)? == 0 {
            break;
        }
        if number == most {
            return Ok(None);
        }
        entries.extend(std::str::from_utf8(&line).ok().and_then(|line| entry(line.trim_end_matches('\0'))));
    }
    Ok(Some(entries))
}

fn entry(line: &str) -> Option<(String, Entry)> {
    let (about, path) = line.split_once('\t')?;
    let mut words = about.split_whitespace();
    let (mode, kind, object) = (words.next()?, words.next()?, words.next()?);
    let bytes = words.next()?.parse().unwrap_or(u64::MAX);
    let is_file = kind == "blob" && mode.starts_with("100");
    // Paths become part of git commands. A line ending or a quote in a path would start another command.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_:".contains(&byte);
    let entry = Entry { object: object.to_owned(), bytes, is_file };
    (path.len() <= LONGEST_PATH && path.bytes().all(is_plain)).then(|| (path.to_owned(), entry))
}

/// Reads one answer of `git cat-file --batch`. The answer is empty if the object is missing.
fn answer(from: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut header = String::new();
    from.read_line(&mut header)?;
    let Some(size) = header.split_whitespace().nth(2).and_then(|size| size.parse::<usize>().ok()) else {
        return Ok(Vec::new());
    };
    let mut content = vec![0; size];
    from.read_exact(&mut content)?;
    let mut end = [0; 1];
    from.read_exact(&mut end)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;

    #[test]
    fn a_list_of_files_that_does_not_end_is_given_up() {
        let line = |path: &str| format!("100644 blob {} 5\t{path}\0", "0".repeat(40));
        let three = line("s/aa") + &line("s/\"bb") + &line(&"c".repeat(LONGEST_PATH + 1)) + &line("s/dd");
        let paths = |most| Some(listed(three.as_bytes(), most).unwrap()?.into_keys().collect::<Vec<_>>());
        assert_eq!(paths(4), Some(vec!["s/aa".to_owned(), "s/dd".to_owned()]));
        assert_eq!(paths(3), None);
    }
}
