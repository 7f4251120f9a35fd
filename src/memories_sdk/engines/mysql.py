"""MariaDB 10.6 and newer, MySQL 8 and newer, by PyMySQL."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar, Final
from urllib.parse import unquote, urlsplit

from sqlalchemy.engine.interfaces import Dialect

from memories_sdk.engines.address import Address
from memories_sdk.engines.server import (
    DriverConnection,
    Failure,
    Kind,
    ServerConnection,
    ServerDatabase,
    Use,
)
from memories_sdk.engines.shape import shaped
from memories_sdk.errors import InvalidInput, MissingExtra, StoreUnavailable
from memories_sdk.wording import MYSQL, Wording

try:
    import pymysql
    from pymysql.constants import CLIENT
except ImportError as error:
    raise MissingExtra("A store on MariaDB or MySQL", "mysql") from error

_PORT: Final = 3306
_TABLE_EXISTS: Final = 1050
_DUPLICATE: Final = 1062
_GLANCE: Final = 0.1
"""Seconds between two looks at tables that another one makes."""

_IN_CLUSTER: Final = "SHOW VARIABLES WHERE variable_name = 'wsrep_on' AND value = 'ON'"
_CAUSAL: Final = "SET SESSION wsrep_sync_wait = @@wsrep_sync_wait | 1"
"""Has a node of a cluster apply what others committed before it answers, or a save that was
acknowledged there could be missing here for a moment."""

_FAILURES: Final[dict[int, Failure]] = {
    1062: "taken",
    1213: "rolled back",  # a deadlock, or another node of the cluster was first
    1205: "busy",
    1021: "full",
    1114: "full",
    1290: "read only",
    1792: "read only",
    1836: "read only",
    1142: "read only",
    1047: "lost",  # this node is not part of the cluster just now
    1053: "lost",
    1152: "lost",
    1184: "lost",
    1927: "lost",
    2006: "lost",
    2013: "lost",
    2055: "lost",
}


class MysqlDatabase(ServerDatabase):
    """Connections to a database on MariaDB or MySQL, or on any node of a cluster of them.

    A URL may name several hosts: a connection goes to the first that answers, and after a loss to
    the next. On each node, a read sees what any node had acknowledged before.
    """

    dialect: ClassVar[Dialect] = MYSQL
    wording: Wording = Wording(MYSQL)
    turn: ClassVar[str] = (
        "INSERT INTO memory_turns (scope_key, turn) VALUES (%(scope_key)s, 1)"
        " ON DUPLICATE KEY UPDATE turn = turn + 1"
    )
    begins: ClassVar[Mapping[Kind, tuple[str, ...]]] = {
        "read": (),
        "snapshot": (
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        ),
        "write": ("START TRANSACTION",),
    }
    errors: ClassVar[type[Exception]] = pymysql.Error
    shape = shaped("mysql", collation="utf8mb4_nopad_bin")
    migration_url: ClassVar[str] = "mysql+pymysql://"

    def __init__(self, address: Address, *, timeout: float, use: Use = "write") -> None:
        if address.partitions:
            raise InvalidInput(
                "MariaDB and MySQL part no table that has a foreign key, as ours have.",
                field="location",
                suggestion="Leave partitions= out, or use PostgreSQL.",
            )
        parts = urlsplit(address.url)
        user, _, hosts = parts.netloc.rpartition("@")
        name, _, password = user.partition(":")
        self._user, self._password = unquote(name), unquote(password)
        self._hosts = [_host(each) for each in hosts.split(",")]
        self._name = unquote(parts.path.removeprefix("/"))
        self._options = address.options
        super().__init__(address.shown, timeout=timeout, pool=address.pool, use=use)

    def connect(self) -> DriverConnection:
        """Return a new connection, to the first host that answers."""
        for _ in self._hosts[1:]:
            try:
                return self._connected()
            except pymysql.Error:
                self._hosts.append(self._hosts.pop(0))
        return self._connected()

    def _connected(self) -> DriverConnection:
        host, port = self._hosts[0]
        options = self._options
        raw: DriverConnection = pymysql.connect(
            host=host,
            port=port,
            user=self._user or None,
            password=self._password,
            database=self._name,
            unix_socket=options.get("unix_socket"),
            ssl_ca=options.get("ssl_ca"),
            charset="utf8mb4",
            autocommit=True,
            client_flag=CLIENT.FOUND_ROWS,  # else a row that keeps its values counts as not found
            connect_timeout=10,
            init_command="SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
        )
        with raw.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
            cursor.execute(self.patience(self.timeout))
            if cursor.execute(_IN_CLUSTER):
                cursor.execute(_CAUSAL)
        return raw

    def failure(self, error: BaseException, raw: DriverConnection) -> Failure:
        """Return what an error of the driver means."""
        if not isinstance(error, pymysql.Error):
            return "other"
        code = error.args[0] if error.args else 0
        if code in _FAILURES:
            return _FAILURES[code]
        gone = isinstance(raw, pymysql.connections.Connection) and not raw.open
        return "lost" if gone else "other"

    def patience(self, seconds: float) -> str:
        """Return the statement that sets the longest wait for a lock, in whole seconds."""
        return f"SET SESSION innodb_lock_wait_timeout = {max(1, math.ceil(seconds))}"

    def written(self, shelves: Collection[str]) -> set[str]:
        """Return those shelves whose turn was taken by somebody who did not commit yet.

        A writer on another node of a cluster is not seen.
        """
        turns = "SELECT scope_key, turn FROM memory_turns WHERE scope_key IN %(shelves)s"
        asked = {"shelves": tuple(shelves)}
        with self.read() as connection:
            connection.run("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")
            taken = set(connection.run(turns, asked).fetchall())
            committed = set(connection.run(turns, asked).fetchall())
        return {shelf for shelf, _ in taken - committed}

    def names(self, connection: ServerConnection) -> set[str]:
        """Return the names of the tables that are there."""
        tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
        return {name for (name,) in connection.run(tables).fetchall()}

    def create(self, connection: ServerConnection) -> None:
        """Make our tables; each is a transaction of its own here, so a failure takes them away."""
        with self._alone(connection):
            self.shape = shaped("mysql", collation=_collation(connection))
            end = time.monotonic() + self.timeout
            while self._version(connection) is None and not self._made(connection):
                # Another node of the cluster is at it, to which the lock says nothing; or a
                # program died over it, and left tables that no store ever used.
                if time.monotonic() > end:
                    self._unmake(connection, self.names(connection))
                time.sleep(_GLANCE)

    def migrate(self, connection: ServerConnection) -> None:
        """Lead older tables to this release's; a step that broke off before is gone on with."""
        with self._alone(connection):
            super().migrate(connection)

    @contextmanager
    def _alone(self, connection: ServerConnection) -> Iterator[None]:
        """Have the tables changed by nobody else: a transaction ends with each change of one."""
        name = "concat('memories_sdk ', md5(database()))"  # as long as a lock's name may be
        connection.run(f"SELECT GET_LOCK({name}, {max(1, math.ceil(self.timeout))})")
        try:
            yield
        finally:
            connection.run(f"SELECT RELEASE_LOCK({name})")

    def _made(self, connection: ServerConnection) -> bool:
        """Make the tables; tell whether it was not another one who does."""
        there = self.names(connection)
        try:
            for statement in self.ddl(there):
                connection.run(statement)
        except pymysql.Error as error:
            if error.args[0] in {_TABLE_EXISTS, _DUPLICATE}:
                return False
            self._unmake(connection, self.names(connection) - there)
            raise
        return True

    def _unmake(self, connection: ServerConnection, names: set[str]) -> None:
        for statement in self.undo_ddl(names):
            connection.run(statement)


def _collation(connection: ServerConnection) -> str:
    """Return the collation that compares bytes and keeps trailing blanks."""
    (version,) = connection.run("SELECT VERSION()").fetchone()
    return "utf8mb4_nopad_bin" if "MariaDB" in version else "utf8mb4_0900_bin"


def _host(text: str) -> tuple[str, int]:
    name, _, port = text.rpartition(":") if ":" in text else (text, "", "")
    if port and not port.isdigit():
        raise StoreUnavailable(
            f"{text!r} is no host and port.", suggestion="For example 127.0.0.1:3306."
        )
    return name or "localhost", int(port or _PORT)
