BEGIN TRANSACTION;
CREATE TABLE agents (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	principal_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT uq_agents_principal_id_name UNIQUE (principal_id, name), 
	CONSTRAINT fk_agents_principal_id FOREIGN KEY(principal_id) REFERENCES principals (id)
);
CREATE TABLE approvals (
	id BLOB NOT NULL, 
	principal_id INTEGER NOT NULL, 
	scope_key TEXT NOT NULL, 
	memory_id BLOB, 
	version INTEGER, 
	tool TEXT NOT NULL, 
	arguments TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	state TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	expires_at INTEGER NOT NULL, 
	decided_by TEXT, 
	decided_at INTEGER, 
	CONSTRAINT pk_approvals PRIMARY KEY (id), 
	CONSTRAINT ck_approvals_state CHECK (state IN ('pending', 'granted', 'refused', 'expired')), 
	CONSTRAINT fk_approvals_principal_id FOREIGN KEY(principal_id) REFERENCES principals (id)
);
CREATE TABLE attachments (
	id BLOB NOT NULL, 
	principal_id INTEGER NOT NULL, 
	media_type TEXT NOT NULL, 
	name TEXT NOT NULL, 
	sha256 BLOB NOT NULL, 
	content BLOB NOT NULL, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT pk_attachments PRIMARY KEY (id), 
	CONSTRAINT fk_attachments_principal_id FOREIGN KEY(principal_id) REFERENCES principals (id)
);
CREATE TABLE members (
	group_id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	role TEXT NOT NULL, 
	CONSTRAINT pk_members PRIMARY KEY (group_id, user_id), 
	CONSTRAINT ck_members_role CHECK (role IN ('owner', 'admin', 'member')), 
	CONSTRAINT fk_members_group_id FOREIGN KEY(group_id) REFERENCES principals (id) ON DELETE CASCADE, 
	CONSTRAINT fk_members_user_id FOREIGN KEY(user_id) REFERENCES principals (id) ON DELETE CASCADE
);
CREATE TABLE memories (
	"row" INTEGER NOT NULL, 
	id BLOB NOT NULL, 
	scope_key TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	principal_id INTEGER, 
	agent_id INTEGER, 
	type TEXT NOT NULL, 
	name TEXT NOT NULL, 
	summary TEXT, 
	summary_derived INTEGER NOT NULL, 
	tags TEXT NOT NULL, 
	pinned INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	size INTEGER NOT NULL, 
	expires_at INTEGER, 
	created_at INTEGER NOT NULL, 
	updated_at INTEGER NOT NULL, 
	CONSTRAINT pk_memories PRIMARY KEY ("row"), 
	CONSTRAINT uq_memories_scope_key_type_name UNIQUE (scope_key, type, name), 
	CONSTRAINT uq_memories_id UNIQUE (id), 
	CONSTRAINT ck_memories_owner CHECK ((scope = 'global' AND principal_id IS NOT NULL AND agent_id IS NULL) OR (scope = 'agent' AND agent_id IS NOT NULL AND principal_id IS NULL)), 
	CONSTRAINT ck_memories_named CHECK (length(name) > 0 AND length(type) > 0), 
	CONSTRAINT ck_memories_version CHECK (version > 0), 
	CONSTRAINT fk_memories_principal_id FOREIGN KEY(principal_id) REFERENCES principals (id), 
	CONSTRAINT fk_memories_agent_id FOREIGN KEY(agent_id) REFERENCES agents (id)
);
CREATE TABLE memory_bodies (
	"row" INTEGER NOT NULL, 
	content TEXT NOT NULL, 
	sha256 BLOB NOT NULL, 
	CONSTRAINT pk_memory_bodies PRIMARY KEY ("row"), 
	CONSTRAINT fk_memory_bodies_row FOREIGN KEY("row") REFERENCES memories ("row") ON DELETE CASCADE
);
CREATE TABLE memory_revisions (
	seq INTEGER NOT NULL, 
	memory_id BLOB, 
	scope_key TEXT NOT NULL, 
	action TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	source TEXT, 
	at INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	type TEXT, 
	name TEXT, 
	"before" TEXT, 
	before_content TEXT, 
	part_of INTEGER, 
	undoes INTEGER, 
	operation TEXT, 
	"after" BLOB, 
	redacted BLOB, 
	seal BLOB NOT NULL, 
	CONSTRAINT pk_memory_revisions PRIMARY KEY (seq)
);
CREATE TABLE memory_schema (
	id INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	CONSTRAINT pk_memory_schema PRIMARY KEY (id)
);
INSERT INTO "memory_schema" VALUES(1,1);
CREATE TABLE principals (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	kind TEXT NOT NULL, 
	name TEXT NOT NULL, 
	created_at INTEGER NOT NULL, 
	CONSTRAINT uq_principals_kind_name UNIQUE (kind, name), 
	CONSTRAINT ck_principals_kind CHECK (kind IN ('user', 'group'))
);
CREATE TABLE shelves (
	scope_key TEXT NOT NULL, 
	enabled INTEGER NOT NULL, 
	CONSTRAINT pk_shelves PRIMARY KEY (scope_key)
);
CREATE INDEX ix_memory_revisions_memory_id_seq ON memory_revisions (memory_id, seq);
CREATE UNIQUE INDEX ix_memory_revisions_scope_key_operation ON memory_revisions (scope_key, operation) WHERE operation IS NOT NULL;
CREATE INDEX ix_memory_revisions_scope_key_seq ON memory_revisions (scope_key, seq);
CREATE INDEX ix_memory_revisions_undoes ON memory_revisions (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX ix_approvals_principal_id_state ON approvals (principal_id, state);
CREATE INDEX ix_attachments_principal_id_sha256 ON attachments (principal_id, sha256);
CREATE INDEX ix_members_user_id ON members (user_id);
CREATE INDEX ix_memories_pinned ON memories (scope_key, pinned, position, name, id) WHERE pinned = 1;
CREATE INDEX ix_memories_scope_key_position_name_id ON memories (scope_key, position, name, id);
DELETE FROM "sqlite_sequence";
COMMIT;
