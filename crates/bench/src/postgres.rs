//! Compares a team's store with `pgbench`. In the same run, both insert rows of the same size into the same server.

use crate::project::{Programs, Project};
use crate::sample::{interleaved, median, medians, ratio, timed};
use crate::table::{Must, Table};
use crate::{Effort, Result};
use engine::{Engine, Intent, Options, Request, StartRequest};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::{Duration, Instant};
use testkit::postgres::{PASSWORD, Server, as_nobody};

const NOTE: &str =
    "The parser keeps the comments: rewriting the file must not lose what a person wrote there.";
const WRITERS: usize = 8;
const PROJECTS: usize = 64;
const ROUNDS: usize = 5;

pub fn postgres(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let server = Server::start().ok_or("PostgreSQL is not installed: its programs are needed")?;
    let team = Team::of(programs, &server)?;
    let seconds = if effort.rounds < 200 { 2 } else { 5 };

    let one = team.project(programs, "leftoff")?;
    let mut engine = one.engine()?;
    note(&mut engine, 200)?;
    let script = team.script()?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(rate(Duration::from_secs(seconds), || note(&mut engine, 1))?);
        theirs.push(team.pgbench(&script, 1, seconds)?);
    }
    told(table, "note, one writer : pgbench, one client", &ours, &theirs, Must::AtLeast(0.3));
    growth(&team, &mut engine, table)?;
    commands(&one, effort, table)?;

    let projects: Vec<Project> =
        (0..PROJECTS).map(|_| team.project(programs, "leftoff")).collect::<Result<_>>()?;
    let (ours, theirs) =
        crowd(&projects, Duration::from_secs(seconds), || team.pgbench(&script, WRITERS, seconds))?;
    told(table, "notes of 8 writers on 64 projects : pgbench -c 8", &ours, &theirs, Must::AtLeast(0.5));
    // An open project has a connection of its own: here, the writers have as many connections as pgbench.
    let (ours, theirs) = crowd(&projects[..WRITERS], Duration::from_secs(seconds), || {
        team.pgbench(&script, WRITERS, seconds)
    })?;
    told(table, "notes of 8 writers on 8 projects : pgbench -c 8", &ours, &theirs, Must::Nothing);
    many_sessions(programs, &team, effort, table)
}

