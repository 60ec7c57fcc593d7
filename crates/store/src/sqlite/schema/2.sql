-- The row stays when a lease is given back (owner NULL), so that tokens only grow. Time is in milliseconds.
CREATE TABLE leases (
    session INTEGER NOT NULL PRIMARY KEY REFERENCES sessions (key),
    owner TEXT,
    token INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT;
