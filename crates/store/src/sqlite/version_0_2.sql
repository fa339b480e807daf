-- What version 0.2 adds, in one step. Old rows keep what they say; what they never knew stays NULL.
-- The store's own id: the machine of every worktree that names none.
CREATE TABLE about(id TEXT NOT NULL)STRICT;
INSERT INTO about VALUES(lower(hex(randomblob(16))));
-- Clustered by session and version, so that an event is one page. `cursor` grows over the whole store; `turn` of a session
-- is the cursor of the last event of its last batch, so that an index of sessions finds new events. `ordinal` is the version
-- of the first event of the same command.
CREATE TABLE log(session INTEGER NOT NULL,version INTEGER NOT NULL,cursor INTEGER NOT NULL,at INTEGER NOT NULL,actor TEXT NOT NULL,kind TEXT NOT NULL,body TEXT NOT NULL,command TEXT,ordinal INTEGER,salt BLOB,hash BLOB,link BLOB,PRIMARY KEY(session,version))STRICT,WITHOUT ROWID;
INSERT INTO log(session,version,cursor,at,actor,kind,body)SELECT session,version,cursor,at,actor,kind,body FROM events ORDER BY session,version;
DROP TABLE events;
ALTER TABLE log RENAME TO events;
-- No index of notes: each note would write one page more for it, and only a search reads it.
-- Sessions of one batch share a turn, and keep sharing it.
CREATE TABLE turns(turn INTEGER PRIMARY KEY,last INTEGER NOT NULL)STRICT;
INSERT INTO turns SELECT s.turn,max(e.cursor)FROM sessions s JOIN events e ON e.session=s.number GROUP BY s.turn;
UPDATE sessions SET turn=last FROM turns WHERE turns.turn=sessions.turn;
DROP TABLE turns;
-- Indexes that have `turn` are written with every event: one is enough.
DROP INDEX sessions_by_lifecycle;
DROP INDEX sessions_by_worktree;
DROP INDEX one_active;
ALTER TABLE sessions ADD COLUMN machine TEXT;
ALTER TABLE sessions ADD COLUMN exclusive INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN head BLOB;
ALTER TABLE sessions ADD COLUMN chained_since INTEGER;
UPDATE sessions SET exclusive=1 WHERE layout IN('native','ccw');
CREATE INDEX sessions_by_lifecycle ON sessions(lifecycle);
CREATE INDEX sessions_by_worktree ON sessions(worktree,lifecycle);
CREATE UNIQUE INDEX one_active ON sessions(worktree)WHERE lifecycle='active' AND parallel=0 AND exclusive=1 AND machine IS NULL;
-- An answer that another program wrote may be unreadable; then the session tells how it is now.
ALTER TABLE keys ADD COLUMN version INTEGER;
ALTER TABLE keys ADD COLUMN session TEXT;
-- The write journal: what was put into a file, what was expected to come out, the backup, what the write loses.
ALTER TABLE views ADD COLUMN put_hash TEXT;
ALTER TABLE views ADD COLUMN put_expected TEXT;
ALTER TABLE views ADD COLUMN backup TEXT;
ALTER TABLE views ADD COLUMN loses TEXT;
