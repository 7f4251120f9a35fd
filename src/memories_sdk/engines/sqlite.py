"""SQLite: a file, or the memory of this process. The embedded engine, and the default."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import warnings
from collections import deque
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, NoReturn

from memories_sdk.database import IN_MEMORY, Database, Durability
from memories_sdk.engines.files import (
    Footing,
    copy_before,
    create_private,
    rename,
    resolved,
    sync_directory,
)
from memories_sdk.engines.places import warn_of_network
from memories_sdk.engines.sqlite_errors import code_of, translated
from memories_sdk.engines.sqlite_schema import create_schema, schema_version
from memories_sdk.engines.turns import Turns, release_all
from memories_sdk.errors import (
    MemoriesError,
    NameTaken,
    OldPagesRemain,
    StoreBusy,
    StoreClosed,
    StoreUnavailable,
)
from memories_sdk.tables import SCHEMA_VERSION

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


class SqliteDatabase(Database):
    """Connections to one SQLite file, and the only transactions on it.

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
        self.location = path if path == IN_MEMORY else resolved(path)
        self.timeout = timeout
        self._synchronous = "FULL" if durability == "full" else "NORMAL"
        self._idle: deque[sqlite3.Connection] = deque()
        self._turn = threading.RLock() if path == IN_MEMORY else None
        self._writer: tuple[int, sqlite3.Connection] | None = None
        self.turns = None if path == IN_MEMORY else Turns(self.location)
        self.footing = None if path == IN_MEMORY else Footing(self.location)
        self._process = os.getpid()
        self._closed = False
        if path != IN_MEMORY:
            warn_of_network(Path(self.location))
        self._prepare()

    def read(self, *, shelf: str | None = None, snapshot: bool = False) -> SqliteTransaction:  # noqa: ARG002
        """Lend a connection for reading; a single statement needs no transaction of ours."""
        if snapshot:
            return SqliteTransaction(self, ("BEGIN",), ("ROLLBACK",))
        return SqliteTransaction(self)

    def write(
        self,
        *,
        shelf: str | None = None,  # noqa: ARG002 -- one lock for the whole file
        taken: str = "That name is taken.",
        erasing: bool = False,
        patience: float | None = None,
    ) -> SqliteTransaction:
        """Lend a connection inside a write transaction.

        Erasing, freed pages are overwritten, and the write-ahead log is emptied after the commit.
        Where that fails the block is stored all the same, and `OldPagesRemain` warns of it.
        """
        # A deferred BEGIN would read first and then fail at once, without waiting, when another
        # writer came in between (SQLITE_BUSY_SNAPSHOT).
        if erasing:
            return ErasingTransaction(self, _ERASING, ("COMMIT",), taken, wait=self.timeout)
        if patience is not None:
            begins, after = (_waiting(patience), *_WRITING), _waiting(self.timeout)
            return SqliteTransaction(self, begins, ("COMMIT",), taken, after, wait=patience)
        return SqliteTransaction(self, _WRITING, ("COMMIT",), taken, wait=self.timeout)

    def copy(self, target: Path) -> None:
        """Copy the database to a new file, readable by its owner alone.

        It gets its name when it is whole and on the device: a program that dies in between leaves
        no half copy that looks like a good one.
        """
        part = target.with_name(f"{target.name}.{os.getpid()}-{time.monotonic_ns()}.part")
        create_private(part)
        try:
            with self.read() as connection, closing(sqlite3.connect(part)) as copy:
                connection.backup(copy)
            rename(part, target)
        except BaseException:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            raise
        sync_directory(target.parent)

    def compact(self) -> None:
        """Write the file anew: pages that were freed long ago may hold texts of then."""
        with ErasingTransaction(self, wait=self.timeout) as connection:
            connection.execute("VACUUM")

    def empty_log(self) -> None:
        """Write what the log holds into the file and cut it to nothing; warn where that fails."""
        if self.location == IN_MEMORY:
            return
        try:
            # In a turn: nobody may commit at the instant at which the log begins anew.
            with SqliteTransaction(self, wait=self.timeout) as connection:
                row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            reason = "another program is reading" if row[0] else ""
        except MemoriesError as error:
            reason = str(error)
        if reason:
            warnings.warn(
                f"Done, but the log beside {self.location} could not be emptied ({reason}). It may "
                "hold the old text until then: call the verb again when the store is quiet.",
                OldPagesRemain,
                stacklevel=7,
            )

    def close(self) -> None:
        """Close all connections; those lent out at the moment close when they come back."""
        self._closed = True
        if self._turn is not None and not self._turn.acquire(blocking=False):
            return
        if self._idle and self.footing is not None and self.footing.log_remains():
            # Into the file that it belongs to, wherever that is now.
            with suppress(sqlite3.Error):
                self._idle[0].execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        while self._idle:
            self._idle.pop().close()
        if self.turns is not None:
            self.turns.close()
        if self._turn is not None:
            self._turn.release()

    def give_up(self) -> None:
        """Release what an interrupted write of this thread still holds."""
        if self._writer is not None and self._writer[0] == threading.get_ident():
            connection = self._writer[1]
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._writer = None
        if self.turns is not None:
            self.turns.give_up()
        if self._turn is not None and self._turn.acquire(blocking=False):
            release_all(self._turn)

    def note_writer(self, connection: sqlite3.Connection | None) -> None:
        """Note the connection of the writer whose turn it is; None when it is done."""
        self._writer = None if connection is None else (threading.get_ident(), connection)

    def is_within(self, connection: sqlite3.Connection, *, begins: bool) -> bool:
        """Tell whether a write of this thread, in memory, goes on around a new transaction.

        Raises:
            StoreBusy: The new one would begin a transaction of its own.
        """
        if not connection.in_transaction:
            return False
        if self._writer is None:  # a reading that was interrupted
            connection.execute("ROLLBACK")
            return False
        if begins:
            raise StoreBusy(self.timeout)
        return True

    def lend(self) -> sqlite3.Connection:
        """Return a connection that nobody else uses; `take_back` must follow."""
        if self._closed:
            raise StoreClosed
        if self._process != os.getpid():
            self._abandon()
        if self._turn is not None and not self._turn.acquire(timeout=self.timeout):
            raise StoreBusy(self.timeout)
        try:
            return self._idle.pop() if self._turn is None else self._idle[0]
        except IndexError:
            pass
        try:
            connection = self._connect()
            if self._turn is not None:
                self._idle.append(connection)
        except BaseException:
            if self._turn is not None:
                self._turn.release()
            raise
        return connection

    def take_back(self, connection: sqlite3.Connection, error: BaseException | None) -> None:
        """Keep the connection for the next one, unless the error shows that it is broken."""
        broken = isinstance(error, sqlite3.Error) and code_of(error) & 0xFF not in _HARMLESS
        if self._closed or (broken and self._turn is None):
            self._drop(connection)
        elif self._turn is None:
            self._idle.append(connection)
        if self._turn is not None and self._writer is not None:
            self._turn.release()
        elif self._turn is not None:  # with what an interrupted reading left
            release_all(self._turn)

    def _drop(self, connection: sqlite3.Connection) -> None:
        connection.close()
        if self.footing is not None:
            self.footing.forget()

    def _abandon(self) -> None:
        """Leave the parent's connections alone: closing them here would drop the parent's locks."""
        _left_to_parent.extend(self._idle)
        self._idle = deque()
        self._process = os.getpid()
        self._writer = None
        if self.footing is not None:
            self.footing.forget()
        if self.location == IN_MEMORY:
            self._closed = True
            raise StoreClosed

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(
                self.location, timeout=self.timeout, isolation_level=None, check_same_thread=False
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
        created = self.location != IN_MEMORY and create_private(Path(self.location))
        try:
            # Before the switch to WAL, which writes into the head of the file.
            with self.read() as connection:
                version = schema_version(connection)
            if self.location != IN_MEMORY:
                with self.read() as connection:
                    self._switch_to_wal(connection)
            if version is None:
                with self.write() as connection:
                    version = schema_version(connection)
                    if version is None:
                        create_schema(connection)
                        version = SCHEMA_VERSION
            if version < SCHEMA_VERSION:
                self._migrate()
        except BaseException:
            self.close()
            raise
        if created:
            # Without it a power cut can bring back the journal of the switch to WAL and take the
            # fresh database away.
            sync_directory(Path(self.location).parent)

    def _migrate(self) -> None:
        """Lead an older file to this release's tables, all the way or not at all.

        The lock is taken first: of several programs that open the file at once, one migrates. A
        copy of the old file stays beside it, unless the file stayed old itself.
        """
        from memories_sdk import migrations  # noqa: PLC0415 -- Alembic, while a step is pending

        copy = copy_before(Path(self.location), datetime.now(UTC))

        def prepare() -> int:
            with self.read() as connection:
                version = schema_version(connection) or 0
            if version < SCHEMA_VERSION:
                self.copy(copy)
            return version

        try:
            # A table that is built anew is dropped in between; what refers to it must not go too.
            off, on = ("PRAGMA foreign_keys=OFF",), ("PRAGMA foreign_keys=ON",)
            with SqliteTransaction(self, off, on, wait=self.timeout) as connection:
                migrations.migrate_embedded(connection, prepare)
        except BaseException:
            copy.unlink(missing_ok=True)
            raise

    def _switch_to_wal(self, connection: sqlite3.Connection) -> None:
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                # Two first opens at once: the switch does not wait for a lock by itself.
                connection.execute("PRAGMA journal_mode=WAL").fetchone()
            except sqlite3.OperationalError as error:
                if code_of(error) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def _raise(self, error: sqlite3.Error) -> NoReturn:
        raise translated(error, self.location, self.timeout) from error


class SqliteTransaction:
    """A connection for the length of a `with` block, which the engine's errors leave as ours.

    A class, since each verb enters one: a generator would cost twice the time.
    """

    __slots__ = (
        "_after",
        "_begin",
        "_connection",
        "_database",
        "_end",
        "_noted",
        "_taken",
        "_turns",
        "_wait",
        "_within",
    )

    def __init__(
        self,
        database: SqliteDatabase,
        begin: tuple[str, ...] = (),
        end: tuple[str, ...] = (),
        taken: str = "",
        after: str = "",
        *,
        wait: float | None = None,
    ) -> None:
        self._database = database
        self._begin = begin
        self._end = end
        self._taken = taken
        self._after = after
        self._wait = wait
        self._turns: Turns | None = None

    def __enter__(self) -> sqlite3.Connection:
        database = self._database
        self._within = self._noted = False
        connection = self._connection = database.lend()
        try:
            self._within = database.is_within(connection, begins=bool(self._begin))
            self._take_turn()
            for statement in self._begin:
                self._connection.execute(statement).fetchall()
            self._check_footing()
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

    def _take_turn(self) -> None:
        turns = self._database.turns
        if self._wait is not None and turns is not None:
            if not turns.take(self._wait):
                raise StoreBusy(self._wait)
            self._turns = turns
        if self._wait is not None:
            self._noted = True
            self._database.note_writer(self._connection)

    def _check_footing(self) -> None:
        footing = self._database.footing
        if self._turns is not None and footing is not None and not footing.holds():
            raise StoreUnavailable(
                f"{self._database.location} or its log was deleted, moved or replaced while the "
                "store was open. Nothing was written.",
                suggestion="Close the store in all programs, then open it again; before that, "
                "backup(…) saves what this one still sees.",
            )

    def _leave(self, error: BaseException | None) -> None:
        """Give the connection back; raise our error for the engine's."""
        connection = self._connection
        try:
            if connection.in_transaction and not self._within:
                connection.execute("ROLLBACK")
            if self._after:
                connection.execute(self._after).fetchall()
        finally:
            if self._noted:
                self._database.note_writer(None)
            self._database.take_back(connection, error)
            if self._turns is not None:
                self._turns.give()
                self._turns = None
        if isinstance(error, sqlite3.Error):
            if self._taken and code_of(error) == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
                raise NameTaken(self._taken, suggestion="Choose another name.") from error
            raise translated(error, self._database.location, self._database.timeout) from error


class ErasingTransaction(SqliteTransaction):
    """A transaction after which the log is emptied too."""

    __slots__ = ()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        # Apart from the commit: what is done is not undone by it, nor reported as a failure.
        if error is None:
            self._database.empty_log()


def _waiting(seconds: float) -> str:
    return f"PRAGMA busy_timeout={round(seconds * 1000)}"


_left_to_parent: list[sqlite3.Connection] = []
