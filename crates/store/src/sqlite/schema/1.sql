CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    dialect TEXT NOT NULL,
    profile TEXT NOT NULL,
    title TEXT,
    revision INTEGER NOT NULL,
    head INTEGER NOT NULL,
    live_from INTEGER NOT NULL,
    last_operation INTEGER NOT NULL,
    last_event INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    state TEXT NOT NULL,
    frame TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_updated ON sessions (updated, id);

-- The digest is the SHA-256 of the bytes before compression. Encoding: 0 as they are, 1 zstd.
CREATE TABLE bodies (
    digest BLOB NOT NULL PRIMARY KEY,
    encoding INTEGER NOT NULL,
    size INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE operations (
    session INTEGER NOT NULL REFERENCES sessions (key),
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    time INTEGER NOT NULL,
    undone INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session, number)
) STRICT;

-- A body is NULL when the original was forgotten. What is shown is NULL when it is the body.
CREATE TABLE messages (
    session INTEGER NOT NULL REFERENCES sessions (key),
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    operation INTEGER,
    pinned INTEGER NOT NULL,
    hidden INTEGER NOT NULL,
    time INTEGER NOT NULL,
    body BLOB REFERENCES bodies (digest),
    shown BLOB REFERENCES bodies (digest),
    facts TEXT NOT NULL,
    cuts TEXT NOT NULL,
    PRIMARY KEY (session, seq),
    UNIQUE (session, id),
    FOREIGN KEY (session, operation) REFERENCES operations (session, number)
) STRICT;
CREATE INDEX messages_pinned ON messages (session, seq) WHERE pinned = 1;
CREATE INDEX messages_body ON messages (body) WHERE body IS NOT NULL;
CREATE INDEX messages_shown ON messages (shown) WHERE shown IS NOT NULL;

CREATE TABLE events (
    session INTEGER NOT NULL REFERENCES sessions (key),
    number INTEGER NOT NULL,
    time INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session, number)
) STRICT;
