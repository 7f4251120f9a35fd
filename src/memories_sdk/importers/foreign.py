"""Reads the tables of another program, and never writes to them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import SQLAlchemyError

from memories_sdk.errors import InvalidInput, MissingExtra, NotFound, StoreUnavailable

PAGE: Final = 500
_ONLY_READING: Final = {
    "sqlite": ("PRAGMA trusted_schema=OFF", "PRAGMA query_only=ON"),
    "mysql": ("SET SESSION TRANSACTION READ ONLY",),
    "mariadb": ("SET SESSION TRANSACTION READ ONLY",),
}

Row = Mapping[str, Any]


class Source:
    """A database of another program, open for reading alone.

    Args:
        place: A path of an SQLite file, or a URL `sqlite:///…` or `mysql://user:password@host/db`.

    Raises:
        StoreUnavailable: It cannot be opened.
        NotFound: There is no such file.
        InvalidInput: It is neither SQLite nor MySQL or MariaDB.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        url = _url(os.fspath(place))
        self.name = hashlib.sha256(url.render_as_string().encode()).hexdigest()[:12]
        self.shown = url.render_as_string() if "://" in os.fspath(place) else os.fspath(place)
        try:
            self._engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
            self._connection = self._engine.connect()
            for statement in _ONLY_READING[self._engine.dialect.name]:
                self._connection.exec_driver_sql(statement)
            self._tables = set(sa.inspect(self._connection).get_table_names())
        except ModuleNotFoundError as error:
            raise MissingExtra("A database of MySQL or MariaDB", "mysql") from error
        except SQLAlchemyError as error:
            raise StoreUnavailable(
                f"{self.shown} cannot be opened for reading.",
                suggestion="Check the address, the user and that the server runs.",
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()
        self._engine.dispose()

    @property
    def tables(self) -> set[str]:
        """The names of its tables; views are none."""
        return self._tables

    def columns(self, table: str) -> set[str]:
        """Return the names of a table's columns; none when it is not there."""
        if table not in self._tables:
            return set()
        return {each["name"] for each in sa.inspect(self._connection).get_columns(table)}

    def count(self, table: str) -> int:
        """Return how many rows a table has."""
        counted = sa.select(sa.func.count()).select_from(sa.table(table))
        return int(self._connection.execute(counted).scalar_one())

    def groups(self, table: str, *names: str) -> list[tuple[dict[str, Any], int]]:
        """Return the values that stand in these columns together, with how many rows have them."""
        columns: list[sa.ColumnClause[Any]] = [sa.column(name) for name in names]
        query = sa.select(*columns, sa.func.count()).select_from(sa.table(table))
        found = self._connection.execute(query.group_by(*columns)).all()
        return [(dict(zip(names, row[:-1], strict=True)), int(row[-1])) for row in found]

    def rows(self, table: str, *order: str, **wanted: object) -> Iterator[Row]:
        """Yield the rows of a table, a page at a time; none when it is not there.

        Args:
            table: Its name.
            order: The columns to sort by.
            wanted: Only rows with these values; None is NULL.
        """
        columns: dict[str, sa.ColumnClause[Any]] = {
            name: sa.column(name) for name in sorted(self.columns(table))
        }
        if not columns:
            return
        query = sa.select(*columns.values()).select_from(sa.table(table))
        for name, value in wanted.items():
            column = columns[name]
            query = query.where(column.is_(None) if value is None else column == value)
        query = query.order_by(*(columns[name] for name in order if name in columns))
        streamed = self._connection.execution_options(stream_results=True, yield_per=PAGE)
        for row in streamed.execute(query).mappings():
            yield {str(name): value for name, value in row.items()}


def moment(value: object, zone: tzinfo = UTC) -> datetime | None:
    """Return a moment as another program stored it; one without a zone is of that zone."""
    if isinstance(value, str) and value:
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)


def _url(place: str) -> URL:
    if "://" not in place:
        place = f"sqlite:///{Path(place).absolute()}"
    try:
        url = make_url(place)
    except SQLAlchemyError as error:
        raise InvalidInput("That is no address of a database.", field="url") from error
    kind = url.get_backend_name()
    if kind == "sqlite":
        if not url.database or not Path(url.database).is_file():
            raise NotFound(f"There is no file {url.database}.")
        # Read-only for the engine itself: not even a journal is written beside it.
        return URL.create(
            "sqlite", database=f"file:{url.database}", query={"mode": "ro", "uri": "true"}
        )
    if kind in ("mysql", "mariadb"):
        return url.set(drivername=f"{kind}+pymysql").update_query_dict({"charset": "utf8mb4"})
    raise InvalidInput(
        f"{kind}:// is not read.", field="url", suggestion="SQLite, MySQL and MariaDB are."
    )
