-- A checksum of a snapshot's bytes, so that damage on the disk is not shown as a session. NULL: written before there was one.
ALTER TABLE snapshots ADD COLUMN sum BLOB;
