-- The row stays when a lease is given back (owner NULL), so that tokens only grow. Time is in milliseconds.
CREATE TABLE leases (
    session bigint NOT NULL PRIMARY KEY REFERENCES sessions (key),
    owner text,
    token bigint NOT NULL,
    expires bigint NOT NULL
);
