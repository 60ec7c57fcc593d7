-- A deleted session is neither listed nor found. Its rows are removed in steps.
ALTER TABLE sessions ADD COLUMN deleted boolean NOT NULL DEFAULT FALSE;
CREATE INDEX sessions_deleted ON sessions (key) WHERE deleted;

-- Which process applies retention, until when, in milliseconds. One row.
CREATE TABLE retention (
    place bigint NOT NULL PRIMARY KEY,
    owner text NOT NULL,
    expires bigint NOT NULL
);
