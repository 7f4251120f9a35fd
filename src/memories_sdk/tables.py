"""The tables, declared once; they never leave the storage floor."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    CheckConstraint,
    Index,
    LargeBinary,
    MetaData,
    Text,
    UniqueConstraint,
    column,
    text,
)
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

SCHEMA_VERSION: Final = 2

_NAMES: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=_NAMES)
index_metadata = MetaData(naming_convention=_NAMES)
"""Tables that searches keep, derived from the others. The embedded engine makes them when a large
shelf is first searched, and has a full-text table instead of `search_entries`."""
server_metadata = MetaData(naming_convention=_NAMES)
"""Tables that only a server needs."""


class Table(SQLModel, registry=registry(metadata=metadata)):
    """Root of our tables, apart from the metadata that a host program may keep its own in."""


class SchemaRow(Table, table=True):
    """The one row that says which release's tables these are."""

    __tablename__ = "memory_schema"
    id: int = Field(primary_key=True)
    version: int


class PrincipalRow(Table, table=True):
    """A user or a group as an owner."""

    __tablename__ = "principals"
    __table_args__ = (
        UniqueConstraint("kind", "name"),
        CheckConstraint("kind IN ('user', 'group')", name="kind"),
        {"sqlite_autoincrement": True},  # an id freed by a delete must never name somebody else
    )
    id: int | None = Field(default=None, primary_key=True)
    kind: str = Field(sa_type=Text)
    name: str = Field(sa_type=Text)
    created_at: int


class MemberRow(Table, table=True):
    """A user in a group, with a role."""

    __tablename__ = "members"
    __table_args__ = (
        CheckConstraint("role IN ('owner', 'admin', 'member')", name="role"),
        Index(None, "user_id"),
    )
    group_id: int = Field(primary_key=True, foreign_key="principals.id", ondelete="CASCADE")
    user_id: int = Field(primary_key=True, foreign_key="principals.id", ondelete="CASCADE")
    role: str = Field(sa_type=Text)


class AgentRow(Table, table=True):
    """An agent and its present owner."""

    __tablename__ = "agents"
    __table_args__ = (UniqueConstraint("principal_id", "name"), {"sqlite_autoincrement": True})
    id: int | None = Field(default=None, primary_key=True)
    principal_id: int = Field(foreign_key="principals.id")
    name: str = Field(sa_type=Text)
    created_at: int


class MemoryRow(Table, table=True):
    """A memory without its body: times in microseconds since 1970 (UTC), tags as a JSON list.

    `untrusted` stands last, where a migration can add it.
    """

    __tablename__ = "memories"
    __table_args__ = (
        UniqueConstraint("scope_key", "type", "name"),
        UniqueConstraint("id"),
        Index(None, "scope_key", "position", "name", "id"),
        # Every recall asks for the pinned ones; without it, it would read the whole shelf.
        Index(
            "ix_memories_pinned",
            *("scope_key", "pinned", "position", "name", "id"),
            sqlite_where=text("pinned = 1"),
        ),
        CheckConstraint(
            "(scope = 'global' AND principal_id IS NOT NULL AND agent_id IS NULL)"
            " OR (scope = 'agent' AND agent_id IS NOT NULL AND principal_id IS NULL)",
            name="owner",
        ),
        CheckConstraint("length(name) > 0 AND length(type) > 0", name="named"),
        CheckConstraint("version > 0", name="version"),
    )
    row: int | None = Field(default=None, primary_key=True)
    id: bytes = Field(sa_type=LargeBinary)
    scope_key: str = Field(sa_type=Text)
    scope: str = Field(sa_type=Text)
    principal_id: int | None = Field(default=None, foreign_key="principals.id")
    agent_id: int | None = Field(default=None, foreign_key="agents.id")
    type: str = Field(sa_type=Text)
    name: str = Field(sa_type=Text)
    summary: str | None = Field(default=None, sa_type=Text)
    summary_derived: int
    tags: str = Field(sa_type=Text)
    pinned: int
    position: int
    version: int
    size: int
    expires_at: int | None = None
    created_at: int
    updated_at: int
    untrusted: int = Field(default=0, sa_column_kwargs={"server_default": text("0")})


class BodyRow(Table, table=True):
    """The body of a memory, apart from it so that a list never reads bodies."""

    __tablename__ = "memory_bodies"
    row: int | None = Field(
        default=None, primary_key=True, foreign_key="memories.row", ondelete="CASCADE"
    )
    content: str = Field(sa_type=Text)
    sha256: bytes = Field(sa_type=LargeBinary)


