"""Says each statement in the words of an engine.

A statement is known everywhere by its text for the embedded engine, which runs it as it is. An
engine on a server looks up here what the same statement is called there.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.sql.expression import ClauseElement

EMBEDDED: Final = SQLiteDialect(paramstyle="named")

_clauses: Final[dict[str, ClauseElement]] = {}


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
