-- What was taken out of a context: parts of bodies, and the words of each. They go with their body, and a session that
-- branches off has them without a copy.
CREATE TABLE clippings (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    body bytea NOT NULL REFERENCES bodies (digest) ON DELETE CASCADE,
    part bigint NOT NULL,
    handle text COLLATE "C" NOT NULL,
    facts text NOT NULL,
    words tsvector NOT NULL,
    UNIQUE (body, part)
);
CREATE INDEX clippings_handle ON clippings (handle);
CREATE INDEX clippings_words ON clippings USING gin (words);
