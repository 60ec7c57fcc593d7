-- The key of this store's handles. One row, made here, never changed.
CREATE TABLE handle_key (key BLOB NOT NULL) STRICT;
INSERT INTO handle_key (key) VALUES (randomblob(32));

-- All letters that the key gives for the text; a handle is their beginning. NULL in rows of earlier versions, whose
-- handles have eight letters and another origin.
ALTER TABLE clippings ADD COLUMN letters TEXT;
CREATE INDEX clippings_letters ON clippings (letters) WHERE letters IS NOT NULL;

-- A hash of the row, NULL in rows of earlier versions. It holds if the session's last commit was made by a version that
-- writes seals: then `sealed` is the revision.
ALTER TABLE messages ADD COLUMN seal BLOB;
ALTER TABLE sessions ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;
