-- Whose sessions they are; empty for the user of the machine. What was cut has the tenant of its body.
ALTER TABLE sessions ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX sessions_tenant ON sessions (tenant, updated, id);
ALTER TABLE clippings ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX clippings_tenant ON clippings (tenant, handle);
CREATE INDEX clippings_tenant_letters ON clippings (tenant, letters) WHERE letters IS NOT NULL;

-- A second fence behind the conditions of the statements. Every transaction says in secateur.tenant whose rows it may see;
-- without that it sees those of the machine's user, and * sees all. Also for the owner of the tables, who runs the
-- statements. What was cut has no policy, because a search by words could not use its index then; it is only ever read
-- together with its message.
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON sessions USING (
    tenant = COALESCE(current_setting('secateur.tenant', TRUE), '')
    OR current_setting('secateur.tenant', TRUE) = '*'
);

-- The sessions that are looked up here are only those that their own policy shows.
ALTER TABLE messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE messages FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON messages USING (EXISTS (SELECT FROM sessions s WHERE s.key = session));
ALTER TABLE operations ENABLE ROW LEVEL SECURITY;
ALTER TABLE operations FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON operations USING (EXISTS (SELECT FROM sessions s WHERE s.key = session));
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
ALTER TABLE events FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON events USING (EXISTS (SELECT FROM sessions s WHERE s.key = session));
ALTER TABLE leases ENABLE ROW LEVEL SECURITY;
ALTER TABLE leases FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON leases USING (EXISTS (SELECT FROM sessions s WHERE s.key = session));

-- The digest is followed by the name of the tenant.
ALTER TABLE bodies ENABLE ROW LEVEL SECURITY;
ALTER TABLE bodies FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON bodies USING (
    substr(digest, 33) = convert_to(COALESCE(current_setting('secateur.tenant', TRUE), ''), 'UTF8')
    OR current_setting('secateur.tenant', TRUE) = '*'
);
