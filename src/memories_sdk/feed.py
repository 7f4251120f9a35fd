"""The changes of all shelves that a caller may see: who did what to which memory, no texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from operator import attrgetter

from memories_sdk.database import Connection
from memories_sdk.history import History, Revision
from memories_sdk.principals import Principal, scope_key
from memories_sdk.rows import to_revision
from memories_sdk.statements import people
from memories_sdk.statements import revisions as sql
from memories_sdk.visit import Setting


class Feed:
    """Follows the shelves of a caller, each from the change last seen on it.

    On a server, writers of different shelves may commit in another order than their numbers rise:
    one number for all shelves would pass over the slower one.

    Args:
        setting: Of the store.
        caller: Who asks. Shelves that it gains or loses come and go with the next look.
        since: The last `seq` that is known.
    """

    def __init__(self, setting: Setting, caller: Principal, since: int) -> None:
        self._database = setting.database
        self._caller = caller
        self._since = since
        self._seen: dict[str, int] = {}
        self._newest = -1

    def look(self, limit: int) -> History:
        """Return what came since the last look, oldest first."""
        with self._database.read(snapshot=True) as connection:
            newest = connection.execute(sql.NEWEST).fetchone()[0] or 0
            if newest == self._newest:
                return History(())
            pages = [self._page(connection, key, limit) for key in self._shelves(connection)]
        changes = History(islice(merge(*pages, key=attrgetter("seq")), limit))
        for change in changes:
            self._seen[change.shelf] = change.seq
        if len(changes) < limit:
            self._newest = newest
        return changes

    def _page(self, connection: Connection, key: str, limit: int) -> list[Revision]:
        since = self._seen.get(key, self._since)
        place: dict[str, object] = {"scope_key": key, "since": since, "limit": limit}
        rows = connection.execute(sql.NOTICES, place).fetchall()
        return [to_revision(row, None) for row in rows]  # a notice holds no text to be opened

    def _shelves(self, connection: Connection) -> Iterator[str]:
        groups = connection.execute(people.VISIBLE_GROUPS, {"user_id": self._caller.id}).fetchall()
        for id in (self._caller.id, *_ids(groups)):
            yield scope_key(principal_id=id)
            agents = connection.execute(people.AGENTS_OF, {"principal_id": id}).fetchall()
            yield from (scope_key(agent_id=agent) for agent in _ids(agents))


def _ids(rows: Iterable[tuple[int, ...]]) -> Iterator[int]:
    return (row[0] for row in rows)
