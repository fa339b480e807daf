//! A PostgreSQL server for tests. A server that already runs is used; otherwise one is started, and ends with this
//! process.

use crate::left_out;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The password of the server's superuser. Tests check that it is in no output.
pub const PASSWORD: &str = "s3cret-of-the-tests";

/// The maximum time for the server to start or to recover. It takes longer on a busy machine.
const LONGEST: Duration = Duration::from_mins(2);

/// A running server. It ends when this value is dropped.
pub struct Server {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
    /// The network namespace in which the server runs, if it has its own.
    namespace: Option<String>,
    watch: Option<(Child, ChildStdin)>,
}

/// The URL of the server that all tests share: the one in `LEFTOFF_TEST_POSTGRES`, or one that this process starts.
/// Without PostgreSQL, records that `what_for` was left out, and returns `None`.
pub fn shared(what_for: &str) -> Option<String> {
    static SHARED: OnceLock<Option<(Option<Server>, String)>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| {
        if let Ok(given) = std::env::var("LEFTOFF_TEST_POSTGRES") {
            return Some((None, given));
        }
        let server = Server::start()?;
        let url = server.url();
        Some((Some(server), url))
    });
    if shared.is_none() {
        left_out(&format!("{what_for}: PostgreSQL could not be found or installed"));
    }
    shared.as_ref().map(|(_, url)| url.clone())
}

/// The URL of the shared server with a new schema.
pub fn schema(what_for: &str) -> Option<String> {
    static NUMBERS: AtomicU32 = AtomicU32::new(0);
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    let url = shared(what_for)?;
    let joint = if url.contains('?') { '&' } else { '?' };
    Some(format!("{url}{joint}schema=t{}_{number}", std::process::id()))
}

/// The folder with the programs of PostgreSQL 15 or newer.
pub fn programs() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("LEFTOFF_TEST_PGBIN") {
        return Some(given.into());
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest =
        versions.map(|entry| entry.path()).filter(|path| number(path) >= Some(15)).max_by_key(number);
    let debian = newest.map(|folder| folder.join("bin")).filter(|folder| folder.join("initdb").exists());
    debian.or_else(|| {
        let asked = Command::new("pg_config").arg("--bindir").output().ok()?;
        let folder = PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim());
        folder.join("initdb").exists().then_some(folder)
    })
}

/// The user and the group that run the server if this process is root, because PostgreSQL refuses to run as root.
fn unprivileged() -> Option<(u32, u32)> {
    let number = |what: &str, user: &str| {
        let asked =
            Command::new("id").args([what, user]).output().ok().filter(|asked| asked.status.success())?;
        String::from_utf8(asked.stdout).ok()?.trim().parse::<u32>().ok()
    };
    let me = Command::new("id").arg("-u").output().ok()?;
    if me.stdout.trim_ascii() != b"0" {
        return None;
    }
    ["postgres", "nobody"].iter().find_map(|user| Some((number("-u", user)?, number("-g", user)?)))
}

/// A command that runs without the privileges of root.
pub fn as_nobody(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = unprivileged() {
        command.uid(user).gid(group);
    }
    command.current_dir("/").env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
    command
}

/// A shell in a network namespace, without the privileges of root.
fn in_namespace(namespace: &str) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{namespace}"));
    if let Some((user, group)) = unprivileged() {
        command.args(["--setuid", &user.to_string(), "--setgid", &group.to_string()]);
    }
    command.arg("sh").current_dir("/").env("LC_ALL", "C.UTF-8");
    command
}

/// Allows the user of the server to write to a folder.
pub fn hand_over(folder: &Path) {
    if let Some((user, group)) = unprivileged() {
        std::os::unix::fs::chown(folder, Some(user), Some(group)).expect("root may give files away");
    }
}

pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

impl Server {
    /// Starts another server. `None` if PostgreSQL is not installed.
    pub fn start() -> Option<Self> {
        Self::start_with("")
    }

    /// Starts another server, with these lines in its configuration.
    pub fn start_with(settings: &str) -> Option<Self> {
        Self::start_at(None, settings)
    }

    /// Starts another server in a network namespace. It listens on every address there.
    pub fn start_in(namespace: &str) -> Option<Self> {
        Self::start_at(Some(namespace.to_owned()), "listen_addresses='*'")
    }

    fn start_at(namespace: Option<String>, settings: &str) -> Option<Self> {
        let mut server = Self::empty(namespace)?;
        let password = server.folder().join("password");
        fs::write(&password, PASSWORD).expect("a file");
        let mut initdb = as_nobody(server.programs.join("initdb"));
        initdb.args(["-U", "postgres", "--auth=scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"]);
        server.make(initdb.arg("--pwfile").arg(&password).arg("-D"));
        server.append("pg_hba.conf", "host all all 0.0.0.0/0 scram-sha-256");
        let folder = server.folder().display().to_string();
        server.append(
            "postgresql.conf",
            &format!(
                "max_connections=200\nlisten_addresses='127.0.0.1'\nunix_socket_directories='{folder}'\n{settings}"
            ),
        );
        server.start_somewhere();
        Some(server)
    }

    /// Starts a copy of this server. The copy receives all changes, and can replace the server.
    pub fn start_standby(&self) -> Self {
        let mut standby = Self::empty(None).expect("the programs are there");
        let mut copy = as_nobody(self.programs.join("pg_basebackup"));
        copy.args(["-R", "--no-sync", "-c", "fast", "-U", "postgres", "-p", &self.port.to_string(), "-h"]);
        standby.make(copy.arg(self.folder()).env("PGPASSWORD", PASSWORD).arg("-D"));
        let folder = standby.folder().display().to_string();
        standby.append("postgresql.conf", &format!("unix_socket_directories='{folder}'"));
        standby.start_somewhere();
        standby
    }

