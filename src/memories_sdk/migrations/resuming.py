"""Steps that go on where they broke off, for engines that undo no change of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from alembic.operations import MigrateOperation, Operations, ops
from sqlalchemy import inspect


class Resuming(Operations):
    """Leaves out what an earlier attempt has done already."""

    def invoke(self, operation: MigrateOperation) -> Any:  # noqa: ANN401 -- as Alembic has it
        """Carry out an operation, unless it shows in the tables."""
        if not self._done(operation):
            return super().invoke(operation)
        return None

    def _done(self, operation: MigrateOperation) -> bool:
        tables = inspect(self.get_bind())
        done = False
        match operation:
            case ops.CreateTableOp(table_name=table):
                done = tables.has_table(table)
            case ops.DropTableOp(table_name=table):
                done = not tables.has_table(table)
            case ops.AddColumnOp(table_name=table, column=column):
                done = column.name in _names(tables.get_columns(table))
            case ops.DropColumnOp(table_name=table, column_name=name):
                done = name not in _names(tables.get_columns(table))
            case ops.CreateIndexOp(table_name=table, index_name=name):
                done = name in _names(tables.get_indexes(table))
            case ops.DropIndexOp(table_name=str(table), index_name=name):
                done = name not in _names(tables.get_indexes(table))
        return done


def _names(found: Iterable[Mapping[str, Any]]) -> set[Any]:
    return {each["name"] for each in found}