fn told(table: &mut Table, what: &str, ours: &[f64], theirs: &[f64], must: Must) {
    let mut ratios: Vec<f64> = ours.iter().zip(theirs).map(|(our, their)| our / their).collect();
    ratios.sort_by(f64::total_cmp);
    let median = |rates: &[f64]| {
        let mut rates = rates.to_vec();
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let of = format!("{:.0}/s : {:.0}/s", median(ours), median(theirs));
    table.line(what, ratios[ratios.len() / 2], must, &of);
}

/// Measures how much a note makes the tables and the write-ahead log grow.
fn growth(team: &Team<'_>, engine: &mut Engine, table: &mut Table) -> Result<()> {
    const NOTES: u32 = 2_000;
    let (tables, log) = team.sizes()?;
    note(engine, NOTES as usize)?;
    let (tables_after, log_after) = team.sizes()?;
    let each = |bytes: f64| bytes / f64::from(NOTES) / 1_000.0;
    let of = format!("{NOTES} notes of {} bytes", NOTE.len());
    table.line("growth of the tables, KB a note", each(tables_after - tables), Must::Nothing, &of);
    table.line("write-ahead log, KB a note", each(log_after - log), Must::Nothing, &of);
    Ok(())
}

/// Measures whole commands: a process that starts, connects with a password, and ends.
fn commands(project: &Project, effort: Effort, table: &mut Table) -> Result<()> {
    // The commands use the state folder of this process, because the server that the user has accepted is recorded
    // there.
    let state = std::env::var_os("XDG_STATE_HOME").unwrap_or_default();
    let run = |words: &[&str]| timed(project.leftoff(words).env("XDG_STATE_HOME", &state));
    let [notes, statuses] = interleaved(
        effort.rounds.min(100),
        |_| Ok(()),
        &mut [&mut || run(&["note", NOTE]), &mut || run(&["status"])],
    )?;
    for (what, times) in [("note, a whole command, ms", notes), ("status, a whole command, ms", statuses)] {
        table.line(what, median(&times).as_secs_f64() * 1e3, Must::Nothing, "SCRAM, no TLS, same machine");
    }
    Ok(())
}

/// Compares commands in a store with many sessions with the same commands in a store with ten sessions.
fn many_sessions(programs: &Programs, team: &Team<'_>, effort: Effort, table: &mut Table) -> Result<()> {
    let (few, many) = (team.project(programs, "few")?, team.project(programs, "many")?);
    team.fill("few", 10, 100)?;
    team.fill("many", effort.sessions, effort.events)?;
    let (mut small, mut large) = (few.engine()?, many.engine()?);
    let timed_note = |engine: &mut Engine| {
        let begun = Instant::now();
        note(engine, 1)?;
        Ok(begun.elapsed())
    };
    let timed_status = |engine: &mut Engine| {
        let begun = Instant::now();
        engine.sessions().status()?;
        Ok(begun.elapsed())
    };
    let of = format!("{} sessions, {} events", effort.sessions, effort.events);
    let [larges, smalls] = interleaved(
        effort.rounds,
        |_| Ok(()),
        &mut [&mut || timed_status(&mut large), &mut || timed_status(&mut small)],
    )?;
    let times = format!("{} ({of})", medians(&larges, &smalls));
    table.line("status, many sessions : 10", ratio(&larges, &smalls), Must::AtMost(1.3), &times);
    let [larges, smalls] = interleaved(
        effort.rounds,
        |_| Ok(()),
        &mut [&mut || timed_note(&mut large), &mut || timed_note(&mut small)],
    )?;
    let times = format!("{} ({of})", medians(&larges, &smalls));
    table.line("note, many sessions : 10", ratio(&larges, &smalls), Must::AtMost(1.3), &times);
    Ok(())
}

fn note(engine: &mut Engine, times: usize) -> Result<()> {
    for _ in 0..times {
        engine.execute(Request::note(NOTE))?;
    }
    Ok(())
}

/// How often `work` can be called in a second.
fn rate(length: Duration, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    let mut done = 0_u32;
    while begun.elapsed() < length {
        work()?;
        done += 1;
    }
    Ok(f64::from(done) / begun.elapsed().as_secs_f64())
}

/// The notes per second of eight writers with open connections, and the rate of another program. Both are measured
/// alternately. Each writer writes to its own projects, one after the other.
fn crowd(
    projects: &[Project],
    length: Duration,
    mut other: impl FnMut() -> Result<f64>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let together = Barrier::new(WRITERS + 1);
    std::thread::scope(|scope| {
        let writer = |own| {
            let together = &together;
            scope.spawn(move || write_in_rounds(own, length, together).map_err(|error| error.to_string()))
        };
        let threads: Vec<_> = projects.chunks(projects.len().div_ceil(WRITERS)).map(writer).collect();
        let mut theirs = Vec::new();
        for _ in 0..ROUNDS {
            together.wait();
            together.wait();
            theirs.push(other());
        }
        let mut ours = vec![0.0; ROUNDS];
        for thread in threads {
            let rates = thread.join().map_err(|_| "a writer ended")??;
            ours.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += rate);
        }
        Ok((ours, theirs.into_iter().collect::<Result<_>>()?))
    })
}

/// The notes per second of one writer in each round. Even a writer that failed takes part in all rounds, because the
/// other writers wait for it.
fn write_in_rounds(projects: &[Project], length: Duration, together: &Barrier) -> Result<Vec<f64>> {
    let mut engines = projects.iter().map(Project::engine).collect::<Result<Vec<_>>>();
    // The first notes are not timed, as in the measurement with one writer.
    if let Ok(opened) = &mut engines
        && let Err(error) = opened.iter_mut().try_for_each(|engine| note(engine, 20))
    {
        engines = Err(error);
    }
    let mut next = 0;
    let rates: Vec<Result<f64>> = (0..ROUNDS)
        .map(|_| {
            together.wait();
            let measured = match &mut engines {
                Err(error) => Err(error.to_string().into()),
                Ok(engines) => rate(length, || {
                    next = (next + 1) % engines.len();
                    note(&mut engines[next], 1)
                }),
            };
            together.wait();
            measured
        })
        .collect();
    rates.into_iter().collect()
}

pub(crate) struct Team<'s> {
    server: &'s Server,
    passwords: PathBuf,
}

impl<'s> Team<'s> {
    pub(crate) fn of(programs: &Programs, server: &'s Server) -> Result<Self> {
        let passwords = programs.built().join("bench-pgpass");
        std::fs::write(&passwords, format!("*:*:*:*:{PASSWORD}\n"))?;
        std::fs::set_permissions(&passwords, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self { server, passwords })
    }

