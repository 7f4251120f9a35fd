"""Columns as each engine keeps them: frozen, for the steps that are done say what was.

Text is compared by code point, numbers have 64 bits, and what stands in a key of MySQL is short.
A later step that needs another kind adds it here; it changes none.
"""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from alembic.operations import Operations
from sqlalchemy.dialects.mysql import LONGBLOB, LONGTEXT, VARBINARY, VARCHAR

_SERVERS: Final = ("postgresql", "mysql")
_TEXT: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def number(name: str, *, null: bool = False, default: int | None = None) -> sa.Column[int]:
    """Return the column of an integer, a truth value or a time."""
    kind = sa.Integer().with_variant(sa.BigInteger(), *_SERVERS)
    given = None if default is None else sa.text(str(default))
    return sa.Column(name, kind, nullable=null, server_default=given)


def text(name: str, *, null: bool = False) -> sa.Column[str]:
    """Return the column of a text of any length."""
    return sa.Column(name, _TEXT.with_variant(LONGTEXT(), "mysql"), nullable=null)


def key(name: str, *, null: bool = False) -> sa.Column[str]:
    """Return the column of a text that stands in a key or an index."""
    return sa.Column(name, _TEXT.with_variant(VARCHAR(255), "mysql"), nullable=null)


def data(name: str, *, null: bool = False) -> sa.Column[bytes]:
    """Return the column of bytes, however many."""
    kind = sa.LargeBinary().with_variant(LONGBLOB(), "mysql")
    return sa.Column(name, kind, nullable=null)


def key_data(name: str, *, null: bool = False) -> sa.Column[bytes]:
    """Return the column of bytes that stand in a key or an index."""
    kind = sa.LargeBinary().with_variant(VARBINARY(64), "mysql")
    return sa.Column(name, kind, nullable=null)


def create_table(op: Operations, name: str, *parts: sa.schema.SchemaItem) -> None:
    """Make a table of these columns and constraints."""
    options: dict[str, Any] = {}
    dialect = op.get_context().dialect
    if dialect.name == "mysql":
        nopad = "utf8mb4_nopad_bin" if getattr(dialect, "is_mariadb", False) else "utf8mb4_0900_bin"
        options = {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": nopad}
    op.create_table(name, *parts, **options)


def create_index(
    op: Operations, name: str, table: str, columns: list[str], *, where: str | None = None
) -> None:
    """Make an index; of some rows alone where the engine can."""
    some = None if where is None else sa.text(where)
    op.create_index(name, table, columns, sqlite_where=some, postgresql_where=some)