class RevisionRow(Table, table=True):
    """One change, with what it overwrote. Append only; also the change feed.

    `part_of` is the first revision of a verb that wrote several, `undoes` the first of the verb
    that it takes back. `after` digests the state that the change left, `redacted` what stood in a
    before-image that was blotted out, and `seal` all of it with the seal before. `named` is 1 where
    the change gave the memory its name.
    """

    __tablename__ = "memory_revisions"
    __table_args__ = (
        Index(None, "memory_id", "seq"),
        Index(None, "scope_key", "seq"),
        Index(None, "undoes", sqlite_where=column("undoes").is_not(None)),
        # Who had a name last: only the revisions that gave one to a memory.
        Index(
            "ix_memory_revisions_named",
            *("scope_key", "type", "name", "seq"),
            sqlite_where=text("named = 1"),
        ),
        # What was deleted: nothing is left to digest. Without `after` among its columns, the
        # planner would take the index of all revisions instead.
        Index(
            "ix_memory_revisions_endings",
            *("scope_key", "after", "seq"),
            sqlite_where=text("after IS NULL"),
        ),
    )
    seq: int | None = Field(default=None, primary_key=True)
    memory_id: bytes | None = Field(default=None, sa_type=LargeBinary)
    scope_key: str = Field(sa_type=Text)
    action: str = Field(sa_type=Text)
    actor: str = Field(sa_type=Text)
    source: str | None = Field(default=None, sa_type=Text)
    at: int
    version: int
    type: str | None = Field(default=None, sa_type=Text)
    name: str | None = Field(default=None, sa_type=Text)
    before: str | None = Field(default=None, sa_type=Text)
    before_content: str | None = Field(default=None, sa_type=Text)
    part_of: int | None = None
    undoes: int | None = None
    after: bytes | None = Field(default=None, sa_type=LargeBinary)
    redacted: bytes | None = Field(default=None, sa_type=LargeBinary)
    seal: bytes = Field(sa_type=LargeBinary)
    named: int | None = None


class OperationRow(Table, table=True):
    """A write that its caller named by a key, so that it happens once.

    `request` digests the call, `outcome` says in JSON where its result stands in the history.
    """

    __tablename__ = "memory_operations"
    scope_key: str = Field(primary_key=True, sa_type=Text)
    caller: int = Field(primary_key=True)
    key: str = Field(primary_key=True, sa_type=Text)
    request: bytes = Field(sa_type=LargeBinary)
    outcome: str = Field(sa_type=Text)
    at: int


class ShelfRow(Table, table=True):
    """What a shelf is set to, where it was ever set."""

    __tablename__ = "shelves"
    scope_key: str = Field(primary_key=True, sa_type=Text)
    enabled: int


class KeyRow(Table, table=True):
    """The one row of an encrypted store: what its keys are derived with, and what proves them."""

    __tablename__ = "memory_keys"
    id: int = Field(primary_key=True)
    salt: bytes = Field(sa_type=LargeBinary)
    kept: bytes = Field(sa_type=LargeBinary)


class AttachmentRow(Table, table=True):
    """A picture that bodies of one shelf refer to; its id comes from its bytes."""

    __tablename__ = "attachments"
    scope_key: str = Field(primary_key=True, sa_type=Text)
    id: bytes = Field(sa_type=LargeBinary, primary_key=True)
    media_type: str = Field(sa_type=Text)
    name: str = Field(sa_type=Text)
    size: int
    sha256: bytes = Field(sa_type=LargeBinary)
    content: bytes = Field(sa_type=LargeBinary)
    created_at: int


class DraftRow(Table, table=True):
    """What somebody typed and did not save. `fields` is JSON."""

    __tablename__ = "drafts"
    caller_id: int = Field(primary_key=True, foreign_key="principals.id", ondelete="CASCADE")
    scope_key: str = Field(primary_key=True, sa_type=Text)
    key: str = Field(primary_key=True, sa_type=Text)
    memory_id: bytes | None = Field(default=None, sa_type=LargeBinary)
    version: int | None = None
    fields: str = Field(sa_type=Text)
    kept_at: int