    /// A project whose only session is on the server.
    pub(crate) fn project(&self, programs: &Programs, schema: &str) -> Result<Project> {
        let project = programs.empty_project()?;
        let folder = project.root().join(".leftoff");
        std::fs::create_dir_all(&folder)?;
        let config = folder.join("config.toml");
        let before = std::fs::read_to_string(&config).unwrap_or_default();
        let url = format!(
            "postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable&passfile={}&schema={schema}",
            self.server.port(),
            self.passwords.display()
        );
        std::fs::write(config, format!("store = \"{url}\"\n{before}"))?;
        // The engine runs in this process, because a process with another home folder would count as another machine.
        let options = Options { project: Some(project.root().to_owned()), ..Options::default() };
        engine::accept_store(Options { person_present: true, ..options.clone() })?;
        Engine::open(options, Intent::Create)?.execute(Request::Start(StartRequest::default()))?;
        Ok(project)
    }

    /// The size of all tables with their indexes, in bytes, and the position of the end of the write-ahead log.
    fn sizes(&self) -> Result<(f64, f64)> {
        let sql = "VACUUM; SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n \
                   ON n.oid=c.relnamespace WHERE n.nspname='leftoff' AND c.relkind='r'; \
                   SELECT pg_current_wal_lsn()-'0/0'";
        let answer = self.server.sql(sql);
        let mut numbers = answer.lines().map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(tables), Some(log)) => Ok((tables?, log?)),
            _ => Err(format!("no sizes: {answer}").into()),
        }
    }

    /// Writes the script for `pgbench`. It inserts one row that is as long as an event.
    fn script(&self) -> Result<PathBuf> {
        let size = "SELECT avg(pg_column_size(e.*))::int FROM leftoff.events e WHERE kind='note_added'";
        let size: usize = self.server.sql(size).parse()?;
        self.server.sql("CREATE TABLE rows(id bigserial PRIMARY KEY, body text NOT NULL)");
        let path = self.server.folder().join("insert.sql");
        std::fs::write(&path, format!("INSERT INTO rows(body)VALUES('{}');\n", "x".repeat(size)))?;
        Ok(path)
    }

    fn pgbench(&self, script: &Path, clients: usize, seconds: u64) -> Result<f64> {
        let output = as_nobody(self.server.programs().join("pgbench"))
            .args(["-n", "-h", "127.0.0.1", "-U", "postgres", "-p", &self.server.port().to_string(), "-f"])
            .arg(script)
            .args([
                "-c",
                &clients.to_string(),
                "-j",
                &clients.to_string(),
                "-T",
                &seconds.to_string(),
                "postgres",
            ])
            .env("PGPASSWORD", PASSWORD)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let rate = text.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        rate.ok_or_else(|| format!("pgbench: {text}{}", String::from_utf8_lossy(&output.stderr)).into())
    }

    /// Copies the existing session. Each copy is paused, and has its own id and events.
    fn fill(&self, schema: &str, sessions: u64, events: u64) -> Result<()> {
        let each = events / sessions;
        let columns = "worktree,machine,layout,exclusive,workflow,title,goal,target";
        let rest = "phase,phases_done,phases_total,created_at,updated_at";
        self.server.sql(&format!(
            "INSERT INTO {schema}.sessions(project,number,id,{columns},lifecycle,parallel,{rest},version,turn,head)\
             SELECT project,number+i,'other'||i,{columns},'paused',parallel,{rest},{each},i,head \
             FROM {schema}.sessions,generate_series(1,{sessions}) i WHERE number=1;\
             INSERT INTO {schema}.events(project,session,version,cursor,at,actor,kind,body,hash,link)\
             SELECT project,1+i,v,1000+(i-1)*{each}+v,at,actor,kind,body,hash,link FROM {schema}.events,\
             generate_series(1,{sessions}) i,generate_series(1,{each}) v WHERE session=1 AND version=1;\
             INSERT INTO {schema}.snapshots SELECT project,1+i,fold_version,{each},body FROM {schema}.snapshots,\
             generate_series(1,{sessions}) i WHERE session=1;\
             UPDATE {schema}.projects SET cursor=1000+{events},numbers={sessions}+1;\
             ANALYZE {schema}.sessions; ANALYZE {schema}.events; ANALYZE {schema}.snapshots"
        ));
        Ok(())
    }
}
