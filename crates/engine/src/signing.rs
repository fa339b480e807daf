//! Creates and verifies SSH signatures, by `ssh-keygen -Y`. Knows nothing about sessions: what is signed is text.

use crate::error::{Error, Result, Unsigned};
use crate::hex;
use std::fs::{self, DirBuilder};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The namespace of the signatures. Signatures that were made for another purpose do not count.
const NAMESPACE: &str = "leftoff";
/// The variable with the user's signing key. It has precedence over git's setting.
const KEY_VARIABLE: &str = "LEFTOFF_SIGNING_KEY";

/// Signs a text with this user's key. May ask for a passphrase at the terminal.
pub(crate) fn sign(payload: &str, project: &Path) -> Result<String> {
    let key = Key::of_this_user(project)?;
    let output = ssh_keygen(&["-Y", "sign", "-q", "-n", NAMESPACE, "-f"], &[&key.path], payload)?;
    let signature = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() && signature.starts_with("-----BEGIN SSH SIGNATURE-----") {
        return Ok(signature);
    }
    Err(Unsigned::Failed(said(&output)).into())
}

/// Returns the signer's name in the file of allowed signers, if an allowed key signed exactly this text; otherwise
/// `None`.
pub(crate) fn check(payload: &str, signature: &str, allowed_signers: &str) -> Result<Option<String>> {
    let folder = Folder::new()?;
    let (signature, allowed) =
        (folder.write("signature", signature)?, folder.write("allowed_signers", allowed_signers)?);
    let found = ssh_keygen(&["-Y", "find-principals", "-f"], &[&allowed, Path::new("-s"), &signature], "")?;
    let names = String::from_utf8_lossy(&found.stdout).into_owned();
    let Some(name) = names.lines().next().filter(|_| found.status.success()) else { return Ok(None) };
    let arguments = ["-Y", "verify", "-q", "-n", NAMESPACE, "-I", name, "-f"];
    let checked = ssh_keygen(&arguments, &[&allowed, Path::new("-s"), &signature], payload)?;
    Ok(checked.status.success().then(|| name.to_owned()))
}

/// A private key, or a public key whose private part is in an SSH agent.
struct Key {
    path: PathBuf,
    /// The temporary folder with the key's file, if git's settings contain the public key itself.
    _folder: Option<Folder>,
}

impl Key {
    fn of_this_user(project: &Path) -> Result<Self> {
        let named = std::env::var(KEY_VARIABLE).ok().or_else(|| git_setting(project, "user.signingkey"));
        let Some(named) = named.filter(|named| !named.is_empty()) else {
            return Err(Unsigned::NoKey.into());
        };
        let spelled_out = named.strip_prefix("key::").or_else(|| named.starts_with("ssh-").then_some(&named));
        if let Some(text) = spelled_out {
            let folder = Folder::new()?;
            return Ok(Self { path: folder.write("key.pub", &format!("{text}\n"))?, _folder: Some(folder) });
        }
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let path = named.strip_prefix("~/").map_or_else(|| PathBuf::from(&named), |below| home.join(below));
        Ok(Self { path, _folder: None })
    }
}

/// Returns git's setting of this name in this project, if any.
pub(crate) fn git_setting(project: &Path, name: &str) -> Option<String> {
    let output = Command::new("git")
        .args(["config", "--get", name])
        .current_dir(project)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let value = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !value.is_empty()).then_some(value)
}

fn ssh_keygen(arguments: &[&str], paths: &[&Path], input: &str) -> Result<Output> {
    let failed = |source| Error::io("running ssh-keygen", source);
    let mut child = Command::new("ssh-keygen")
        .args(arguments)
        .args(paths)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // The program may end without reading its input. Its error output then says why.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output().map_err(failed)
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    crate::words::one_line(text.trim(), 200)
}

/// A private temporary folder. It is removed when the value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let mut random = [0u8; 12];
        getrandom::fill(&mut random).map_err(|error| {
            Error::io("generating a random name for a temporary folder", std::io::Error::other(error))
        })?;
        let path = std::env::temp_dir().join(format!("leftoff-{}", hex(&random)));
        DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|source| Error::io(format!("creating {}", path.display()), source))?;
        Ok(Self(path))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(|source| Error::io(format!("writing {}", path.display()), source))?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(folder: &Path, name: &str) -> (PathBuf, String) {
        let path = folder.join(name);
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
            .arg(&path)
            .status()
            .expect("ssh-keygen");
        assert!(made.success());
        let public = fs::read_to_string(path.with_extension("pub")).expect("the public key");
        (path, public)
    }

    fn signed(payload: &str, key: &Path) -> String {
        let output =
            ssh_keygen(&["-Y", "sign", "-q", "-n", NAMESPACE, "-f"], &[key], payload).expect("a run");
        String::from_utf8(output.stdout).expect("text")
    }

    #[test]
    fn a_signature_counts_for_its_payload_by_an_allowed_key_and_for_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let (anna, of_anna) = key(folder.path(), "anna");
        let (eve, _) = key(folder.path(), "eve");
        let allowed = format!("anna@example.org namespaces=\"leftoff\" {of_anna}");
        let good = signed("yes", &anna);
        let who = |payload: &str, signature: &str| check(payload, signature, &allowed).expect("a run");
        assert_eq!(who("yes", &good).as_deref(), Some("anna@example.org"));
        assert_eq!(who("no", &good), None);
        assert_eq!(who("yes", &signed("yes", &eve)), None);
        assert_eq!(who("yes", "nothing of the kind"), None);
        assert_eq!(check("yes", &good, "").expect("a run"), None);
        let other = ssh_keygen(&["-Y", "sign", "-q", "-n", "git", "-f"], &[&anna], "yes").expect("a run");
        assert_eq!(who("yes", &String::from_utf8_lossy(&other.stdout)), None);
    }
}