class ApprovalRow(Table, table=True):
    """A tool call that waits, or waited, for a person.

    `arguments` and `preview` are emptied with the decision. `effect` digests what the call would
    do, `call` what was called by whom; `waiting` digests both while nobody decided, so that a call
    that is made again finds its request.
    """

    __tablename__ = "approvals"
    __table_args__ = (
        CheckConstraint(
            "state IN ('pending', 'granted', 'refused', 'stale', 'expired')", name="state"
        ),
        UniqueConstraint("waiting"),
        Index(None, "principal_id", "state"),
        Index(None, "call"),
    )
    id: bytes = Field(sa_type=LargeBinary, primary_key=True)
    principal_id: int = Field(foreign_key="principals.id")
    agent_id: int | None = Field(default=None, foreign_key="agents.id")
    scope_key: str = Field(sa_type=Text)
    version: int | None = None
    tool: str = Field(sa_type=Text)
    arguments: str = Field(sa_type=Text)
    description: str = Field(sa_type=Text)
    preview: str = Field(sa_type=Text)
    actor: str = Field(sa_type=Text)
    source: str | None = Field(default=None, sa_type=Text)
    call: str = Field(sa_type=Text)
    effect: str = Field(sa_type=Text)
    waiting: str | None = Field(default=None, sa_type=Text)
    state: str = Field(sa_type=Text)
    created_at: int
    expires_at: int
    decided_by: str | None = Field(default=None, sa_type=Text)
    decided_at: int | None = None
    answer: str | None = Field(default=None, sa_type=Text)


REQUEST_TEXTS: Final = ("arguments", "preview", "effect", "answer")
"""The columns of a request that tell of bodies and summaries."""


class VectorRow(Table, table=True):
    """What one model for meaning made of a memory; derived, made anew where it is missing."""

    __tablename__ = "memory_vectors"
    row: int = Field(primary_key=True, foreign_key="memories.row", ondelete="CASCADE")
    embedder: str = Field(primary_key=True, sa_type=Text)
    version: int
    digest: bytes = Field(sa_type=LargeBinary)
    vector: bytes = Field(sa_type=LargeBinary)


class TokenRow(Table, table=True):
    """What a program, or a browser that logged in with one, proves itself with.

    `digest` is the SHA-256 of its secret. `session_of` is the token of the login.
    """

    __tablename__ = "tokens"
    __table_args__ = (CheckConstraint("access IN ('read', 'write')", name="access"),)
    id: bytes = Field(sa_type=LargeBinary, primary_key=True)
    digest: bytes = Field(sa_type=LargeBinary)
    user_id: int = Field(foreign_key="principals.id", ondelete="CASCADE")
    principal_id: int | None = Field(default=None, foreign_key="principals.id", ondelete="CASCADE")
    access: str = Field(sa_type=Text)
    label: str = Field(sa_type=Text)
    session_of: bytes | None = Field(
        default=None, sa_type=LargeBinary, foreign_key="tokens.id", ondelete="CASCADE"
    )
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None


class IndexTable(SQLModel, registry=registry(metadata=index_metadata)):
    """Root of the tables that searches keep."""


class SearchShelfRow(IndexTable, table=True):
    """A shelf in the index, up to its revision `seq`."""

    __tablename__ = "search_shelves"
    __table_args__ = (UniqueConstraint("scope_key"),)
    shelf: int | None = Field(default=None, primary_key=True)
    scope_key: str = Field(sa_type=Text)
    analyser: int
    seq: int | None = None
    memories: int
    words: int


class SearchMemoryRow(IndexTable, table=True):
    """A memory in the index, as it was analysed."""

    __tablename__ = "search_memories"
    __table_args__ = (UniqueConstraint("shelf", "id"),)
    doc: int | None = Field(default=None, primary_key=True)
    shelf: int
    id: bytes = Field(sa_type=LargeBinary)
    version: int
    size: int
    words: str = Field(sa_type=Text)


class SearchEntryRow(IndexTable, table=True):
    """A term that a memory has, with its strength there."""

    __tablename__ = "search_entries"
    __table_args__ = (Index(None, "shelf", "doc"),)
    shelf: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    term: str = Field(primary_key=True, sa_type=Text)
    doc: int = Field(primary_key=True)
    strength: int


class ServerTable(SQLModel, registry=registry(metadata=server_metadata)):
    """Root of the tables that only a server needs."""


class TurnRow(ServerTable, table=True):
    """The turn of a shelf's writers: each changes it first and holds it until the commit."""

    __tablename__ = "memory_turns"
    scope_key: str = Field(primary_key=True, sa_type=Text)
    turn: int