    fn empty(namespace: Option<String>) -> Option<Self> {
        let programs = programs()?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("its mode");
        hand_over(folder.path());
        Some(Self { programs, folder, port: 0, namespace, watch: None })
    }

    /// Runs a program that creates the folder of data. The path of the folder is added as the last argument.
    fn make(&self, command: &mut Command) {
        let made = command.arg(self.folder().join("data")).output().expect("the program starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    fn append(&self, file: &str, lines: &str) {
        let file = self.folder().join("data").join(file);
        let file = fs::OpenOptions::new().append(true).open(file);
        file.and_then(|mut file| writeln!(file, "{lines}")).expect("the configuration");
    }

    fn start_somewhere(&mut self) {
        let is_running = (0..5).any(|_| {
            self.port = free_port();
            self.run()
        });
        assert!(is_running, "the server does not start: {}", self.log());
    }

    /// Starts the server again, on the same port and with the same data.
    pub fn start_again(&mut self) {
        // The processes of a killed server may use its memory for a moment longer.
        let is_running = (0..20).any(|_| {
            self.run() || {
                std::thread::sleep(Duration::from_millis(100));
                false
            }
        });
        assert!(is_running, "the server does not start: {}", self.log());
    }

    /// Starts the server, and waits until it answers. It runs under a shell, which kills it when the input of the shell
    /// closes, at the latest when this process ends. The shell sends the signal several times, because a server that
    /// has just started ignores it.
    fn run(&mut self) -> bool {
        self.stop();
        // The file contains the process id of the previous server.
        let _ = fs::remove_file(self.folder.path().join("pid"));
        let line = format!(
            "{}/postgres -D {}/data -p {} >>{}/log 2>&1 & pid=$!; echo $pid >{}/pid; read -r line; while kill -QUIT $pid 2>/dev/null; do sleep 0.05; done; wait",
            self.programs.display(),
            self.folder.path().display(),
            self.port,
            self.folder.path().display(),
            self.folder.path().display(),
        );
        let mut command = match &self.namespace {
            None => as_nobody("sh"),
            Some(namespace) => in_namespace(namespace),
        };
        let mut child = command.args(["-c", &line]).stdin(Stdio::piped()).spawn().expect("a shell starts");
        let input = child.stdin.take().expect("its input");
        self.watch = Some((child, input));
        let end = Instant::now() + LONGEST;
        while Instant::now() < end {
            if self.answers() {
                return true;
            }
            let is_gone = self.pid().is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists());
            if is_gone {
                return false;
            }
            std::thread::sleep(Duration::from_millis(30));
        }
        false
    }

    /// Waits until the server answers, for example after a recovery.
    pub fn wait(&self) {
        let end = Instant::now() + LONGEST;
        while !self.answers() {
            assert!(Instant::now() < end, "the server does not answer: {}", self.log());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn answers(&self) -> bool {
        let asked = as_nobody(self.programs.join("pg_isready"))
            .args(["-q", "-p", &self.port.to_string(), "-h"])
            .arg(self.folder())
            .status();
        asked.is_ok_and(|status| status.success())
    }

    /// Stops the server at once, as `pg_ctl stop -m immediate` does.
    pub fn stop(&mut self) {
        if let Some((mut child, input)) = self.watch.take() {
            drop(input);
            let _ = child.wait();
        }
    }

    /// The process id of the server's main process.
    pub fn pid(&self) -> Option<u32> {
        fs::read_to_string(self.folder.path().join("pid")).ok()?.trim().parse().ok()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn programs(&self) -> &Path {
        &self.programs
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The URL for the superuser, with the password.
    pub fn url(&self) -> String {
        self.url_of("postgres", PASSWORD, "postgres")
    }

    pub fn url_of(&self, user: &str, password: &str, database: &str) -> String {
        format!("postgres://{user}:{password}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// Runs SQL as the superuser. Returns one line for each row.
    pub fn sql(&self, sql: &str) -> String {
        sql_at(&self.programs, &self.socket(), sql)
    }

    /// Runs SQL like `sql`, on a server that may be recovering. `None` if the server does not answer.
    pub fn try_sql(&self, sql: &str) -> Option<String> {
        let asked = psql(&self.programs, &self.socket(), sql);
        asked.status.success().then(|| String::from_utf8_lossy(&asked.stdout).trim_end().to_owned())
    }

    fn socket(&self) -> String {
        let folder = self.folder().display();
        format!("postgres://postgres:{PASSWORD}@/postgres?host={folder}&port={}", self.port)
    }
}

/// Runs SQL on the server at a URL. The URL may have parameters that only leftoff knows. Returns one line for each row.
pub fn sql_at(programs: &Path, url: &str, sql: &str) -> String {
    let asked = psql(programs, url, sql);
    assert!(asked.status.success(), "{sql}: {}", String::from_utf8_lossy(&asked.stderr));
    String::from_utf8_lossy(&asked.stdout).trim_end().to_owned()
}

pub fn psql(programs: &Path, url: &str, sql: &str) -> std::process::Output {
    let plain: String = url.split("&schema=").next().unwrap_or(url).to_owned();
    let mut command = as_nobody(programs.join("psql"));
    command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", &plain]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("psql starts");
    child.stdin.take().expect("its input").write_all(sql.as_bytes()).ok();
    child.wait_with_output().expect("psql ends")
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
