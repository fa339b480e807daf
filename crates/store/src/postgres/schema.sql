-- Version 1. Times are whole nanoseconds since 1970 in UTC, as in SQLite. Text is compared byte by byte: COLLATE "C".
-- The store's own id, its version, and the oldest program that may still use it.
CREATE TABLE leftoff.about(version int NOT NULL, readable_by int NOT NULL, id text NOT NULL);
INSERT INTO leftoff.about VALUES(0, 0, replace(gen_random_uuid()::text, '-', ''));
-- A project's counters. Whoever appends holds this row until the commit: cursors have no gaps and follow the commits.
CREATE TABLE leftoff.projects(project int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE,
  cursor bigint NOT NULL DEFAULT 0, numbers bigint NOT NULL DEFAULT 0)WITH(fillfactor=10);
-- Counts what appends do not: who is here, and what was touched.
CREATE TABLE leftoff.signs(project int PRIMARY KEY, counter bigint NOT NULL DEFAULT 0)WITH(fillfactor=10);
-- What the machines are called that sessions are on.
CREATE TABLE leftoff.machines(project int NOT NULL, machine text COLLATE "C" NOT NULL, host text COLLATE "C" NOT NULL,
  PRIMARY KEY(project, machine));
CREATE TABLE leftoff.sessions(project int NOT NULL, number bigint NOT NULL, id text COLLATE "C" NOT NULL,
  worktree text COLLATE "C" NOT NULL, machine text COLLATE "C" NOT NULL, layout text COLLATE "C" NOT NULL,
  exclusive boolean NOT NULL, workflow text COLLATE "C" NOT NULL, title text COLLATE "C" NOT NULL,
  goal text COLLATE "C", target text COLLATE "C", lifecycle text COLLATE "C" NOT NULL, parallel boolean NOT NULL,
  phase text COLLATE "C" NOT NULL, phases_done bigint NOT NULL, phases_total bigint NOT NULL, created_at bigint NOT NULL,
  updated_at bigint NOT NULL, version bigint NOT NULL, turn bigint NOT NULL, head bytea, chained_since bigint,
  PRIMARY KEY(project, number))WITH(fillfactor=80);
CREATE UNIQUE INDEX sessions_by_id ON leftoff.sessions(project, lower(id));
CREATE INDEX sessions_by_turn ON leftoff.sessions(project, turn);
CREATE INDEX sessions_by_worktree ON leftoff.sessions(project, worktree, lifecycle, turn);
CREATE TABLE leftoff.snapshots(project int NOT NULL, session bigint NOT NULL, fold_version bigint NOT NULL,
  version bigint NOT NULL, body text COLLATE "C" NOT NULL, PRIMARY KEY(project, session))WITH(fillfactor=70);
-- `note` is the text of a note, which a search looks through.
CREATE TABLE leftoff.events(project int NOT NULL, session bigint NOT NULL, version bigint NOT NULL, cursor bigint NOT NULL,
  at bigint NOT NULL, actor text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, body text COLLATE "C" NOT NULL,
  command text COLLATE "C", ordinal bigint, salt bytea, hash bytea NOT NULL, link bytea NOT NULL, note text COLLATE "C",
  PRIMARY KEY(project, session, version));
CREATE UNIQUE INDEX events_by_cursor ON leftoff.events(project, cursor);
CREATE TABLE leftoff.definitions(project int NOT NULL, hash text COLLATE "C" NOT NULL, body text COLLATE "C" NOT NULL,
  PRIMARY KEY(project, hash));
CREATE TABLE leftoff.contents(project int NOT NULL, hash text COLLATE "C" NOT NULL, body bytea NOT NULL,
  PRIMARY KEY(project, hash));
CREATE TABLE leftoff.keys(project int NOT NULL, key text COLLATE "C" NOT NULL, fingerprint text COLLATE "C" NOT NULL,
  answer text COLLATE "C" NOT NULL, at bigint NOT NULL, version bigint, session text COLLATE "C",
  PRIMARY KEY(project, key));
CREATE INDEX keys_by_time ON leftoff.keys(project, at);
CREATE TABLE leftoff.agents(project int NOT NULL, agent text COLLATE "C" NOT NULL, agent_session text COLLATE "C" NOT NULL,
  machine text COLLATE "C" NOT NULL, host text COLLATE "C" NOT NULL, pid bigint NOT NULL, process_start bigint NOT NULL,
  boot_id text COLLATE "C" NOT NULL, worktree text COLLATE "C" NOT NULL, branch text COLLATE "C",
  started_at bigint NOT NULL, last_seen bigint NOT NULL, session text COLLATE "C", memory text COLLATE "C",
  PRIMARY KEY(project, agent, agent_session))WITH(fillfactor=70);
CREATE TABLE leftoff.activity(project int NOT NULL, session bigint NOT NULL, kind text COLLATE "C" NOT NULL,
  what text COLLATE "C" NOT NULL, detail text COLLATE "C", at bigint NOT NULL, count bigint NOT NULL,
  UNIQUE(project, session, kind, what))WITH(fillfactor=70);
-- `folded` is the id in lower case; `state` is 0 ready, 1 waiting, 2 done; `needs` has the ids with a space between.
CREATE TABLE leftoff.items(project int NOT NULL, session bigint NOT NULL, folded text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL, run text COLLATE "C" NOT NULL, phase text COLLATE "C" NOT NULL, parent text COLLATE "C",
  place bigint NOT NULL, state int NOT NULL, status text COLLATE "C" NOT NULL, holder text COLLATE "C", until bigint,
  needs text COLLATE "C" NOT NULL, body text COLLATE "C" NOT NULL, PRIMARY KEY(project, session, folded))WITH(fillfactor=80);
CREATE INDEX items_by_place ON leftoff.items(project, session, run, phase, state, place);
CREATE INDEX items_by_holder ON leftoff.items(project, session, holder)WHERE holder IS NOT NULL;
CREATE TABLE leftoff.needs(project int NOT NULL, session bigint NOT NULL, needed text COLLATE "C" NOT NULL,
  item text COLLATE "C" NOT NULL, PRIMARY KEY(project, session, needed, item));
CREATE INDEX needs_by_item ON leftoff.needs(project, session, item);
-- Where a session's history came from when it was taken from another replica.
CREATE TABLE leftoff.arrivals(project int NOT NULL, session bigint NOT NULL, replica text COLLATE "C" NOT NULL,
  stream bytea NOT NULL, version bigint NOT NULL, head bytea NOT NULL, at bigint NOT NULL, PRIMARY KEY(project, session));
