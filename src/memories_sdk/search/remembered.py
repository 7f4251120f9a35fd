"""A large shelf as a process remembers it: what it read of the index, while the shelf stays as is.

The words of one prompt are the words of the next, and so are many of the memories that may answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from memories_sdk.database import Connection
from memories_sdk.rows import Row
from memories_sdk.search.entries import Holders, entries
from memories_sdk.search.filtering import tags_of
from memories_sdk.search.kept import Hoard
from memories_sdk.search.ranking import strengths_of
from memories_sdk.search.spellings import Worded
from memories_sdk.search.word_index import Indexed

HOLDERS: Final = 1 << 16
"""Entries of the index that are kept, for each shelf."""

CHARACTERS: Final = 1 << 18
"""Characters of the words of the documents that are kept, for each shelf."""

_DOCUMENTS: Final = """
SELECT s.doc, s.id, s.size, s.words, m.row, m.type, m.tags, m.created_at, m.updated_at,
  m.expires_at,
  (SELECT p.id FROM search_memories p WHERE p.shelf = s.shelf AND p.id < s.id
    ORDER BY p.id DESC LIMIT 1),
  (SELECT p.id FROM search_memories p WHERE p.shelf = s.shelf AND p.id < s.id
    ORDER BY p.id DESC LIMIT 1 OFFSET 1)
FROM json_each(:docs) j JOIN search_memories s ON s.doc = j.value
JOIN memories m ON m.id = s.id AND m.scope_key = :scope_key AND m.version = s.version
"""


class Document(Worded):
    """A memory in the index: what filters and ranking look at.

    Attributes:
        doc: Its number in the index.
        row: The number of its row.
        made: Microseconds since 1970; so are `changed` and `expires`.
        follows: Ids of the memories one and two places before it on the shelf.
    """

    def __init__(self, row: Row) -> None:
        self.doc: int = row[0]
        self.id: bytes = row[1]
        self.size: int = row[2]
        super().__init__(row[3])
        self.row: int = row[4]
        self.type: str = row[5]
        self.tags = tags_of(row[6])
        self.made: int = row[7]
        self.changed: int = row[8]
        self.expires: int | None = row[9]
        self.follows: tuple[bytes, ...] = tuple(key for key in row[10:12] if key is not None)

    @cached_property
    def strengths(self) -> dict[str, int]:
        """Its index terms with the classes of how often they count."""
        return strengths_of(self.text)


class Remembered:
    """What was read of the index of one shelf, up to one revision.

    Threads may share it, each with a transaction in which the shelf is as of that revision.
    """

    def __init__(self, scope_key: str, indexed: Indexed) -> None:
        self.indexed = indexed
        self._scope_key = scope_key
        self._counts: Hoard[str, int] = Hoard(HOLDERS)
        self._holders: Hoard[str, Holders] = Hoard(HOLDERS)
        self._documents: Hoard[int, Document] = Hoard(CHARACTERS)

    def counts(self, connection: Connection, terms: Iterable[str]) -> dict[str, int]:
        """Return how many memories have each of these terms."""
        known = {term: self._counts.get(term) for term in terms}
        if missing := [term for term, count in known.items() if count is None]:
            found = entries(connection).counts(self.indexed.shelf, missing)
            fresh = {term: found.get(term, 0) for term in missing}
            self._counts.add(fresh, len(fresh))
            known |= fresh
        return {term: count for term, count in known.items() if count}

    def holders(self, connection: Connection, terms: Iterable[str]) -> dict[str, Holders]:
        """Return the documents that have each of these terms."""
        known = {term: self._holders.get(term) for term in terms}
        if missing := [term for term, held in known.items() if held is None]:
            fresh = entries(connection).holders(self.indexed.shelf, missing)
            self._holders.add(fresh, sum(1 + held.number for held in fresh.values()))
            known |= fresh
        return {term: held for term, held in known.items() if held is not None}

    def documents(self, connection: Connection, docs: Sequence[int]) -> list[Document]:
        """Return those of these documents that show their memories as they are, in their order."""
        found: dict[int, Document] = {}
        missing: list[int] = []
        for doc in docs:
            if (document := self._documents.get(doc)) is None:
                missing.append(doc)
            else:
                found[doc] = document
        if missing:
            key = {"scope_key": self._scope_key, "docs": json.dumps(missing)}
            rows = connection.execute(_DOCUMENTS, key).fetchall()
            fresh = {row[0]: Document(row) for row in rows}
            self._documents.add(fresh, sum(len(each.text) for each in fresh.values()))
            found |= fresh
        return [found[doc] for doc in docs if doc in found]
