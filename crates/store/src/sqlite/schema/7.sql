-- A deleted session is neither listed nor found. Its rows are removed in steps.
ALTER TABLE sessions ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_deleted ON sessions (key) WHERE deleted = 1;

-- Which process applies retention, until when, in milliseconds. One row.
CREATE TABLE retention (
    place INTEGER NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    expires INTEGER NOT NULL
) STRICT;
