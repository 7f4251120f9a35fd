"""Tables, and words that the statements of several subjects use."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, literal_column
from sqlalchemy.sql.elements import ColumnElement

from memories_sdk.tables import metadata

principals = metadata.tables["principals"]
members = metadata.tables["members"]
agents = metadata.tables["agents"]
memories = metadata.tables["memories"]
bodies = metadata.tables["memory_bodies"]
revisions = metadata.tables["memory_revisions"]
schema = metadata.tables["memory_schema"]
shelves = metadata.tables["shelves"]
operations = metadata.tables["memory_operations"]
keys = metadata.tables["memory_keys"]
attachments = metadata.tables["attachments"]
drafts = metadata.tables["drafts"]
tokens = metadata.tables["tokens"]
approvals = metadata.tables["approvals"]

# Written out: a bound value would be lost, since only the text of a statement is kept.
ZERO: Final[ColumnElement[int]] = literal_column("0")
ONE: Final[ColumnElement[int]] = literal_column("1")

# A shelf that is only looked at: on a server, nobody waits for the turn to write there.
COUNTED: Final[ColumnElement[str]] = bindparam("counted")


def word(text: str) -> ColumnElement[str]:
    """Return a word of ours as a value written out."""
    return literal_column(f"'{text}'")
