"""The tables, and the one place where connections, transactions and engine errors live.

Tables are declared with SQLModel and never leave this floor. On the embedded engine a statement
runs as text, compiled once, on a held driver connection: a session per call would cost ten to
thirty times the work of the statement itself.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import deque
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, NoReturn

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
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.orm import registry
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlmodel import Field, SQLModel

from memories_sdk.errors import (
    MemoriesError,
    NameTaken,
    SchemaMismatch,
    StorageError,
    StorageFull,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreReadOnly,
    StoreUnavailable,
)

Durability = Literal["full", "process"]

SCHEMA_VERSION: Final = 1
IN_MEMORY: Final = ":memory:"
DIALECT: Final = sqlite_dialect.dialect(paramstyle="named")

_PRAGMAS: Final = (
    "foreign_keys=ON",
    "trusted_schema=OFF",
    "cell_size_check=ON",
    "temp_store=MEMORY",
)
_WRITING: Final = ("BEGIN IMMEDIATE",)
_ERASING: Final = ("PRAGMA secure_delete=ON", *_WRITING)
_HARMLESS: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CONSTRAINT}
"""Engine errors after which a connection can be used again."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


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
    """A memory without its body: times in microseconds since 1970 (UTC), tags as a JSON list."""

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
    that it takes back. `operation` is the caller's key
    against doing a thing twice. `after` digests the state that the change left, `redacted` what
    stood in a before-image that was blotted out, and `seal` all of it with the seal before.
    """

    __tablename__ = "memory_revisions"
    __table_args__ = (
        Index(None, "memory_id", "seq"),
        Index(None, "scope_key", "seq"),
        Index(
            None,
            "scope_key",
            "operation",
            unique=True,
            sqlite_where=column("operation").is_not(None),  # few writes carry a key
        ),
        Index(None, "undoes", sqlite_where=column("undoes").is_not(None)),
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
    operation: str | None = Field(default=None, sa_type=Text)
    after: bytes | None = Field(default=None, sa_type=LargeBinary)
    redacted: bytes | None = Field(default=None, sa_type=LargeBinary)
    seal: bytes = Field(sa_type=LargeBinary)


class ShelfRow(Table, table=True):
    """What a shelf is set to, where it was ever set."""

    __tablename__ = "shelves"
    scope_key: str = Field(primary_key=True, sa_type=Text)
    enabled: int


class AttachmentRow(Table, table=True):
    """A picture that bodies of one principal refer to."""

    __tablename__ = "attachments"
    __table_args__ = (Index(None, "principal_id", "sha256"),)
    id: bytes = Field(sa_type=LargeBinary, primary_key=True)
    principal_id: int = Field(foreign_key="principals.id")
    media_type: str = Field(sa_type=Text)
    name: str = Field(sa_type=Text)
    sha256: bytes = Field(sa_type=LargeBinary)
    content: bytes = Field(sa_type=LargeBinary)
    created_at: int


class ApprovalRow(Table, table=True):
    """A tool call that waits for a person, bound to the version it shows."""

    __tablename__ = "approvals"
    __table_args__ = (
        CheckConstraint("state IN ('pending', 'granted', 'refused', 'expired')", name="state"),
        Index(None, "principal_id", "state"),
    )
    id: bytes = Field(sa_type=LargeBinary, primary_key=True)
    principal_id: int = Field(foreign_key="principals.id")
    scope_key: str = Field(sa_type=Text)
    memory_id: bytes | None = Field(default=None, sa_type=LargeBinary)
    version: int | None = None
    tool: str = Field(sa_type=Text)
    arguments: str = Field(sa_type=Text)
    actor: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    created_at: int
    expires_at: int
    decided_by: str | None = Field(default=None, sa_type=Text)
    decided_at: int | None = None


class Database:
    """Connections to one SQLite file, and the only transactions there are.

    A connection is taken from a pool for the length of one transaction, so threads never share
    one at a time and an idle store holds no lock. An in-memory database has one connection, which
    callers take in turn. A process forked from this one opens connections of its own.

    Args:
        path: A file, made with mode 0600 where missing, or ":memory:".
        timeout: Longest wait for another writer, in seconds.
        durability: "full" syncs every commit to the device; "process" survives a crash of the
            program but may lose the last commits when the power goes.
    """

    def __init__(self, path: str, *, timeout: float, durability: Durability) -> None:
        self.path = path
        self.timeout = timeout
        self._synchronous = "FULL" if durability == "full" else "NORMAL"
        self._idle: deque[sqlite3.Connection] = deque()
        self._turn = threading.Lock() if path == IN_MEMORY else None
        self._process = os.getpid()
        self._closed = False
        self._prepare()

    def read(self, *, snapshot: bool = False) -> Transaction:
        """Lend a connection for reading; `snapshot` makes several statements see one state."""
        return Transaction(self, ("BEGIN",), ("ROLLBACK",)) if snapshot else Transaction(self)

    def write(self, *, taken: str = "That name is taken.", erasing: bool = False) -> Transaction:
        """Lend a connection inside a write transaction: all of the block is stored, or nothing.

        Args:
            taken: The message when a unique key refuses a row.
            erasing: Whether to leave nothing of what is removed: freed pages are overwritten, and
                the write-ahead log is emptied after the commit.

        Raises:
            NameTaken: A unique key refused a row.
            StoreBusy: Another writer held the lock for the whole timeout.
        """
        # A deferred BEGIN would read first and then fail at once, without waiting, when another
        # writer came in between (SQLITE_BUSY_SNAPSHOT).
        if erasing:
            return Transaction(self, _ERASING, ("COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)"), taken)
        return Transaction(self, _WRITING, ("COMMIT",), taken)

    def copy(self, target: Path) -> None:
        """Copy the database to a new file, readable by its owner alone."""
        _create_private(target)
        with self.read() as connection, closing(sqlite3.connect(target)) as copy:
            connection.backup(copy)
        _sync_directory(target.parent)

    def close(self) -> None:
        """Close all connections; those lent out at the moment close when they come back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def lend(self) -> sqlite3.Connection:
        """Return a connection that nobody else uses; `take_back` must follow."""
        if self._closed:
            raise StoreClosed
        if self._process != os.getpid():
            self._abandon()
        if self._turn is not None and not self._turn.acquire(timeout=self.timeout):
            raise StoreBusy(self.timeout)
        try:
            return self._idle.pop()
        except IndexError:
            pass
        try:
            return self._connect()
        except BaseException:
            if self._turn is not None:
                self._turn.release()
            raise

    def take_back(self, connection: sqlite3.Connection, error: BaseException | None) -> None:
        """Keep the connection for the next one, unless the error shows that it is broken."""
        broken = isinstance(error, sqlite3.Error) and _code(error) & 0xFF not in _HARMLESS
        if self._closed or (broken and self._turn is None):
            connection.close()
        else:
            self._idle.append(connection)
        if self._turn is not None:
            self._turn.release()

    def _abandon(self) -> None:
        """Leave the parent's connections alone: closing them here would drop the parent's locks."""
        _left_to_parent.extend(self._idle)
        self._idle = deque()
        self._process = os.getpid()
        if self.path == IN_MEMORY:
            self._closed = True
            raise StoreClosed

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(
                self.path, timeout=self.timeout, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            self._raise(error)
        try:
            for pragma in (f"synchronous={self._synchronous}", *_PRAGMAS):
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.Error as error:
            connection.close()
            self._raise(error)
        return connection

    def _prepare(self) -> None:
        created = self.path != IN_MEMORY and _create_private(Path(self.path))
        try:
            # Before the switch to WAL, which writes into the head of the file.
            with self.read() as connection:
                known = _check_schema(connection)
            if self.path != IN_MEMORY:
                with self.read() as connection:
                    self._switch_to_wal(connection)
            if not known:
                with self.write() as connection:
                    if not _check_schema(connection):
                        _create_schema(connection)
        except BaseException:
            self.close()
            raise
        if created:
            # Without it a power cut can bring back the journal of the switch to WAL and take the
            # fresh database away.
            _sync_directory(Path(self.path).parent)

    def _switch_to_wal(self, connection: sqlite3.Connection) -> None:
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                # Two first opens at once: the switch does not wait for a lock by itself.
                connection.execute("PRAGMA journal_mode=WAL").fetchone()
            except sqlite3.OperationalError as error:
                if _code(error) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def _raise(self, error: sqlite3.Error) -> NoReturn:
        raise _translated(error, self.path, self.timeout) from error


class Transaction:
    """A connection for the length of a `with` block, which the engine's errors leave as ours.

    A class, since each verb enters one: a generator would cost twice the time.
    """

    __slots__ = ("_begin", "_connection", "_database", "_end", "_taken")

    def __init__(
        self,
        database: Database,
        begin: tuple[str, ...] = (),
        end: tuple[str, ...] = (),
        taken: str = "",
    ) -> None:
        self._database = database
        self._begin = begin
        self._end = end
        self._taken = taken

    def __enter__(self) -> sqlite3.Connection:
        self._connection = self._database.lend()
        try:
            for statement in self._begin:
                self._connection.execute(statement).fetchall()
        except BaseException as error:
            self._leave(error)
            raise
        return self._connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            try:
                for statement in self._end:
                    self._connection.execute(statement).fetchall()
            except BaseException as refused:
                self._leave(refused)
                raise
        self._leave(error)

    def _leave(self, error: BaseException | None) -> None:
        """Give the connection back; raise our error for the engine's."""
        connection = self._connection
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        finally:
            self._database.take_back(connection, error)
        if isinstance(error, sqlite3.Error):
            if self._taken and _code(error) == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
                raise NameTaken(self._taken, suggestion="Choose another name.") from error
            raise _translated(error, self._database.path, self._database.timeout) from error


_left_to_parent: list[sqlite3.Connection] = []


def _translated(error: sqlite3.Error, path: str, timeout: float) -> MemoriesError:
    """Return our error for the engine's, told apart by its code and never by its text."""
    match _code(error) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(timeout)
        case sqlite3.SQLITE_FULL:
            return StorageFull(
                f"No room left on the device that holds {path}. Nothing was written.",
                suggestion="Free some space and try again; reading still works.",
            )
        case sqlite3.SQLITE_READONLY:
            return StoreReadOnly(
                f"{path} cannot be written.",
                suggestion="Check the permissions of the file and of its directory.",
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return StoreDamaged(
                f"{path} is not an intact SQLite database.",
                suggestion="Open another file, or restore this one from a backup.",
            )
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR | sqlite3.SQLITE_PERM:
            return StoreUnavailable(
                f"{path} cannot be opened or read.",
                suggestion="Check that its directory exists and that you may write there.",
            )
        case _:
            return StorageError(f"The database refused the call: {error}.")


def _code(error: BaseException) -> int:
    return getattr(error, "sqlite_errorcode", 0) or 0


def _create_private(path: Path) -> bool:
    """Make the file readable by its owner alone; tell whether it was missing."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return False
    except OSError as error:
        raise StoreUnavailable(
            f"{path} cannot be created: {error.strerror}.",
            suggestion="Make its directory first, or choose another place.",
        ) from error
    return True


def _sync_directory(directory: Path) -> None:
    with suppress(OSError):  # some file systems refuse to open a directory; nothing else to do
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _check_schema(connection: sqlite3.Connection) -> bool:
    """Tell whether our tables are there.

    Raises:
        SchemaMismatch: They are newer than this release, or another program's.
    """
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if SchemaRow.__tablename__ not in names:
        if foreign := names & metadata.tables.keys():
            raise _foreign_table(min(foreign))
        return False
    row = connection.execute("SELECT version FROM memory_schema WHERE id = 1").fetchone()
    if row is None or type(row[0]) is not int:
        raise _foreign_table(SchemaRow.__tablename__)
    if row[0] > SCHEMA_VERSION:
        raise SchemaMismatch(
            f"This file has schema {row[0]}; this release knows schema {SCHEMA_VERSION}.",
            suggestion="Install a newer memories-sdk; the file was not touched.",
        )
    return True


def _foreign_table(name: str) -> SchemaMismatch:
    return SchemaMismatch(
        f"The file holds a table named {name!r} that this package did not make.",
        suggestion="Open another file; the tables of another program are never touched.",
    )


def _create_schema(connection: sqlite3.Connection) -> None:
    for table in metadata.sorted_tables:
        connection.execute(str(CreateTable(table).compile(dialect=DIALECT)))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            connection.execute(str(CreateIndex(index).compile(dialect=DIALECT)))
    connection.execute(
        str(text("INSERT INTO memory_schema (id, version) VALUES (1, :version)")),
        {"version": SCHEMA_VERSION},
    )
