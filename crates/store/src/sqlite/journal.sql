-- `put_this`: the write that `put_hash` names was of this very row. The index finds the last writer of a file that sessions share.
ALTER TABLE views ADD COLUMN put_this INTEGER NOT NULL DEFAULT 0;
CREATE INDEX views_put ON views(path)WHERE put_hash IS NOT NULL;
