"""What engines on a server share: held connections, turns of a shelf's writers, errors.

Statements run on driver connections as on the embedded engine. Where that has one lock for the
file, a server has one for each shelf: its writers take turns by a row of `memory_turns`, which
each of them changes first. So "last position + 1" and the chain of revisions need no more than
READ COMMITTED, and two nodes of a cluster that wrote the same shelf at once have a conflict there.
"""

from __future__ import annotations

import os
import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Final, Literal, NamedTuple, Protocol

from sqlalchemy import MetaData, bindparam, insert, select
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable, DropTable

from memories_sdk.database import Database
from memories_sdk.engines.sqlite import SqliteDatabase
from memories_sdk.errors import (
    MemoriesError,
    NameTaken,
    SchemaMismatch,
    StorageError,
    StorageFull,
    StoreBusy,
    StoreClosed,
    StoreInterrupted,
    StoreReadOnly,
    StoreUnavailable,
)
from memories_sdk.tables import SCHEMA_VERSION, metadata
from memories_sdk.wording import Wording, compiled

Kind = Literal["read", "snapshot", "write"]
Use = Literal["read", "write", "migrate"]
Failure = Literal["taken", "rolled back", "lost", "busy", "full", "read only", "away", "other"]

NOTHING: Final[dict[str, object]] = {}
ALL: Final = "*"
STORE: Final = ""
"""The turn of those who write what belongs to no shelf."""

_SIGN: Final = "memory_schema"
_SIGNED: Final = f"INSERT INTO memory_schema (id, version) VALUES (1, {SCHEMA_VERSION})"  # noqa: S608


class DriverConnection(Protocol):
    """What both drivers call a connection."""

    def cursor(self) -> Any:  # noqa: ANN401 -- two drivers, two classes
        """Return a new cursor."""

    def close(self) -> None:
        """Close it."""


class Inserted(NamedTuple):
    """The answer to an insert whose engine returns the new key as a row."""

    lastrowid: int


