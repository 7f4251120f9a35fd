"""Says each statement in the words of an engine.

A statement is known everywhere by its text for the embedded engine, which runs it as it is. An
engine on a server looks up here what the same statement is called there. Whoever writes SQL by hand
writes it for the embedded engine and keeps to what all of them know; lists of numbers go in as
`json_each(:name) AS alias`, with the columns `key` and `value`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from sqlalchemy import Table, text
from sqlalchemy.dialects.mysql.base import MySQLDialect
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.dialects.sqlite.dml import OnConflictDoNothing, OnConflictDoUpdate
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import Insert
from sqlalchemy.sql.expression import ClauseElement
from sqlalchemy.sql.functions import sum as total

EMBEDDED: Final = SQLiteDialect(paramstyle="named")
POSTGRESQL: Final[Dialect] = PGDialect(paramstyle="pyformat")  # type: ignore[no-untyped-call]
MYSQL: Final = MySQLDialect(paramstyle="pyformat")

_LISTS: Final = {
    "postgresql": (
        "(SELECT place - 1 AS key, CAST(value AS bigint) AS value"
        " FROM json_array_elements_text(CAST(%({name})s AS json))"
        " WITH ORDINALITY AS listed(value, place)) AS {alias}"
    ),
    "mysql": (
        "(SELECT place - 1 AS `key`, value FROM JSON_TABLE(%({name})s, '$[*]'"
        " COLUMNS (place FOR ORDINALITY, value BIGINT PATH '$')) AS listed) AS {alias}"
    ),
}
_LIST: Final = re.compile(r"json_each\(%\((\w+)\)s\) (?:AS )?(\w+)")
_HINT: Final = re.compile(r"\+(?=\w+\.scope_key\b)")
"""A plus before a column is for the embedded engine's planner alone."""

_ROW: Final = re.compile(r"(?<![.:\w])row\b")
"""A name of ours that MySQL has reserved; SQLAlchemy quotes it by itself."""

_EXCLUDED: Final = re.compile(r"excluded\.(`?\w+`?)")

_clauses: Final[dict[str, ClauseElement]] = {}
_spelled: Final[dict[tuple[str, str], str]] = {}


class Worded(NamedTuple):
    """A statement in the words of a server.

    Attributes:
        returns: Whether it answers with the key that the engine gave to the row.
    """

    text: str
    returns: bool


class Wording(dict[str, Worded]):
    """The statements in the words of one engine, by their text for the embedded one."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__()
        self._dialect = dialect

    def __missing__(self, statement: str) -> Worded:
        name = self._dialect.name
        clause = _clauses.get(statement)
        returns = False
        if clause is None:
            written = _spelled.get((statement, name), statement)
            clause = text(_ROW.sub("`row`", written) if name == "mysql" else written)
        elif name == "postgresql" and type(clause) is Insert:
            key = clause.table.autoincrement_column if isinstance(clause.table, Table) else None
            returns = key is not None
            clause = clause if key is None else clause.returning(key)
        worded = _HINT.sub("", str(clause.compile(dialect=self._dialect)))
        listed = _LISTS[name]
        worded = _LIST.sub(lambda found: listed.format(name=found[1], alias=found[2]), worded)
        self[statement] = found = Worded(worded, returns)
        return found


def compiled(statement: ClauseElement) -> str:
    """Return the text of a statement for the embedded engine, by which all engines know it.

    Raises:
        ValueError: A literal value stands in it; it would be lost, since only the text is kept.
    """
    result = statement.compile(dialect=EMBEDDED)
    if literals := [name for name, value in result.params.items() if value is not None]:
        msg = f"write these as bindparam(): {literals}"
        raise ValueError(msg)
    text = str(result)
    _clauses[text] = statement
    return text


def spelled(embedded: str, *, mysql: str) -> str:
    """Return a statement that is written by hand, and differently for MySQL and MariaDB."""
    _spelled[embedded, "mysql"] = mysql
    return embedded


def _assignments(element: OnConflictDoUpdate, compiler: SQLCompiler) -> str:
    return ", ".join(
        f"{compiler.preparer.quote(str(name))} = {compiler.process(value)}"
        for name, value in element.update_values_to_set.items()
    )


@compiles(total, "postgresql")
@compiles(total, "mysql")
def _sum_on_a_server(element: total[int], compiler: SQLCompiler, **_: object) -> str:
    # Servers widen a sum of integers to a decimal number.
    kind = "bigint" if compiler.dialect.name == "postgresql" else "SIGNED"
    return f"CAST({compiler.visit_function(element)} AS {kind})"


@compiles(OnConflictDoUpdate, "postgresql")
def _update_on_postgresql(element: OnConflictDoUpdate, compiler: SQLCompiler, **_: object) -> str:
    key = ", ".join(map(str, element.inferred_target_elements or ()))
    return f"ON CONFLICT ({key}) DO UPDATE SET {_assignments(element, compiler)}"


@compiles(OnConflictDoNothing, "postgresql")
def _leave_on_postgresql(_element: OnConflictDoNothing, _compiler: SQLCompiler, **_: object) -> str:
    return "ON CONFLICT DO NOTHING"


@compiles(OnConflictDoUpdate, "mysql")
def _update_on_mysql(element: OnConflictDoUpdate, compiler: SQLCompiler, **_: object) -> str:
    changes = _EXCLUDED.sub(r"VALUES(\1)", _assignments(element, compiler))
    return f"ON DUPLICATE KEY UPDATE {changes}"


@compiles(OnConflictDoNothing, "mysql")
def _leave_on_mysql(_element: OnConflictDoNothing, compiler: SQLCompiler, **_: object) -> str:
    # IGNORE would swallow every other error of the row too.
    assert isinstance(compiler.statement, Insert)  # noqa: S101 -- for the type checker
    key = compiler.preparer.quote(next(iter(compiler.statement.table.primary_key)).name)
    return f"ON DUPLICATE KEY UPDATE {key} = {key}"
