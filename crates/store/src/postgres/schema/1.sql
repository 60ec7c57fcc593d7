CREATE TABLE sessions (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    dialect text NOT NULL,
    profile text NOT NULL,
    title text,
    revision bigint NOT NULL,
    head bigint NOT NULL,
    live_from bigint NOT NULL,
    last_operation bigint NOT NULL,
    last_event bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    state text NOT NULL,
    frame text NOT NULL
);
CREATE INDEX sessions_updated ON sessions (updated, id);

-- The digest is the SHA-256 of the bytes before compression. Encoding: 0 as they are, 1 zstd.
CREATE TABLE bodies (
    digest bytea NOT NULL PRIMARY KEY,
    encoding smallint NOT NULL,
    size bigint NOT NULL,
    bytes bytea NOT NULL
);

-- The bytes are compressed already.
ALTER TABLE bodies ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE operations (
    session bigint NOT NULL REFERENCES sessions (key),
    number bigint NOT NULL,
    kind text NOT NULL,
    time bigint NOT NULL,
    undone boolean NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (session, number)
);

-- A body is NULL when the original was forgotten. What is shown is NULL when it is the body.
CREATE TABLE messages (
    session bigint NOT NULL REFERENCES sessions (key),
    seq bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    operation bigint,
    pinned boolean NOT NULL,
    hidden boolean NOT NULL,
    time bigint NOT NULL,
    body bytea REFERENCES bodies (digest),
    shown bytea REFERENCES bodies (digest),
    facts text NOT NULL,
    cuts text NOT NULL,
    PRIMARY KEY (session, seq),
    UNIQUE (session, id),
    FOREIGN KEY (session, operation) REFERENCES operations (session, number)
);
CREATE INDEX messages_pinned ON messages (session, seq) WHERE pinned;
CREATE INDEX messages_body ON messages (body) WHERE body IS NOT NULL;
CREATE INDEX messages_shown ON messages (shown) WHERE shown IS NOT NULL;

CREATE TABLE events (
    session bigint NOT NULL REFERENCES sessions (key),
    number bigint NOT NULL,
    time bigint NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (session, number)
);
