-- Finds what the application said by its id, in whichever session, without a look at the rows.
CREATE INDEX messages_id ON messages (id, session, seq) WHERE operation IS NULL;
