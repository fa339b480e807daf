-- Where a session's history came from when it was taken from another replica: whose it was, and how far it went.
CREATE TABLE arrivals(session INTEGER PRIMARY KEY,replica TEXT NOT NULL,stream BLOB NOT NULL,version INTEGER NOT NULL,head BLOB NOT NULL,at INTEGER NOT NULL)STRICT;
