-- Times are whole nanoseconds since 1970 in UTC: exact from 1678 to 2262, and beyond that the nearest end.
-- SQLite keeps the text of every statement and parses all of it on each open, so there are few and they are short.
-- Snapshots have a table of their own: with them inside `sessions`, lists and look-ups pass over them.
CREATE TABLE sessions(number INTEGER PRIMARY KEY AUTOINCREMENT,id TEXT NOT NULL UNIQUE COLLATE NOCASE,worktree TEXT NOT NULL,layout TEXT NOT NULL,workflow TEXT NOT NULL,title TEXT NOT NULL,goal TEXT,target TEXT,lifecycle TEXT NOT NULL,parallel INTEGER NOT NULL,phase TEXT NOT NULL,phases_done INTEGER NOT NULL,phases_total INTEGER NOT NULL,created_at INTEGER NOT NULL,updated_at INTEGER NOT NULL,version INTEGER NOT NULL,turn INTEGER NOT NULL DEFAULT 0)STRICT;
CREATE INDEX sessions_by_lifecycle ON sessions(lifecycle,turn);
CREATE INDEX sessions_by_activity ON sessions(turn);
CREATE INDEX sessions_by_worktree ON sessions(worktree,turn);
CREATE UNIQUE INDEX one_active ON sessions(worktree)WHERE lifecycle='active' AND parallel=0 AND layout IN('native','ccw');
CREATE TABLE snapshots(session INTEGER PRIMARY KEY,fold_version INTEGER NOT NULL,version INTEGER NOT NULL,body TEXT NOT NULL)STRICT;
CREATE TABLE events(cursor INTEGER PRIMARY KEY AUTOINCREMENT,session INTEGER NOT NULL,version INTEGER NOT NULL,at INTEGER NOT NULL,actor TEXT NOT NULL,kind TEXT NOT NULL,body TEXT NOT NULL,UNIQUE(session,version))STRICT;
CREATE INDEX notes ON events(session)WHERE kind='note_added';
CREATE TABLE definitions(hash TEXT NOT NULL UNIQUE,body TEXT NOT NULL)STRICT;
CREATE TABLE contents(hash TEXT NOT NULL UNIQUE,body BLOB NOT NULL)STRICT;
CREATE TABLE keys(key TEXT NOT NULL UNIQUE,fingerprint TEXT NOT NULL,answer TEXT NOT NULL,at INTEGER NOT NULL)STRICT;
CREATE TABLE agents(agent TEXT NOT NULL,agent_session TEXT NOT NULL,host TEXT NOT NULL,pid INTEGER NOT NULL,process_start INTEGER NOT NULL,boot_id TEXT NOT NULL,worktree TEXT NOT NULL,branch TEXT,started_at INTEGER NOT NULL,last_seen INTEGER NOT NULL,session TEXT,PRIMARY KEY(agent,agent_session))STRICT,WITHOUT ROWID;
CREATE TABLE activity(session INTEGER NOT NULL,kind TEXT NOT NULL,what TEXT NOT NULL,detail TEXT,at INTEGER NOT NULL,count INTEGER NOT NULL,PRIMARY KEY(session,kind,what))STRICT,WITHOUT ROWID;
-- Items are what the events say, row by row. `state` is 0 ready, 1 waiting, 2 done, so that one index finds the first ready one.
CREATE TABLE items(session INTEGER NOT NULL,id TEXT NOT NULL COLLATE NOCASE,run TEXT NOT NULL,phase TEXT NOT NULL,parent TEXT COLLATE NOCASE,place INTEGER NOT NULL,state INTEGER NOT NULL,status TEXT NOT NULL,holder TEXT,until INTEGER,needs TEXT NOT NULL,body TEXT NOT NULL,PRIMARY KEY(session,id))STRICT,WITHOUT ROWID;
CREATE INDEX items_by_place ON items(session,run,phase,state,place);
CREATE INDEX items_by_parent ON items(session,parent)WHERE parent IS NOT NULL;
CREATE INDEX items_by_holder ON items(session,holder)WHERE holder IS NOT NULL;
CREATE TABLE needs(session INTEGER NOT NULL,needed TEXT NOT NULL COLLATE NOCASE,item TEXT NOT NULL COLLATE NOCASE,PRIMARY KEY(session,needed,item))STRICT,WITHOUT ROWID;
-- Files that show a session to other tools, as they were written last; `earlier` is hashes with a space between.
CREATE TABLE views(session INTEGER NOT NULL,path TEXT NOT NULL,hash TEXT NOT NULL,body BLOB NOT NULL,previous BLOB NOT NULL,earlier TEXT NOT NULL,version INTEGER NOT NULL,boot_id TEXT NOT NULL,confirmed INTEGER NOT NULL,PRIMARY KEY(session,path))STRICT;
