-- What was taken out of a context: parts of bodies. They go with their body, and a session that branches off has them
-- without a copy.
CREATE TABLE clippings (
    key INTEGER PRIMARY KEY,
    body BLOB NOT NULL REFERENCES bodies (digest) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    handle TEXT NOT NULL,
    facts TEXT NOT NULL,
    UNIQUE (body, part)
) STRICT;
CREATE INDEX clippings_handle ON clippings (handle);

-- The words of each, once, as they are compared; only whether a text has them is of interest.
CREATE VIRTUAL TABLE clippings_words USING fts5 (
    words, tokenize = "ascii tokenchars '_'", detail = none, columnsize = 0
);

-- What is forgotten leaves the index at once, not with the next merge.
INSERT INTO clippings_words (clippings_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER clippings_gone AFTER DELETE ON clippings BEGIN
    DELETE FROM clippings_words WHERE rowid = old.key;
END;
