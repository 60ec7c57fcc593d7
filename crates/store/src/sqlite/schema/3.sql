-- Finds what the application said by its id, in whichever session, without a look at the rows. The operation is
-- always NULL here; SQLite wants to see it all the same.
CREATE INDEX messages_id ON messages (id, session, seq, operation) WHERE operation IS NULL;
