-- Whose sessions they are; empty for the user of the machine. What was cut has the tenant of its body.
ALTER TABLE sessions ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
CREATE INDEX sessions_tenant ON sessions (tenant, updated, id);
ALTER TABLE clippings ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
CREATE INDEX clippings_tenant ON clippings (tenant, handle);
CREATE INDEX clippings_tenant_letters ON clippings (tenant, letters) WHERE letters IS NOT NULL;
