"""PostgreSQL 14 and newer, by psycopg 3."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from threading import Event
from typing import Any, ClassVar, Final

from sqlalchemy.engine.interfaces import Dialect

from memories_sdk.engines import partitions, row_security
from memories_sdk.engines.address import Address
from memories_sdk.engines.listener import Listener
from memories_sdk.engines.server import (
    DriverConnection,
    Failure,
    Kind,
    ServerConnection,
    ServerDatabase,
    Use,
)
from memories_sdk.engines.shape import shaped
from memories_sdk.errors import MissingExtra
from memories_sdk.wording import POSTGRESQL, Wording

try:
    import psycopg
except ImportError as error:
    raise MissingExtra("A store on PostgreSQL", "postgres") from error

_FAILURES: Final[dict[str, Failure]] = {
    "23505": "taken",
    "40001": "rolled back",
    "40P01": "rolled back",
    "55P03": "busy",
    "53100": "full",
    "25006": "read only",
    "42501": "read only",
    "57P01": "lost",
    "57P02": "lost",
    "57P03": "lost",
}
_CREATION: Final = 5_023_441
"""Number of the lock under which one process makes the tables."""
_WRITING: Final = 5_023_442
"""First number of the locks that tell which shelves are being written; they hold up nobody."""

_WRITTEN: Final = f"""
SELECT shelf FROM unnest(CAST(%(shelves)s AS text[])) AS shelf WHERE EXISTS (
  SELECT FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND classid = {_WRITING}
  AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
  AND objid = CAST(hashtext(current_schema() || ' ' || shelf) AS oid)
)
"""  # noqa: S608 -- a number of ours


class PostgresDatabase(ServerDatabase):
    """Connections to a database on PostgreSQL."""

    dialect: ClassVar[Dialect] = POSTGRESQL
    wording: Wording = Wording(POSTGRESQL)
    turn: ClassVar[str] = f"""
WITH mine AS (
  INSERT INTO memory_turns AS t (scope_key, turn) VALUES (%(scope_key)s, 1)
  ON CONFLICT (scope_key) DO UPDATE SET turn = t.turn + 1 RETURNING t.scope_key
)
SELECT
  pg_notify('memories_sdk', current_schema() || ' ' || scope_key),
  pg_advisory_xact_lock_shared({_WRITING}, hashtext(current_schema() || ' ' || scope_key))
FROM mine
"""  # noqa: S608 -- a number of ours
    begins: ClassVar[Mapping[Kind, tuple[str, ...]]] = {
        "read": (),
        "snapshot": ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",),
        "write": ("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",),
    }
    errors: ClassVar[type[Exception]] = psycopg.Error
    migration_url: ClassVar[str] = "postgresql+psycopg://"
    wall_setting: ClassVar[str] = "SELECT set_config('memories.shelves', %(shelves)s, true)"
    shape = shaped("postgresql")

    def __init__(self, address: Address, *, timeout: float, use: Use = "write") -> None:
        partitions.check_number(address.partitions)
        self._address = address
        super().__init__(address.shown, timeout=timeout, pool=address.pool, use=use)
        try:
            self._look()
        except BaseException:
            self.close()
            raise
        self._listener = Listener(self.connect, self.errors)

    def _look(self) -> None:
        """See how the tables were made."""
        with self.read() as connection:
            self.walled = row_security.stands(connection)
            found = partitions.count(connection)
            partitions.check(self._address.partitions, found)
            if found:
                self.wording = partitions.WORDING
                connection.run(partitions.PLANS)

    def close(self) -> None:
        """Close all connections, the listening one too."""
        super().close()
        if (listener := vars(self).get("_listener")) is not None:
            listener.close()

    def wall(self) -> None:
        """Have the engine itself keep the shelves apart."""
        with self.write() as connection:
            row_security.build(connection, self.shape)
        self.walled = True

    def written(self, shelves: Collection[str]) -> set[str]:
        """Return those shelves on which somebody holds the lock of a writer."""
        with self.read() as connection:
            return {key for (key,) in connection.run(_WRITTEN, {"shelves": list(shelves)})}

    def tell(self, shelf: str | None, event: Event) -> bool:
        """Have an event set whenever a shelf, or any, changes; a replica tells nobody."""
        return self._use != "read" and self._listener.tell(shelf, event)

    def connect(self) -> psycopg.Connection[Any]:
        """Return a new connection."""
        raw = psycopg.connect(
            self._address.url,
            autocommit=True,
            prepare_threshold=self._address.prepare,
        )
        raw.execute(self.patience(self.timeout))
        if self.wording is partitions.WORDING:
            raw.execute(partitions.PLANS)
        return raw

    def cursor(self, raw: DriverConnection) -> psycopg.Cursor[Any]:
        """Return a cursor that asks for values in their binary form: no digits or hex to read."""
        assert isinstance(raw, psycopg.Connection)  # noqa: S101 -- for the type checker
        return raw.cursor(binary=True)

    def failure(self, error: BaseException, raw: DriverConnection) -> Failure:
        """Return what an error of the driver means."""
        if not isinstance(error, psycopg.Error):
            return "other"
        state = error.sqlstate or ""
        if state in _FAILURES:
            return _FAILURES[state]
        gone = isinstance(raw, psycopg.Connection) and raw.closed
        return "lost" if gone or state.startswith("08") else "other"

    def patience(self, seconds: float) -> str:
        """Return the statement that sets the longest wait for a lock; zero would be for ever."""
        return f"SET lock_timeout = {max(1, round(seconds * 1000))}"

    def names(self, connection: ServerConnection) -> set[str]:
        """Return the names of the tables in the schema that new tables go to."""
        tables = "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema()"
        return {name for (name,) in connection.run(tables).fetchall()}

    def ddl(self, there: AbstractSet[str]) -> list[str]:
        """Return the statements that make our tables, in parts where the address says so."""
        made = super().ddl(there)
        if not (parts := self._address.partitions):
            return made
        return [each for statement in made for each in partitions.split(statement, parts)]

    def create(self, connection: ServerConnection) -> None:
        """Make our tables, in one transaction."""
        connection.run("BEGIN")
        try:
            connection.run(f"SELECT pg_advisory_xact_lock({_CREATION})")
            names = self.names(connection)
            if self._version(connection) is None:
                for statement in self.ddl(names):
                    connection.run(statement)
            connection.run("COMMIT")
        except BaseException:
            connection.run("ROLLBACK")
            raise
