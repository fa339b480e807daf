//! The address of a server and how to log in: a URL, completed from PostgreSQL's own environment variables and files.
//! The password is never shown.

use super::time_limits;
use crate::{Error, Result};
use std::path::PathBuf;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// True if a setting is the URL of a PostgreSQL server.
pub fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// True if a URL contains a password. A URL with a password must not be in a committed file.
pub fn has_password(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
    let user = authority.split('/').next().and_then(|part| part.rsplit_once('@')).map(|(user, _)| user);
    let in_user =
        user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| !password.is_empty());
    in_user || query.split('&').any(|part| part.starts_with("password="))
}

/// How a server's certificate is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// No check: the connection is encrypted, but any server may be at the other end.
    Anybody,
    /// A root certificate must have signed the server's certificate.
    Signed(Roots),
    /// A root certificate must have signed the server's certificate, and the certificate must be for this host.
    Host(Roots),
}

/// The root certificates to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Roots {
    File(PathBuf),
    /// The certificates that this machine trusts.
    System,
}

#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) schema: String,
    pub(super) trust: Trust,
    /// The address as shown in messages.
    pub(super) place: String,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self> {
        let (whole, mut own) = without_own_settings(url);
        let service = match own.take("service").or_else(|| variable("PGSERVICE")) {
            Some(name) => service(&name)?,
            None => Vec::new(),
        };
        let from_service =
            |key: &str| service.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
        let mut config: Config = whole.parse().map_err(|_| wrong("the URL is not valid"))?;
        complete(&mut config, &from_service)?;
        let mode = own.take("sslmode").or_else(|| from_service("sslmode")).or_else(|| variable("PGSSLMODE"));
        let named = own.take("sslrootcert").or_else(|| from_service("sslrootcert"));
        let named = named.or_else(|| variable("PGSSLROOTCERT"));
        let trust = encryption(&mut config, mode.as_deref(), roots(named))?;
        let schema = own.take("schema").unwrap_or_else(|| "leftoff".to_owned());
        let is_plain = |name: &str| {
            let letters =
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
            letters && name.len() <= 60 && name.starts_with(|first: char| first.is_ascii_lowercase())
        };
        if !is_plain(&schema) {
            return Err(wrong(
                "the name of a schema starts with a lower-case letter, and has only lower-case letters, digits and '_'",
            ));
        }
        config.application_name("leftoff");
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(time_limits::CONNECT);
        }
        config.keepalives_idle(time_limits::PROBED_AFTER).keepalives_interval(time_limits::BETWEEN_PROBES);
        config.keepalives_retries(3);
        let is_chosen = whole.contains("target_session_attrs=");
        if config.get_hosts().len() > 1 && !is_chosen {
            // Several hosts may be named; after a failover, some of them may be read-only copies.
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let place = place_of(&config);
        if config.get_password().is_none()
            && let Some(password) =
                own.take("password").or_else(|| variable("PGPASSWORD")).or_else(|| from_service("password"))
        {
            config.password(password);
        }
        if config.get_password().is_none()
            && let Some(password) =
                password_file(own.take("passfile")).and_then(|text| listed(&text, &config))
        {
            config.password(password);
        }
        Ok(Self { config, schema, trust, place })
    }
}

/// The settings of a URL that leftoff reads itself, because the client library does not know them.
#[derive(Default)]
struct Own(Vec<(String, String)>);

impl Own {
    fn take(&mut self, name: &str) -> Option<String> {
        let place = self.0.iter().position(|(found, _)| found == name)?;
        Some(self.0.swap_remove(place).1)
    }
}

fn without_own_settings(url: &str) -> (String, Own) {
    let Some((address, query)) = url.split_once('?') else { return (url.to_owned(), Own::default()) };
    let mut own = Own::default();
    let mut rest: Vec<&str> = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        if ["service", "sslmode", "sslrootcert", "schema", "passfile", "password"].contains(&name) {
            own.0.push((name.to_owned(), decoded(value)));
        } else {
            rest.push(part);
        }
    }
    let whole = if rest.is_empty() { address.to_owned() } else { format!("{address}?{}", rest.join("&")) };
    (whole, own)
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let coded =
            if *first == b'%' { after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok()) } else { None };
        if let Some(byte) = coded.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Fills in settings that the URL omits: from the service file, or else from PostgreSQL's environment variables.