class ServerConnection:
    """A connection to a server, lent for one transaction at a time.

    Attributes:
        raw: The driver's connection.
        shelves: The shelves whose turn this transaction has.
    """

    def __init__(self, database: ServerDatabase, raw: DriverConnection) -> None:
        self._database = database
        self.raw = raw
        self.shelves: set[str] = set()
        self.kind: Kind = "read"
        self.fresh = True
        self.allowed: set[str] = set()

    def execute(self, statement: str, parameters: Mapping[str, object] = NOTHING, /) -> Any:  # noqa: ANN401
        """Run a statement, named by its text for the embedded engine.

        In a write transaction, whatever names a `scope_key` first waits for the turn to write
        there. What names it `counted` only looks.
        """
        shelf = parameters.get("scope_key")
        looked_at = parameters.get("counted", shelf)
        if self._database.walled and looked_at is not None and looked_at not in self.allowed:
            self.enter(str(looked_at))
        if self.kind == "write" and shelf is not None and shelf not in self.shelves:
            self.take_turn(str(shelf))
        worded = self._database.wording[statement]
        cursor = self.run(worded.text, parameters)
        if worded.returns:
            return Inserted(cursor.fetchone()[0])
        return cursor

    def executemany(self, statement: str, parameters: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement once for each of these."""
        rows = list(parameters)
        if rows:
            cursor = self._database.cursor(self.raw)
            cursor.executemany(self._database.wording[statement].text, rows)
            cursor.close()

    def run(self, text: str, parameters: Mapping[str, object] = NOTHING) -> Any:  # noqa: ANN401
        """Run a statement in the engine's own words.

        The first of a transaction runs again on a new connection when the old one turns out to
        be lost: nothing was done on it yet.
        """
        try:
            cursor = self._database.cursor(self.raw)
            cursor.execute(text, parameters)
        except Exception as error:
            if not self.fresh or self._database.failure(error, self.raw) != "lost":
                raise
            self._database.renew(self)
            cursor = self._database.cursor(self.raw)
            cursor.execute(text, parameters)
        self.fresh = False
        return cursor

    def enter(self, shelf: str) -> None:
        """Have the engine show the rows of a shelf too until the transaction ends; "*" for all."""
        self.allowed.add(shelf)
        self.run(self._database.wall_setting, {"shelves": ",".join(sorted(self.allowed))})

    def take_turn(self, shelf: str) -> None:
        """Wait until nobody else writes the shelf, and keep it until the transaction ends."""
        self.run(self._database.turn, {"scope_key": shelf})
        self.shelves.add(shelf)


class ServerDatabase(Database):
    """Connections to a database on a server, and the only transactions there.

    Args:
        location: Where it is, without a password.
        timeout: Longest wait for another writer, for a connection, and for a server that is
            being restarted, in seconds.
        pool: Most connections at a time.
        use: To "migrate" leads older tables to this release's, where to "write" refuses them; to
            "read" makes and writes nothing, as on a replica.

    Attributes:
        replica: Where those read who never write, if that is not here.
    """

    replica: ServerDatabase | None = None

    dialect: ClassVar[Dialect]
    wording: Wording
    turn: ClassVar[str]
    """Takes the turn of the shelf `scope_key`, and waits for it."""

    wall_setting: ClassVar[str] = ""
    """Names the `shelves` whose rows the engine shows, where it keeps them apart."""

    begins: ClassVar[Mapping[Kind, tuple[str, ...]]]
    errors: ClassVar[type[Exception]]
    migration_url: ClassVar[str]
    """The engine and its driver, in SQLAlchemy's words."""

    shape: MetaData

    def __init__(self, location: str, *, timeout: float, pool: int, use: Use = "write") -> None:
        self.location = location
        self.timeout = timeout
        self._idle: deque[ServerConnection] = deque()
        self._free = threading.BoundedSemaphore(pool)
        self._pool = pool
        self._process = os.getpid()
        self._closed = False
        self._use = use
        self._known = False
        self.walled = False
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise
        self._known = True

    @abstractmethod
    def connect(self) -> DriverConnection:
        """Return a new connection, set up, with every statement a transaction of its own."""

    def cursor(self, raw: DriverConnection) -> Any:  # noqa: ANN401 -- two drivers, two classes
        """Return a new cursor on a connection of the driver."""
        return raw.cursor()

    @abstractmethod
    def failure(self, error: BaseException, raw: DriverConnection) -> Failure:
        """Return what an error of the driver means, by its code and never by its text."""

    @abstractmethod
    def patience(self, seconds: float) -> str:
        """Return the statement that sets the longest wait for a lock."""

    @abstractmethod
    def names(self, connection: ServerConnection) -> set[str]:
        """Return the names of the tables that are there."""

    @abstractmethod
    def create(self, connection: ServerConnection) -> None:
        """Make our tables, unless another process did meanwhile."""

    def read(self, *, shelf: str | None = None, snapshot: bool = False) -> ServerTransaction:
        """Lend a connection for reading."""
        return ServerTransaction(self, "snapshot" if snapshot else "read", shelf)

    def write(
        self,
        *,
        shelf: str | None = None,
        taken: str = "That name is taken.",
        erasing: bool = False,  # noqa: ARG002 -- what a server leaves on its disk is its own affair
        patience: float | None = None,
    ) -> ServerTransaction:
        """Lend a connection inside a write transaction."""
        if self._use == "read":
            raise self.translated(StorageError("It is a replica."), "read only")
        turn = STORE if shelf is None else shelf
        return ServerTransaction(self, "write", turn, taken, patience)

    def to_read(self) -> ServerDatabase:
        """Return the replica, where there is one; its texts are opened with the same key."""
        if self.replica is None:
            return self
        self.replica.cipher = self.cipher
        return self.replica

    def copy(self, target: Path) -> None:
        """Copy all of it, at one moment, to a new file of the embedded engine."""
        part = target.with_name(f"{target.name}.{os.getpid()}-{time.monotonic_ns()}.part")
        try:
            copy = SqliteDatabase(str(part), timeout=self.timeout, durability="full")
            try:
                with self.read(snapshot=True) as here, copy.write() as there:
                    for table in metadata.sorted_tables:
                        if table.name == "memory_schema":
                            continue
                        names = [column.name for column in table.columns]
                        entry = insert(table).values({name: bindparam(name) for name in names})
                        rows = here.execute(compiled(select(*table.columns)))
                        there.executemany(
                            compiled(entry), (dict(zip(names, row, strict=True)) for row in rows)
                        )
            finally:
                copy.close()
            part.rename(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def close(self) -> None:
        """Close all connections; those lent out at the moment close when they come back."""
        self._closed = True
        if self.replica is not None:
            self.replica.close()
        while self._idle:
            _close(self._idle.pop())

    def lend(self) -> ServerConnection:
        """Return a connection that nobody else uses; `take_back` must follow."""
        if self._closed:
            raise StoreClosed
        if self._process != os.getpid():
            self._abandon()
        if not self._free.acquire(timeout=self.timeout):
            raise StoreBusy(self.timeout)
        try:
            return self._idle.pop()
        except IndexError:
            pass
        try:
            return ServerConnection(self, self._reached())
        except BaseException:
            self._free.release()
            raise

    def take_back(self, connection: ServerConnection, *, broken: bool) -> None:
        """Keep the connection for the next one, unless it is broken."""
        if self._closed or broken:
            _close(connection)
        else:
            connection.fresh = True
            connection.kind = "read"
            connection.shelves.clear()
            connection.allowed.clear()
            self._idle.append(connection)
        self._free.release()

    def renew(self, connection: ServerConnection) -> None:
        """Give a connection that was lost a new one of the driver; the idle ones are lost too."""
        _close(connection)
        while self._idle:
            _close(self._idle.pop())
        connection.raw = self._reached()

    def translated(self, error: BaseException, failure: Failure) -> MemoriesError:
        """Return our error for the driver's."""
        match failure:
            case "busy":
                return StoreBusy(self.timeout)
            case "rolled back" | "lost":
                return StoreInterrupted(unknown=False)
            case "full":
                return StorageFull(
                    f"No room left on the device of {self.location}. Nothing was written.",
                    suggestion="Free some space and try again; reading still works.",
                )
            case "read only":
                return StoreReadOnly(
                    f"{self.location} cannot be written.",
                    suggestion="Connect to the primary server, as a role that may write.",
                )
            case "away":
                return StoreUnavailable(
                    f"{self.location} cannot be reached: {_line(error)}",
                    suggestion="Check the address, the name of the database and the password.",
                )
            case _:
                return StorageError(f"The database refused the call: {_line(error)}")

    def _reached(self) -> DriverConnection:
        """Return a new connection; a server that was there before is given time to come back."""
        deadline = time.monotonic() + (self.timeout if self._known else 0)
        while True:
            try:
                return self.connect()
            except self.errors as error:
                if time.monotonic() >= deadline:
                    raise self.translated(error, "away") from error
                time.sleep(0.1)

    def _abandon(self) -> None:
        """Leave the parent's connections alone: closing them here would end the parent's."""
        _left_to_parent.extend(self._idle)
        self._idle = deque()
        self._free = threading.BoundedSemaphore(self._pool)
        self._process = os.getpid()

    def _prepare(self) -> None:
        with self.read() as connection:
            known = self._version(connection)
        if known is None and self._use == "read":
            raise StoreUnavailable(
                f"{self.location} has no tables of a store yet.",
                suggestion="Wait until the replica has caught up with the server it follows.",
            )
        if known is None:
            with self.read() as connection:
                self.create(connection)
                known = self._version(connection)
        if known != SCHEMA_VERSION and self._use != "migrate":
            raise SchemaMismatch(
                f"{self.location} has schema {known}; this release needs schema {SCHEMA_VERSION}.",
                suggestion="Back it up, then migrate it: memories migrate.",
            )
        if known is not None and known != SCHEMA_VERSION:
            with self.read() as connection:
                self.migrate(connection)

    def migrate(self, connection: ServerConnection) -> None:
        """Lead older tables to this release's; where the engine can, all the way or not at all."""
        from memories_sdk import migrations  # noqa: PLC0415 -- Alembic, while a step is pending

        migrations.migrate_server(connection.raw, self.migration_url, self.begins["write"])

    def _version(self, connection: ServerConnection) -> int | None:
        """Return the version of our tables, or None where there are none.

        Raises:
            SchemaMismatch: They are newer than this release, or another program's.
        """
        names = self.names(connection)
        if "memory_schema" not in names:
            if foreign := names & metadata.tables.keys():
                raise _foreign_table(min(foreign))
            return None
        row = connection.run("SELECT version FROM memory_schema WHERE id = 1").fetchone()
        if row is not None and row[0] > SCHEMA_VERSION:
            raise SchemaMismatch(
                f"{self.location} has schema {row[0]}; this release knows schema {SCHEMA_VERSION}.",
                suggestion="Install a newer memories-sdk; nothing was touched.",
            )
        return None if row is None else int(row[0])

    def ddl(self, there: AbstractSet[str]) -> list[str]:
        """Return the statements that make our tables, the one that says so last.

        Tables that are all there were made by a host program, which mounted ours among its own.
        """
        if there >= self.shape.tables.keys():
            return [_SIGNED]
        made = []
        # The table that is signed comes first: where the engine makes one after the other, those
        # who look meanwhile see whose tables these are.
        for table in sorted(self.shape.sorted_tables, key=lambda each: each.name != _SIGN):
            made.append(str(CreateTable(table).compile(dialect=self.dialect)))
            made += [
                str(CreateIndex(index).compile(dialect=self.dialect))
                for index in sorted(table.indexes, key=lambda index: str(index.name))
            ]
        return [*made, _SIGNED]

    def undo_ddl(self, names: Iterable[str]) -> list[str]:
        """Return the statements that take away those of our tables that bear these names."""
        return [
            str(DropTable(table).compile(dialect=self.dialect))
            for table in reversed(self.shape.sorted_tables)
            if table.name in names
        ]


class ServerTransaction:
    """A connection for the length of a `with` block, which the driver's errors leave as ours."""

    __slots__ = ("_connection", "_database", "_done", "_kind", "_patience", "_shelf", "_taken")

    def __init__(
        self,
        database: ServerDatabase,
        kind: Kind,
        shelf: str | None,
        taken: str = "",
        patience: float | None = None,
    ) -> None:
        self._database = database
        self._kind = kind
        self._shelf = shelf
        self._taken = taken
        self._patience = patience
        self._done = False

    def __enter__(self) -> ServerConnection:
        connection = self._connection = self._database.lend()
        try:
            if self._patience is not None:
                connection.run(self._database.patience(self._patience))
            if self._database.walled and self._kind == "read":
                self._kind = "snapshot"  # what names the shelves ends with the transaction
            for statement in self._database.begins[self._kind]:
                connection.run(statement)
            connection.kind = self._kind
            if self._database.walled:
                connection.enter(self._shelf or ALL)
            if self._kind == "write" and self._shelf is not None:
                connection.take_turn(self._shelf)
        except BaseException as error:
            self._leave(error)
            raise
        return connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None and self._kind == "write":
            try:
                self._connection.run("COMMIT")
            except BaseException as refused:
                self._leave(refused, committing=True)
                raise
            self._done = True
        self._leave(error)

    def _leave(self, error: BaseException | None, *, committing: bool = False) -> None:
        """Give the connection back; raise our error for the driver's."""
        database = self._database
        if error is None or not isinstance(error, database.errors):
            # What interrupted a statement (a key press, say) may have left its answer in the line.
            self._give_back(broken=error is not None and not isinstance(error, Exception))
            return
        failure = database.failure(error, self._connection.raw)
        self._give_back(broken=failure == "lost")
        if failure == "taken" and self._taken:
            raise NameTaken(self._taken, suggestion="Choose another name.") from error
        if failure == "lost" and committing:
            raise StoreInterrupted(unknown=True) from error
        raise database.translated(error, failure) from error

    def _give_back(self, *, broken: bool) -> None:
        connection = self._connection
        try:
            if self._kind != "read" and not self._done and not broken:
                connection.run("ROLLBACK")
            if self._patience is not None and not broken:
                connection.run(self._database.patience(self._database.timeout))
        except self._database.errors:
            broken = True  # the first error is the one that is told
        finally:
            self._database.take_back(connection, broken=broken)


_left_to_parent: list[ServerConnection] = []


def _close(connection: ServerConnection) -> None:
    with suppress(Exception):
        connection.raw.close()


def _foreign_table(name: str) -> SchemaMismatch:
    return SchemaMismatch(
        f"The database holds a table named {name!r} that this package did not make.",
        suggestion="Use another database; the tables of another program are never touched.",
    )


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
