-- The write journal: what was put into a file, what was expected to come out, the backup, what the write loses.
ALTER TABLE views ADD COLUMN put_hash TEXT;
ALTER TABLE views ADD COLUMN put_expected TEXT;
ALTER TABLE views ADD COLUMN backup TEXT;
ALTER TABLE views ADD COLUMN loses TEXT;