fn complete(config: &mut Config, service: &dyn Fn(&str) -> Option<String>) -> Result<()> {
    let set = |key: &str, name: &str| service(key).or_else(|| variable(name));
    if config.get_hosts().is_empty() {
        let hosts = set("host", "PGHOST").ok_or_else(|| wrong("the URL does not name a host"))?;
        for host in hosts.split(',') {
            config.host(host);
        }
        let ports = set("port", "PGPORT");
        for port in ports.iter().flat_map(|ports| ports.split(',')) {
            config.port(port.parse().map_err(|_| wrong("the port is not a number"))?);
        }
    }
    if config.get_user().is_none()
        && let Some(user) = set("user", "PGUSER").or_else(|| variable("USER"))
    {
        config.user(user);
    }
    if config.get_dbname().is_none()
        && let Some(name) = set("dbname", "PGDATABASE").or_else(|| config.get_user().map(ToOwned::to_owned))
    {
        config.dbname(name);
    }
    Ok(())
}

/// Returns how the server's certificate is checked, following libpq. `verify-ca` and `verify-full` check it; `require`
/// checks it only if there is a file of root certificates. The system's roots sign certificates for everybody, so with
/// them the host is always checked too.
fn encryption(config: &mut Config, mode: Option<&str>, roots: Option<Roots>) -> Result<Trust> {
    let (mode, trust) = match (mode, roots) {
        (Some("disable"), _) => (SslMode::Disable, Trust::Anybody),
        (None | Some("prefer" | "allow" | ""), _) => (SslMode::Prefer, Trust::Anybody),
        (Some("require"), None) => (SslMode::Require, Trust::Anybody),
        (Some("require" | "verify-ca"), Some(Roots::File(file))) => {
            (SslMode::Require, Trust::Signed(Roots::File(file)))
        }
        (Some("verify-full"), Some(roots)) => (SslMode::Require, Trust::Host(roots)),
        (Some("require" | "verify-ca" | "verify-full"), _) => (SslMode::Require, Trust::Host(Roots::System)),
        (Some(_), _) => {
            return Err(wrong("sslmode must be one of disable, prefer, require, verify-ca, verify-full"));
        }
    };
    config.ssl_mode(mode);
    Ok(trust)
}

/// Returns the root certificates that a setting names; without a setting, those of libpq's own file, if it exists.
fn roots(named: Option<String>) -> Option<Roots> {
    match named.filter(|named| !named.is_empty()) {
        Some(named) if named == "system" => Some(Roots::System),
        Some(named) => Some(Roots::File(named.into())),
        None => {
            let usual = PathBuf::from(variable("HOME")?).join(".postgresql/root.crt");
            usual.exists().then_some(Roots::File(usual))
        }
    }
}

fn service(name: &str) -> Result<Vec<(String, String)>> {
    let home = variable("HOME").map(|home| PathBuf::from(home).join(".pg_service.conf"));
    let file = variable("PGSERVICEFILE").map(PathBuf::from).or(home);
    let text = file.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    let wanted = format!("[{name}]");
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != wanted);
    if lines.next().is_none() {
        return Err(wrong(&format!("there is no service '{name}' in the service file")));
    }
    let settings = lines.take_while(|line| !line.starts_with('['));
    let pair = |line: &str| {
        let (key, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        Some((key.trim().to_owned(), value.trim().to_owned()))
    };
    Ok(settings.filter_map(pair).collect())
}

/// Returns the content of the password file. As with PostgreSQL's own programs, a file that other users can read is
/// ignored.
fn password_file(named: Option<String>) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let home = || variable("HOME").map(|home| PathBuf::from(home).join(".pgpass"));
    let file = named.or_else(|| variable("PGPASSFILE")).map(PathBuf::from).or_else(home)?;
    let mode = std::fs::metadata(&file).ok()?.permissions().mode();
    (mode.trailing_zeros() >= 6).then(|| std::fs::read_to_string(&file).ok())?
}

