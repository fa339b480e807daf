//! Finds the remote of the project's own repository, and the settings for reaching it. Only reads.

use crate::error::{Error, Result};
use crate::signing::git_setting;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The settings of the project's repository that git needs to reach the remote from the sidecar.
const HANDED_OVER: &str = "^(core\\.sshcommand|credential\\..*|http\\..*|ssh\\..*|protocol\\..*)$";
/// Environment variables that git must not inherit, because they would select another repository.
const NOT_INHERITED: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Returns the remote to use by default: that of the branch, else the only one, else `origin`.
pub(super) fn usual_remote(project: &Path, branch: Option<&str>) -> Result<String> {
    let of_branch = branch.and_then(|branch| git_setting(project, &format!("branch.{branch}.remote")));
    if let Some(remote) = of_branch.filter(|remote| remote != ".") {
        return Ok(remote);
    }
    let output = succeeded("listing remotes", plain_git().arg("-C").arg(project).arg("remote").output())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let remotes: Vec<&str> = text.lines().collect();
    match remotes.as_slice() {
        [] => Err(Error::Sharing {
            message: "this repository has no remote to share through".to_owned(),
            hint: "add one with: git remote add origin URL".into(),
        }),
        [only] => Ok((*only).to_owned()),
        several if several.contains(&"origin") => Ok("origin".to_owned()),
        several => Err(Error::Sharing {
            message: format!("this repository has several remotes: {}", several.join(", ")),
            hint: "name a remote: leftoff init --sync --remote NAME".into(),
        }),
    }
}

pub(super) fn remote_url(project: &Path, remote: &str) -> Result<String> {
    let ran = plain_git().arg("-C").arg(project).args(["remote", "get-url", "--push", remote]).output();
    let output = ran.map_err(|source| no_git("finding the remote", source))?;
    // git exits with 2 if the remote does not exist. Other codes stand for other problems, such as a repository that
    // git does not trust.
    if output.status.code() == Some(2) {
        return Err(Error::Sharing {
            message: format!("this repository has no remote '{remote}'"),
            hint:
                "name an existing remote: leftoff init --sync --remote NAME; or stop sharing: leftoff sync off"
                    .into(),
        });
    }
    let output = succeeded("finding the remote", Ok(output))?;
    let url = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    // A relative path starts at the project, but git is run in another folder. So the path is made absolute.
    let is_relative = !url.contains(':') && !url.starts_with('/');
    Ok(if is_relative { project.join(&url).to_string_lossy().into_owned() } else { url })
}

/// Returns the hash algorithm of the project's repository, which is that of its remote.
pub(super) fn object_format(project: &Path) -> String {
    let ran = plain_git().arg("-C").arg(project).args(["rev-parse", "--show-object-format"]).output();
    let told = ran.ok().filter(|output| output.status.success());
    let told = told.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    told.filter(|format| !format.is_empty()).unwrap_or_else(|| "sha1".to_owned())
}

pub(super) fn settings_of(project: &Path) -> Result<Vec<(String, String)>> {
    let ran = plain_git().arg("-C").arg(project).args(["config", "-z", "--get-regexp", HANDED_OVER]).output();
    let output = ran.map_err(|source| no_git("reading git's settings", source))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pair = |line: &str| {
        let (name, value) = line.split_once('\n').unwrap_or((line, "true"));
        (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    };
    let mut settings = Vec::new();
    for (name, value) in text.split('\0').filter_map(pair) {
        // git also reads the user's settings in the sidecar, so it would have the values of lists twice. An empty value
        // empties the list first.
        let is_list = name.ends_with(".helper") || name.ends_with(".extraheader");
        if is_list && !settings.iter().any(|(known, _)| *known == name) {
            settings.push((name.clone(), String::new()));
        }
        settings.push((name, value));
    }
    Ok(settings)
}

pub(super) fn plain_git() -> Command {
    let mut git = Command::new("git");
    git.stdin(Stdio::null());
    for name in NOT_INHERITED {
        git.env_remove(name);
    }
    git.env("LC_ALL", "C");
    git
}

pub(super) fn succeeded(doing: &str, ran: std::io::Result<Output>) -> Result<Output> {
    let output = ran.map_err(|source| no_git(doing, source))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = without_password(&last_words(&output));
    let hint = way_on(&said).unwrap_or("the store was not changed").into();
    Err(Error::Sharing { message: format!("{doing} failed: {said}"), hint })
}

/// Returns a hint if git could not write its files.
fn way_on(said: &str) -> Option<&'static str> {
    let is_about = |cause: &str| said.to_ascii_lowercase().contains(cause);
    if is_about("permission denied") || is_about("insufficient permission") {
        return Some(
            "make the repository beside the database (sync.git) writable for this user, or delete it; then sync again",
        );
    }
    is_about("no space left").then_some("free some space, then sync again")
}

pub(super) fn no_git(doing: &str, source: std::io::Error) -> Error {
    if source.kind() == std::io::ErrorKind::NotFound {
        return Error::Sharing {
            message: format!("{doing} needs the git program, and it is not installed"),
            hint: "install git; sessions can also travel by: leftoff bundle create FILE".into(),
        };
    }
    Error::io(doing, source)
}

/// Returns the line of git's output that says the reason, without git's prefixes.
pub(super) fn last_words(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_fatal = |line: &str| line.starts_with("fatal:") || line.starts_with("error:");
    let fatal = lines.iter().position(|line| is_fatal(line)).map(|place| match lines[place] {
        // The line before this one is from the program with which git connects, such as ssh. It says the reason.
        "fatal: Could not read from remote repository." if place > 0 => &lines[place - 1],
        _ => &lines[place],
    });
    let line = fatal.or_else(|| lines.last()).copied().unwrap_or("git gave no reason");
    line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned()
}

/// Returns the text without passwords: `https://anna:secret@host` becomes `https://anna@host`.
pub(super) fn without_password(text: &str) -> String {
    text.split(' ').map(word_without_password).collect::<Vec<_>>().join(" ")
}

fn word_without_password(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let Some((user, host)) = host.rsplit_once('@') else { return word.to_owned() };
    let user = user.split(':').next().unwrap_or_default();
    format!("{scheme}://{user}@{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_told_by_the_program_that_connects() {
        let said = "ssh: connect to host example.com port 22: Connection refused\n\
            fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\n";
        let output =
            Output { status: std::process::ExitStatus::default(), stdout: Vec::new(), stderr: said.into() };
        assert_eq!(last_words(&output), "ssh: connect to host example.com port 22: Connection refused");
        let output = Output { stderr: "warning: x\nfatal: bad config line 1\n".into(), ..output };
        assert_eq!(last_words(&output), "bad config line 1");
    }

    #[test]
    fn a_password_is_never_shown() {
        assert_eq!(without_password("https://anna:secret@host/x.git"), "https://anna@host/x.git");
        let said = "unable to access 'https://anna:secret@host:8443/a@b/': no";
        assert!(!without_password(said).contains("secret"), "{}", without_password(said));
        assert_eq!(without_password("git@host:x.git"), "git@host:x.git");
    }
}
