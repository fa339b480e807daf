//! Tests of encrypted connections. `sslmode` and `sslrootcert` decide which certificate is accepted, as in
//! PostgreSQL's own programs.

use crate::{PROGRAM, without_password};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use testkit::postgres::{PASSWORD, Server, as_nobody, hand_over};
use testkit::{Ran, Sandbox, left_out};

/// Keys and certificates that openssl created: a root, a certificate for `localhost` signed by it, another
/// root, and a self-signed certificate for `localhost`.
struct Certificates(TempDir);

impl Certificates {
    fn make() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        hand_over(folder.path());
        let made = Self(folder);
        let script = "cd \"$0\"; new='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'
            openssl req -x509 $new -subj /CN=root -keyout root.key -out root.crt
            openssl req -x509 $new -subj /CN=other -keyout other.key -out other.crt
            openssl req -x509 $new -subj /CN=own -addext subjectAltName=DNS:localhost -keyout own.key -out own.crt
            openssl req $new -subj /CN=server -keyout signed.key -out signed.csr
            echo subjectAltName=DNS:localhost >names
            openssl x509 -req -in signed.csr -CA root.crt -CAkey root.key -CAcreateserial -days 2 -extfile names -out signed.crt";
        let Ok(ran) = as_nobody("sh").args(["-euc", script]).arg(made.0.path()).output() else {
            left_out("encrypted connections: openssl could not be found");
            return None;
        };
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        Some(made)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn settings(&self, name: &str) -> String {
        let (certificate, key) = (self.path(&format!("{name}.crt")), self.path(&format!("{name}.key")));
        format!(
            "log_connections=on\nssl=on\nssl_cert_file='{}'\nssl_key_file='{}'",
            certificate.display(),
            key.display()
        )
    }
}

struct Client {
    sandbox: Sandbox,
    port: u16,
}

impl Client {
    fn of(server: &Server) -> Self {
        let sandbox = Sandbox::git(PROGRAM).without_gates().on(&server.url());
        sandbox.run(["start", "--id", "first"]).ok();
        Self { sandbox, port: server.port() }
    }

    fn url(&self, host: &str, settings: &str) -> String {
        format!("postgres://postgres:{PASSWORD}@{host}:{}/postgres{settings}", self.port)
    }

    fn list(&self, host: &str, mode: &str, roots: Option<&Path>) -> Ran {
        let roots = roots.map(|file| format!("&sslrootcert={}", file.display())).unwrap_or_default();
        let mut command = self.sandbox.command(["list", "--all"]);
        command.env("LEFTOFF_STORE", self.url(host, &format!("?sslmode={mode}{roots}")));
        Ran::from(command.output().unwrap())
    }

    #[track_caller]
    fn refused(&self, host: &str, mode: &str, roots: Option<&Path>, why: &str) {
        let ran = self.list(host, mode, roots).code(1);
        let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("{host}:{}", self.port)), "names the host: {said}");
        assert!(said.contains(why), "{mode}: {said}");
        without_password(&ran);
    }
}

#[test]
fn a_certificate_counts_as_sslmode_and_sslrootcert_say() {
    let Some(certificates) = Certificates::make() else { return };
    let Some(server) = Server::start_with(&certificates.settings("signed")) else {
        return left_out("encrypted connections: PostgreSQL could not be found or installed");
    };
    let client = Client::of(&server);
    let (root, other, none) =
        (certificates.path("root.crt"), certificates.path("other.crt"), certificates.path("none.crt"));
    assert!(!server.log().contains("SSL enabled"), "{}", server.log());
    client.list("localhost", "verify-full", Some(&root)).ok();
    assert!(server.log().contains("SSL enabled"), "{}", server.log());
    client.list("127.0.0.1", "verify-ca", Some(&root)).ok();
    client.list("127.0.0.1", "require", Some(&root)).ok();
    client.list("127.0.0.1", "require", None).ok();
    client.refused("127.0.0.1", "verify-full", Some(&root), "its certificate is for another host");
    for mode in ["verify-full", "verify-ca", "require"] {
        client.refused(
            "localhost",
            mode,
            Some(&other),
            "not signed by a root certificate that is trusted here",
        );
    }
    client.refused("localhost", "verify-full", None, "not signed by a root certificate that is trusted here");
    let missing = format!("cannot be read from {}", none.display());
    client.refused("localhost", "verify-full", Some(&none), &missing);
    client.refused("localhost", "verify-full", Some(&certificates.path("names")), "cannot be read from");
}

/// The variables and the file in the home folder in which PostgreSQL's programs look for root certificates.
#[test]
fn roots_are_found_where_libpq_finds_them() {
    let Some(certificates) = Certificates::make() else { return };
    let Some(server) = Server::start_with(&certificates.settings("signed")) else {
        return left_out("roots where libpq finds them: PostgreSQL could not be found or installed");
    };
    let client = Client::of(&server);
    let with = |variables: &[(&str, &str)]| {
        let mut command = client.sandbox.command(["list", "--all"]);
        command.env("LEFTOFF_STORE", client.url("localhost", "")).envs(variables.iter().copied());
        Ran::from(command.output().unwrap())
    };
    let (root, other) = (certificates.path("root.crt"), certificates.path("other.crt"));
    let (root, other) = (root.to_str().unwrap(), other.to_str().unwrap());
    with(&[("PGSSLMODE", "verify-full"), ("PGSSLROOTCERT", root)]).ok();
    with(&[("PGSSLMODE", "verify-full"), ("PGSSLROOTCERT", other)]).code(1);
    let home = client.sandbox.folder().join("home/.postgresql");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::copy(other, home.join("root.crt")).unwrap();
    with(&[("PGSSLMODE", "require")]).code(1);
    std::fs::copy(root, home.join("root.crt")).unwrap();
    with(&[("PGSSLMODE", "require")]).ok();
    with(&[("PGSSLMODE", "verify-full")]).ok();
}

/// The manual of PostgreSQL suggests this: clients have a copy of the server's own certificate.
#[test]
fn a_certificate_that_signed_itself_counts_where_its_copy_is_the_root() {
    let Some(certificates) = Certificates::make() else { return };
    let Some(server) = Server::start_with(&certificates.settings("own")) else {
        return left_out("a certificate that signed itself: PostgreSQL could not be found or installed");
    };
    let client = Client::of(&server);
    let (own, root) = (certificates.path("own.crt"), certificates.path("root.crt"));
    client.list("localhost", "verify-full", Some(&own)).ok();
    client.list("127.0.0.1", "verify-ca", Some(&own)).ok();
    client.refused("127.0.0.1", "verify-full", Some(&own), "its certificate is for another host");
    client.refused("localhost", "verify-full", Some(&root), "its certificate");
}