/// Returns the password of the first matching line, `host:port:database:user:password`.
fn listed(text: &str, config: &Config) -> Option<String> {
    let hosts: Vec<String> = config.get_hosts().iter().map(host_name).collect();
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let fits = |field: &str, value: &str| field == "*" || field == value;
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = unescaped(line);
        let [host, its_port, database, user, password] = fields.as_slice() else { return None };
        let is_it = (host == "*" || hosts.iter().any(|own| own == host))
            && fits(its_port, &port)
            && fits(database, config.get_dbname().unwrap_or_default())
            && fits(user, config.get_user().unwrap_or_default());
        is_it.then(|| password.clone())
    })
}

fn unescaped(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let field = fields.last_mut();
        match (letter, field) {
            ('\\', Some(field)) => field.extend(letters.next()),
            (':', _) => fields.push(String::new()),
            (other, Some(field)) => field.push(other),
            (_, None) => {}
        }
    }
    fields
}

fn place_of(config: &Config) -> String {
    let port = |place: usize| {
        let ports = config.get_ports();
        ports.get(place).or(ports.first()).copied().unwrap_or(5432)
    };
    let hosts = config.get_hosts().iter().enumerate();
    let hosts: Vec<String> =
        hosts.map(|(place, host)| format!("{}:{}", host_name(host), port(place))).collect();
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    format!("postgres://{user}{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns an error that does not repeat the URL, because the URL may contain a password.
fn wrong(why: &str) -> Error {
    Error::Engine { doing: "reading the PostgreSQL URL".to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;

    #[test]
    fn a_place_names_hosts_and_never_the_password() {
        let address =
            Address::parse("postgres://ada:s3cret@one:5433,two/work?sslmode=disable&schema=team_a").unwrap();
        assert_eq!(address.place, "postgres://ada@one:5433,two:5432/work");
        assert_eq!(address.schema, "team_a");
        assert_eq!(address.config.get_password(), Some(&b"s3cret"[..]));
        assert!(!format!("{address:?}").contains("s3cret"), "{address:?}");
        for bad in ["postgres://ada:s3cret@one:port/work", "postgres://ada:s3cret@one/work?sslmode=s3cret"] {
            assert!(!Address::parse(bad).unwrap_err().to_string().contains("s3cret"));
        }
    }

    #[test]
    fn a_password_in_a_url_is_noticed() {
        for with in ["postgres://a:b@h/d", "postgres://h/d?password=x", "postgresql://a:b@h"] {
            assert!(has_password(with), "{with}");
        }
        for without in
            ["postgres://a@h/d", "postgres://h:5432/d", "postgres://a@h/d?sslmode=require", "postgres://"]
        {
            assert!(!has_password(without), "{without}");
        }
    }

    #[test]
    fn certificates_are_believed_as_libpq_believes_them() {
        let trust =
            |end: &str| Address::parse(&format!("postgres://a@h/d{end}")).map(|address| address.trust);
        assert_eq!(trust("").unwrap(), Trust::Anybody);
        assert_eq!(trust("?sslmode=require").unwrap(), Trust::Anybody);
        assert_eq!(trust("?sslmode=verify-full").unwrap(), Trust::Host(Roots::System));
        let file = Roots::File("/etc/ca.pem".into());
        let with_file = |mode: &str| trust(&format!("?sslmode={mode}&sslrootcert=%2Fetc/ca.pem")).unwrap();
        assert_eq!(with_file("prefer"), Trust::Anybody);
        assert_eq!(with_file("require"), Trust::Signed(file.clone()));
        assert_eq!(with_file("verify-ca"), Trust::Signed(file.clone()));
        assert_eq!(with_file("verify-full"), Trust::Host(file));
        let of_system = trust("?sslmode=verify-ca&sslrootcert=system").unwrap();
        assert_eq!(of_system, Trust::Host(Roots::System), "anybody can have a certificate of these");
        trust("?sslmode=sometimes").unwrap_err();
        trust("?schema=a;b").unwrap_err();
    }

    #[test]
    fn the_first_fitting_line_of_a_password_file_counts() {
        let config: Config = "postgres://ada@one:5433/work".parse().unwrap();
        let file =
            "# none\ntwo:*:*:*:wrong\none:5432:*:ada:wrong\none:5433:work:ada:a\\:b\\\\c\n*:*:*:*:later\n";
        assert_eq!(listed(file, &config).as_deref(), Some("a:b\\c"));
    }
}
